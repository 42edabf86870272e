// Sums of products of rows: a is the numbers of a row, b that of rows, after which comes one of ones.
//
// Products have 64 bits and their sum 96, so that nothing is rounded.

@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

fn add_product(sum: vec3<u32>, x: u32, y: u32) -> vec3<u32> {
    let x0 = x & 0xffffu;
    let x1 = x >> 16u;
    let y0 = y & 0xffffu;
    let y1 = y >> 16u;
    let p00 = x0 * y0;
    let p01 = x0 * y1;
    // At most (2^16 - 1)^2 + 2^16 - 1, which fits, and so does what is added next.
    let middle = x1 * y0 + (p00 >> 16u);
    let upper = p01 + (middle & 0xffffu);
    let product_low = (upper << 16u) | (p00 & 0xffffu);
    let product_high = x1 * y1 + (middle >> 16u) + (upper >> 16u);
    let low = sum.x + product_low;
    let carry = select(0u, 1u, low < product_low);
    let second = sum.y + product_high;
    let next = second + carry;
    let carries = select(0u, 1u, second < product_high) + select(0u, 1u, next < carry);
    return vec3<u32>(low, next, sum.z + carries);
}

// An element for each pair; those below the diagonal are not computed.
@compute @workgroup_size(WG)
fn products(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = tile_of(workgroup, grid);
    if (tile >= P.tiles) {
        return;
    }
    let side = P.b + 1u;
    for (var j = 0u; j < ITEMS; j++) {
        let i = tile * TILE + j * WG + local;
        if (i >= P.n) {
            break;
        }
        let a = i / side;
        let b = i % side;
        if (b < a || a == P.b) {
            continue;
        }
        var sum = vec3<u32>(0u);
        for (var d = 0u; d < P.a; d++) {
            var other = 1u;
            if (b < P.b) {
                other = rows[b * P.a + d];
            }
            sum = add_product(sum, rows[a * P.a + d], other);
        }
        sums[3u * i] = sum.x;
        sums[3u * i + 1u] = sum.y;
        sums[3u * i + 2u] = sum.z;
    }
}
