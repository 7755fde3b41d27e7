//! The server's log.

use std::fmt;
use std::sync::Arc;

/// Takes lines for people. They may contain what clients have sent: code that shows a line makes it printable.
#[derive(Clone)]
pub struct Log(Arc<dyn Fn(&str) + Send + Sync>);

impl Log {
    /// Passes each line to `take`.
    pub fn new(take: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self(Arc::new(take))
    }

    /// Discards every line.
    #[must_use]
    pub fn silent() -> Self {
        Self::new(|_| {})
    }

    /// Writes a line.
    pub fn line(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Log(..)")
    }
}
