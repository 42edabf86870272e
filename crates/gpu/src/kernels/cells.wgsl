// Which bins events touch, and the time that they have in each.
//
//   a      the length of a bin as a power of two
//   b, c   the number of the first bin
//   d      number of bins
//   e      number of tracks; other events are in no cell
//   f      number of events

@group(0) @binding(1) var<storage, read> locations: array<u32>;
@group(0) @binding(2) var<storage, read> contexts: array<u32>;
@group(0) @binding(3) var<storage, read> starts: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> ends: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> before: array<u32>;
@group(0) @binding(6) var<storage, read_write> cells_out: array<u32>;
@group(0) @binding(7) var<storage, read_write> contexts_out: array<u32>;
@group(0) @binding(8) var<storage, read_write> times_out: array<vec2<u32>>;

fn plus(a: vec2<u32>, b: u32) -> vec2<u32> {
    let low = a.x + b;
    return vec2<u32>(low, a.y + select(0u, 1u, low < b));
}

fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
    return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

// The number of the bin of a moment.
fn bin_of(at: vec2<u32>) -> vec2<u32> {
    if (P.a == 0u) {
        return at;
    }
    if (P.a >= 32u) {
        return vec2<u32>(at.y >> (P.a - 32u), 0u);
    }
    return vec2<u32>((at.x >> P.a) | (at.y << (32u - P.a)), at.y >> P.a);
}

// When a bin begins.
fn edge_of(bin: vec2<u32>) -> vec2<u32> {
    if (P.a == 0u) {
        return bin;
    }
    if (P.a >= 32u) {
        return vec2<u32>(0u, bin.x << (P.a - 32u));
    }
    return vec2<u32>(bin.x << P.a, (bin.y << P.a) | (bin.x >> (32u - P.a)));
}

// The first bin of the picture that an event touches, and the first one after it that it does not.
fn bins_of(i: u32) -> vec2<u32> {
    let start = starts[i];
    let end = ends[i];
    if (locations[i] >= P.e || !less(start, end)) {
        return vec2<u32>(0u);
    }
    let first = vec2<u32>(P.b, P.c);
    let last = bin_of(minus(end, vec2<u32>(1u, 0u)));
    if (less(last, first)) {
        return vec2<u32>(0u);
    }
    var low = vec2<u32>(0u);
    if (less(first, bin_of(start))) {
        low = minus(bin_of(start), first);
    }
    if (low.y != 0u || low.x >= P.d) {
        return vec2<u32>(0u);
    }
    let high = minus(last, first);
    return vec2<u32>(low.x, select(high.x + 1u, P.d, high.y != 0u || high.x >= P.d));
}

// How many bins each event touches.
@compute @workgroup_size(WG)
fn touched(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = tile_of(workgroup, grid);
    if (tile >= P.tiles) {
        return;
    }
    for (var j = 0u; j < ITEMS; j++) {
        let i = tile * TILE + j * WG + local;
        if (i >= P.n) {
            break;
        }
        let bins = bins_of(i);
        before[i] = bins.y - bins.x;
    }
}

// A row for each bin of each event.
@compute @workgroup_size(WG)
fn spread(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let tile = tile_of(workgroup, grid);
    if (tile >= P.tiles) {
        return;
    }
    for (var j = 0u; j < ITEMS; j++) {
        let row = tile * TILE + j * WG + local;
        if (row >= P.n) {
            break;
        }
        // The last event with no more rows before it.
        var event = 0u;
        var high = P.f;
        while (event + 1u < high) {
            let middle = event + (high - event) / 2u;
            if (before[middle] <= row) {
                event = middle;
            } else {
                high = middle;
            }
        }
        let bin = bins_of(event).x + row - before[event];
        let number = plus(vec2<u32>(P.b, P.c), bin);
        var begin = starts[event];
        if (any(bin_of(begin) != number)) {
            begin = edge_of(number);
        }
        var stop = ends[event];
        if (any(bin_of(minus(stop, vec2<u32>(1u, 0u))) != number)) {
            stop = edge_of(plus(number, 1u));
        }
        cells_out[row] = locations[event] * P.d + bin;
        contexts_out[row] = contexts[event];
        times_out[row] = minus(stop, begin);
    }
}
