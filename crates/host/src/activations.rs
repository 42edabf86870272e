//! Answers about single calls, executions of loops, iterations, and what they read and write.
