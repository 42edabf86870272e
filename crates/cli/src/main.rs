//! The command line tool `parallax`.

fn main() {}
