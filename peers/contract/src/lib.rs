//! What every worker owes the lab, checked from outside: the rows are the same in every cipher, the layout is as asked
//! for, and what is called encrypted is.
//!
//! Nothing here knows an engine: ciphers are those that a worker names itself.
#![forbid(unsafe_code)]

pub mod conversion;
mod fault;
mod folder;
pub mod layout;
pub mod protocol;
pub mod rekeying;
pub mod sealing;
pub mod talk;

pub use fault::Fault;
