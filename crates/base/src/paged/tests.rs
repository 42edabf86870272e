use std::sync::{Arc, Mutex};

use super::{Numbers, Paged, Paging, ROWS, Scratch, ScratchError, Sorter};

/// Room in memory that is as full as `most` says, or that is lost.
#[derive(Default)]
struct Room {
    bytes: Mutex<Vec<u8>>,
    most: Option<usize>,
    is_lost: Mutex<bool>,
}

impl Scratch for Room {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), ScratchError> {
        let mut own = self.bytes.lock().unwrap();
        let end = usize::try_from(offset).unwrap() + bytes.len();
        if self.most.is_some_and(|most| end > most) {
            return Err(ScratchError("no space left".to_owned()));
        }
        if own.len() < end {
            own.resize(end, 0);
        }
        own[end - bytes.len()..end].copy_from_slice(bytes);
        Ok(())
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ScratchError> {
        if *self.is_lost.lock().unwrap() {
            return Err(ScratchError("it is gone".to_owned()));
        }
        let start = usize::try_from(offset).unwrap();
        buffer.copy_from_slice(&self.bytes.lock().unwrap()[start..start + buffer.len()]);
        Ok(())
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

fn pagings() -> [Paging; 3] {
    [
        Paging::in_memory(),
        Paging::new(0, Some(Arc::new(Room::default()))),
        Paging::new(60_000, Some(Arc::new(Room::default()))),
    ]
}

#[test]
fn rows_are_those_of_a_plain_list_whatever_is_done_to_them() {
    for paging in pagings() {
        let mut random = Random(5);
        let mut plain: Vec<[u64; 3]> = Vec::new();
        let mut paged = Paged::<3>::new(&paging);
        for number in 0..40 * ROWS as u64 + 77 {
            let row = [number, number / 3 * 1000 + random.below(900) as u64, u64::MAX - number % 5];
            plain.push(row);
            paged.push(row);
            if number % 7 == 0 {
                // Most of them nearby, some of them anywhere.
                let back = if number % 91 == 0 { plain.len() } else { plain.len().min(5000) };
                let at = plain.len() - 1 - random.below(back);
                plain[at][2] = number;
                paged.update(at, |row| row[2] = number);
            }
        }
        assert_eq!(paged.len(), plain.len());
        for (at, &row) in plain.iter().enumerate() {
            assert_eq!(paged.get(at), row, "row {at}");
        }
        for _ in 0..50_000 {
            let at = random.below(plain.len());
            assert_eq!((paged.at(at), paged.cell(at, 1)), (plain[at], plain[at][1]));
        }
        assert_eq!((paged.get(plain.len()), paged.cell(0, 3)), ([0; 3], 0));
        for wanted in [0, 1, 1023, 1024, 1025, 100_000, u64::MAX] {
            let found = paged.partition_point(|row| row[0] < wanted);
            assert_eq!(found, plain.partition_point(|row| row[0] < wanted));
        }
        let copy = paged.clone();
        assert_eq!(copy.get(70_000), plain[70_000]);
        drop((paged, copy));
        assert_eq!(paging.kept_bytes(), 0);
        paging.check().unwrap();
    }
}

#[test]
fn numbers_that_are_filled_are_set_one_by_one() {
    for paging in pagings() {
        let mut numbers = Numbers::<u32>::filled(&paging, 100 * ROWS + 5, u32::MAX);
        assert_eq!((numbers.at(7 * ROWS), numbers.get(100 * ROWS + 5)), (u32::MAX, None));
        assert_eq!(paging.kept_bytes() + paging.scratch_bytes(), 0, "nothing was set yet");
        for at in (0..numbers.len()).step_by(ROWS) {
            numbers.set(at, 9);
            numbers.set(at + 3, 8);
        }
        let sum: u64 = numbers.iter().map(|n| if n == u32::MAX { 0 } else { n.into() }).sum();
        assert_eq!(sum, 101 * 17);
        assert_eq!(numbers.get(ROWS + 1), Some(u32::MAX));
    }
}

#[test]
fn packed_rows_take_few_bytes_and_leave_memory_beyond_the_budget() {
    let fill = |paging: &Paging| {
        let mut rows = Paged::<2>::new(paging);
        for number in 0..400 * ROWS as u64 {
            rows.push([number, number * 100 + number % 50]);
        }
        rows
    };
    let memory = Paging::in_memory();
    let rows = fill(&memory);
    let per_row = memory.kept_bytes() as f64 / rows.len() as f64;
    assert!(per_row < 1.2, "{per_row} bytes a row");
    let some = Paging::new(100_000, Some(Arc::new(Room::default())));
    let rows = fill(&some);
    assert!(some.kept_bytes() <= 100_000 && some.scratch_bytes() > 1_000_000, "{some:?}");
    assert_eq!(rows.get(123), [123, 12_323]);
}

#[test]
fn room_that_is_full_or_lost_is_said_and_nothing_is_lost_that_memory_has() {
    let full = Paging::new(0, Some(Arc::new(Room { most: Some(50_000), ..Room::default() })));
    let mut numbers = Numbers::<u64>::new(&full);
    (0..100 * ROWS as u64).for_each(|number| numbers.push(number * number));
    assert_eq!(full.check(), Err(ScratchError("no space left".to_owned())));
    assert!((0..).zip(numbers.iter()).all(|(at, number): (u64, u64)| number == at * at));

    let room = Arc::new(Room::default());
    let lost = Paging::new(0, Some(Arc::clone(&room) as Arc<dyn Scratch>));
    let mut numbers = Numbers::<u64>::new(&lost);
    (0..100 * ROWS as u64).for_each(|number| numbers.push(number | 1));
    lost.check().unwrap();
    *room.is_lost.lock().unwrap() = true;
    assert_eq!(numbers.get(5), Some(0));
    assert_eq!(lost.check(), Err(ScratchError("it is gone".to_owned())));
}

#[test]
fn rows_in_any_order_come_out_sorted() {
    for paging in pagings() {
        for count in [0, 1, 1000, 300_000] {
            let mut random = Random(count as u64);
            let mut sorter = Sorter::<3>::new(&paging);
            let mut plain = Vec::new();
            for _ in 0..count {
                let row =
                    [random.below(1000) as u64, random.below(50) as u64, random.below(9) as u64];
                plain.push(row);
                sorter.push(row);
            }
            plain.sort_unstable();
            assert!(sorter.finish().eq(plain));
            assert_eq!(paging.kept_bytes(), 0);
        }
    }
}
