//! The client's side of the protocol, for tests: encodes requests and parses responses.
//!
//! It shares code with the server's side, so a round trip alone proves little: the vectors in `testdata/tds` are
//! independent.

mod answer;
mod login;
mod request;
mod token;

pub use answer::{split_message, tokens};
pub use login::{login, new_login};
pub use request::{attention, batch, bulk_load, prelogin, rpc, transaction};
pub use token::{Change, ResultColumn, ServerMessage, Token};
