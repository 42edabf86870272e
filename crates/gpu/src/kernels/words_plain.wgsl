// Words that a workgroup shares, in plain memory: a subgroup waits for its own accesses. Atomic
// operations on shared memory take most of the time of a sort otherwise.
var<workgroup> words: array<u32, WORDS>;

fn word_get(at: u32) -> u32 {
    return words[at];
}

fn word_set(at: u32, value: u32) {
    words[at] = value;
}

// Adds to a word that no other invocation of the subgroup has now, and gives what was there.
fn word_add(at: u32, value: u32) -> u32 {
    let old = words[at];
    words[at] = old + value;
    return old;
}

// What one invocation of the subgroup wrote before, others read after it.
fn word_sync() {
    subgroupBarrier();
}
