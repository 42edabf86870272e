// Values from a to c, both included.
@group(0) @binding(3) var<storage, read> narrow: array<u32>;

fn keep(i: u32) -> bool {
    let value = narrow[i];
    return (value >= P.a) & (value <= P.c);
}
