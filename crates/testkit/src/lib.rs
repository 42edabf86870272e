//! For tests only: writers, generators with planted answers, and the golden runner.
