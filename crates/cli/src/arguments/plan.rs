//! The arguments of the planner.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use selenite::Suite;

use super::lab::ProgressStyle;
use crate::cli_error::CliError;

#[derive(Args)]
pub struct Plan {
    #[command(subcommand)]
    pub command: PlanCommand,
}

/// A command of the planner.
#[derive(Subcommand)]
pub enum PlanCommand {
    /// Measure what each operation costs on this machine, in clear and encrypted, in two minutes.
    #[command(
        after_help = "Example:\n  selenite plan calibrate --output calibration.json\n  selenite plan calibrate \
            --check calibration.json\n\n\
            Run it on the machine that will run the encrypted system, or on one like it, while nothing else \
            runs there. Nothing but its own temporary files is read or written.\n\n\
            Exit status of --check: 0 the calibration fits this machine, 5 it does not."
    )]
    Calibrate(PlanCalibrate),
    /// Turn a production system's counters into an observation: rates, no contents.
    #[command(
        after_help = "Examples:\n  selenite plan observe --print-query postgresql-16\n  selenite plan observe \
            postgresql before.csv after.csv --cores 8 --output observation.json\n\n\
            Two snapshots at least, some minutes apart; more of them, over the busiest hours of a week, tell how \
            the load varies."
    )]
    Observe(Box<PlanObserve>),
    /// Predict what encryption will cost, from a calibration and an observation or numbers by hand.
    #[command(
        after_help = "Examples:\n  selenite plan predict observation.json --calibration calibration.json --html \
            plan.html\n  selenite plan predict --reads-mb 25 --cores 4 --calibration calibration.json\n\n\
            Exit status: 5 where the calibration lacks something or is not sound, the load is beyond its range, or \
            the machine does not serve the load."
    )]
    Predict(Box<PlanPredict>),
    /// Predict workloads, measure them afterwards, and publish both: how good is the planner here?
    #[command(
        after_help = "Examples:\n  selenite plan validate --calibration calibration.json\n  selenite plan validate \
            my-study.toml --output FORECASTS.md\n\n\
            A study is a preset's name or a file, as of selenite lab run; without one the presets league, \
            league-cache, league-pages and league-rollback are run, which takes about a quarter of an hour. Predictions and stores stay in the folder: the \
            same command goes on after an interruption, and with new predictions in another folder."
    )]
    Validate(PlanValidate),
    /// Repeat a trace of an application on databases in clear and encrypted, and measure the difference.
    #[command(
        after_help = "Examples:\n  selenite trace --recipient age1... --output app.trace -- app\n  selenite plan replay \
            app.trace.* --identity key.txt --calibration calibration.json\n\n\
            The application's pages are not in a trace: databases with pages of random bytes are made in the current \
            folder, up to 256 MiB for each suite, and removed. Run it while nothing else runs."
    )]
    Replay(PlanReplay),
}

#[derive(Args)]
pub struct PlanReplay {
    /// The traces of one run of the application: a file for each of its processes.
    #[arg(required = true, value_name = "TRACE")]
    pub traces: Vec<PathBuf>,
    /// How long to measure, about.
    #[arg(long, default_value = "120", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    /// Measure only this suite. May be repeated [default: all suites that are not deprecated].
    #[arg(long, value_name = "SUITE", value_parser = super::parse_suite)]
    pub suite: Vec<Suite>,
    /// The page pool of the encrypted databases: bytes, or with k, M or G [default: as of the extension].
    #[arg(long, value_name = "SIZE", value_parser = parse_pool_size)]
    pub pool_size: Option<String>,
    /// Show what was to be expected by this calibration, too.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// Write the result as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

#[derive(Args)]
pub struct PlanValidate {
    /// The studies [default: league league-cache league-pages league-rollback].
    pub studies: Vec<String>,
    /// The calibration of this machine.
    #[arg(long, value_name = "FILE", default_value = "calibration.json")]
    pub calibration: PathBuf,
    /// Where predictions, stores and databases are made.
    #[arg(long, value_name = "FOLDER", default_value = "league")]
    pub folder: PathBuf,
    /// Sessions of each study: more make its intervals narrower [default: as the study has it].
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub sessions: Option<u32>,
    /// The document to write.
    #[arg(long, short, value_name = "FILE", default_value = "FORECASTS.md")]
    pub output: PathBuf,
    /// How to show progress.
    #[arg(long, value_enum, default_value_t)]
    pub progress: ProgressStyle,
}

#[derive(Args)]
pub struct PlanCalibrate {
    /// The calibration to write. Temporary files lie beside it.
    #[arg(long, short, value_name = "FILE", default_value = "calibration.json")]
    pub output: PathBuf,
    /// How long to measure, about: longer gives narrower intervals. All suites take a minute at least.
    #[arg(long, default_value = "120", value_parser = clap::value_parser!(u32).range(1..=86_400))]
    pub seconds: u32,
    /// Measure only this suite. May be repeated [default: all suites].
    #[arg(long, value_name = "SUITE", value_parser = super::parse_suite)]
    pub suite: Vec<Suite>,
    /// Measure nothing: say whether this calibration fits this machine and this program.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "seconds", "suite"])]
    pub check: Option<PathBuf>,
}

#[derive(Args)]
pub struct PlanObserve {
    #[command(subcommand)]
    pub source: Option<ObservedSource>,
    /// Print the query that makes a snapshot, of this server and version.
    #[arg(long, value_name = "NAME")]
    pub print_query: Option<String>,
}

/// What was observed.
#[derive(Subcommand)]
pub enum ObservedSource {
    /// SQL Server: snapshots of sys.dm_io_virtual_file_stats. Not tested against SQL Server itself.
    SqlServer(ObserveSqlServer),
    /// MariaDB or MySQL: snapshots of SHOW GLOBAL STATUS.
    #[command(visible_alias = "mysql")]
    Mariadb(ObserveSnapshots),
    /// PostgreSQL 13 to 18: snapshots of its statistics views.
    Postgresql(ObserveSnapshots),
    /// SQLite with the extension: snapshots of selenite_file_counts, from a connection of the application.
    Sqlite(ObserveSnapshots),
    /// SQLite with the extension: traces, as selenite trace records them.
    Trace(ObserveSnapshots),
    /// Numbers by hand.
    Numbers(Box<ObserveNumbers>),
}

impl ObservedSource {
    /// The files that are read.
    pub fn files(&self) -> Vec<&Path> {
        let paths: Vec<&PathBuf> = match self {
            Self::SqlServer(server) => {
                let others = server.performance.iter().chain(&server.connections);
                server.snapshots.files.iter().chain(others).collect()
            }
            Self::Mariadb(given) | Self::Postgresql(given) | Self::Sqlite(given) | Self::Trace(given) => {
                given.files.iter().collect()
            }
            Self::Numbers(_) => Vec::new(),
        };
        paths.into_iter().map(PathBuf::as_path).collect()
    }

    /// The observation to write.
    pub fn output(&self) -> &PathBuf {
        match self {
            Self::SqlServer(server) => &server.snapshots.output,
            Self::Mariadb(given) | Self::Postgresql(given) | Self::Sqlite(given) | Self::Trace(given) => &given.output,
            Self::Numbers(given) => &given.output,
        }
    }
}

#[derive(Args)]
pub struct ObserveSnapshots {
    /// The snapshots: files with one or several each.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Cores of the server.
    #[arg(long, value_name = "NUMBER")]
    pub cores: Option<f64>,
    /// Cores that the server keeps busy on average.
    #[arg(long, value_name = "NUMBER")]
    pub busy_cores: Option<f64>,
    /// The observation to write.
    #[arg(long, short, value_name = "FILE", default_value = "observation.json")]
    pub output: PathBuf,
}

#[derive(Args)]
pub struct ObserveSqlServer {
    #[command(flatten)]
    pub snapshots: ObserveSnapshots,
    /// Performance counters of the same time, as typeperf or relog write them.
    #[arg(long, value_name = "FILE")]
    pub performance: Option<PathBuf>,
    /// Snapshots of sys.dm_exec_connections of the same time. May be repeated.
    #[arg(long, value_name = "FILE")]
    pub connections: Vec<PathBuf>,
    /// Only this database. May be repeated [default: all user databases].
    #[arg(long, value_name = "NUMBER")]
    pub database_id: Vec<u64>,
    /// A log file, where it is not file 2 and the snapshots have no type_desc: the ids of its database and of
    /// the file. May be repeated.
    #[arg(long, value_name = "DATABASE:FILE", value_parser = parse_log_file)]
    pub log_file: Vec<(u64, u64)>,
}

#[derive(Args)]
pub struct ObserveNumbers {
    #[command(flatten)]
    pub numbers: Numbers,
    /// The observation to write.
    #[arg(long, short, value_name = "FILE", default_value = "observation.json")]
    pub output: PathBuf,
}

/// Numbers by hand: rates have a unit, such as 400/s, 25MB/s or 3/h.
#[derive(Args)]
pub struct Numbers {
    /// Pages or bytes read at random from the disk: 400/s, 25MB/s.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub reads: Option<String>,
    /// The same in MB a second.
    #[arg(
        long,
        value_name = "NUMBER",
        conflicts_with = "reads",
        help_heading = "Numbers by hand"
    )]
    pub reads_mb: Option<String>,
    /// Pages or bytes read in the order of the file, as scans do.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub sequential_reads: Option<String>,
    /// Pages or bytes written to data files.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub writes: Option<String>,
    /// Bytes written to the log.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub log: Option<String>,
    /// Writes to the log.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub log_writes: Option<String>,
    /// Transactions that write.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub commits: Option<String>,
    /// Bytes that backups read, or backups of the whole database: 1/d.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub backup: Option<String>,
    /// Packets between clients and server.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub packets: Option<String>,
    /// Bytes of a packet.
    #[arg(long, value_name = "SIZE", help_heading = "Numbers by hand")]
    pub packet_size: Option<String>,
    /// Logins.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub handshakes: Option<String>,
    /// Statements or transactions that clients send: with --busy-cores, for response times.
    #[arg(long, value_name = "RATE", help_heading = "Numbers by hand")]
    pub requests: Option<String>,
    /// Cores of the machine.
    #[arg(long, value_name = "NUMBER", help_heading = "Numbers by hand")]
    pub cores: Option<String>,
    /// Cores that are busy now, or a percentage of all.
    #[arg(long, value_name = "NUMBER", help_heading = "Numbers by hand")]
    pub busy_cores: Option<String>,
    /// Bytes of a page: 8KiB.
    #[arg(long, value_name = "SIZE", help_heading = "Numbers by hand")]
    pub page_size: Option<String>,
    /// Bytes of the database: 40GiB.
    #[arg(long, value_name = "SIZE", help_heading = "Numbers by hand")]
    pub database_size: Option<String>,
}

impl Numbers {
    /// Refuses numbers that an observation has: only the cores of the machine may be others.
    pub fn check_none_beside_observation(&self) -> Result<(), CliError> {
        let given = [
            ("--reads-mb", self.reads_mb.is_some()),
            ("--reads", self.reads.is_some()),
            ("--sequential-reads", self.sequential_reads.is_some()),
            ("--writes", self.writes.is_some()),
            ("--log", self.log.is_some()),
            ("--log-writes", self.log_writes.is_some()),
            ("--commits", self.commits.is_some()),
            ("--backup", self.backup.is_some()),
            ("--packets", self.packets.is_some()),
            ("--packet-size", self.packet_size.is_some()),
            ("--handshakes", self.handshakes.is_some()),
            ("--requests", self.requests.is_some()),
            ("--busy-cores", self.busy_cores.is_some()),
            ("--page-size", self.page_size.is_some()),
            ("--database-size", self.database_size.is_some()),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => Err(CliError::Lab {
                what: format!("{option} goes with numbers by hand, not with an observation"),
                next: "selenite plan observe takes --cores and --busy-cores".to_owned(),
                status: 2,
            }),
        }
    }
}

#[derive(Args)]
pub struct PlanPredict {
    /// The observation. Without one, give numbers by hand.
    pub observation: Option<PathBuf>,
    /// The calibration.
    #[arg(long, value_name = "FILE", default_value = "calibration.json")]
    pub calibration: PathBuf,
    /// The suite of the database.
    #[arg(long, value_name = "SUITE", value_parser = super::parse_suite, default_value = "AES_256")]
    pub cipher: Suite,
    /// On a processor without AES instructions.
    #[arg(long)]
    pub without_aes_instructions: bool,
    /// Encrypt the network, too, which it is not yet.
    #[arg(long, value_name = "VERSION", value_parser = ["1.2", "1.3"])]
    pub tls: Option<String>,
    /// What if: physical reads are multiplied by it; below 1 for more memory.
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub physical_reads: f64,
    /// What if: all of the load is multiplied by it.
    #[arg(long, value_name = "FACTOR", default_value = "1")]
    pub load: f64,
    /// What if: pages of so many bytes.
    #[arg(long, value_name = "BYTES")]
    pub other_page_size: Option<u32>,
    /// For the formula of reads alone: MB that a core decrypts in a second [default: as calibrated].
    #[arg(long, value_name = "NUMBER")]
    pub decrypted_mb: Option<f64>,
    /// Write the prediction as a page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write the prediction as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    #[command(flatten)]
    pub numbers: Numbers,
}

/// The text, as the extension reads it.
fn parse_pool_size(text: &str) -> Result<String, String> {
    match selenite::parse_pool_size(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("expected bytes, such as 64M or 64MiB".to_owned()),
    }
}

fn parse_log_file(text: &str) -> Result<(u64, u64), String> {
    let parts = text.split_once(':').and_then(|(database, file)| {
        let [database, file] = [database, file].map(|part| part.parse().ok());
        Some((database?, file?))
    });
    parts.ok_or_else(|| "it is DATABASE:FILE, such as 7:2".to_owned())
}

#[derive(Args)]
pub struct PlanSession {
    /// What to measure, as JSON.
    pub spec: String,
}
