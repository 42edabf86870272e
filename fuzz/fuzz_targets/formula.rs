//! Formulas: every text gives a formula or an error that shows a place in it; a formula prints as
//! a text that reads back as the same formula, and evaluates to a finite number or NaN.

#![no_main]

use libfuzzer_sys::fuzz_target;
use parallax_engine::query::parse_formula;

fuzz_target!(|text: &str| {
    match parse_formula(text) {
        Ok(formula) => {
            let printed = formula.to_string();
            assert_eq!(
                parse_formula(&printed).as_ref(),
                Ok(&formula),
                "{text:?} printed {printed:?}"
            );
            for value in [0.0, 1.0, -2.5, f64::NAN, 1e300] {
                let result = formula.evaluate(&mut Vec::new(), |i| value + i as f64);
                assert!(result.is_finite() || result.is_nan());
            }
        }
        Err(error) => {
            assert!(error.column <= text.chars().count() + 1, "{error:?}");
            assert!(!error.to_string().is_empty());
        }
    }
});
