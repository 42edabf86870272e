//! Several clocks as one: what is added to the times of each input of a workflow.

use crate::events::{ConversionError, Latency, Survey};

/// How the clocks of the traces of a workflow are brought together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Alignment {
    /// By the time of day where all traces say it, else by their starts.
    #[default]
    Auto,
    /// By the time of day.
    TimeOfDay,
    /// All begin at the same moment.
    Starts,
    /// Times are taken as they are: it was one clock.
    None,
    /// As [`Alignment::Auto`], then so that messages take equally long in both directions.
    Messages,
}

/// What brings the clocks together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Aligned {
    /// Nanoseconds to add, by input.
    pub(super) shifts: Vec<i64>,
    /// Nanoseconds from the start of 1970 to the zero of the common clock, where that is known.
    pub(super) epoch_offset_nanos: Option<i128>,
    /// What people should know about it.
    pub(super) remarks: Vec<Remark>,
}

/// How a component came to its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remark {
    pub(super) component: String,
    /// Whether it rests on something that may be wrong.
    pub(super) is_guess: bool,
    pub(super) message: String,
}

/// Times beyond this count from the start of 1970, whatever their source says: it is September
/// 2001 there, and 31 years of any other clock.
const SINCE_1970_NANOS: u64 = 1_000_000_000_000_000_000;

/// Finds what to add to the times of each input. `offsets` come on top.
pub(super) fn align(
    survey: &Survey,
    names: &[&str],
    offsets: &[i64],
    alignment: Alignment,
) -> Result<Aligned, ConversionError> {
    let firsts: Vec<i128> =
        survey.inputs.iter().map(|input| input.span.map_or(0, |span| i128::from(span.0))).collect();
    let epochs: Vec<Option<i128>> = survey
        .inputs
        .iter()
        .map(|input| match input.span {
            Some((first, _)) if first >= SINCE_1970_NANOS => Some(0),
            _ => input.epoch_offset_nanos,
        })
        .collect();
    let missing = names.iter().zip(&epochs).find(|(_, epoch)| epoch.is_none());
    let mut out = Aligned::default();
    let mut shifts: Vec<i128> = match (alignment, missing) {
        (Alignment::None, _) => vec![0; names.len()],
        (Alignment::TimeOfDay, Some((name, _))) => {
            return Err(ConversionError::NoTimeOfDay {
                component: (*name).to_owned(),
                hint: "align by starts or messages, or give the offset of each component",
            });
        }
        (Alignment::Starts, _) | (_, Some(_)) => {
            if let (false, Some((name, _))) = (alignment == Alignment::Starts, missing) {
                let message = format!(
                    "{name} says nothing about the time of day: components begin at the same \
                     moment, unless an offset or messages tell better"
                );
                out.remark(name, true, message);
            }
            firsts.iter().map(|first| -first).collect()
        }
        _ => {
            let earliest = epochs.iter().flatten().copied().min().unwrap_or(0);
            out.epoch_offset_nanos = Some(earliest);
            epochs.iter().map(|epoch| epoch.unwrap_or(earliest) - earliest).collect()
        }
    };
    if alignment == Alignment::Messages {
        by_messages(survey, names, &mut shifts, &mut out);
    }
    for (shift, offset) in shifts.iter_mut().zip(offsets) {
        *shift += i128::from(*offset);
    }
    let earliest = firsts.iter().zip(&shifts).map(|(first, shift)| first + shift).min();
    // No time lies before the zero of a clock.
    let later = -earliest.unwrap_or(0).min(0);
    out.epoch_offset_nanos = out.epoch_offset_nanos.map(|epoch| epoch - later);
    let shift = |shift: &i128| i64::try_from(shift + later).unwrap_or(i64::MAX);
    out.shifts = shifts.iter().map(shift).collect();
    for (name, shift) in names.iter().zip(&out.shifts).filter(|(_, shift)| **shift != 0) {
        let message = format!("the times of {name} are those of its trace {}", signed(*shift));
        out.remarks.push(Remark { component: (*name).into(), is_guess: false, message });
    }
    Ok(out)
}

impl Aligned {
    fn remark(&mut self, name: &str, is_guess: bool, message: String) {
        self.remarks.push(Remark { component: name.to_owned(), is_guess, message });
    }
}

/// Moves inputs so that the fastest messages between two of them take equally long both ways, which
/// is the best that can be said where both ways are equally long (as NTP does, RFC 5905, section 8).
/// Where messages go one way only, the fastest one takes no time.
fn by_messages(survey: &Survey, names: &[&str], shifts: &mut [i128], out: &mut Aligned) {
    let mut is_placed = vec![false; names.len()];
    if let Some(first) = is_placed.first_mut() {
        *first = true;
    }
    let latency = |from: usize, to: usize| survey.latencies.get(&(from, to)).copied();
    let name = |at: usize| names.get(at).copied().unwrap_or_default();
    loop {
        // The next one to place: with messages both ways if there is one, and most of them.
        let mut best: Option<((bool, u64), usize, usize)> = None;
        for (from, _) in is_placed.iter().enumerate().filter(|(_, placed)| **placed) {
            for (to, _) in is_placed.iter().enumerate().filter(|(_, placed)| !**placed) {
                let (there, back) = (latency(from, to), latency(to, from));
                let number = |latency: Option<Latency>| latency.map_or(0, |l| l.messages);
                let weight = (there.is_some() && back.is_some(), number(there) + number(back));
                if weight.1 > 0 && best.is_none_or(|(known, ..)| weight > known) {
                    best = Some((weight, from, to));
                }
            }
        }
        let Some((_, from, to)) = best else { break };
        let at = |at: usize, shifts: &[i128]| shifts.get(at).copied().unwrap_or(0);
        let apart = at(to, shifts) - at(from, shifts);
        let there = latency(from, to).map(|l| (l.messages, i128::from(l.least_nanos) + apart));
        let back = latency(to, from).map(|l| (l.messages, i128::from(l.least_nanos) - apart));
        let later = match (there, back) {
            (Some((there_messages, there)), Some((back_messages, back))) => {
                let later = (back - there).div_euclid(2);
                let message = format!(
                    "{} is moved by {} so that the fastest of {there_messages} messages from {} \
                     and of {back_messages} to it take {} each",
                    name(to),
                    seconds(later),
                    name(from),
                    seconds(there + later),
                );
                out.remark(name(to), there + later < 0, message);
                later
            }
            (there, back) => {
                let (messages, later) = match (there, back) {
                    (Some((messages, nanos)), _) => (messages, -nanos),
                    (_, Some((messages, nanos))) => (messages, nanos),
                    _ => (0, 0),
                };
                let message = format!(
                    "{} is moved by {} so that the fastest of {messages} messages between it and \
                     {} takes no time; messages go one way only, so that it may be off by what they \
                     really take",
                    name(to),
                    seconds(later),
                    name(from),
                );
                out.remark(name(to), true, message);
                later
            }
        };
        if let Some(shift) = shifts.get_mut(to) {
            *shift += later;
        }
        if let Some(placed) = is_placed.get_mut(to) {
            *placed = true;
        }
    }
    for (at, _) in is_placed.iter().enumerate().filter(|(_, placed)| !**placed) {
        let message = format!(
            "no message between {} and the others is matched: they tell nothing about its clock",
            name(at)
        );
        out.remark(name(at), true, message);
    }
}

/// A time in seconds, to the nanosecond where that matters.
fn seconds(nanos: i128) -> String {
    let text = format!("{:.9}", nanos as f64 / 1e9);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{text} s")
}

fn signed(nanos: i64) -> String {
    let sign = if nanos < 0 { "less" } else { "plus" };
    format!("{sign} {}", seconds(i128::from(nanos.unsigned_abs())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::InputSurvey;

    fn survey(inputs: &[(u64, Option<i128>)], latencies: &[(usize, usize, i64)]) -> Survey {
        let input = |&(first, epoch_offset_nanos): &(u64, Option<i128>)| InputSurvey {
            span: Some((first, first + 1_000)),
            epoch_offset_nanos,
        };
        let latency = |&(from, to, least_nanos): &(usize, usize, i64)| {
            ((from, to), Latency { messages: 3, least_nanos })
        };
        Survey {
            inputs: inputs.iter().map(input).collect(),
            latencies: latencies.iter().map(latency).collect(),
        }
    }

    fn shifts(survey: &Survey, offsets: &[i64], alignment: Alignment) -> Vec<i64> {
        align(survey, &["a", "b"], offsets, alignment).unwrap().shifts
    }

    #[test]
    fn times_of_day_tell_where_traces_know_them() {
        let both = survey(&[(50, Some(1_000)), (70, Some(400))], &[]);
        let found = align(&both, &["a", "b"], &[0, 0], Alignment::Auto).unwrap();
        assert_eq!((found.shifts, found.epoch_offset_nanos), (vec![600, 0], Some(400)));
        // Times since 1970 are on the clock that the others are brought to.
        let since = survey(&[(SINCE_1970_NANOS, None), (70, Some(400))], &[]);
        assert_eq!(shifts(&since, &[0, 0], Alignment::Auto), [0, 400]);
        let one = survey(&[(50, Some(1_000)), (70, None)], &[]);
        let found = align(&one, &["a", "b"], &[0, 0], Alignment::Auto).unwrap();
        assert_eq!((found.shifts, found.epoch_offset_nanos), (vec![-50, -70], None));
        assert!(found.remarks.iter().any(|r| r.is_guess && r.component == "b"));
        let refused = align(&one, &["a", "b"], &[0, 0], Alignment::TimeOfDay);
        assert!(refused.unwrap_err().to_string().starts_with("b says nothing"));
    }

    #[test]
    fn no_time_becomes_negative() {
        let both = survey(&[(50, None), (70, None)], &[]);
        assert_eq!(shifts(&both, &[0, -30], Alignment::Starts), [-20, -70]);
        assert_eq!(shifts(&both, &[0, -30], Alignment::None), [0, -30]);
    }

    #[test]
    fn messages_both_ways_place_a_clock_in_the_middle() {
        // b is 100 ns late; messages take 5 ns at least.
        let both = survey(&[(50, None), (70, None)], &[(0, 1, 105), (1, 0, -95)]);
        let found = align(&both, &["a", "b"], &[0, 0], Alignment::Messages).unwrap();
        assert_eq!(found.shifts[1] - found.shifts[0], -100);
        assert!(found.remarks.iter().any(|r| r.message.contains("take 0.000000005 s each")));
        let one = survey(&[(50, None), (70, None)], &[(1, 0, -95)]);
        let found = align(&one, &["a", "b"], &[0, 0], Alignment::Messages).unwrap();
        assert_eq!(found.shifts[1] - found.shifts[0], -95);
        let none = survey(&[(50, None), (70, None)], &[]);
        let found = align(&none, &["a", "b"], &[0, 0], Alignment::Messages).unwrap();
        assert!(found.remarks.iter().any(|r| r.message.starts_with("no message between b")));
    }
}
