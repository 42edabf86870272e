// Subgroups of at most 32 invocations: a set is one word.
alias Mask = u32;

fn mask_of(vote: bool) -> Mask {
    return subgroupBallot(vote).x;
}

fn mask_count(mask: Mask) -> u32 {
    return countOneBits(mask);
}

// How many invocations of the set come before `lane`.
fn mask_before(mask: Mask, lane: u32) -> u32 {
    return countOneBits(mask & ((1u << lane) - 1u));
}

fn mask_first(mask: Mask) -> u32 {
    return firstTrailingBit(mask);
}

// A set that is not empty, as one word: what the invocation `lane` of it wants to know.
fn mask_packed(mask: Mask, lane: u32) -> u32 {
    return mask;
}

// How many invocations of the set come before `lane`.
fn packed_before(packed: u32, lane: u32) -> u32 {
    return mask_before(packed, lane);
}

fn packed_count(packed: u32) -> u32 {
    return countOneBits(packed);
}

fn packed_first(packed: u32) -> u32 {
    return firstTrailingBit(packed);
}
