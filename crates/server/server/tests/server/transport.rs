//! A server as its clients meet it: over loopback, with a client made of `selenite-tds` and rustls.
//!
//! Sessions are served here by a front with a few commands ([`front`]); what is tested is everything before it.

mod client;
mod fixture;
mod front;
mod hostile;
mod logins;
mod modes;
mod origin;
mod requests;
mod sessions;
mod start;
mod strangers;
