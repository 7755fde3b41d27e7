//! Someone who looks on while pages are written or read.

/// Hears how far it is, and may stop it. Calls come from several threads, often: they must be quick.
pub trait Onlooker: Sync {
    /// How many bytes of the database's pages were looked at, of how many.
    fn progress(&self, done: u64, total: u64);

    /// Whether to stop.
    fn is_interrupted(&self) -> bool;
}

/// No one looks on.
pub struct Unobserved;

impl Onlooker for Unobserved {
    fn progress(&self, _: u64, _: u64) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}
