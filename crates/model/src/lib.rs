//! The experiment: contexts, locations, metrics, profile and trace stores.
