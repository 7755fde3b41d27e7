//! The lab: measures the cost of encryption.
//!
//! A study runs the same work alternately on two copies of a database, one unencrypted and one
//! encrypted. Its store is one SQLite file: the schedule first, then a transaction for each block.
//! Analysis reads the store and makes a [`summary`]; every report is a view of that.
//!
//! - figures-come-from-a-store: a figure comes from a store, and names it.
//! - proof-before-figures: no figure of an arm is measured before its encryption was proved and the
//!   rows of its database were compared with those of its control.
#![forbid(unsafe_code)]

pub mod analysis;
pub mod arm;
pub mod bisect;
pub mod cache;
pub mod calibrate;
pub mod compare;
pub mod config;
mod database_files;
pub mod disqualification;
pub mod doctor;
pub mod drive;
pub mod edit;
pub mod engines;
pub mod export;
pub mod gate;
pub mod host;
pub mod load;
pub mod native;
pub mod pattern;
pub mod phase;
pub mod preset;
pub mod proof;
pub mod replay;
pub mod report;
pub mod run;
pub mod schedule;
pub mod store;
pub mod summary;
pub mod transit;
pub mod validate;
pub mod whole_file;
