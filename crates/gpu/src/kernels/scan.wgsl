// Prefix sums, exclusive and in place: sums of tiles, their prefix sums, and then each tile.

@group(0) @binding(1) var<storage, read_write> data: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

// The sum of each tile of `data`, to `sums`.
@compute @workgroup_size(WG)
fn reduce(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
) {
    let tile = tile_of(workgroup, grid);
    if (tile >= P.tiles) {
        return;
    }
    let base = tile * TILE + subgroup * size + lane;
    var sum = 0u;
    for (var j = 0u; j < ITEMS; j++) {
        let i = base + j * WG;
        if (i < P.n) {
            sum += data[i];
        }
    }
    sum = subgroupAdd(sum);
    if (lane == 0u) {
        parts[subgroup] = sum;
    }
    workgroupBarrier();
    scan_parts(subgroups, subgroup, lane, size);
    workgroupBarrier();
    if (subgroup == 0u && lane == 0u) {
        sums[tile] = parts[subgroups];
    }
}

// The prefix sums of a tile that begins at `first`, after the sum of what is before it.
fn scan_tile(first: u32, before: u32, subgroup: u32, subgroups: u32, lane: u32, size: u32) {
    let base = first + subgroup * size + lane;
    var sum: array<u32, ITEMS>;
    for (var j = 0u; j < ITEMS; j++) {
        let i = base + j * WG;
        var value = 0u;
        if (i < P.n) {
            value = data[i];
        }
        let sum_here = sum_to(value, lane, size);
        sum[j] = sum_here - value;
        if (lane == size - 1u) {
            parts[j * subgroups + subgroup] = sum_here;
        }
    }
    workgroupBarrier();
    scan_parts(ITEMS * subgroups, subgroup, lane, size);
    workgroupBarrier();
    for (var j = 0u; j < ITEMS; j++) {
        let i = base + j * WG;
        if (i < P.n) {
            data[i] = before + parts[j * subgroups + subgroup] + sum[j];
        }
    }
}

// Of `data` as a whole, by one workgroup.
@compute @workgroup_size(WG)
fn top(
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
) {
    var before = 0u;
    for (var tile = 0u; tile < P.tiles; tile++) {
        scan_tile(tile * TILE, before, subgroup, subgroups, lane, size);
        before += parts[ITEMS * subgroups];
        workgroupBarrier();
    }
}

// Of each tile of `data`, after the sums of the tiles before it.
@compute @workgroup_size(WG)
fn down(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
) {
    let tile = tile_of(workgroup, grid);
    if (tile >= P.tiles) {
        return;
    }
    scan_tile(tile * TILE, sums[tile], subgroup, subgroups, lane, size);
}
