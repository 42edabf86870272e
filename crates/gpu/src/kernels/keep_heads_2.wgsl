// Elements whose two keys are not those of the element before them.
@group(0) @binding(3) var<storage, read> minor: array<u32>;
@group(0) @binding(4) var<storage, read> major: array<u32>;

fn keep(i: u32) -> bool {
    let before = max(i, 1u) - 1u;
    return (i == 0u) | (minor[i] != minor[before]) | (major[i] != major[before]);
}
