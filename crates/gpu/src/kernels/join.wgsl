// Pairs of equal keys of two columns, in the order of the left one and then of the right one.
// `starts` says where the rows with a key begin in `order`, the rows of the right column by key:
//   a = 1: for each key from b to c; a key's rows end where those of the next one begin.
//   a = 0: not used; the keys in `sorted`, c of them, are searched.

@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read> starts: array<u32>;
@group(0) @binding(4) var<storage, read> sorted: array<u32>;
@group(0) @binding(5) var<storage, read> order: array<u32>;
@group(0) @binding(6) var<storage, read_write> left: array<u32>;
@group(0) @binding(7) var<storage, read_write> right: array<u32>;

// The number of sorted keys less than `key`.
fn lower_bound(key: u32) -> u32 {
    var low = 0u;
    var high = P.c;
    while (low < high) {
        let middle = (low + high) / 2u;
        if (sorted[middle] < key) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// Where the rows with a key begin in `order`, and how many there are; with a = 1.
fn rows_listed(key: u32) -> vec2<u32> {
    let at = clamp(key, P.b, P.c) - P.b;
    let start = starts[at];
    let end = starts[at + 1u];
    return select(vec2(0u), vec2(start, end - start), (key >= P.b) & (key <= P.c));
}

// The same, with a = 0.
fn rows_searched(key: u32) -> vec2<u32> {
    let start = lower_bound(key);
    if (start == P.c || sorted[start] != key) {
        return vec2(0u);
    }
    var end = P.c;
    if (key != 0xffffffffu) {
        end = lower_bound(key + 1u);
    }
    return vec2(start, end - start);
}

// A tile has too many pairs to be counted if one of its rows has more than this many; EXCESS then
// stands for their number.
const MOST = 0xffffffu / ITEMS;
const EXCESS = 0xffffffffu;

var<workgroup> excess: atomic<u32>;

// How many pairs each tile of the left column has.
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
    if (subgroup == 0u && lane == 0u) {
        atomicStore(&excess, 0u);
    }
    workgroupBarrier();
    let base = tile * TILE + subgroup * size + lane;
    var key: array<u32, ITEMS>;
    var rows: array<u32, ITEMS>;
#for J
        key[J] = keys[min(base + J * WG, P.n - 1u)];
#end
    if (P.a == 1u) {
#for J
        rows[J] = rows_listed(key[J]).y;
#end
    } else {
#for J
        rows[J] = rows_searched(key[J]).y;
#end
    }
    var sum = 0u;
    var most = 0u;
#for J
        let here = select(0u, rows[J], base + J * WG < P.n);
        sum += min(here, MOST);
        most = max(most, here);
#end
    if (most > MOST) {
        atomicStore(&excess, 1u);
    }
    sum = subgroupAdd(sum);
    if (lane == 0u) {
        parts[subgroup] = sum;
    }
    workgroupBarrier();
    scan_parts(subgroups, subgroup, lane, size);
    workgroupBarrier();
    if (subgroup == 0u && lane == 0u) {
        counts[tile] = select(parts[subgroups], EXCESS, atomicLoad(&excess) == 1u);
    }
}

// The pairs, from where `counts` says that those of the tile begin.
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
    var key: array<u32, ITEMS>;
    var rows: array<vec2<u32>, ITEMS>;
    var before: array<u32, ITEMS>;
#for J
        key[J] = keys[min(base + J * WG, P.n - 1u)];
#end
    if (P.a == 1u) {
#for J
        rows[J] = rows_listed(key[J]);
#end
    } else {
#for J
        rows[J] = rows_searched(key[J]);
#end
    }
#for J
        rows[J].y = select(0u, rows[J].y, base + J * WG < P.n);
        let sum = sum_to(rows[J].y, lane, size);
        before[J] = sum - rows[J].y;
        if (lane == size - 1u) {
            parts[J * subgroups + subgroup] = sum;
        }
#end
    workgroupBarrier();
    scan_parts(ITEMS * subgroups, subgroup, lane, size);
    workgroupBarrier();
    let first = counts[tile];
#for J
        let begin = first + parts[J * subgroups + subgroup] + before[J];
        for (var k = 0u; k < rows[J].y; k++) {
            left[begin + k] = base + J * WG;
            right[begin + k] = order[rows[J].x + k];
        }
#end
}
