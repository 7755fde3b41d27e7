//! What a study would find wrong before it begins.
