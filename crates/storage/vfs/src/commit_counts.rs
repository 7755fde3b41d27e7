//! Commits to a write-ahead log, by the number of their frames.
//!
//! SQLite writes a frame as a header of 24 bytes and a page. Bytes 4 to 8 of the header are the
//! size of the database after the commit, and 0 in a frame that does not commit
//! (<https://sqlite.org/fileformat2.html>, section 4.1).
//!
//! - counted-once: if SQLite writes a header again, to update its checksums after a page was
//!   overwritten (`walRewriteChecksums`), this is not a second commit.
//!
//! Where overwriting is not powersafe (`psow=0`), SQLite repeats the commit frame up to the end of
//! the sector. Each repetition counts as a commit of one frame. A commit is counted even if its
//! write fails. Commits in rollback mode are not counted.

use crate::owned_counts::{CountSums, OwnedCounts};
use crate::trace_recorder::TracedDatabase;

/// Commits to the write-ahead log of a database, by all connections of this process. The counts
/// never decrease.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CommitCounts {
    /// Frames in all commits.
    pub frames: u64,
    /// Commits of 1 frame, of 2 and 3, of 4 to 7, and so on.
    pub histogram: [u64; BUCKET_COUNT],
}

impl CommitCounts {
    /// The number of commits.
    #[must_use]
    pub fn commits(&self) -> u64 {
        self.histogram.iter().sum()
    }

    /// The quantile at `share` of the frames per commit; 0 without commits. Within a bucket the
    /// frames are assumed to be distributed evenly.
    #[must_use]
    pub fn frames_at(&self, share: f64) -> f64 {
        let wanted = share * to_f64(self.commits());
        let mut before = 0.0;
        let mut size = 1.0;
        for count in self.histogram.map(to_f64) {
            if count > 0.0 && before + count >= wanted {
                let within = ((wanted - before) / count).clamp(0.0, 1.0);
                return size + (size - 1.0) * within;
            }
            before += count;
            size *= 2.0;
        }
        0.0
    }

    /// The difference to an earlier reading.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut histogram = self.histogram;
        for (count, before) in histogram.iter_mut().zip(earlier.histogram) {
            *count = count.saturating_sub(before);
        }
        Self {
            frames: self.frames.saturating_sub(earlier.frames),
            histogram,
        }
    }

    pub(crate) fn read_from(sums: &CommitSums) -> Self {
        let [frames, histogram @ ..] = sums.read();
        Self { frames, histogram }
    }
}

/// The counts of all open logs of one database.
pub(crate) type CommitSums = CountSums<{ BUCKET_COUNT + 1 }>;

/// Counts the commits to one open log.
pub struct CommitMeter {
    counts: OwnedCounts<{ BUCKET_COUNT + 1 }>,
    /// Where commits are recorded.
    trace: Option<TracedDatabase>,
}

impl CommitMeter {
    pub(crate) fn new(sums: &CommitSums, trace: Option<TracedDatabase>) -> Self {
        Self {
            counts: sums.owned(),
            trace,
        }
    }

    /// Counts a commit of `frames` frames.
    pub fn note(&mut self, frames: u64) {
        let bucket = usize::try_from(frames.max(1).ilog2()).unwrap_or(usize::MAX);
        self.counts.add(FRAMES, frames);
        self.counts.add(FIRST_BUCKET + bucket.min(BUCKET_COUNT - 1), 1);
        if let Some(trace) = &self.trace {
            trace.commit(frames);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of commits are below 2^53")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

const FRAMES: usize = 0;
const FIRST_BUCKET: usize = 1;
/// The last bucket counts all commits of 32,768 frames and more: 128 MiB of pages of 4 KiB.
pub const BUCKET_COUNT: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(frames: &[u64]) -> CommitCounts {
        let sums = CommitSums::default();
        let mut meter = CommitMeter::new(&sums, None);
        for count in frames {
            meter.note(*count);
        }
        CommitCounts::read_from(&sums)
    }

    #[test]
    fn commits_are_counted_by_the_logarithm_of_their_frames() {
        let counts = counted(&[1, 1, 2, 3, 4, 7, 8, 40_000, 1 << 40]);
        assert_eq!(counts.histogram[..4], [2, 2, 2, 1]);
        assert_eq!(counts.histogram[BUCKET_COUNT - 1], 2);
        assert_eq!(counts.commits(), 9);
        assert_eq!(counts.since(&counted(&[1, 2])).commits(), 7);
    }

    #[test]
    fn quantiles_are_within_the_bucket_that_has_them() {
        let counts = counted(&[1; 99]);
        assert_eq!(counts.frames_at(0.5), 1.0);
        let mut frames = vec![1; 90];
        frames.extend([100; 10]);
        let counts = counted(&frames);
        assert_eq!(counts.frames_at(0.5), 1.0);
        assert!((64.0..=127.0).contains(&counts.frames_at(0.99)));
        assert_eq!(counted(&[]).frames_at(0.99), 0.0);
    }
}
