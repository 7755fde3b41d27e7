//! The order of text by SQL Server's collations.
//!
//! An index in a file is sorted by it: the tables of weights are frozen.
//!
//! The server compares, hashes and matches text by a [`Collation`], several of which have the same [`Order`]; the
//! extension gives every [`Order`] to every connection, so that a database made by the server opens in any SQLite.
#![forbid(unsafe_code)]

mod character_key;
mod collation;
mod folding_table;
mod order;
mod weight;
mod weight_table;

pub use character_key::{CharacterKey, character_keys};
pub use collation::Collation;
pub use order::{Order, collate};
