//! Planted causes of lost time are found first, with what removing them saves; and where nothing
//! is wrong nothing is found.

mod alarms;
mod causes;
mod recorded;
