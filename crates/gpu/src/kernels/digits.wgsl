// How often each digit occurs in each tile: tile by tile, digit by digit. Digits are the DIGIT_BITS
// bits from bit a.

@group(0) @binding(1) var<storage, read_write> counts: array<u32>;
@group(0) @binding(2) var<storage, read> keys: array<u32>;

var<workgroup> digits: array<atomic<u32>, RADIX * WARPS>;

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
    let t = subgroup * size + lane;
    for (var i = t; i < RADIX * subgroups; i += WG) {
        atomicStore(&digits[i], 0u);
    }
    let base = tile * TILE + t;
    var digit: array<u32, ITEMS>;
    var amount: array<u32, ITEMS>;
#for J
        digit[J] = (keys[min(base + J * WG, P.n - 1u)] >> P.a) & (RADIX - 1u);
#end
    // Runs of one digit are common, and would all be added to one place, one after the other: the first
    // invocation adds all with its digit.
#for J
        let is_there = base + J * WG < P.n;
        let is_same = is_there & (digit[J] == subgroupBroadcastFirst(digit[J]));
        let same = mask_count(mask_of(is_same));
        amount[J] = select(select(0u, 1u, is_there & !is_same), same, lane == 0u);
#end
    workgroupBarrier();
#for J
        if (amount[J] != 0u) {
            atomicAdd(&digits[subgroup * RADIX + digit[J]], amount[J]);
        }
#end
    workgroupBarrier();
    for (var value = t; value < RADIX; value += WG) {
        var sum = 0u;
        for (var s = 0u; s < subgroups; s++) {
            sum += atomicLoad(&digits[s * RADIX + value]);
        }
        counts[tile * RADIX + value] = sum;
    }
}
