// Words that a workgroup shares, where a subgroup cannot wait for itself.
var<workgroup> words: array<atomic<u32>, WORDS>;

fn word_get(at: u32) -> u32 {
    return atomicLoad(&words[at]);
}

fn word_set(at: u32, value: u32) {
    atomicStore(&words[at], value);
}

// Adds to a word, and gives what was there.
fn word_add(at: u32, value: u32) -> u32 {
    return atomicAdd(&words[at], value);
}

fn word_sync() {}
