//! Shows the progress of an operation that takes more than a second.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selenite::{Observer, Phase, Progress, Watch};

use crate::interrupt;
use crate::terminal;

/// A bar on a terminal; otherwise a few plain lines.
pub struct Meter {
    started: Instant,
    interrupted: Arc<AtomicBool>,
    on_terminal: bool,
    /// The last update, in milliseconds since the start.
    shown_ms: AtomicU64,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    phase: Option<Phase>,
    bar: Option<ProgressBar>,
    /// The start of the current wait for others.
    waiting: Option<Instant>,
    /// Whether the bar shows the wait.
    says_waiting: bool,
    /// The time of the last line about the wait.
    waiting_said: Option<Instant>,
}

impl Meter {
    /// Starts the meter, and handles Ctrl-C.
    pub fn start() -> Arc<Self> {
        Arc::new(Self {
            started: Instant::now(),
            interrupted: interrupt::install(),
            on_terminal: terminal::redraws(std::io::stderr().is_terminal()),
            shown_ms: AtomicU64::new(0),
            shown: Mutex::default(),
        })
    }

    /// The watch that the engine receives.
    pub fn watch(self: &Arc<Self>) -> Watch {
        Watch::new(self.clone())
    }

    /// Removes the bar.
    pub fn finish(&self) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = shown.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn bar(&self, shown: &mut Shown, progress: Progress) {
        if shown.phase != Some(progress.phase) {
            if let Some(old) = shown.bar.take() {
                old.finish_and_clear();
            }
            shown.bar = Some(new_bar(progress.phase));
        } else if let Some(bar) = shown.bar.as_ref().filter(|_| shown.says_waiting) {
            bar.set_style(style(template(progress.phase)));
        }
        shown.says_waiting = false;
        if let Some(bar) = &shown.bar {
            bar.set_message(name(progress.phase));
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        }
    }

    fn line(&self, shown: &Shown, progress: Progress) {
        let name = name(progress.phase);
        let total = crate::lines::bytes(progress.total);
        if progress.total == 0 {
            say!("{name} ...");
        } else if shown.phase == Some(progress.phase) {
            let percent = u128::from(progress.done) * 100 / u128::from(progress.total);
            say!("{name} {total}: {percent} %");
        } else {
            say!("{name} {total} ...");
        }
    }
}

impl Observer for Meter {
    fn progress(&self, progress: Progress) {
        let now = self.now_ms();
        let last = self.shown_ms.load(Ordering::Relaxed);
        let pause = if self.on_terminal { BAR_PAUSE } else { LINE_PAUSE };
        let is_new = self.shown.try_lock().is_ok_and(|mut shown| {
            shown.waiting = None;
            shown.phase != Some(progress.phase)
        });
        let is_due = last == 0 || is_new || now.saturating_sub(last) >= millis(pause);
        if now < millis(SHORT) || !is_due {
            return;
        }
        // Another thread is updating the display.
        let Ok(mut shown) = self.shown.try_lock() else { return };
        self.shown_ms.store(now, Ordering::Relaxed);
        if self.on_terminal {
            self.bar(&mut shown, progress);
        } else {
            self.line(&shown, progress);
        }
        shown.phase = Some(progress.phase);
    }

    fn waiting(&self, what: &str) {
        let Ok(mut shown) = self.shown.try_lock() else { return };
        let since = *shown.waiting.get_or_insert_with(Instant::now);
        if since.elapsed() < SHORT {
            return;
        }
        if self.on_terminal {
            if let Some(bar) = &shown.bar {
                bar.set_style(style("{wide_msg}"));
                bar.set_message(what.to_owned());
                shown.says_waiting = true;
            }
        } else if shown.waiting_said.is_none_or(|last| last.elapsed() >= LINE_PAUSE) {
            shown.waiting_said = Some(Instant::now());
            say!("{what}, for {} s", since.elapsed().as_secs());
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

fn new_bar(phase: Phase) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    bar.set_style(style(template(phase)));
    bar.set_message(name(phase));
    if matches!(phase, Phase::CheckingIntegrity | Phase::Finishing) {
        bar.enable_steady_tick(Duration::from_secs(1));
    }
    bar
}

/// One line of any terminal width: a longer line would be redrawn below itself.
fn template(phase: Phase) -> &'static str {
    match phase {
        Phase::CheckingIntegrity | Phase::Finishing => "{msg} {elapsed}",
        Phase::Copying
        | Phase::BackingUp
        | Phase::Restoring
        | Phase::Comparing
        | Phase::Verifying
        | Phase::Sealing
        | Phase::Checking => {
            "{msg:<10} [{wide_bar}] {percent:>3} %  {binary_bytes} of {binary_total_bytes}, {eta} left"
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    style.progress_chars("=> ")
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Copying => "copying",
        Phase::BackingUp => "backing up",
        Phase::Restoring => "restoring",
        Phase::Comparing => "comparing",
        Phase::Verifying => "verifying",
        Phase::CheckingIntegrity => "checking integrity",
        Phase::Sealing => "sealing",
        Phase::Finishing => "finishing",
        Phase::Checking => "checking",
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// A shorter operation shows no progress.
const SHORT: Duration = Duration::from_secs(1);
/// A bar is updated twenty times per second.
const BAR_PAUSE: Duration = Duration::from_millis(50);
/// Keeps logs short.
const LINE_PAUSE: Duration = Duration::from_secs(10);
