// Sums of digits before each digit: after those before it of its row of a subgroup's size, and after the
// rows before. `scan_parts` over the rows comes between these two, with barriers around it.
var<workgroup> first: array<u32, RADIX>;

// A row: how often each of its digits occurs. Behind the last digit that is 0.
fn add_digits(row: u32, count: u32, lane: u32, size: u32) {
    let digit = row * size + lane;
    let sum = sum_to(count, lane, size);
    if (digit < RADIX) {
        first[digit] = sum - count;
    }
    if (lane == size - 1u) {
        parts[row] = sum;
    }
}

// How many there are of the digits before this one.
fn first_place(digit: u32, size: u32) -> u32 {
    return first[digit] + parts[digit / size];
}
