//! What to type to follow the advice of notes, findings and errors.

use parallax_base::Remedy;

/// The options or the command of a remedy, as they stand behind its words.
const fn options_of(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::TellApart => "--param NAME=path:REGEX",
        Remedy::Cores => "--param cores=...",
        Remedy::CoresParameter => "--cores NAME",
        Remedy::Inputs => "--param input=path:REGEX",
        Remedy::Numbers => "--number NAME=REGEX",
        Remedy::Baseline => "--baseline smallest, or a core count",
        Remedy::Frequency => "--frequency",
        Remedy::Resources => "--resources NAME",
        Remedy::Laws => "--table laws",
        Remedy::Metric => "--metric",
        Remedy::Locations => "--profiles",
        Remedy::AllLocations => "--all-locations",
        Remedy::SeeMetrics => "parallax info",
        Remedy::SeeBalance => "parallax balance",
        Remedy::SeeDistribution => "parallax distribution",
        Remedy::SeeFlat => "parallax flat",
        Remedy::SeeWaits => "parallax waits",
        Remedy::SeeGpuStalls => "parallax gpu-stalls",
        Remedy::SeeIterations => "parallax iterations",
        Remedy::SeeUserEvents => "parallax user-events",
        Remedy::HostTable => "--hosts FILE",
        Remedy::System => "--system FILE",
        Remedy::ComponentNames => "--component NAME=TRACE",
        Remedy::Convert => "parallax convert",
    }
}

/// A text with the options or the command behind what it advises.
pub(crate) fn with_options(text: &str) -> String {
    let mut text = text.to_owned();
    for remedy in Remedy::ALL {
        let words = remedy.words();
        if text.contains(words) {
            text = text.replace(words, &format!("{words} ({})", options_of(remedy)));
        }
    }
    // What was excluded by itself comes back by an option.
    if text.starts_with("Helper threads ") && text.ends_with(").") {
        text.push_str(" --helpers includes them.");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_option_that_is_advised_can_be_typed() {
        let cli = Cli::command();
        for remedy in Remedy::ALL {
            let typed = options_of(remedy);
            let is_known = match typed.strip_prefix("parallax ") {
                Some(command) => cli.find_subcommand(command).is_some(),
                None => {
                    let option = typed.split(' ').next().unwrap().trim_start_matches("--");
                    ["scaling", "model", "topology", "convert", "balance"].iter().any(|name| {
                        let command = cli.find_subcommand(name).unwrap();
                        command.get_arguments().any(|argument| argument.get_long() == Some(option))
                    })
                }
            };
            assert!(is_known, "{typed}");
        }
    }

    #[test]
    fn advice_gets_its_option_once() {
        let text = format!("times, but no maps; {}", Remedy::Baseline);
        assert_eq!(
            with_options(&text),
            "times, but no maps; choose a baseline that was measured (--baseline smallest, or a \
             core count)"
        );
        // No words stand inside others, which would get two options.
        for remedy in Remedy::ALL {
            let others = Remedy::ALL.iter().filter(|other| remedy.words().contains(other.words()));
            assert_eq!(others.count(), 1, "{remedy}");
        }
    }
}
