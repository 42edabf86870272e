//! `profile.N.C.T` as TAU writes it.

use std::fmt::Write as _;

use super::Profiles;

/// The files of one metric, by name: `profile.0.0.0` and its text.
#[must_use]
pub fn to_text(profiles: &Profiles, metric: usize) -> Vec<(String, String)> {
    profiles.threads.iter().map(|thread| {
        let [node, context, number] = thread.id;
        let mut text = format!(
            "{} templated_functions_MULTI_{}\n# Name Calls Subrs Excl Incl ProfileCalls # <metadata>",
            thread.timers.len(),
            profiles.metrics[metric]
        );
        let own = [("Metric Name".to_owned(), profiles.metrics[metric].clone())];
        for (name, value) in own.iter().chain(&profiles.metadata).chain(&thread.metadata) {
            let _ = write!(
                text,
                "<attribute><name>{name}</name><value>{value}</value></attribute>"
            );
        }
        text.push_str("</metadata>\n");
        for timer in &thread.timers {
            let (name, groups) = &profiles.timers[timer.timer as usize];
            let groups: Vec<&str> =
                groups.iter().map(|&g| profiles.groups[g as usize].as_str()).collect();
            let (exclusive, inclusive) = timer.values[metric];
            let _ = writeln!(
                text,
                "\"{name}  \" {} {} {exclusive} {inclusive} 0 GROUP=\"{}\" ",
                timer.calls,
                timer.subroutines,
                groups.join(" | ")
            );
        }
        let _ = writeln!(text, "0 aggregates");
        if !thread.events.is_empty() {
            let _ = writeln!(text, "{} userevents", thread.events.len());
            let _ = writeln!(text, "# eventname numevents max min mean sumsqr");
            for event in &thread.events {
                let [max, min, mean, squares] = event.statistics;
                let name = &profiles.events[event.event as usize];
                let _ = writeln!(text, "\"{name}\" {} {max} {min} {mean} {squares}", event.count);
            }
        }
        (format!("profile.{node}.{context}.{number}"), text)
    }).collect()
}
