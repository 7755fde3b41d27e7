//! The machine a study runs on.
