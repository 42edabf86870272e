// One pass of a stable radix sort of 32-bit keys with 32-bit payloads, by the eight bits from bit a.
// Each tile counts its digits (digits.wgsl), a prefix sum over digits and then tiles says where each
// goes, and each tile is put in order in shared memory before it is written, so that writes are
// contiguous. The order within a subgroup follows Ashkiani et al., GPU Multisplit (PPoPP 2016).

const RADIX = 256u;

@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read> payloads: array<u32>;
@group(0) @binding(4) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(5) var<storage, read_write> payloads_out: array<u32>;

var<workgroup> first: array<u32, RADIX>;
var<workgroup> stage: array<u32, TILE>;

// The invocations of the subgroup with the same digit.
fn peers_of(digit: u32) -> Mask {
    var peers = mask_of(true);
    for (var bit = 0u; bit < 8u; bit++) {
        let value = (digit >> bit) & 1u;
        // Of those where the bit is set, or of all others.
        peers &= mask_of(value == 1u) ^ Mask(value - 1u);
    }
    return peers;
}

// Keys and payloads to their places. With b = 1 the payload of an element is its number.
@compute @workgroup_size(WG)
fn scatter(
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
        digit_set(i, 0u);
    }
    // Each subgroup has contiguous elements. Those after the last one have the highest key, and are
    // the last ones with it.
    let base = tile * TILE + subgroup * size * ITEMS + lane;
    var key: array<u32, ITEMS>;
    var place: array<u32, ITEMS>;
#for J
        let i = base + J * size;
        key[J] = 0xffffffffu;
        if (i < P.n) {
            key[J] = keys[i];
        }
#end
    workgroupBarrier();
    // The place of each among those of its subgroup with the same digit.
#for J
        let digit = (key[J] >> P.a) & 255u;
        let peers = peers_of(digit);
        let before = mask_before(peers, lane);
        var sum = 0u;
        if (before == 0u) {
            sum = digit_add(subgroup * RADIX + digit, mask_count(peers));
        }
        digit_sync();
        place[J] = subgroupShuffle(sum, mask_first(peers)) + before;
#end
    workgroupBarrier();
    // Where those of each subgroup begin among those of the tile with the same digit.
    for (var digit = t; digit < RADIX; digit += WG) {
        var sum = 0u;
        for (var s = 0u; s < subgroups; s++) {
            let here = digit_get(s * RADIX + digit);
            digit_set(s * RADIX + digit, sum);
            sum += here;
        }
        first[digit] = sum;
    }
    workgroupBarrier();
    // Where each digit begins in the tile: after those before it of its row, and after the rows before.
    let rows = RADIX / size;
    for (var row = subgroup; row < rows; row += subgroups) {
        let here = first[row * size + lane];
        let sum = sum_to(here, lane, size);
        first[row * size + lane] = sum - here;
        if (lane == size - 1u) {
            parts[row] = sum;
        }
    }
    workgroupBarrier();
    scan_parts(rows, subgroup, lane, size);
    workgroupBarrier();
    for (var digit = t; digit < RADIX; digit += WG) {
        first[digit] += parts[digit / size];
    }
    workgroupBarrier();
#for J
        let digit = (key[J] >> P.a) & 255u;
        place[J] += first[digit] + digit_get(subgroup * RADIX + digit);
        stage[place[J]] = key[J];
#end
    workgroupBarrier();
    for (var digit = t; digit < RADIX; digit += WG) {
        first[digit] = counts[digit * P.tiles + tile] - first[digit];
    }
    workgroupBarrier();
    let len = min(TILE, P.n - tile * TILE);
    var target_of: array<u32, ITEMS>;
#for J
        let i = J * WG + t;
        let value = stage[i];
        target_of[J] = first[(value >> P.a) & 255u] + i;
        if (i < len) {
            keys_out[target_of[J]] = value;
        }
#end
    workgroupBarrier();
#for J
        let i = base + J * size;
        if (P.b == 1u) {
            stage[place[J]] = i;
        } else if (i < P.n) {
            stage[place[J]] = payloads[i];
        }
#end
    workgroupBarrier();
#for J
        let i = J * WG + t;
        if (i < len) {
            payloads_out[target_of[J]] = stage[i];
        }
#end
}
