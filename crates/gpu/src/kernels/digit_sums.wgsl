// Where the digits of each tile go: after all lower digits, and after the same digit of all tiles
// before. `counts` has a row of RADIX digits for each tile, one where each digit begins, and one for
// each chunk of CHUNK tiles: sums of chunks, sums of those before each, and then each chunk.

@group(0) @binding(1) var<storage, read_write> counts: array<u32>;

// The sum of each chunk of n rows, to the rows from row a.
@compute @workgroup_size(WG)
fn reduce(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
) {
    let chunk = tile_of(workgroup, grid);
    let begin = chunk * CHUNK;
    if (begin >= P.n) {
        return;
    }
    let end = min(begin + CHUNK, P.n);
    for (var digit = subgroup * size + lane; digit < RADIX; digit += WG) {
        var sum = 0u;
        for (var row = begin; row < end; row += ITEMS) {
            var here: array<u32, ITEMS>;
#for J
            here[J] = counts[min(row + J, end - 1u) * RADIX + digit];
#end
#for J
            sum += select(0u, here[J], row + J < end);
#end
        }
        counts[(P.a + chunk) * RADIX + digit] = sum;
    }
}

// The sums of the rows before each of n from row a, and to row b where each digit begins; by one
// workgroup.
@compute @workgroup_size(WG)
fn top(
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
) {
    let end = P.a + P.n;
    let rows = (RADIX + size - 1u) / size;
    for (var part = subgroup; part < rows; part += subgroups) {
        let digit = part * size + lane;
        var all = 0u;
        if (digit < RADIX) {
            for (var row = P.a; row < end; row += ITEMS) {
                var here: array<u32, ITEMS>;
#for J
                here[J] = counts[min(row + J, end - 1u) * RADIX + digit];
#end
#for J
                if (row + J < end) {
                    counts[(row + J) * RADIX + digit] = all;
                }
                all += select(0u, here[J], row + J < end);
#end
            }
        }
        add_digits(part, all, lane, size);
    }
    workgroupBarrier();
    scan_parts(rows, subgroup, lane, size);
    workgroupBarrier();
    for (var digit = subgroup * size + lane; digit < RADIX; digit += WG) {
        counts[P.b * RADIX + digit] = first_place(digit, size);
    }
}

// The sums of the rows before each of n; those before each chunk are in the rows from row a.
@compute @workgroup_size(WG)
fn down(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
) {
    let chunk = tile_of(workgroup, grid);
    let begin = chunk * CHUNK;
    if (begin >= P.n) {
        return;
    }
    let end = min(begin + CHUNK, P.n);
    for (var digit = subgroup * size + lane; digit < RADIX; digit += WG) {
        var before = counts[(P.a + chunk) * RADIX + digit];
        for (var row = begin; row < end; row += ITEMS) {
            var here: array<u32, ITEMS>;
#for J
            here[J] = counts[min(row + J, end - 1u) * RADIX + digit];
#end
#for J
            if (row + J < end) {
                counts[(row + J) * RADIX + digit] = before;
            }
            before += here[J];
#end
        }
    }
}
