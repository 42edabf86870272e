//! Planted causes of lost time are found first, with what removing them saves; and where nothing
//! is wrong nothing is found.

#![expect(clippy::unwrap_used, reason = "helpers of tests may stop the test")]

mod alarms;
mod causes;
mod order;
mod recorded;
mod savings;
mod scaling;
mod verdicts;
