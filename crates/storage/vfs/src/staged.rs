//! Values that are passed from Rust to an SQL function by a token, because they must not appear in
//! SQL text or parameters.

use std::sync::{Mutex, PoisonError};

use selenite_keyring::os_random;

/// Values that wait for a call of their function.
pub struct Staged<T>(Mutex<Vec<(i64, T)>>);

impl<T> Staged<T> {
    /// An empty set.
    pub const fn new() -> Self {
        Self(Mutex::new(Vec::new()))
    }

    /// Keeps a value, to be taken once. The token is random: a caller that was not given it cannot
    /// apply the value to another database, neither by guessing nor because a number recurs.
    pub fn stage(&self, value: T) -> i64 {
        let mut token = [0; 8];
        os_random(&mut token);
        let token = i64::from_le_bytes(token);
        let mut staged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        staged.push((token, value));
        token
    }

    /// Removes and returns a value.
    pub fn take(&self, token: i64) -> Option<T> {
        let mut staged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = staged.iter().position(|(known, _)| *known == token)?;
        Some(staged.remove(index).1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_serves_once() {
        static STAGED: Staged<&str> = Staged::new();
        let (first, second) = (STAGED.stage("first"), STAGED.stage("second"));
        assert_ne!(first, second);
        assert_eq!(STAGED.take(second), Some("second"));
        assert_eq!(STAGED.take(second), None);
        assert_eq!(STAGED.take(first), Some("first"));
    }
}
