//! Listener, TLS inside TDS, login and sessions: everything between the network and the databases.
//!
//! - `thread-per-session`: a thread per session, blocking sockets. A client that does not read
//!   stops its own query; the registry can end any wait.
//! - `bounded-before-login`: before login a peer costs a bounded time, at most 1 MiB, and one of a
//!   bounded number of places.
//! - `no-passwords-in-messages`: no password is in a log, an error or an answer; the bytes of a
//!   login are wiped.
//! - `peers-cannot-cause-panics`: nothing that a peer sends causes a panic.
//!
//! The order of a connection: [`Server`] listens; the handshake agrees on encryption and reads the login;
//! [`master::Master`] knows the logins; the [`Registry`] knows the sessions; a [`Front`] serves them through a
//! [`Wire`].
//!
//! Left to others: what bytes mean (`selenite-tds`), what requests do (the [`Front`]).
#![forbid(unsafe_code)]

mod administration;
mod announcement;
mod audit;
mod bulk_load;
mod catalog;
mod certificate;
mod compile;
mod config;
mod connection;
mod cursor;
mod data_folder;
mod database;
mod database_error;
mod descriptors;
mod event_fd;
mod execution;
mod execution_context;
mod front;
mod identity;
mod instance;
mod key_chain;
mod key_wrap;
mod listener;
mod lockout;
mod log;
mod login;
#[cfg(test)]
mod loopback;
pub mod master;
mod memory;
mod names;
mod open_keys;
mod parameter_inference;
pub mod password;
mod pending_logins;
mod plan;
pub mod process;
mod registry;
mod reply;
mod sealing;
mod server;
mod server_error;
mod session;
mod session_state;
mod settings;
mod system_views;
mod temporary_database;
mod transport;
mod wire;

pub use announcement::Announcement;
pub use audit::{AuditSettings, AuditTarget};
pub use config::{AttemptLimits, Config, NewDatabases, ServerLimits, SessionLimits, TlsFiles, TlsOffload};
use data_folder::DataFolder;
pub use database::database_registry::DatabaseRegistry;
pub use database::log_sync::SyncFigures;
pub use front::{Ended, Front, LoginInfo, Session};
pub use instance::Instance;
pub use log::Log;
pub use registry::{
    Activity, DatabaseLock, Figures, PresentWait, Registry, RequestText, SessionEntry, SessionFacts, SessionSight,
    Status, TrafficCounts, TransactionSight, WaitCounts, WaitStats, WaitType,
};
pub use server::{Running, Server};
pub use server_error::ServerError;
pub use session::SqlFront;
pub use settings::Settings;
pub use system_views::system_relations;
pub use wire::{BulkInput, Inlet, Interrupt, Interrupts, Outlet, Wire, WireError};
