//! How many refused calls of one session are written.

use std::time::{Duration, Instant};

use super::statement::STOPPED;

/// Counts a session's refused calls: of each minute so many are written one by one, and of the others only their
/// number.
#[derive(Default, Debug)]
pub struct RefusedCalls {
    /// When the minute began, with its first refused call.
    minute: Option<Instant>,
    written: u32,
    left_out: u64,
}

impl RefusedCalls {
    /// Whether a call that ended now, with the error of this number, gets an entry of its own. A call that was
    /// stopped may have done its work all the same: a client that disconnects while the end is reported stops it.
    /// Call [`RefusedCalls::take_left_out`] first.
    pub fn admits(&mut self, error: Option<i32>, now: Instant) -> bool {
        if error.is_none_or(|error| error == STOPPED) {
            return true;
        }
        self.minute.get_or_insert(now);
        let admits = self.written < WRITTEN_MAX;
        match admits {
            true => self.written += 1,
            false => self.left_out += 1,
        }
        admits
    }

    /// How many were not written in the minute that has ended, if there are any.
    pub fn take_left_out(&mut self, now: Instant) -> Option<u64> {
        let began = self.minute?;
        if now.saturating_duration_since(began) < MINUTE {
            return None;
        }
        self.take_rest()
    }

    /// How many were not written so far, if there are any: the session ends.
    pub fn take_rest(&mut self) -> Option<u64> {
        let ended = std::mem::take(self);
        Some(ended.left_out).filter(|left_out| *left_out > 0)
    }
}

/// 60, one each second: who tries by hand stays below, and a session writes some 10 KiB a minute.
const WRITTEN_MAX: u32 = 60;
const MINUTE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    const DENIED: Option<i32> = Some(15247);

    #[test]
    fn so_many_are_written_each_minute_and_the_others_counted() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut refused = RefusedCalls::default();
        assert_eq!(refused.take_left_out(at(0)), None);
        let written = (0..1000).filter(|call| refused.admits(DENIED, at(call / 20))).count();
        assert_eq!(written, 60);
        // What is done, or may be, is written beside any number of refused calls.
        assert!(refused.admits(None, at(50)) && refused.admits(Some(STOPPED), at(50)));
        assert_eq!(refused.take_left_out(at(59)), None);
        assert_eq!(refused.take_left_out(at(60)), Some(940));
        assert_eq!(refused.take_left_out(at(60)), None);
        // The next minute begins with the next call, and leaves none out.
        assert!((0..60).all(|_| refused.admits(DENIED, at(100))));
        assert_eq!(refused.take_left_out(at(160)), None);
        assert!((0..60).all(|_| refused.admits(DENIED, at(161))));
        assert!(!refused.admits(DENIED, at(162)));
        assert_eq!(refused.take_rest(), Some(1));
        assert_eq!(refused.take_rest(), None);
    }
}
