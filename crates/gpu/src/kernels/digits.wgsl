// How often each digit of eight bits from bit a occurs in each tile: digit by digit, tile by tile.

const RADIX = 256u;

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
    var key: array<u32, ITEMS>;
    let base = tile * TILE + t;
#for J
        key[J] = keys[min(base + J * WG, P.n - 1u)];
#end
    workgroupBarrier();
#for J
        let digit = (key[J] >> P.a) & 255u;
        let is_there = base + J * WG < P.n;
        // Runs of one digit are common, and would all be added to one place, one after the other.
        if (subgroupAll(is_there && digit == subgroupBroadcastFirst(digit))) {
            if (lane == 0u) {
                atomicAdd(&digits[subgroup * RADIX + digit], size);
            }
        } else if (is_there) {
            atomicAdd(&digits[subgroup * RADIX + digit], 1u);
        }
#end
    workgroupBarrier();
    for (var digit = t; digit < RADIX; digit += WG) {
        var sum = 0u;
        for (var s = 0u; s < subgroups; s++) {
            sum += atomicLoad(&digits[s * RADIX + digit]);
        }
        counts[digit * P.tiles + tile] = sum;
    }
}
