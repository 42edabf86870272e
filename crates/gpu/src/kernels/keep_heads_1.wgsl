// Elements whose key is not that of the element before them.
@group(0) @binding(3) var<storage, read> minor: array<u32>;

fn keep(i: u32) -> bool {
    return (i == 0u) | (minor[i] != minor[max(i, 1u) - 1u]);
}
