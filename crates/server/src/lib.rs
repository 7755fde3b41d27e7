//! Listener, TLS inside TDS, login and sessions: what stands between the network and the databases.
//!
//! N1. A thread per session, blocking sockets. A client that does not read stops its own query; the registry can end any wait.
//! N2. Before login a peer costs a bounded time, at most 1 MiB, and one of a bounded number of places.
//! N3. No password is in a log, an error or an answer; the bytes of a login are wiped.
//! N4. What a peer sends never panics.
//!
//! The order of a connection: the server listens; the lobby agrees on encryption and reads the login; master.db knows
//! who may come in; the [`Registry`] knows who is there; a [`Front`] serves them through a [`Wire`].
//!
//! Left to others: what bytes mean (`selenite-tds`), what requests do (the [`Front`]).
#![forbid(unsafe_code)]

mod front;
mod instance;
mod registry;
mod wire;

pub use front::{Ended, Front, Session, Visitor};
pub use instance::Instance;
pub use registry::{Registry, SessionEntry};
pub use wire::{Interrupt, Interrupts, Outlet, Wire, WireError};
