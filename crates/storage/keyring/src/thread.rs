//! Threads for blocking calls.
//!
//! This library may be loaded into a program with the default action for SIGPIPE: a key service
//! that ends before it has read its input would then terminate that program. The threads started
//! here block all signals, so that a broken pipe is only an error; the program's own threads
//! receive all other signals.

use std::io;
use std::thread::Builder;

use crate::platform::block_signals;

/// Runs `work` in a new thread.
pub fn spawn(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let work = move || {
        if block_signals() {
            work();
        }
    };
    Builder::new().name("selenite-key".to_owned()).spawn(work).map(drop)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use nix::sys::signal::{SigSet, Signal};

    use super::*;

    #[test]
    fn a_broken_pipe_raises_no_signal_in_these_threads() {
        let (sender, mask) = mpsc::channel();
        spawn(move || sender.send(SigSet::thread_get_mask().unwrap()).unwrap()).unwrap();
        assert!(mask.recv().unwrap().contains(Signal::SIGPIPE));
        assert!(!SigSet::thread_get_mask().unwrap().contains(Signal::SIGPIPE));
    }
}
