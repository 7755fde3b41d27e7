//! The progress of a study. It contains no figures of arms: a user who sees effects might choose when to stop.

use std::time::Duration;

/// A progress message.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress<'a> {
    /// A master is being loaded.
    Loading {
        /// The arm.
        arm: &'a str,
        /// The dataset.
        data: &'a str,
    },
    /// A session begins, and its copies are made.
    Session {
        /// The number of the session among those begun, counted from 1.
        session: u32,
        /// The maximum number of sessions.
        sessions: u32,
    },
    /// A block is about to run.
    Block {
        /// The number of the session among those begun, counted from 1.
        session: u32,
        /// Blocks of the session before this one.
        done: usize,
        /// Blocks of the session.
        total: usize,
        /// The cell.
        cell: &'a str,
        /// The estimated time to the end of the last session, if none is omitted; none before the
        /// first block has run.
        left: Option<Duration>,
    },
    /// All blocks of a session have run.
    Blocks {
        /// The number of the session among those begun, counted from 1.
        session: u32,
        /// The number of its blocks.
        total: usize,
    },
    /// A block is void.
    Void {
        /// The cell.
        cell: &'a str,
        /// The arm.
        arm: &'a str,
        /// The reason.
        why: &'a str,
    },
    /// A session ended.
    Precision {
        /// Sessions so far.
        sessions: u32,
        /// The widest half-width of all gating effects, as a ratio; none with fewer than two sessions.
        widest: Option<f64>,
        /// The requested half-width.
        target: f64,
        /// The estimated number of sessions to reach it; none if it cannot be estimated.
        needed: Option<u32>,
    },
}

/// Observes a study.
pub trait Observer {
    /// Receives a progress message.
    fn progress(&mut self, progress: &Progress<'_>);
}

/// Ignores all progress.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quiet;

impl Observer for Quiet {
    fn progress(&mut self, _: &Progress<'_>) {}
}
