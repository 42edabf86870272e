// One pass of a stable radix sort of 32-bit keys with 32-bit payloads, by the digit of DIGIT_BITS bits
// from bit a, all of which the key has. Each tile counts its digits (digits.wgsl), sums over digits and
// then tiles say where each goes (digit_sums.wgsl), and each tile is put in order in shared memory
// before it is written, so that writes are contiguous. The order within a subgroup follows Ashkiani et
// al., GPU Multisplit (PPoPP 2016).

// How often each digit occurs, subgroup by subgroup; then the tile in order.
const WORDS = max(RADIX * WARPS, TILE);

@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read> payloads: array<u32>;
@group(0) @binding(4) var<storage, read_write> keys_out: array<u32>;
@group(0) @binding(5) var<storage, read_write> payloads_out: array<u32>;

// Where each digit goes: first those of the tile in all, then less those before them in the tile.
var<workgroup> goal: array<u32, RADIX>;

// The invocations of the subgroup with the same digit.
fn peers_of(key: u32) -> Mask {
    var others = Mask(0u);
    for (var bit = 0u; bit < DIGIT_BITS; bit++) {
        // All bits of a word are that bit of the digit: of those where it is set, or of all others.
        let value = extractBits(i32(key), bit, 1u);
        others |= mask_of(value < 0) ^ Mask(bitcast<u32>(value));
    }
    return mask_of(true) & ~others;
}

// Keys stay turned, so that their lowest bits are the digit, until they are written.
fn turned(key: u32) -> u32 {
    return (key >> P.a) | (key << P.c);
}

fn turned_back(key: u32) -> u32 {
    return (key << P.a) | (key >> P.c);
}

// Keys and payloads to their places. With b = 1 the payload of an element is its number; c is 32 - a,
// or 0 with a = 0.
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
        word_set(i, 0u);
    }
    for (var digit = t; digit < RADIX; digit += WG) {
        goal[digit] = counts[tile * RADIX + digit] + counts[P.tiles * RADIX + digit];
    }
    // Each subgroup has contiguous elements. Those after the last one have the highest key, and are
    // the last ones with it.
    let base = tile * TILE + subgroup * size * ITEMS + lane;
    var key: array<u32, ITEMS>;
    var place: array<u32, ITEMS>;
#for J
        let i = base + J * size;
        key[J] = turned(select(0xffffffffu, keys[min(i, P.n - 1u)], i < P.n));
#end
    // Who has the same digit.
#for J
        place[J] = mask_packed(peers_of(key[J]), lane);
#end
    workgroupBarrier();
    // The place of each among those of its subgroup with the same digit.
#for J
        let digit = key[J] & (RADIX - 1u);
        let before = packed_before(place[J], lane);
        var sum = 0u;
        if (before == 0u) {
            sum = word_add(subgroup * RADIX + digit, packed_count(place[J]));
        }
        word_sync();
        place[J] = subgroupShuffle(sum, packed_first(place[J])) + before;
#end
    workgroupBarrier();
    // Where each digit begins in the tile.
    let rows = (RADIX + size - 1u) / size;
    for (var row = subgroup; row < rows; row += subgroups) {
        let digit = row * size + lane;
        var here = 0u;
        if (digit < RADIX) {
            for (var s = 0u; s < subgroups; s++) {
                here += word_get(s * RADIX + digit);
            }
        }
        add_digits(row, here, lane, size);
    }
    workgroupBarrier();
    scan_parts(rows, subgroup, lane, size);
    workgroupBarrier();
    // Where those of each subgroup begin.
    for (var digit = t; digit < RADIX; digit += WG) {
        var sum = first_place(digit, size);
        goal[digit] -= sum;
        for (var s = 0u; s < subgroups; s++) {
            let here = word_get(s * RADIX + digit);
            word_set(s * RADIX + digit, sum);
            sum += here;
        }
    }
    workgroupBarrier();
#for J
        place[J] += word_get(subgroup * RADIX + (key[J] & (RADIX - 1u)));
#end
    workgroupBarrier();
#for J
        word_set(place[J], key[J]);
#end
    // Payloads are on their way while keys are written.
    if (P.b == 1u) {
#for J
        key[J] = base + J * size;
#end
    } else {
#for J
        key[J] = payloads[min(base + J * size, P.n - 1u)];
#end
    }
    workgroupBarrier();
    let len = min(TILE, P.n - tile * TILE);
    var target_of: array<u32, ITEMS>;
#for J
        let i = J * WG + t;
        let value = word_get(i);
        target_of[J] = goal[value & (RADIX - 1u)] + i;
        if (i < len) {
            keys_out[target_of[J]] = turned_back(value);
        }
#end
    workgroupBarrier();
#for J
        word_set(place[J], key[J]);
#end
    workgroupBarrier();
#for J
        let i = J * WG + t;
        if (i < len) {
            payloads_out[target_of[J]] = word_get(i);
        }
#end
}
