//! The facade: open an experiment, ask it questions, get plain answers in the words of an analyst.
