// Values with a sign from (a, b) to (c, d), both included; the lower word first, the sign turned round
// in the limits as in the values.
@group(0) @binding(3) var<storage, read> wide: array<vec2<u32>>;

fn keep(i: u32) -> bool {
    let value = wide[i] ^ vec2(0u, 0x80000000u);
    return !less(value, vec2(P.a, P.b)) & !less(vec2(P.c, P.d), value);
}
