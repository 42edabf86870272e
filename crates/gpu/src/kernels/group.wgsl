// Sum, sum of squares, minimum and maximum of runs of equal keys. `keep` says where a run begins.
//
// Nothing is rounded: values and their squares are added as digits of 16 bits, of which a tile has too
// few to overflow 32, and then to words of 32 bits with their carries.
//
//   a = 0: all values have an upper word of 0; extremes of the lower words.
//   a = 1: extremes of the upper words.
//   a = 2: extremes of the lower words, among the values with the extreme upper word; no sums.
//
// Of c runs from run b on, which `totals` has room for; their rows are in
// the tiles from d to e, that one excluded.

@group(0) @binding(1) var<storage, read> runs_before: array<u32>;
@group(0) @binding(2) var<storage, read_write> totals: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read> numbers: array<u32>;
@group(0) @binding(6) var<storage, read> values: array<vec2<u32>>;

// Words of a run in `totals`: three of the sum, five of the sum of squares, then extremes. Minima are
// kept as maxima of the complement, so that all begin with 0.
const WORDS = 12u;
const SQUARES = 3u;
const LEAST = 8u;
const GREATEST = 9u;
const LEAST_LOW = 10u;
const GREATEST_LOW = 11u;

struct Sums {
    sum: array<u32, 4>,
    squares: array<u32, 8>,
    least: u32,
    greatest: u32,
}

fn add_value(sums: ptr<function, Sums>, value: vec2<u32>) {
    let d0 = value.x & 0xffffu;
    let d1 = value.x >> 16u;
    (*sums).sum[0] += d0;
    (*sums).sum[1] += d1;
    let s00 = d0 * d0;
    let s01 = d0 * d1;
    let s11 = d1 * d1;
    (*sums).squares[0] += s00 & 0xffffu;
    (*sums).squares[1] += (s00 >> 16u) + 2u * (s01 & 0xffffu);
    (*sums).squares[2] += 2u * (s01 >> 16u) + (s11 & 0xffffu);
    (*sums).squares[3] += s11 >> 16u;
    if (P.a == 0u) {
        (*sums).least = max((*sums).least, ~value.x);
        (*sums).greatest = max((*sums).greatest, value.x);
        return;
    }
    let d2 = value.y & 0xffffu;
    let d3 = value.y >> 16u;
    (*sums).sum[2] += d2;
    (*sums).sum[3] += d3;
    let s02 = d0 * d2;
    let s03 = d0 * d3;
    let s12 = d1 * d2;
    let s13 = d1 * d3;
    let s22 = d2 * d2;
    let s23 = d2 * d3;
    let s33 = d3 * d3;
    (*sums).squares[2] += 2u * (s02 & 0xffffu);
    (*sums).squares[3] += 2u * ((s02 >> 16u) + (s03 & 0xffffu) + (s12 & 0xffffu));
    (*sums).squares[4] += 2u * ((s03 >> 16u) + (s12 >> 16u) + (s13 & 0xffffu)) + (s22 & 0xffffu);
    (*sums).squares[5] += 2u * ((s13 >> 16u) + (s23 & 0xffffu)) + (s22 >> 16u);
    (*sums).squares[6] += 2u * (s23 >> 16u) + (s33 & 0xffffu);
    (*sums).squares[7] += s33 >> 16u;
    (*sums).least = max((*sums).least, ~value.y);
    (*sums).greatest = max((*sums).greatest, value.y);
}

// Adds a word to those of a total, with its carry.
fn add_word(first: u32, end: u32, word: u32) {
    var carry = word;
    for (var at = first; at < end && carry != 0u; at++) {
        let old = atomicAdd(&totals[at], carry);
        carry = select(0u, 1u, old + carry < old);
    }
}

fn flush(number: u32, sums: ptr<function, Sums>) {
    let run = number - P.b;
    if (run >= P.c) {
        return;
    }
    let at = run * WORDS;
    var carry = 0u;
    var low = 0u;
    for (var i = 0u; i < 4u; i++) {
        // At most 2^28 and 2^16.
        carry += (*sums).sum[i];
        if (i % 2u == 0u) {
            low = carry & 0xffffu;
        } else {
            add_word(at + i / 2u, at + SQUARES, low | (carry << 16u));
        }
        carry >>= 16u;
    }
    add_word(at + 2u, at + SQUARES, carry);
    carry = 0u;
    for (var i = 0u; i < 8u; i++) {
        // At most 2^31 and 2^16.
        carry += (*sums).squares[i];
        if (i % 2u == 0u) {
            low = carry & 0xffffu;
        } else {
            add_word(at + SQUARES + i / 2u, at + LEAST, low | (carry << 16u));
        }
        carry >>= 16u;
    }
    add_word(at + SQUARES + 4u, at + LEAST, carry);
    atomicMax(&totals[at + LEAST], (*sums).least);
    atomicMax(&totals[at + GREATEST], (*sums).greatest);
}

fn low_extremes(number: u32, value: vec2<u32>) {
    let run = number - P.b;
    if (run >= P.c) {
        return;
    }
    let at = run * WORDS;
    if (~value.y == atomicLoad(&totals[at + LEAST])) {
        atomicMax(&totals[at + LEAST_LOW], ~value.x);
    }
    if (value.y == atomicLoad(&totals[at + GREATEST])) {
        atomicMax(&totals[at + GREATEST_LOW], value.x);
    }
}

@compute @workgroup_size(WG)
fn total(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_size) size: u32,
) {
    let tile = P.d + tile_of(workgroup, grid);
    if (tile >= P.e) {
        return;
    }
    let t = subgroup * size + lane;
    let first = tile * TILE;
    // Runs that begin among the contiguous elements of this invocation.
    var heads = 0u;
#for J
        let i = first + t * ITEMS + J;
        heads |= select(0u, 1u << J, keep(min(i, P.n - 1u)) & (i < P.n));
#end
    let begun = countOneBits(heads);
    let sum = sum_to(begun, lane, size);
    let before = sum - begun;
    if (lane == size - 1u) {
        parts[subgroup] = sum;
    }
    workgroupBarrier();
    scan_parts(subgroups, subgroup, lane, size);
    workgroupBarrier();
    // Numbers of runs are from 1 here, as the first element begins one.
    let earlier = runs_before[tile];
    let begun_in_tile = parts[subgroups];
    let is_one_run = begun_in_tile == 0u || (begun_in_tile == 1u && keep(first));
    var sums: Sums;
    if (is_one_run && P.a != 2u) {
        let run = earlier + begun_in_tile - 1u;
        if (first + TILE <= P.n) {
            var row: array<u32, ITEMS>;
            var value: array<vec2<u32>, ITEMS>;
#for J
            row[J] = numbers[first + J * WG + t];
#end
#for J
            value[J] = values[row[J]];
#end
#for J
            add_value(&sums, value[J]);
#end
        } else {
            for (var i = first + t; i < P.n; i += WG) {
                add_value(&sums, values[numbers[i]]);
            }
        }
        total_of_tile(&sums, subgroup, subgroups, lane);
        if (subgroup == 0u && lane == 0u) {
            flush(run, &sums);
        }
        return;
    }
    var run = earlier + parts[subgroup] + before;
    var has = false;
    for (var j = 0u; j < ITEMS; j++) {
        let i = first + t * ITEMS + j;
        if (i >= P.n) {
            break;
        }
        if (((heads >> j) & 1u) == 1u) {
            if (has) {
                flush(run - 1u, &sums);
                sums = Sums();
                has = false;
            }
            run += 1u;
        }
        let value = values[numbers[i]];
        if (P.a == 2u) {
            low_extremes(run - 1u, value);
        } else {
            add_value(&sums, value);
            has = true;
        }
    }
    if (has) {
        flush(run - 1u, &sums);
    }
}

var<workgroup> halves: array<array<u32, 14>, WARPS>;

// The sums of a whole workgroup, to its first invocation.
fn total_of_tile(
    sums: ptr<function, Sums>,
    subgroup: u32,
    subgroups: u32,
    lane: u32,
) {
    var all: array<u32, 14>;
    for (var i = 0u; i < 4u; i++) {
        all[i] = subgroupAdd((*sums).sum[i]);
    }
    for (var i = 0u; i < 8u; i++) {
        all[4u + i] = subgroupAdd((*sums).squares[i]);
    }
    all[12] = subgroupMax((*sums).least);
    all[13] = subgroupMax((*sums).greatest);
    if (lane == 0u) {
        halves[subgroup] = all;
    }
    workgroupBarrier();
    if (subgroup != 0u || lane != 0u) {
        return;
    }
    for (var s = 1u; s < subgroups; s++) {
        for (var i = 0u; i < 12u; i++) {
            all[i] += halves[s][i];
        }
        all[12] = max(all[12], halves[s][12]);
        all[13] = max(all[13], halves[s][13]);
    }
    for (var i = 0u; i < 4u; i++) {
        (*sums).sum[i] = all[i];
    }
    for (var i = 0u; i < 8u; i++) {
        (*sums).squares[i] = all[4u + i];
    }
    (*sums).least = all[12];
    (*sums).greatest = all[13];
}
