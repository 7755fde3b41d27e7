//! The other side, for tests: encodes what clients send and parses what servers answer.
//!
//! It is made of what the server's side knows, so it proves the server's side only together with vectors from
//! elsewhere.

mod answer;
mod login;
mod request;
mod token;

pub use answer::{split_message, tokens};
pub use login::{login, new_login};
pub use request::{attention, batch, prelogin, rpc, transaction};
pub use token::{Change, ResultColumn, Said, Token};
