// Subgroups of up to 128 invocations: a set is four words.
alias Mask = vec4<u32>;

fn mask_of(vote: bool) -> Mask {
    return subgroupBallot(vote);
}

fn mask_count(mask: Mask) -> u32 {
    let counts = countOneBits(mask);
    return counts.x + counts.y + counts.z + counts.w;
}

// How many invocations of the set come before `lane`.
fn mask_before(mask: Mask, lane: u32) -> u32 {
    var count = 0u;
    for (var word = 0u; word < 4u; word++) {
        let first = word * 32u;
        if (lane >= first + 32u) {
            count += countOneBits(mask[word]);
        } else if (lane > first) {
            count += countOneBits(mask[word] & ((1u << (lane - first)) - 1u));
        }
    }
    return count;
}

fn mask_first(mask: Mask) -> u32 {
    for (var word = 0u; word < 4u; word++) {
        if (mask[word] != 0u) {
            return word * 32u + firstTrailingBit(mask[word]);
        }
    }
    return 0u;
}

// A set that is not empty, as one word: what the invocation `lane` of it wants to know.
fn mask_packed(mask: Mask, lane: u32) -> u32 {
    return mask_before(mask, lane) | (mask_count(mask) << 8u) | (mask_first(mask) << 16u);
}

// How many invocations of the set come before `lane`.
fn packed_before(packed: u32, lane: u32) -> u32 {
    return packed & 255u;
}

fn packed_count(packed: u32) -> u32 {
    return (packed >> 8u) & 255u;
}

fn packed_first(packed: u32) -> u32 {
    return packed >> 16u;
}
