//! An application with SQLite and Selenite's extension, by successive snapshots of `selenite_file_counts`.
//!
//! | counter | becomes |
//! |---|---|
//! | `bytes_following` of the database | pages that are read in sequence: [`Operation::ReadSequential`] |
//! | `bytes_read` of the database, other pages | one for each read is [`Operation::ReadRandom`]; a read's pages after the first are [`Operation::ReadSequential`] |
//! | `bytes_read` of the log, `bytes_written` of the database | the smaller number of pages is [`Operation::Checkpoint`]: a checkpoint reads a page of the log and writes it to the database |
//! | `bytes_read` of the log, other pages | [`Operation::ReadLog`] |
//! | `bytes_read` of the journal | [`Operation::ReadSequential`]: a rollback reads it in order |
//! | `bytes_written` of the log | [`Operation::Write`]; of these, `bytes_appended` is [`Operation::Append`] |
//! | `bytes_written` of the journal, and of the database without checkpoints | [`Operation::RollbackWrite`] |
//! | `commits` | [`Operation::Commit`]: those to a write-ahead log |
//! | `commits` of the journal | [`Operation::RollbackCommit`] |
//! | `transactions` of the database, less those of the journal | [`Operation::Transaction`] |
//! | `transactions` of the journal | [`Operation::RollbackTransaction`] |
//! | `time`, `since` | the length of the interval; another `since` is another process |
//!
//! Temporary files, and the counts of other processes that have the database open, are not included. Snapshots of
//! versions without `bytes_following` count such pages of a database in clear as [`Operation::ReadRandom`]; those
//! without `transactions` have no transactions, and those without `bytes_appended` count all pages of the log as
//! [`Operation::Write`].

use super::delimited::{self, Row};
use super::snapshot::{
    LoadBuilder, SnapshotText, Supplement, check_count, check_same, increase, intervals, reset, seconds_between,
};
use crate::observation::{Engine, ObservedInterval};
use crate::operation::{Load, Operation};
use crate::{Observation, PlanError};

/// What a connection of the application runs, once for each snapshot. Its result is saved as CSV with a header.
pub const QUERY: &str = "\
SELECT time, since, role, page_size, reads, bytes_read, writes, bytes_written, syncs, commits, reads_following,
       bytes_following, transactions, bytes_appended
  FROM selenite_file_counts;
";

/// Turns snapshots into an observation. A text has one snapshot or several, as [`QUERY`] makes them.
///
/// # Errors
/// [`PlanError::Input`] for what no extension writes, with its place; [`PlanError::Reset`] for counters that decrease
/// and for snapshots of two processes.
pub fn observe(texts: &[SnapshotText<'_>], supplement: &Supplement) -> Result<Observation, PlanError> {
    let mut snapshots = Vec::new();
    for text in texts {
        let rows = delimited::rows(text, &[TIME, SINCE, ROLE, PAGE_SIZE])?;
        if rows.is_empty() {
            return Err(PlanError::input(text.name, "it has no snapshot"));
        }
        for rows in rows.chunks(ROLES.len()) {
            snapshots.push(Snapshot::of(rows)?);
        }
    }
    check_count(snapshots.len(), "snapshots of selenite_file_counts")?;
    let mut has_rollbacks = false;
    let intervals = intervals(
        &snapshots,
        |snapshot| snapshot.database.place(),
        |before, after| {
            let found = interval(before, after)?;
            has_rollbacks |= difference(&before.journal, &after.journal, "bytes_written")? > 0.0;
            Ok(found)
        },
    )?;
    let Some(last) = snapshots.last() else {
        return Err(PlanError::input("snapshots", "there are none"));
    };
    let page_size = last.page_size()?;
    let mut notes =
        vec!["counts of one process: other processes with the same database have counts of their own".to_owned()];
    if last.database.optional_counter("bytes_following")?.is_none() {
        notes.push("the order of reads is not known: all count as reads at random".to_owned());
    }
    if last.database.optional_counter("transactions")?.is_none() {
        notes.push("the number of transactions is not known: what beginning one costs is not included".to_owned());
        if has_rollbacks {
            notes.push(
                "commits in rollback mode are not counted: only the pages that they write are included".to_owned(),
            );
        }
    }
    supplement.complete(Observation {
        engine: Engine::Sqlite,
        notes,
        page_size: u32::try_from(page_size).map_err(|_| {
            PlanError::input(
                last.database.place_of(PAGE_SIZE),
                format!("{page_size} is no page size"),
            )
        })?,
        cores: None,
        database_mib: None,
        serialized_share: None,
        intervals,
    })
}

/// The rows of a moment.
struct Snapshot {
    database: Row,
    wal: Row,
    journal: Row,
}

impl Snapshot {
    fn of(rows: &[Row]) -> Result<Self, PlanError> {
        let [database, wal, journal] = rows else {
            let place = rows.first().map_or_else(String::new, Row::place);
            let reason = format!("a snapshot has the rows {}, and this one is cut", ROLES.join(", "));
            return Err(PlanError::input(place, reason));
        };
        for (row, role) in rows.iter().zip(ROLES) {
            if row.text(ROLE)? != role {
                let reason = format!("{role} was expected: a snapshot has the rows {}", ROLES.join(", "));
                return Err(PlanError::input(row.place_of(ROLE), reason));
            }
            for property in [TIME, SINCE, PAGE_SIZE] {
                if row.text(property)? != database.text(property)? {
                    return Err(PlanError::input(
                        row.place_of(property),
                        "it differs from that of the row before: the rows are of two snapshots",
                    ));
                }
            }
        }
        Ok(Self {
            database: database.clone(),
            wal: wal.clone(),
            journal: journal.clone(),
        })
    }

    fn page_size(&self) -> Result<u64, PlanError> {
        let size = self.database.counter(PAGE_SIZE)?;
        if size.is_power_of_two() && (512..=65_536).contains(&size) {
            return Ok(size);
        }
        let reason = format!("{size} is no size of a page");
        Err(PlanError::input(self.database.place_of(PAGE_SIZE), reason))
    }
}

fn interval(before: &Snapshot, after: &Snapshot) -> Result<ObservedInterval, PlanError> {
    let place = after.database.place();
    if before.database.text(SINCE)? != after.database.text(SINCE)? {
        return Err(reset(
            "selenite_file_counts (another process, or the database was removed)",
        ));
    }
    let size_text = |snapshot: &Snapshot| snapshot.database.text(PAGE_SIZE).map(str::to_owned);
    check_same(&place, PAGE_SIZE, &size_text(before)?, &size_text(after)?)?;
    let (start, end) = (before.database.decimal(TIME)?, after.database.decimal(TIME)?);
    let seconds = seconds_between(&place, start, end)?;
    for (before, after) in [
        (&before.database, &after.database),
        (&before.wal, &after.wal),
        (&before.journal, &after.journal),
    ] {
        check_calls(before, after)?;
    }
    Ok(ObservedInterval {
        seconds,
        load: load(before, after)?,
        requests: None,
        cpu_seconds: None,
    })
}

/// Refuses bytes without calls, and writes without bytes. A read behind the end of a file has none.
fn check_calls(before: &Row, after: &Row) -> Result<(), PlanError> {
    let of = |column| difference(before, after, column);
    let (reads, read, writes, written) = (of("reads")?, of("bytes_read")?, of("writes")?, of("bytes_written")?);
    let what = if reads == 0.0 && read > 0.0 {
        format!("{read} bytes were read in no call")
    } else if (writes == 0.0) != (written == 0.0) {
        format!("{written} bytes were written in {writes} calls")
    } else {
        return Ok(());
    };
    let reason = format!("{what} since the snapshot before: one of the counters is not what it was");
    Err(PlanError::input(after.place(), reason))
}

fn difference(before: &Row, after: &Row, column: &str) -> Result<f64, PlanError> {
    increase(column, before.counter(column)?, after.counter(column)?).map_err(|error| error.at(&after.place()))
}

fn load(before: &Snapshot, after: &Snapshot) -> Result<Load, PlanError> {
    let of_database = |column| difference(&before.database, &after.database, column);
    let of_log = |column| difference(&before.wal, &after.wal, column);
    let of_journal = |column| difference(&before.journal, &after.journal, column);
    let if_any =
        |before: &Row, after: &Row, column| match (before.optional_counter(column)?, after.optional_counter(column)?) {
            (Some(earlier), Some(later)) => increase(column, earlier, later).map_err(|error| error.at(&after.place())),
            (None, _) | (_, None) => Ok(0.0),
        };
    let of_database_if_any = |column| if_any(&before.database, &after.database, column);
    let totals = FileTotals {
        reads: of_database("reads")?,
        read: of_database("bytes_read")?,
        reads_following: of_database_if_any("reads_following")?,
        read_following: of_database_if_any("bytes_following")?,
        written: of_database("bytes_written")?,
        log_read: of_log("bytes_read")?,
        log_written: of_log("bytes_written")?,
        journal_read: of_journal("bytes_read")?,
        journal_written: of_journal("bytes_written")?,
        commits: of_log("commits")?,
        rollback_commits: of_journal("commits")?,
        transactions: of_database_if_any("transactions")?,
        rollback_transactions: if_any(&before.journal, &after.journal, "transactions")?,
        log_appended: if_any(&before.wal, &after.wal, "bytes_appended")?,
        ..FileTotals::default()
    };
    Ok(totals.load(after.page_size()? as f64))
}

/// What was done to the files of a database in an interval. Sizes are bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct FileTotals {
    /// Reads of the database, and their bytes.
    pub reads: f64,
    pub read: f64,
    /// Those that begin where the read before ended.
    pub reads_following: f64,
    pub read_following: f64,
    pub written: f64,
    pub log_read: f64,
    pub log_written: f64,
    /// Of the bytes written to the log, those that made it longer.
    pub log_appended: f64,
    pub journal_read: f64,
    pub journal_written: f64,
    /// Commits to the log.
    pub commits: f64,
    /// Commits in rollback mode.
    pub rollback_commits: f64,
    /// Transactions begun.
    pub transactions: f64,
    /// Those of them in rollback mode.
    pub rollback_transactions: f64,
    /// TDS packets sent and received, and their bytes.
    pub packets: f64,
    pub packet_bytes: f64,
    /// Clients that connected.
    pub connections: f64,
}

impl FileTotals {
    /// The operations, of pages of so many bytes.
    pub(super) fn load(&self, page: f64) -> Load {
        let read = self.read / page;
        let following = (self.read_following / page).min(read);
        let random = (self.reads - self.reads_following).clamp(0.0, read - following);
        let log_read = self.log_read / page;
        let written = self.written / page;
        let checkpointed = written.min(log_read);
        let journal_read = self.journal_read / (page + RECORD);
        let frame = page + FRAME_HEADER;
        let appended = self.log_appended.min(self.log_written) / frame;
        let rollback_transactions = self.rollback_transactions.min(self.transactions);
        let journal_written = self.journal_written / (page + RECORD);
        let mut load = LoadBuilder::default();
        load.pages(Operation::ReadSequential, read - random + journal_read, page);
        load.pages(Operation::ReadRandom, random, page);
        load.pages(Operation::ReadLog, log_read - checkpointed, page);
        load.pages(Operation::RollbackWrite, journal_written + written - checkpointed, page);
        load.pages(Operation::Write, self.log_written / frame - appended, page);
        load.pages(Operation::Append, appended, page);
        load.pages(Operation::Checkpoint, checkpointed, page);
        load.count(Operation::Commit, self.commits);
        load.count(Operation::RollbackCommit, self.rollback_commits);
        load.count(Operation::Transaction, self.transactions - rollback_transactions);
        load.count(Operation::RollbackTransaction, rollback_transactions);
        load.bytes(Operation::Packet, self.packets, self.packet_bytes);
        load.count(Operation::Handshake, self.connections);
        load.finish()
    }
}

const TIME: &str = "time";
const SINCE: &str = "since";
const ROLE: &str = "role";
const PAGE_SIZE: &str = "page_size";
const ROLES: [&str; 3] = ["database", "wal", "journal"];
/// Before each page of a log.
const FRAME_HEADER: f64 = 24.0;
/// Page number and checksum beside each page of a rollback journal.
const RECORD: f64 = 8.0;

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "time,since,role,page_size,reads,bytes_read,writes,bytes_written,syncs,commits\n";

    fn rows(time: &str, since: &str, database: &str, wal: &str, journal: &str) -> String {
        let row = |role: &str, counts: &str| format!("{time},{since},{role},4096,{counts}\n");
        row("database", database) + &row("wal", wal) + &row("journal", journal)
    }

    fn observed(text: &str) -> Result<Observation, PlanError> {
        observe(&[SnapshotText { name: "t", text }], &Supplement::default())
    }

    fn zeros(time: &str) -> String {
        rows(time, "1.5", "0,0,0,0,0,0", "0,0,0,0,0,0", "0,0,0,0,0,0")
    }

    #[test]
    fn operations_are_derived_from_bytes_and_calls() {
        // Ten reads of 100 pages, 60 pages checkpointed, 80 read from the log, 100 frames in 50 commits.
        let after = rows(
            "20",
            "1.5",
            "10,409600,60,245760,1,0",
            "80,327680,200,412000,3,50",
            "0,0,0,0,0,0",
        );
        let observation = observed(&format!("{HEADER}{}{after}", zeros("10"))).unwrap();
        assert_eq!((observation.engine, observation.page_size), (Engine::Sqlite, 4096));
        let load = observation.load_per_second();
        let rate = |operation| load.amount(operation).count;
        assert_eq!(rate(Operation::ReadSequential), 9.0);
        assert_eq!(rate(Operation::ReadRandom), 1.0);
        assert_eq!(rate(Operation::ReadLog), 2.0);
        assert_eq!(rate(Operation::Write), 10.0);
        assert_eq!(rate(Operation::Checkpoint), 6.0);
        assert_eq!(rate(Operation::Commit), 5.0);
        assert_eq!(observation.notes.len(), 3);
    }

    /// Three snapshots, 20 s apart, of a process with SQLite 3.40: in each interval it changed two pages in each of
    /// 1,000 transactions, read 500 rows, and made a checkpoint.
    #[test]
    fn the_snapshots_of_an_application_have_its_transactions() {
        let text = include_str!("../../../../../testdata/plan/sqlite/snapshots.csv");
        let observation = observed(text).unwrap();
        assert_eq!((observation.intervals.len(), observation.page_size), (2, 4096));
        assert_eq!(observation.notes.len(), 3);
        for interval in &observation.intervals {
            let count = |operation| interval.load.amount(operation).count;
            assert!((interval.seconds - 20.0).abs() < 0.001);
            assert_eq!(count(Operation::Commit), 1000.0);
            assert!((2000.0..2000.1).contains(&count(Operation::Write)));
            assert_eq!(count(Operation::Checkpoint), 2000.0);
            // A cache of ten pages: the rows that are read, those that are changed, and some pages of the tree; a few of
            // them are in the log by then.
            assert!((2400.0..2500.0).contains(&count(Operation::ReadRandom)));
            assert!((300.0..350.0).contains(&count(Operation::ReadLog)));
            assert_eq!(count(Operation::ReadSequential), 0.0);
        }
    }

    #[test]
    fn pages_of_reads_that_follow_the_one_before_are_read_in_sequence() {
        let header = HEADER.replace("commits", "commits,reads_following,bytes_following,transactions");
        let before = zeros("10").replace(",0\n", ",0,0,0,0\n");
        // Twenty reads of one page; ten of them are in sequence.
        let after = rows(
            "20",
            "1.5",
            "20,81920,0,0,0,0,10,40960,30",
            "0,0,0,0,0,0,0,0,0",
            "0,0,0,0,0,0,0,0,0",
        );
        let observation = observed(&format!("{header}{before}{after}")).unwrap();
        assert_eq!(observation.notes.len(), 1);
        let load = observation.load_per_second();
        assert_eq!(load.amount(Operation::Transaction).count, 3.0);
        assert_eq!(load.amount(Operation::ReadSequential).count, 1.0);
        assert_eq!(load.amount(Operation::ReadRandom).count, 1.0);
    }

    #[test]
    fn transactions_in_rollback_mode_and_pages_appended_to_the_log_are_operations_of_their_own() {
        let header = HEADER.replace(
            "commits",
            "commits,reads_following,bytes_following,transactions,bytes_appended",
        );
        let before = zeros("10").replace(",0\n", ",0,0,0,0,0\n");
        // A hundred frames, of which forty make the log longer; thirty transactions, ten of them without a log.
        let after = rows(
            "20",
            "1.5",
            "0,0,0,0,0,0,0,0,30,0",
            "0,0,200,412000,3,50,0,0,0,164800",
            "0,0,0,0,0,0,0,0,10,0",
        );
        let load = observed(&format!("{header}{before}{after}")).unwrap().load_per_second();
        assert_eq!(load.amount(Operation::Append).count, 4.0);
        assert_eq!(load.amount(Operation::Write).count, 6.0);
        assert_eq!(load.amount(Operation::Transaction).count, 2.0);
        assert_eq!(load.amount(Operation::RollbackTransaction).count, 1.0);
    }

    #[test]
    fn pages_in_rollback_mode_are_written_to_journal_and_database() {
        let after = rows("11", "1.5", "0,0,30,122880,1,0", "0,0,0,0,0,0", "0,0,60,82080,2,4");
        let observation = observed(&format!("{HEADER}{}{after}", zeros("10"))).unwrap();
        let load = observation.load_per_second();
        // Twenty pages of the journal and thirty of the database.
        assert_eq!(load.amount(Operation::RollbackWrite).count, 50.0);
        assert_eq!(load.amount(Operation::Write).count, 0.0);
        assert_eq!(load.amount(Operation::Commit).count, 0.0);
        assert_eq!(load.amount(Operation::RollbackCommit).count, 4.0);
        assert!(observation.notes.iter().any(|note| note.contains("rollback mode")));
    }

    #[test]
    fn another_process_a_cut_and_a_moment_twice_are_refused() {
        let (first, second) = (zeros("10"), zeros("20"));
        let other = rows("20", "9.5", "0,0,0,0,0,0", "0,0,0,0,0,0", "0,0,0,0,0,0");
        assert!(matches!(
            observed(&format!("{HEADER}{first}{other}")),
            Err(PlanError::Reset { .. })
        ));
        let cut = second.lines().take(2).collect::<Vec<_>>().join("\n");
        let mixed = first.replace("wal", "journal");
        for text in [
            format!("{HEADER}{first}{cut}"),
            format!("{HEADER}{first}{first}"),
            format!("{HEADER}{second}{first}"),
            format!("{HEADER}{first}{mixed}"),
            format!("{HEADER}{first}"),
            HEADER.to_owned(),
        ] {
            assert!(matches!(observed(&text), Err(PlanError::Input { .. })), "{text}");
        }
    }
}
