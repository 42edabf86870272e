// Numbers made of columns: differences, and with bits turned round, so that an order of them is
// another one.

@group(0) @binding(1) var<storage, read> narrow: array<u32>;
@group(0) @binding(2) var<storage, read_write> narrow_out: array<u32>;
@group(0) @binding(3) var<storage, read> wide: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> minus: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> wide_out: array<vec2<u32>>;

// Kernels that begin with #each do something for each element, from `base` on; invocations behind the
// last element do that one again, with the same result.

// `wide` less `minus`, without the bits that are too many.
#each difference
    var a: array<vec2<u32>, ITEMS>;
    var b: array<vec2<u32>, ITEMS>;
#for J
        a[J] = wide[min(base + J * WG, P.n - 1u)];
        b[J] = minus[min(base + J * WG, P.n - 1u)];
#end
#for J
        wide_out[min(base + J * WG, P.n - 1u)] = difference_of(a[J], b[J]);
#end
}

// The bits of a are turned round.
#each turn_u32
    var value: array<u32, ITEMS>;
#for J
        value[J] = narrow[min(base + J * WG, P.n - 1u)];
#end
#for J
        narrow_out[min(base + J * WG, P.n - 1u)] = value[J] ^ P.a;
#end
}

// The bits of (a, b) are turned round.
#each turn_u64
    var value: array<vec2<u32>, ITEMS>;
#for J
        value[J] = wide[min(base + J * WG, P.n - 1u)];
#end
#for J
        wide_out[min(base + J * WG, P.n - 1u)] = value[J] ^ vec2(P.a, P.b);
#end
}
