//! The login: who is admitted, and what the client is told.
//!
//! - `little-is-told`: whatever is wrong, a client gets 18456 in state 1. It also gets the other
//!   errors that SQL Server reports (18470, 18486, 18488 and related ones), and no more; except for
//!   the lock, it gets these only with the right password. The log has the reason.
//! - `equal-cost`: a login that does not exist, or is locked, is answered as late as one with a
//!   wrong password. A password is hashed each time, and what has to be stored is written after the
//!   connection is closed.

mod answer;
mod authentication;
mod greeting;
mod refusal;

pub use answer::{Acceptance, LineSink, accept, refuse};
pub use authentication::{Afterwards, Applicant, authenticate, confirm, look_again};
pub use greeting::{Arrival, greet};
pub use refusal::{Notice, Refusal};
