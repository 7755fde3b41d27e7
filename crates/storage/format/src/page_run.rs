//! Sequential reads: forwards, as in a scan, or backwards, as in `PRAGMA integrity_check`.
//!
//! The VFS decides by it what to read ahead, and counts by it what it would have read ahead of a database in clear. The
//! planner does the same with the reads of a trace.

/// The direction of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To higher page numbers.
    Forwards,
    /// To lower page numbers.
    Backwards,
}

/// A sequence of adjacent pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Run {
    last: u32,
    direction: Direction,
    length: u32,
}

/// The two most recent runs: an occasional read of another page (an inner page of the tree, a row
/// of another table) does not end a run.
#[derive(Debug, Default)]
pub struct Runs {
    runs: [Option<Run>; 2],
}

impl Runs {
    /// Notes that a page was read, and returns the direction of its run, once there is one.
    pub fn note(&mut self, page: u32) -> Option<Direction> {
        // Most reads of a scan: the next page of the most recent run.
        if let [Some(run), _] = &mut self.runs
            && run.direction == Direction::Forwards
            && page.wrapping_sub(run.last) == 1
            && (LENGTH_MIN..u32::MAX).contains(&run.length)
        {
            run.last = page;
            run.length += 1;
            return Some(Direction::Forwards);
        }
        let known = self
            .runs
            .iter()
            .position(|run| run.is_some_and(|run| run.is_near(page)));
        let run = match known.and_then(|index| self.runs[index]) {
            Some(run) => run.with(page),
            None => Run {
                last: page,
                direction: Direction::Forwards,
                length: 1,
            },
        };
        // The most recent run is first.
        if known != Some(0) {
            self.runs[1] = self.runs[0];
        }
        self.runs[0] = Some(run);
        (run.length >= LENGTH_MIN).then_some(run.direction)
    }

    /// Notes a read of the file, if it is one of a page, and returns whether it belongs to a run or begins where the
    /// read before it ended.
    pub fn note_read(&mut self, offset: u64, size: usize, previous_end: Option<u64>) -> bool {
        let is_of_run = page_of(offset, size).is_some_and(|page| self.note(page).is_some());
        is_of_run || previous_end == Some(offset)
    }

    /// Whether a read that was noted is of a page of a run forwards: reads of the pages behind it belong to the run.
    pub fn is_forwards_at(&self, offset: u64, size: usize) -> bool {
        let is_last = |run: Run| page_of(offset, size) == Some(run.last);
        let [run, _] = self.runs;
        run.is_some_and(|run| run.direction == Direction::Forwards && run.length >= LENGTH_MIN && is_last(run))
    }

    /// As [`Runs::note`] of each of the `pages` pages behind the most recent run, which is one forwards.
    pub fn extend(&mut self, pages: u32) {
        if let [Some(run), _] = &mut self.runs {
            run.last = run.last.saturating_add(pages);
            run.length = run.length.saturating_add(pages);
        }
    }

    /// Removes both.
    pub fn clear(&mut self) {
        self.runs = [None; 2];
    }
}

impl Run {
    fn is_near(self, page: u32) -> bool {
        self.last.abs_diff(page) <= STEP_MAX
    }

    fn with(self, page: u32) -> Self {
        let direction = match page.cmp(&self.last) {
            std::cmp::Ordering::Equal => return self,
            std::cmp::Ordering::Greater => Direction::Forwards,
            std::cmp::Ordering::Less => Direction::Backwards,
        };
        // The first step determines the direction; a step in the other direction begins a new run
        // of two.
        let goes_on = self.length == 1 || self.direction == direction;
        Self {
            last: page,
            direction,
            length: if goes_on { self.length.saturating_add(1) } else { 2 },
        }
    }
}

/// The page that a read is of, counted from 0; none for one that is no page.
fn page_of(offset: u64, size: usize) -> Option<u32> {
    // Shifts, not divisions: each read of a database comes here.
    let bits = size.trailing_zeros();
    let is_page = size.is_power_of_two() && (512..=65_536).contains(&size) && offset.trailing_zeros() >= bits;
    is_page.then(|| u32::try_from(offset >> bits).ok()).flatten()
}

/// Whether `page` is the next one after `last` in that direction.
pub fn follows(direction: Direction, last: u32, page: u32) -> bool {
    let step = match direction {
        Direction::Forwards => page.checked_sub(last),
        Direction::Backwards => last.checked_sub(page),
    };
    step.is_some_and(|step| (1..=STEP_MAX).contains(&step))
}

/// Four consecutive pages are not a coincidence: of random reads of a small file of 1,000 pages,
/// one in three million.
const LENGTH_MIN: u32 = 4;
/// If an inner page of the tree, which was read before, is skipped, the next leaf is two or three
/// pages further.
const STEP_MAX: u32 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn last_of(pages: impl IntoIterator<Item = u32>) -> Option<Direction> {
        let mut runs = Runs::default();
        pages.into_iter().fold(None, |_, page| runs.note(page))
    }

    #[test]
    fn four_pages_in_a_row_are_a_run_in_either_direction() {
        assert_eq!(last_of([5, 6, 7]), None);
        assert_eq!(last_of([5, 6, 7, 8]), Some(Direction::Forwards));
        assert_eq!(last_of([9, 8, 7]), None);
        assert_eq!(last_of([9, 8, 7, 6]), Some(Direction::Backwards));
        assert_eq!(last_of([5, 5, 5, 5, 6, 6]), None);
    }

    #[test]
    fn a_turn_begins_a_new_run() {
        assert_eq!(last_of([5, 6, 7, 8, 9, 8]), None);
        assert_eq!(last_of([5, 6, 7, 8, 9, 8, 7]), None);
        assert_eq!(last_of([5, 6, 7, 8, 9, 8, 7, 6]), Some(Direction::Backwards));
    }

    #[test]
    fn a_page_left_out_or_read_in_between_ends_no_run() {
        assert_eq!(last_of([5, 6, 8, 11]), Some(Direction::Forwards));
        assert_eq!(last_of([5, 6, 900, 7, 17, 8]), Some(Direction::Forwards));
        assert_eq!(last_of([5, 6, 7, 11]), None);
    }

    #[test]
    fn two_runs_are_seen_side_by_side() {
        let mut runs = Runs::default();
        for step in 0..3 {
            assert_eq!((runs.note(100 + step), runs.note(900 - step)), (None, None));
        }
        assert_eq!(runs.note(103), Some(Direction::Forwards));
        assert_eq!(runs.note(897), Some(Direction::Backwards));
    }

    #[test]
    fn random_pages_are_no_run() {
        let mut state = 7_u64;
        let mut runs = Runs::default();
        let seen = (0..20_000).filter(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            runs.note(u32::try_from((state >> 33) % 5000).unwrap()).is_some()
        });
        assert_eq!(seen.count(), 0);
    }

    #[test]
    fn a_read_of_a_run_is_one_in_either_direction_and_one_that_follows_needs_no_run() {
        let mut runs = Runs::default();
        let mut end = None;
        let mut reads = |pages: &[u64]| {
            let mut note = |page: &u64| {
                let found = runs.note_read(page * 4096, 4096, end);
                end = Some((page + 1) * 4096);
                found
            };
            pages.iter().map(&mut note).collect::<Vec<_>>()
        };
        assert_eq!(reads(&[90, 89, 88, 87, 84]), [false, false, false, true, true]);
        assert_eq!(reads(&[500, 501, 700]), [false, true, false]);
        // Other reads are no pages: SQLite reads 16 bytes of the header when a transaction begins.
        assert!(!runs.note_read(24, 16, Some(0)) && runs.note_read(24, 16, Some(24)));
        assert!(!runs.note_read(u64::MAX - 4095, 4096, None));
    }

    #[test]
    fn pages_that_extend_a_run_are_as_those_that_are_noted() {
        let mut runs = Runs::default();
        let is_forwards = |runs: &Runs, page: u64| runs.is_forwards_at(page * 4096, 4096);
        for page in 1..4 {
            runs.note(page);
            assert!(!is_forwards(&runs, u64::from(page)));
        }
        runs.note(4);
        assert!(is_forwards(&runs, 4) && !is_forwards(&runs, 5));
        // Bytes that are no page, and begin where four times their number are.
        assert!(!runs.is_forwards_at(4 * 100, 100));
        runs.extend(3);
        assert!(is_forwards(&runs, 7));
        assert_eq!(runs.note(9), Some(Direction::Forwards));
        for page in [50, 49, 48, 47] {
            runs.note(page);
        }
        assert!(!is_forwards(&runs, 47));
    }

    #[test]
    fn numbers_do_not_wrap() {
        assert_eq!(last_of([u32::MAX - 1, u32::MAX, 0, 1, 2]), None);
        assert!(!follows(Direction::Forwards, 8, 8) && follows(Direction::Backwards, 8, 7));
    }
}
