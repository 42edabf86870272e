// Put before each kernel, after the constants that depend on the device:
//   WG      invocations of a workgroup, a multiple of the size of any subgroup
//   ITEMS   elements of each invocation
//   WARPS   subgroups of a workgroup, at most
//   DIGIT_BITS, RADIX  bits of a digit of a sort, and how many digits there are
//   CHUNK   tiles whose digits one workgroup sums
//   Mask    a set of the invocations of a subgroup, with its functions (mask_*.wgsl)
//
// Which elements an invocation has follows from its subgroup and its lane, never from its local
// index: how these belong together is not defined.
//
// Loads come first, for all elements of an invocation, and without branches: an invocation behind the
// last element loads that one, and `&` and `|` stand for `&&` and `||`, which are branches. Behind
// branches drivers put each load where it is used, and wait for one after the other.

const TILE = WG * ITEMS;

struct Params {
    // Number of elements, and of tiles of TILE elements.
    n: u32,
    tiles: u32,
    // What these mean, each kernel says.
    a: u32,
    b: u32,
    c: u32,
    d: u32,
    e: u32,
    f: u32,
}

@group(0) @binding(0) var<uniform> P: Params;

// The tile of a workgroup: grids have two dimensions where one would be too long.
fn tile_of(workgroup: vec3<u32>, grid: vec3<u32>) -> u32 {
    return workgroup.y * grid.x + workgroup.x;
}

// Sums of parts of a tile: row by row, subgroup by subgroup. Or of the digits of a sort, of which a
// subgroup has at least four at once.
var<workgroup> parts: array<u32, max(ITEMS * WARPS, 64u) + 1u>;

// The sum of the values of the invocations before this one and of its own. All of them take part:
// with the built-in sums, which allow for any set of them, drivers take ten times as long.
fn sum_to(value: u32, lane: u32, size: u32) -> u32 {
    var sum = value;
    for (var distance = 1u; distance < size; distance <<= 1u) {
        let other = subgroupShuffleUp(sum, distance);
        sum += select(0u, other, lane >= distance);
    }
    return sum;
}

// Makes the first `len` parts the sums of those before them, and the one after them the sum of all.
// Called by a whole workgroup, between barriers.
fn scan_parts(len: u32, subgroup: u32, lane: u32, size: u32) {
    if (subgroup != 0u) {
        return;
    }
    var before = 0u;
    for (var first = 0u; first < len; first += size) {
        let at = first + lane;
        var value = 0u;
        if (at < len) {
            value = parts[at];
        }
        let sum = sum_to(value, lane, size);
        if (at < len) {
            parts[at] = before + sum - value;
        }
        before += subgroupShuffle(sum, size - 1u);
    }
    if (lane == 0u) {
        parts[len] = before;
    }
}

fn less(a: vec2<u32>, b: vec2<u32>) -> bool {
    return (a.y < b.y) | ((a.y == b.y) & (a.x < b.x));
}

// `a` less `b`, without the bits that are too many.
fn difference_of(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}
