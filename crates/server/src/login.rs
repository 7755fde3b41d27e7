//! The login: who may come in, and what they are told.
//!
//! A1. Whatever is wrong, a client hears 18456 in state 1; only what SQL Server tells besides (18470, 18486, 18488 and their kin) it hears, too,
//!     and, but for the lock, only with the right password. The log has the reason.
//! A2. A login that is not there, or locked, costs as long as one with a wrong password: something is stretched each time, and what is
//!     to be kept of it is written after the answer.

mod answer;
mod authentication;
mod lockout;
mod refusal;

pub use answer::{Acceptance, LineSink, accept, refuse};
pub use authentication::{Afterwards, Applicant, authenticate};
pub use lockout::Lockout;
pub use refusal::{Notice, Refusal};
