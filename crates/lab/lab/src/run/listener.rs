//! Requests to a study during one of its blocks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use selenite_worker::protocol::Control;

use crate::store::{Store, StoreError};

/// Polls the store and the signal.
pub(super) struct Listener<'a> {
    store: &'a mut Store,
    /// Whether a user requested the end of the study.
    stopped: &'a mut bool,
    interrupt: &'a AtomicBool,
    looked: Option<Instant>,
    trouble: Option<StoreError>,
    is_interrupt_sent: bool,
    altered: bool,
}

impl<'a> Listener<'a> {
    pub(super) fn new(store: &'a mut Store, stopped: &'a mut bool, interrupt: &'a AtomicBool) -> Self {
        Self {
            store,
            stopped,
            interrupt,
            looked: None,
            trouble: None,
            is_interrupt_sent: false,
            altered: false,
        }
    }

    /// The control that workers have to receive now. The store is polled at most once every [`EVERY`].
    pub(super) fn poll(&mut self) -> Option<Control> {
        let is_soon = self.looked.is_some_and(|at| at.elapsed() < EVERY);
        let asks = match is_soon {
            true => Vec::new(),
            false => self.asks(),
        };
        let stop = asks.iter().any(|ask| ask.control.stop);
        *self.stopped |= stop;
        let interrupted = self.interrupt.load(Ordering::Relaxed) && !self.is_interrupt_sent;
        self.is_interrupt_sent |= interrupted;
        let mix = asks.iter().rev().find_map(|ask| ask.control.mix);
        // Also if the worker had completed its work already: a user who was told that a block does
        // not count must not find that it does.
        self.altered |= mix.is_some();
        (stop || interrupted || mix.is_some()).then_some(Control {
            stop: stop || interrupted,
            mix,
        })
    }

    /// Whether the study is to end.
    pub(super) fn is_over(&self) -> bool {
        *self.stopped || self.is_interrupt_sent
    }

    /// Whether parameters were changed.
    ///
    /// Errors: those of the store during the block.
    pub(super) fn end(self) -> Result<bool, StoreError> {
        self.trouble.map_or(Ok(self.altered), Err)
    }

    fn asks(&mut self) -> Vec<crate::store::Ask> {
        self.looked = Some(Instant::now());
        self.store.take_asks().unwrap_or_else(|error| {
            self.trouble.get_or_insert(error);
            Vec::new()
        })
    }
}

/// A delay that a user accepts.
const EVERY: Duration = Duration::from_millis(150);
