// Where the rows with each key begin, of sorted keys: for each key from b, `starts` has the number of
// keys less than it.

@group(0) @binding(1) var<storage, read> sorted: array<u32>;
@group(0) @binding(2) var<storage, read_write> starts: array<u32>;

@compute @workgroup_size(WG)
fn starts_of(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let base = tile_of(workgroup, grid) * TILE + local;
    for (var j = 0u; j < ITEMS; j++) {
        let i = base + j * WG;
        if (i >= P.n) {
            return;
        }
        // Keys above the one before it, up to its own, have no rows before it.
        if (i == 0u || sorted[i - 1u] != sorted[i]) {
            var key = P.b;
            if (i > 0u) {
                key = sorted[i - 1u] + 1u;
            }
            for (; key < sorted[i]; key++) {
                starts[key - P.b] = i;
            }
            starts[key - P.b] = i;
        }
        if (i == P.n - 1u) {
            starts[sorted[i] - P.b + 1u] = P.n;
        }
    }
}
