//! The only serialisable types: tables and replies as JSON, JSON Lines, CSV, Arrow IPC and Parquet.
