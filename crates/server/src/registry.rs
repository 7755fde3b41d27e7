//! The sessions that live.

use std::sync::Arc;

/// The sessions that live, by their spid.
pub struct Registry;

/// What others can see of a session, and do to it.
pub struct SessionEntry {
    spid: u16,
}

impl Registry {
    /// All sessions, by rising spid.
    #[must_use]
    pub fn sessions(&self) -> Vec<Arc<SessionEntry>> {
        unimplemented!()
    }

    /// Ends a session. False if there is none of that spid.
    pub fn kill(&self, spid: u16) -> bool {
        let _ = spid;
        unimplemented!()
    }
}

impl SessionEntry {
    /// @@SPID: from 51 up.
    #[must_use]
    pub fn spid(&self) -> u16 {
        self.spid
    }
}
