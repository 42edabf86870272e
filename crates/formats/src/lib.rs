//! One module per on-disk format: raw records and readers, without an operating system and without the model.
