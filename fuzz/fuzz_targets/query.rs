//! The query language: every expression gives a tree or an error that shows a place in it, and a
//! tree prints as an expression that reads back as the same tree.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_engine::query::{parse_contexts, parse_metrics, parse_profiles, parse_window};

fuzz_target!(|text: &str| {
    macro_rules! round_trip {
        ($parse:ident) => {
            match $parse(text) {
                Ok(tree) => {
                    let printed = tree.to_string();
                    assert_eq!(
                        $parse(&printed).as_ref(),
                        Ok(&tree),
                        "{text:?} printed {printed:?}"
                    );
                }
                Err(error) => {
                    assert!(error.column <= text.chars().count() + 1, "{error:?}");
                    assert!(!error.to_string().is_empty());
                }
            }
        };
    }
    round_trip!(parse_profiles);
    round_trip!(parse_contexts);
    round_trip!(parse_metrics);
    round_trip!(parse_window);
});
