//! One file for each command.

pub mod backup;
pub mod backups;
pub mod completions;
pub mod compromised;
pub mod decrypt;
pub mod drill;
pub mod encrypt;
pub mod exec;
pub mod follow;
pub mod keygen;
pub mod keys;
#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "lab")]
pub mod lab_worker;
#[cfg(feature = "lab")]
pub mod plan;
pub mod reencrypt;
pub mod reencrypt_offline;
pub mod restore;
pub mod salvage;
#[cfg(feature = "serve")]
pub mod serve;
pub mod status;
pub mod trace;
pub mod verify;
