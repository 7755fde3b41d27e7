//! An observer of the progress while pages are written or read.

/// Receives the progress, and may interrupt the work. It is called often and from several threads, and must be quick.
pub trait ProgressObserver: Sync {
    /// Reports how many bytes of the database's pages were processed, of how many.
    fn progress(&self, done: u64, total: u64);

    /// Whether to interrupt the work.
    fn is_interrupted(&self) -> bool;
}

/// An observer that does nothing.
pub struct NoObserver;

impl ProgressObserver for NoObserver {
    fn progress(&self, _: u64, _: u64) {}

    fn is_interrupted(&self) -> bool {
        false
    }
}
