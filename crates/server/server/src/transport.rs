//! Bytes between a socket and the protocol: TLS in each of its ways, deadlines, back-pressure.
//!
//! - `tls-1-2-inside-prelogin`: TLS 1.2 alone inside PRELOGIN, 1.3 in strict mode alone: several
//!   clients can't do 1.3 inside PRELOGIN.
//! - `tls-record-by-record`: received bytes are passed to TLS record by record, so that what
//!   follows the last record is available when TLS ends after the login.
//! - `reads-are-bounded`: no more is read from the socket than the next record or packet needs room
//!   for.
//! - `writes-wait-for-the-client`: a write waits for a client that does not read; a cancelled
//!   [`CancelHandle`] ends any wait.

mod handshake;
mod inbound;
mod line;
mod line_error;
mod offload;
mod tls_setup;
mod waiting_socket;

pub use line::{Line, WaitMode};
pub use line_error::LineError;
pub use offload::Encryptor;
pub use tls_setup::TlsSetup;
