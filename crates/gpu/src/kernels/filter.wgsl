// Which elements are kept: their numbers, ascending. `keep` comes with its inputs from keep_*.wgsl.

@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> kept: array<u32>;

// How many of each tile.
@compute @workgroup_size(WG)
fn count(
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
#for J
        let i = base + J * WG;
        sum += select(0u, 1u, keep(min(i, P.n - 1u)) & (i < P.n));
#end
    sum = subgroupAdd(sum);
    if (lane == 0u) {
        parts[subgroup] = sum;
    }
    workgroupBarrier();
    scan_parts(subgroups, subgroup, lane, size);
    workgroupBarrier();
    if (subgroup == 0u && lane == 0u) {
        counts[tile] = parts[subgroups];
    }
}

// The numbers, from where `counts` says that those of the tile begin.
@compute @workgroup_size(WG)
fn emit(
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
    var mine = 0u;
#for J
        let i = base + J * WG;
        mine |= select(0u, 1u << J, keep(min(i, P.n - 1u)) & (i < P.n));
#end
    for (var j = 0u; j < ITEMS; j++) {
        let mask = mask_of(((mine >> j) & 1u) == 1u);
        if (lane == 0u) {
            parts[j * subgroups + subgroup] = mask_count(mask);
        }
    }
    workgroupBarrier();
    scan_parts(ITEMS * subgroups, subgroup, lane, size);
    workgroupBarrier();
    let first = counts[tile];
    for (var j = 0u; j < ITEMS; j++) {
        let is_kept = ((mine >> j) & 1u) == 1u;
        let mask = mask_of(is_kept);
        if (is_kept) {
            kept[first + parts[j * subgroups + subgroup] + mask_before(mask, lane)] = base + j * WG;
        }
    }
}
