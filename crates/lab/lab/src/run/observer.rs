//! What a study that runs tells those who watch it. No arm's figures are among it: who sees them stops when they please.

use std::time::Duration;

/// Something that is worth a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress<'a> {
    /// A master is being loaded.
    Loading {
        /// The arm.
        arm: &'a str,
        /// The dataset.
        data: &'a str,
    },
    /// A session begins; its copies are being copied.
    Session {
        /// From 1, among those that are begun.
        session: u32,
        /// At most so many.
        sessions: u32,
    },
    /// A block is about to run.
    Block {
        /// From 1, among those that are begun.
        session: u32,
        /// Of the session, before this one.
        done: usize,
        /// Of the session.
        total: usize,
        /// The cell.
        cell: &'a str,
        /// Until the last session ends, if none is left out; none before a block ran.
        left: Option<Duration>,
    },
    /// All blocks of a session have run.
    Blocks {
        /// From 1, among those that are begun.
        session: u32,
        /// How many there were.
        total: usize,
    },
    /// A block does not count.
    Void {
        /// The cell.
        cell: &'a str,
        /// The arm.
        arm: &'a str,
        /// Why.
        why: &'a str,
    },
    /// A session ended.
    Precision {
        /// Sessions so far.
        sessions: u32,
        /// Of all gating effects the widest half-width, as a ratio; none before there are two sessions.
        widest: Option<f64>,
        /// What was asked for.
        target: f64,
        /// How many sessions that takes, as far as can be seen by now; none if it can't.
        needed: Option<u32>,
    },
}

/// Watches a study.
pub trait Observer {
    /// Is told.
    fn progress(&mut self, progress: &Progress<'_>);
}

/// Does not look.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _: &Progress<'_>) {}
}
