//! Forecasts of what encryption would cost a database at its current load: `selenite_forecast`,
//! `selenite_file_counts`.
//!
//! - upper-bound: the forecast assumes that every page read from the VFS below is decrypted. An
//!   encrypted database reads fewer, because the pool has some of them.
//! - checkpoint-carries: a page that a checkpoint copies is decrypted from the log, and not
//!   encrypted again. So of the pages written to the database, as many cost nothing as were read
//!   from the log.

use selenite_cipher::{PAGE_SIZE_MAX, Suite};

use crate::cipher_costs::{self, SuiteCosts};
use crate::commit_counts::CommitCounts;
use crate::database::Content;
use crate::database_meter::{DatabaseReading, MeterReport};
use crate::error::VfsError;
use crate::ffi::Value;
use crate::file_counts::FileCounts;
use crate::main_file::MainFile;
use crate::meter_history::Since;
use crate::role::Role;

/// A database's counts, and the sizes by which bytes are converted to pages.
pub struct Metered {
    /// The counts and their history.
    pub report: MeterReport,
    /// Bytes of a page.
    pub page_size: u32,
    /// Whether the log and the database are read as encrypted pages.
    is_sealed: bool,
}

/// Operations per second, on average over a period.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rates {
    /// The length of the period in seconds.
    pub seconds: f64,
    /// Pages that would be decrypted, per second.
    pub pages_read: f64,
    /// Pages that would be encrypted, per second.
    pub pages_written: f64,
    /// Commits to the write-ahead log, per second.
    pub commits: f64,
    /// The median of the frames per commit.
    frames_p50: f64,
    /// The 99th percentile of the frames per commit.
    frames_p99: f64,
}

/// The forecast for one suite and period.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Forecast {
    /// The suite.
    pub suite: Suite,
    /// `now` or `hour`.
    pub period: &'static str,
    /// The load in the period.
    pub rates: Rates,
    /// CPU seconds per second.
    pub cpu: f64,
    /// The bounds of its 90 % confidence interval.
    pub cpu_interval: (f64, f64),
    /// Additional seconds per page read: median and 99th percentile.
    pub page_read: (f64, f64),
    /// Additional seconds per commit: median and 99th percentile.
    pub commit: (f64, f64),
}

impl Metered {
    /// The counts of a file's database; `None` if the database is empty.
    ///
    /// # Errors
    /// Those of the VFS below.
    pub fn read(main: &mut MainFile) -> Result<Option<Self>, VfsError> {
        let database = &main.database;
        let (page_size, is_sealed) = match database.content() {
            Content::Empty => return Ok(None),
            Content::Sealed(view) => (view.geometry.page_size().as_u32(), true),
            Content::Plain => {
                let mut header = [0; 18];
                database.lock().lower.read_uncounted(&mut header, 0)?;
                (page_size_of(header[16], header[17]), false)
            }
        };
        let report = database.host.file_meters.report(&database.path);
        Ok(report.map(|report| Self {
            report,
            page_size,
            is_sealed,
        }))
    }

    /// The available periods, by name.
    pub fn rates(&self) -> Vec<(&'static str, Rates)> {
        let periods = [("now", self.report.present), ("hour", self.report.hour)];
        let rates = |(name, since): (&'static str, Option<Since<DatabaseReading>>)| {
            since.map(|since| (name, self.rates_since(&since)))
        };
        periods.into_iter().filter_map(rates).collect()
    }

    fn rates_since(&self, since: &Since<DatabaseReading>) -> Rates {
        let seconds = since.length.as_secs_f64();
        let counts = self.report.counts.since(&since.from);
        let page = f64::from(self.page_size);
        let frame = page + FRAME_HEADER;
        let read = |counts: FileCounts, size: f64| to_f64(counts.bytes_read) / size;
        let written = |counts: FileCounts, size: f64| to_f64(counts.bytes_written) / size;
        let files = counts.files;
        // SQLite reads only the page of a frame; the VFS reads the whole of an encrypted frame.
        let log_read = read(files.wal, if self.is_sealed { frame } else { page });
        let by_commits = (written(files.database, page) - log_read).max(0.0);
        Rates {
            seconds,
            pages_read: (read(files.database, page) + log_read + read(files.journal, page + RECORD)) / seconds,
            pages_written: (written(files.wal, frame) + written(files.journal, page + RECORD) + by_commits) / seconds,
            commits: to_f64(counts.commits.commits()) / seconds,
            frames_p50: counts.commits.frames_at(0.5),
            frames_p99: counts.commits.frames_at(0.99),
        }
    }

    /// The forecast for each suite and period.
    ///
    /// # Errors
    /// If the system's random number generator fails.
    pub fn forecasts(&self) -> Result<Vec<Forecast>, VfsError> {
        let periods = self.rates();
        if periods.is_empty() {
            return Ok(Vec::new());
        }
        let page_size = usize::try_from(self.page_size).unwrap_or(PAGE_SIZE_MAX);
        let costs = cipher_costs::costs(page_size)?;
        let forecasts = costs.iter().flat_map(|costs| {
            let of_period = |(name, rates): &(&'static str, Rates)| forecast(costs, name, *rates);
            periods.iter().map(of_period).collect::<Vec<Forecast>>()
        });
        Ok(forecasts.collect())
    }

    /// The counts of each role.
    pub fn counts(&self) -> [(Role, FileCounts, CommitCounts); 3] {
        let DatabaseReading { files, commits } = self.report.counts;
        let none = CommitCounts::default();
        [
            (Role::Main, files.database, none),
            (Role::Wal, files.wal, commits),
            (Role::Journal, files.journal, none),
        ]
    }
}

fn forecast(costs: &SuiteCosts, period: &'static str, rates: Rates) -> Forecast {
    let cpu = rates.pages_read * costs.open.mean + rates.pages_written * costs.seal.mean;
    // The two costs were measured independently.
    let half = (rates.pages_read * costs.open.half_interval).hypot(rates.pages_written * costs.seal.half_interval);
    let page_read = if rates.pages_read > 0.0 {
        (costs.open.p50, costs.open.p99)
    } else {
        (0.0, 0.0)
    };
    let commit = if rates.commits > 0.0 {
        // One page of the commit takes the 99th percentile, the others the mean.
        let slowest = (costs.seal.p99 - costs.seal.mean).max(0.0);
        let median = rates.frames_p50 * costs.seal.p50;
        (median, (rates.frames_p99 * costs.seal.mean + slowest).max(median))
    } else {
        (0.0, 0.0)
    };
    Forecast {
        suite: costs.suite,
        period,
        rates,
        cpu,
        cpu_interval: ((cpu - half).max(0.0), cpu + half),
        page_read,
        commit,
    }
}

/// The rows of `selenite_forecast`.
///
/// # Errors
/// Those of the VFS below.
pub fn forecast_rows(main: &mut MainFile) -> Result<Vec<Vec<Value>>, VfsError> {
    let Some(metered) = Metered::read(main)? else {
        return Ok(Vec::new());
    };
    let row = |one: Forecast| {
        let (read, commit) = (one.page_read, one.commit);
        let numbers = [
            one.rates.seconds,
            one.rates.pages_read,
            one.rates.pages_written,
            one.rates.commits,
            one.cpu,
            one.cpu_interval.0,
            one.cpu_interval.1,
            read.0 * MICROSECONDS,
            read.1 * MICROSECONDS,
            commit.0 * MICROSECONDS,
            commit.1 * MICROSECONDS,
        ];
        let names = [one.suite.name(), one.period].map(|name| Value::Text(name.to_owned()));
        names.into_iter().chain(numbers.map(Value::Real)).collect()
    };
    Ok(metered.forecasts()?.into_iter().map(row).collect())
}

/// The rows of `selenite_file_counts`.
///
/// # Errors
/// Those of the VFS below.
pub fn count_rows(main: &mut MainFile) -> Result<Vec<Vec<Value>>, VfsError> {
    let Some(metered) = Metered::read(main)? else {
        return Ok(Vec::new());
    };
    let began = metered.report.began_at.as_secs_f64();
    let now = (metered.report.began_at + metered.report.age).as_secs_f64();
    let row = |(role, files, commits): (Role, FileCounts, CommitCounts)| {
        let mut row = vec![
            Value::Real(now),
            Value::Real(began),
            Value::Text(role.name().to_owned()),
            Value::Integer(i64::from(metered.page_size)),
        ];
        let counts = [
            files.reads,
            files.bytes_read,
            files.read_ns,
            files.writes,
            files.bytes_written,
            files.write_ns,
            files.syncs,
            files.sync_ns,
            match role {
                Role::Journal => metered.report.counts.files.database.rollback_commits,
                Role::Main | Role::Wal | Role::SuperJournal | Role::Nameless => commits.commits(),
            },
            commits.frames,
            files.reads_following,
            files.bytes_following,
            match role {
                Role::Journal => metered.report.counts.files.database.rollback_transactions,
                Role::Main | Role::Wal | Role::SuperJournal | Role::Nameless => files.transactions,
            },
            files.bytes_appended,
        ];
        row.extend(counts.map(|count| Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))));
        row
    };
    Ok(metered.counts().into_iter().map(row).collect())
}

/// The page size in bytes 16 and 17 of a database's header (<https://sqlite.org/fileformat2.html>,
/// section 1.3.2).
fn page_size_of(high: u8, low: u8) -> u32 {
    match u32::from(u16::from_be_bytes([high, low])) {
        1 => 65_536,
        size if size.is_power_of_two() && size >= 512 => size,
        _ => PAGE_SIZE_DEFAULT,
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of bytes are below 2^53")]
fn to_f64(count: u64) -> f64 {
    count as f64
}

/// The header before each page of a log, in bytes.
const FRAME_HEADER: f64 = 24.0;
/// The page number and checksum around each page of a rollback journal, in bytes.
const RECORD: f64 = 8.0;
/// SQLite's default.
const PAGE_SIZE_DEFAULT: u32 = 4096;
const MICROSECONDS: f64 = 1e6;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cipher_costs::PageTime;
    use crate::file_counts::DatabaseFileCounts;

    const PAGE_TIME: PageTime = PageTime {
        mean: 2e-6,
        half_interval: 1e-7,
        p50: 2e-6,
        p99: 5e-6,
    };
    const COSTS: SuiteCosts = SuiteCosts {
        suite: Suite::Aes256,
        seal: PAGE_TIME,
        open: PAGE_TIME,
    };

    fn rates(files: DatabaseFileCounts, commits: CommitCounts, is_sealed: bool) -> Rates {
        let since = Since {
            length: Duration::from_secs(2),
            from: DatabaseReading::default(),
        };
        let metered = Metered {
            report: MeterReport {
                began_at: Duration::ZERO,
                age: Duration::from_secs(2),
                counts: DatabaseReading { files, commits },
                present: Some(since),
                hour: None,
            },
            page_size: 4096,
            is_sealed,
        };
        metered.rates_since(&since)
    }

    #[test]
    fn a_checkpoint_decrypts_and_does_not_encrypt() {
        let mut files = DatabaseFileCounts::default();
        files.wal.bytes_written = 100 * (4096 + 24);
        files.wal.bytes_read = 60 * 4096;
        files.database.bytes_written = 60 * 4096;
        let found = rates(files, CommitCounts::default(), false);
        assert_eq!((found.pages_read, found.pages_written), (30.0, 50.0));
        // In rollback mode each page is written to the journal and to the database.
        let mut files = DatabaseFileCounts::default();
        files.journal.bytes_written = 10 * (4096 + 8);
        files.database.bytes_written = 10 * 4096;
        let found = rates(files, CommitCounts::default(), false);
        assert_eq!((found.pages_read, found.pages_written), (0.0, 10.0));
    }

    #[test]
    fn a_forecast_grows_with_its_load_and_is_zero_without() {
        let none = forecast(&COSTS, "now", Rates::default());
        let zero = (0.0, 0.0);
        assert_eq!(
            (none.cpu, none.cpu_interval, none.page_read, none.commit),
            (0.0, zero, zero, zero)
        );
        let mut last = 0.0;
        for load in [1.0, 10.0, 1000.0] {
            let rates = Rates {
                seconds: 1.0,
                pages_read: load,
                pages_written: load,
                commits: load,
                frames_p50: 3.0,
                frames_p99: 9.0,
            };
            let found = forecast(&COSTS, "now", rates);
            assert!(found.cpu > last);
            assert!(found.cpu_interval.0 < found.cpu && found.cpu < found.cpu_interval.1);
            assert!(found.commit.0 < found.commit.1);
            assert!((found.commit.0 - 6e-6).abs() < 1e-12 && (found.commit.1 - 21e-6).abs() < 1e-12);
            last = found.cpu;
        }
    }

    #[test]
    fn page_sizes_are_those_of_the_header() {
        assert_eq!(page_size_of(0, 1), 65_536);
        assert_eq!(page_size_of(16, 0), 4096);
        assert_eq!(page_size_of(2, 0), 512);
        assert_eq!(page_size_of(0, 0), PAGE_SIZE_DEFAULT);
    }
}
