//! Where the server says what happens.

use std::fmt;
use std::sync::Arc;

/// Takes lines for people. What clients have sent may be in one: what shows it makes it printable.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&str) + Send + Sync>);

impl Log {
    /// Gives each line to `take`.
    pub fn new(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Discards every line.
    #[must_use]
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    /// Says a line.
    pub fn line(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log(..)")
    }
}
