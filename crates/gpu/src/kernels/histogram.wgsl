// How many values are in each interval between edges, which are ascending: from an edge to the next
// one, that one excluded; in the last interval included.

const SHARED = 1024u;

@group(0) @binding(1) var<storage, read> wide: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> edges: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> bins: array<atomic<u32>>;

var<workgroup> here: array<atomic<u32>, SHARED>;

// a is the number of edges.
@compute @workgroup_size(WG)
fn histogram(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = tile_of(workgroup, grid);
    if (tile >= P.tiles) {
        return;
    }
    let len = P.a - 1u;
    let is_shared = len <= SHARED;
    if (is_shared) {
        for (var i = local; i < len; i += WG) {
            atomicStore(&here[i], 0u);
        }
    }
    workgroupBarrier();
    for (var j = 0u; j < ITEMS; j++) {
        let i = tile * TILE + j * WG + local;
        if (i >= P.n) {
            break;
        }
        let value = wide[i];
        if (less(value, edges[0]) || less(edges[len], value)) {
            continue;
        }
        // The last edge that is not above the value.
        var low = 0u;
        var high = P.a;
        while (low + 1u < high) {
            let middle = (low + high) / 2u;
            if (less(value, edges[middle])) {
                high = middle;
            } else {
                low = middle;
            }
        }
        let bin = min(low, len - 1u);
        if (is_shared) {
            atomicAdd(&here[bin], 1u);
        } else {
            atomicAdd(&bins[bin], 1u);
        }
    }
    workgroupBarrier();
    if (is_shared) {
        for (var i = local; i < len; i += WG) {
            let count = atomicLoad(&here[i]);
            if (count > 0u) {
                atomicAdd(&bins[i], count);
            }
        }
    }
}
