//! Bytes between a socket and the protocol: TLS in each of its ways, deadlines, back-pressure.
//!
//! W1. TLS 1.2 alone inside PRELOGIN, 1.3 in strict mode alone: several clients can't do 1.3 inside PRELOGIN.
//! W2. What comes is fed to TLS record by record, so that what follows the last record is at hand when TLS ends after the login.
//! W3. No more is read from the socket than the next record or packet needs room for.
//! W4. A write waits for a client that does not read; a pulled [`CancelHandle`] ends any wait.

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
