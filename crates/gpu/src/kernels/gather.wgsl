// Elements by their numbers, differences of columns, halves of wide values, and which bits vary.

@group(0) @binding(1) var<storage, read> numbers: array<u32>;
@group(0) @binding(2) var<storage, read> narrow: array<u32>;
@group(0) @binding(3) var<storage, read_write> narrow_out: array<u32>;
@group(0) @binding(4) var<storage, read> wide: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> wide_out: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read> minus: array<vec2<u32>>;
@group(0) @binding(7) var<storage, read_write> bits: array<atomic<u32>>;

// Kernels that begin with #each do something for each element, from `base` on; invocations behind the
// last element do that one again, with the same result.

// a is the last row: whoever names a row behind it gets that one, and nothing out of bounds is read.
#each gather_u32
    var row: array<u32, ITEMS>;
    var value: array<u32, ITEMS>;
#for J
        row[J] = min(numbers[min(base + J * WG, P.n - 1u)], P.a);
#end
#for J
        value[J] = narrow[row[J]];
#end
#for J
        narrow_out[min(base + J * WG, P.n - 1u)] = value[J];
#end
}

#each gather_u64
    var row: array<u32, ITEMS>;
    var value: array<vec2<u32>, ITEMS>;
#for J
        row[J] = min(numbers[min(base + J * WG, P.n - 1u)], P.a);
#end
#for J
        value[J] = wide[row[J]];
#end
#for J
        wide_out[min(base + J * WG, P.n - 1u)] = value[J];
#end
}

// One word of each wide value, the lower one with a = 0; by number with b = 1, else in order.
#each word
    var row: array<u32, ITEMS>;
    var value: array<vec2<u32>, ITEMS>;
#for J
        row[J] = min(base + J * WG, P.n - 1u);
#end
    if (P.b == 1u) {
#for J
        row[J] = numbers[row[J]];
#end
    }
#for J
        value[J] = wide[row[J]];
#end
#for J
        narrow_out[min(base + J * WG, P.n - 1u)] = select(value[J].y, value[J].x, P.a == 0u);
#end
}

// Narrow values as wide ones.
#each widen
    var value: array<u32, ITEMS>;
#for J
        value[J] = narrow[min(base + J * WG, P.n - 1u)];
#end
#for J
        wide_out[min(base + J * WG, P.n - 1u)] = vec2(value[J], 0u);
#end
}

// `wide` less `minus`; 0 where that is greater.
#each subtract
    var a: array<vec2<u32>, ITEMS>;
    var b: array<vec2<u32>, ITEMS>;
#for J
        a[J] = wide[min(base + J * WG, P.n - 1u)];
        b[J] = minus[min(base + J * WG, P.n - 1u)];
#end
#for J
        wide_out[min(base + J * WG, P.n - 1u)] =
            select(difference_of(a[J], b[J]), vec2(0u), less(a[J], b[J]));
#end
}

// Bits in which wide values differ from the first one, and all bits that are set: lower and upper
// word of each.
@compute @workgroup_size(WG)
fn bits_u64(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
    let base = tile_of(workgroup, grid) * TILE + local;
    let one = wide[0];
    var differing = vec2(0u);
    var any = vec2(0u);
#for J
        let value = wide[min(base + J * WG, P.n - 1u)];
        differing |= value ^ one;
        any |= value;
#end
    differing = subgroupOr(differing);
    any = subgroupOr(any);
    if (subgroup_lane == 0u) {
        keep_bits(0u, differing.x);
        keep_bits(1u, differing.y);
        keep_bits(2u, any.x);
        keep_bits(3u, any.y);
    }
}

@compute @workgroup_size(WG)
fn bits_u32(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
) {
    let base = tile_of(workgroup, grid) * TILE + local;
    let one = narrow[0];
    var differing = 0u;
    var any = 0u;
#for J
        let value = narrow[min(base + J * WG, P.n - 1u)];
        differing |= value ^ one;
        any |= value;
#end
    differing = subgroupOr(differing);
    any = subgroupOr(any);
    if (subgroup_lane == 0u) {
        keep_bits(0u, differing);
        keep_bits(2u, any);
    }
}

// Most words have nothing new, and reading is cheaper than changing.
fn keep_bits(at: u32, word: u32) {
    if ((atomicLoad(&bits[at]) & word) != word) {
        atomicOr(&bits[at], word);
    }
}
