//! The registry and the adapters from formats to the model: the only place that knows both.
