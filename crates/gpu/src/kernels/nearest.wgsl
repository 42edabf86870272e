// The nearest centre of each point: a is the number of coordinates, b that of centres.
//
// Squares of differences have 64 bits and their sum 96, so that nothing is rounded.

@group(0) @binding(1) var<storage, read> points: array<u32>;
@group(0) @binding(2) var<storage, read> centres: array<u32>;
@group(0) @binding(3) var<storage, read_write> numbers: array<u32>;

// The sum and the square of a number.
fn add_square(sum: vec3<u32>, number: u32) -> vec3<u32> {
    let d0 = number & 0xffffu;
    let d1 = number >> 16u;
    let cross = d0 * d1;
    let s00 = d0 * d0;
    let square_low = s00 + (cross << 17u);
    let square_high = d1 * d1 + (cross >> 15u) + select(0u, 1u, square_low < s00);
    let low = sum.x + square_low;
    let carry = select(0u, 1u, low < square_low);
    let middle = sum.y + square_high;
    let next = middle + carry;
    let carries = select(0u, 1u, middle < square_high) + select(0u, 1u, next < carry);
    return vec3<u32>(low, next, sum.z + carries);
}

fn is_nearer(a: vec3<u32>, b: vec3<u32>) -> bool {
    return a.z < b.z || (a.z == b.z && less(a.xy, b.xy));
}

@compute @workgroup_size(WG)
fn nearest(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = tile_of(workgroup, grid);
    if (tile >= P.tiles) {
        return;
    }
    for (var j = 0u; j < ITEMS; j++) {
        let i = tile * TILE + j * WG + local;
        if (i >= P.n) {
            break;
        }
        var best = vec3<u32>(0xffffffffu);
        var number = 0u;
        for (var centre = 0u; centre < P.b; centre++) {
            var sum = vec3<u32>(0u);
            for (var d = 0u; d < P.a; d++) {
                let x = points[i * P.a + d];
                let y = centres[centre * P.a + d];
                sum = add_square(sum, max(x, y) - min(x, y));
            }
            if (is_nearer(sum, best)) {
                best = sum;
                number = centre;
            }
        }
        numbers[i] = number;
    }
}
