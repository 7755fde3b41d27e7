//! The only error of authenticated decryption.

use std::fmt;

/// The input is not authentic: wrong key, wrong position, or altered bytes.
///
/// The three cases are deliberately not distinguished, so that an attacker with access to the
/// result learns nothing more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unauthentic;

impl fmt::Display for Unauthentic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("unauthentic: wrong key, wrong place or altered bytes")
    }
}

impl std::error::Error for Unauthentic {}
