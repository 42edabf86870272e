// Values from (a, b) to (c, d), both included; the lower word first.
@group(0) @binding(3) var<storage, read> wide: array<vec2<u32>>;

fn keep(i: u32) -> bool {
    let value = wide[i];
    return !less(value, vec2(P.a, P.b)) & !less(vec2(P.c, P.d), value);
}
