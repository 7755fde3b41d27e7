//! What the processes do.

pub fn play() {}
