// How often each digit occurs, subgroup by subgroup, where a subgroup cannot wait for itself.
var<workgroup> digits: array<atomic<u32>, 256 * WARPS>;

fn digit_get(at: u32) -> u32 {
    return atomicLoad(&digits[at]);
}

fn digit_set(at: u32, value: u32) {
    atomicStore(&digits[at], value);
}

// Adds to a place, and gives what was there.
fn digit_add(at: u32, value: u32) -> u32 {
    return atomicAdd(&digits[at], value);
}

fn digit_sync() {}
