//! A server as its clients meet it: over loopback, with a client made of `selenite-tds` and rustls.
//!
//! What serves sessions here is a front of a few words ([`front`]); what is tested is all that stands before it.

mod bench;
mod client;
mod front;
mod hostile;
mod logins;
mod modes;
mod origin;
mod requests;
mod sessions;
mod start;
mod strangers;
