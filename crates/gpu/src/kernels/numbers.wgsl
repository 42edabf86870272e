// Numbers made of columns: differences, and with bits turned round, so that an order of them is
// another one.

@group(0) @binding(1) var<storage, read> narrow: array<u32>;
@group(0) @binding(2) var<storage, read_write> narrow_out: array<u32>;
@group(0) @binding(3) var<storage, read> wide: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> minus: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> wide_out: array<vec2<u32>>;

// `wide` less `minus`, without the bits that are too many.
@compute @workgroup_size(WG)
fn difference(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let base = tile_of(workgroup, grid) * TILE + local;
#for J
        let i = base + J * WG;
        if (i < P.n) {
            let a = wide[i];
            let b = minus[i];
            wide_out[i] = vec2(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
        }
#end
}

// The bits of a are turned round.
@compute @workgroup_size(WG)
fn turn_u32(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let base = tile_of(workgroup, grid) * TILE + local;
#for J
        let i = base + J * WG;
        if (i < P.n) {
            narrow_out[i] = narrow[i] ^ P.a;
        }
#end
}

// The bits of (a, b) are turned round.
@compute @workgroup_size(WG)
fn turn_u64(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let base = tile_of(workgroup, grid) * TILE + local;
#for J
        let i = base + J * WG;
        if (i < P.n) {
            wide_out[i] = wide[i] ^ vec2(P.a, P.b);
        }
#end
}
