//! Threads for what can block.
//!
//! We may be loaded into a program that left SIGPIPE as it was: a key service that ends before it has read its input
//! would then end that program. Threads made here take no signals, so that a broken pipe is but an error; all others
//! are for the program's own threads to handle.

use std::io;
use std::thread::Builder;

use nix::sys::signal::SigSet;

/// Runs `work` in a thread of its own.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let work = move || {
        // It can't fail: the set is one, and to block it is allowed.
        if SigSet::all().thread_block().is_ok() {
            work();
        }
    };
    Builder::new().name("selenite-key".to_owned()).spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use nix::sys::signal::Signal;

    use super::*;

    #[test]
    fn a_broken_pipe_raises_no_signal_in_these_threads() {
        let (sender, mask) = mpsc::channel();
        spawn(move || sender.send(SigSet::thread_get_mask().unwrap()).unwrap()).unwrap();
        assert!(mask.recv().unwrap().contains(Signal::SIGPIPE));
        assert!(!SigSet::thread_get_mask().unwrap().contains(Signal::SIGPIPE));
    }
}
