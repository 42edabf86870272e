//! The sentences of a verdict.

use parallax_base::quantity::quantity;

use super::maps::{BaselinePolicy, Maps};
use super::verdict::{Loss, Program, StrongEnd, Trend, Verdict, VerdictOptions};

/// The sentences for one verdict; `ranked` are the losses at the configuration where the whole
/// program loses most.
pub(super) fn sentences(
    program: &Program,
    verdict: &Verdict,
    ranked: &[Loss],
    options: VerdictOptions,
) -> Vec<String> {
    let Some(region) = program.regions().get(verdict.region) else { return Vec::new() };
    let maps = &region.maps;
    if maps.time.is_undefined() {
        return vec!["Not measured.".to_owned()];
    }
    if maps.efficiency.is_undefined() {
        let wanted = match maps.options.baseline {
            BaselinePolicy::Cores(cores) => cores_word(cores),
            _ => cores_word(1),
        };
        return vec![format!(
            "No run on {wanted} as baseline: times only, no efficiency (another baseline can be \
             chosen)."
        )];
    }
    let mut sentences = Vec::new();
    sentences.extend(about_input(verdict));
    sentences.extend(about_strong(maps, verdict, options));
    sentences.extend(about_super_linear(maps, verdict));
    sentences.extend(about_weak(verdict, options));
    sentences.extend(about_definitions(verdict));
    sentences.extend(about_loss(program, verdict, ranked));
    if maps.has_parallel_baseline() {
        sentences.push("Efficiencies are relative to a parallel run, not to one core.".to_owned());
    }
    sentences
}

fn about_input(verdict: &Verdict) -> Option<String> {
    let found = verdict.input_trend?;
    let points = points_of(found.change);
    Some(match found.trend {
        Trend::Rises => format!("Efficiency rises with the input ({points} from first to last)."),
        Trend::Falls => {
            format!("Efficiency falls with the input ({points} from first to last).")
        }
        Trend::Holds => format!("Efficiency does not depend on the input ({points})."),
        Trend::Mixed => format!(
            "Efficiency has no clear trend with the input ({} to {} from first to last, depending \
             on the core count).",
            in_points(found.range.0),
            points_of(found.range.1),
        ),
    })
}

fn about_strong(maps: &Maps, verdict: &Verdict, options: VerdictOptions) -> Option<String> {
    // The last input is the largest one: the one users care about.
    let end = verdict.strong.last()?;
    let input = if maps.inputs.len() > 1 {
        format!(" for input i{}", end.input + 1)
    } else {
        String::new()
    };
    let here = percent(end.efficiency);
    let counts = |cores: &&u32| options.most_cores.is_none_or(|most| **cores <= most);
    let is_limited = !maps.cores.iter().all(|cores| counts(&cores));
    if let Some(text) = no_speed_up(maps, end, &input, options) {
        return Some(text);
    }
    let text = match end.next {
        Some((cores, efficiency)) => format!(
            "Strong scaling ends at {}{input} (efficiency {here}, {} on {})",
            cores_word(end.cores),
            percent(efficiency),
            cores_word(cores),
        ),
        None => format!(
            "Strong scaling holds up to {}, {}{input} (efficiency {here})",
            cores_word(end.cores),
            if is_limited { "the most without oversubscription" } else { "the largest measured" },
        ),
    };
    let most = maps.cores.iter().rev().find(|cores| counts(cores));
    Some(if most.is_some_and(|&most| end.fastest < most) {
        format!("{text}, fastest on {}.", cores_word(end.fastest))
    } else {
        text + "."
    })
}

/// Less than this times as fast as the baseline is as fast.
const LEAST_SPEED_UP: f64 = 1.1;

/// What to say where no run is faster than the baseline: where efficiency falls below one half says
/// nothing then.
fn no_speed_up(
    maps: &Maps,
    end: &StrongEnd,
    input: &str,
    options: VerdictOptions,
) -> Option<String> {
    let base = maps.baselines.get(end.input)?.cores()?;
    let counts = |cores: u32| options.most_cores.is_none_or(|most| cores <= most);
    let row = maps.efficiency.row(end.input);
    let with_cores = row.filter_map(|(at, value)| Some((*maps.cores.get(at)?, value)));
    let more: Vec<(u32, f64)> =
        with_cores.filter(|&(cores, _)| cores > base && counts(cores)).collect();
    let (next, efficiency) = *more.first()?;
    let speed_up =
        |&(cores, efficiency): &(u32, f64)| efficiency * f64::from(cores) / f64::from(base);
    // Of those that count: on more cores than there are, another run may be the fastest.
    let faster = more.iter().map(|one| (one.0, speed_up(one)));
    let (fastest, largest) = faster.reduce(|best, one| if one.1 > best.1 { one } else { best })?;
    if largest >= LEAST_SPEED_UP {
        return None;
    }
    let there = format!("efficiency {} on {}", percent(efficiency), cores_word(next));
    let on_base = cores_word(base);
    Some(if largest <= 1.0 {
        format!("No speedup{input}: no run is faster than that on {on_base} ({there}).")
    } else {
        format!(
            "No speedup{input}: the shortest time, on {}, is {} of that on {on_base} ({there}).",
            cores_word(fastest),
            percent(1.0 / largest),
        )
    })
}

/// Efficiencies above this are more than caches and noise usually give.
const SUPER_LINEAR: f64 = 1.2;

/// More cores that give more than their share: then the runs are hardly of the same work.
fn about_super_linear(maps: &Maps, verdict: &Verdict) -> Option<String> {
    let of_input = maps.efficiency.row(verdict.strong.last()?.input);
    let largest = of_input.reduce(|most, next| if next.1 > most.1 { next } else { most });
    let (core_idx, efficiency) = largest.filter(|(_, value)| *value > SUPER_LINEAR)?;
    Some(format!(
        "Speedup is super-linear (efficiency {} on {}): each core works less than on the baseline, \
         because of caches, or the runs did not do the same work.",
        percent(efficiency),
        cores_word(*maps.cores.get(core_idx)?),
    ))
}

fn about_weak(verdict: &Verdict, options: VerdictOptions) -> Option<String> {
    let change = verdict.weak_change?;
    let verb = if change < -options.trend_tolerance { "degrades" } else { "holds" };
    Some(format!("Weak scaling {verb} along the diagonal (efficiency {}).", points_of(change)))
}

/// What the definitions of PaScal Viewer say of the whole program; they judge single steps, and say
/// nothing about how far a program scales.
fn about_definitions(verdict: &Verdict) -> Option<String> {
    let found = verdict.by_definition;
    let (generally, weakly) = (found.generally?, found.weakly?);
    if verdict.region != 0 {
        return None;
    }
    let words = [
        (Some(generally), "scalable"),
        (found.strongly, "strongly scalable"),
        (Some(weakly), "weakly scalable"),
    ];
    let told: Vec<String> = words
        .iter()
        .filter_map(|&(holds, word)| Some(if holds? { word.into() } else { format!("not {word}") }))
        .collect();
    Some(format!(
        "By the definitions of PaScal Viewer (2018; efficiency drops in no step of the maps): {}.",
        told.join(", ")
    ))
}

/// Shares below this are 0 % when written down.
const NEGLIGIBLE_SHARE: f64 = 0.005;

fn about_loss(program: &Program, verdict: &Verdict, ranked: &[Loss]) -> Option<String> {
    let loss = verdict.loss?;
    let root = &program.regions().first()?.maps;
    let cores = cores_word(*root.cores.get(loss.core_idx)?);
    let place = if root.inputs.len() > 1 {
        format!("input i{} on {cores}", loss.input + 1)
    } else {
        format!("on {cores}")
    };
    if verdict.region != 0 {
        let share = loss.share?;
        if share.abs() < NEGLIGIBLE_SHARE {
            return Some(format!("Has no share of the program's overhead ({place})."));
        }
        return Some(format!(
            "Has {} of the program's overhead ({}, {place}).",
            percent(share),
            quantity(loss.own, "core-seconds"),
        ));
    }
    let text = format!("Parallel overhead: {} ({place})", quantity(loss.inclusive, "core-seconds"));
    let Some((culprit, share)) = ranked
        .first()
        .filter(|first| first.own > 0.0 && program.regions().len() > 1)
        .and_then(|first| Some((first, first.share?)))
    else {
        return Some(text + ".");
    };
    let source = if culprit.region == 0 {
        "code outside all regions".to_owned()
    } else {
        named(program, culprit.region)?
    };
    Some(format!("{text}; {} of the program's overhead is in {source}.", percent(share)))
}

fn named(program: &Program, at: usize) -> Option<String> {
    let region = program.regions().get(at)?;
    Some(if region.name.is_empty() {
        format!("region {}", region.id)
    } else {
        format!("region {}, {}", region.id, region.name)
    })
}

fn cores_word(cores: u32) -> String {
    if cores == 1 { "1 core".to_owned() } else { format!("{cores} cores") }
}

fn percent(fraction: f64) -> String {
    format!("{:.0} %", 100.0 * fraction)
}

fn points_of(change: f64) -> String {
    format!("{} points", in_points(change))
}

fn in_points(change: f64) -> String {
    let text = format!("{:+.1}", 100.0 * change);
    // What rounds to zero has no sign.
    if matches!(&*text, "+0.0" | "-0.0") { "0.0".to_owned() } else { text }
}
