//! The one error of all opening.

use std::fmt;

/// What was to be opened is not what was sealed: wrong key, wrong place, or altered bytes.
///
/// Which of them it was is not told, on purpose: an attacker who may ask learns no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unauthentic;

impl fmt::Display for Unauthentic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("unauthentic: wrong key, wrong place or altered bytes")
    }
}

impl std::error::Error for Unauthentic {}
