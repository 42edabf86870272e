// How often each digit occurs, subgroup by subgroup, in plain memory: a subgroup waits for its own
// accesses. Atomic operations on shared memory take most of the time of a sort otherwise.
var<workgroup> digits: array<u32, 256 * WARPS>;

fn digit_get(at: u32) -> u32 {
    return digits[at];
}

fn digit_set(at: u32, value: u32) {
    digits[at] = value;
}

// Adds to a place that no other invocation of the subgroup has now, and gives what was there.
fn digit_add(at: u32, value: u32) -> u32 {
    let old = digits[at];
    digits[at] = old + value;
    return old;
}

// What one invocation of the subgroup wrote before, others read after it.
fn digit_sync() {
    subgroupBarrier();
}
