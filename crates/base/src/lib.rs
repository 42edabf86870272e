//! Units, typed ids, intervals, byte sources, the Issues sink and Limits: what every other crate of Parallax stands on.
