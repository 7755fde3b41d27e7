//! What all sessions share.

use crate::Registry;

/// A server that runs.
pub struct Instance {
    registry: Registry,
}

impl Instance {
    /// Who is there.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
}
