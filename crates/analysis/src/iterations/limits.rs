//! What was not examined, or is not listed, as sentences for users.

/// The best of a list that is sorted from the best on, and what is not listed.
pub(super) fn keep_best<T>(list: &mut Vec<T>, most: usize) -> Option<String> {
    let more = list.len().checked_sub(most).filter(|&more| more > 0)?;
    list.truncate(most);
    let s = if more == 1 { "" } else { "s" };
    Some(format!("{more} more possible period{s}, with lower scores, not listed."))
}

/// How many of `num` locations are examined where every so-manieth is, so that there are at most
/// `most`.
pub(super) fn num_spread(num: usize, most: usize) -> usize {
    num.div_ceil(step(num, most))
}

/// The distance of examined locations in the list.
pub(super) fn step(num: usize, most: usize) -> usize {
    num.div_ceil(most).max(1)
}

/// That `what` was detected on some locations only, spread evenly; `None` where all were examined.
pub(super) fn spread(what: &str, num: usize, most: usize) -> Option<String> {
    let examined = num_spread(num, most);
    (examined < num)
        .then(|| format!("{what} on {examined} of {num} locations, spread evenly over the list."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_listed_is_counted() {
        let mut list: Vec<u32> = (0..7).collect();
        let note = keep_best(&mut list, 4).unwrap();
        assert_eq!(note, "3 more possible periods, with lower scores, not listed.");
        assert_eq!(list, [0, 1, 2, 3]);
        assert_eq!(keep_best(&mut list, 4), None);
        let note = keep_best(&mut list, 3).unwrap();
        assert!(note.starts_with("1 more possible period, "), "{note}");
    }

    #[test]
    fn locations_that_were_not_examined_are_counted() {
        for (num, most, examined) in [(7, 8, 7), (8, 8, 8), (9, 8, 5), (16, 8, 8), (256, 256, 256)]
        {
            assert_eq!((0..num).step_by(step(num, most)).count(), examined, "{num}");
            assert_eq!(spread("x", num, most).is_some(), examined < num, "{num}");
        }
        let note = spread("The order was examined", 257, 256).unwrap();
        let wanted = "The order was examined on 129 of 257 locations, spread evenly over the list.";
        assert_eq!(note, wanted);
        assert_eq!(spread("x", 0, 8), None);
    }
}
