//! What the workers around other encryptions of SQLite share.
//!
//! Their keys are the lab's, drawn for one study and kept beside its copies: they may stand in SQL text, where keys of
//! Selenite never do.
#![forbid(unsafe_code)]

pub mod flags;
pub mod key;
pub mod pragma;
