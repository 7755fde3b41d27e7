//! An observation from numbers that a person states.
//!
//! | option | becomes |
//! |---|---|
//! | reads | [`Operation::ReadRandom`]: pages, or bytes divided by the page size |
//! | sequential reads | [`Operation::ReadSequential`] |
//! | writes | [`Operation::Write`] |
//! | log | the bytes of [`Operation::LogRecord`] |
//! | log writes | the count of [`Operation::LogRecord`]; that of commits if absent |
//! | commits | [`Operation::Commit`] |
//! | backup | [`Operation::Backup`] in pages |
//! | packets, packet size | [`Operation::Packet`] |
//! | handshakes | [`Operation::Handshake`] |
//! | requests, busy cores, cores, database size | the same fields of the observation |

use super::quantity::{Rate, parse_number, parse_part, parse_size};
use super::snapshot::{LoadBuilder, MIB, check_busy};
use crate::bounds::check_cores;
use crate::observation::{Engine, ObservedInterval};
use crate::operation::Operation;
use crate::{Observation, PlanError};

/// Numbers with units, as [`super::quantity`] parses them. What is absent is unknown, or zero for operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByHand {
    /// Pages or bytes that are read at random: `400/s`, `25MB/s`.
    pub reads: Option<String>,
    /// The same as a number of MB in a second.
    pub reads_mb: Option<String>,
    /// Pages or bytes that are read in the order of the file.
    pub sequential_reads: Option<String>,
    /// Pages or bytes that are written to data files.
    pub writes: Option<String>,
    /// Bytes that are written to the log.
    pub log: Option<String>,
    /// Writes to the log.
    pub log_writes: Option<String>,
    /// Transactions that write.
    pub commits: Option<String>,
    /// Bytes that backups read, or backups of the whole database: `1/d`.
    pub backup: Option<String>,
    /// Packets of TLS, or bytes in them.
    pub packets: Option<String>,
    /// Bytes of a packet: 4 KiB if absent, the default of SQL Server.
    pub packet_size: Option<String>,
    /// Connections that begin with TLS.
    pub handshakes: Option<String>,
    /// Statements, batches or transactions of clients.
    pub requests: Option<String>,
    /// Cores of the machine.
    pub cores: Option<String>,
    /// Cores that are busy, or a percentage of the cores: `6.25%`.
    pub busy_cores: Option<String>,
    /// Bytes of a page: 8 KiB if absent.
    pub page_size: Option<String>,
    /// Bytes of the database.
    pub database_size: Option<String>,
}

/// Turns numbers into an observation of one second.
///
/// # Errors
/// [`PlanError::Input`] with the option, as the command line spells it.
pub fn observe(numbers: &ByHand) -> Result<Observation, PlanError> {
    let page_size = size("--page-size", numbers.page_size.as_ref())?.unwrap_or(PAGE_SIZE_DEFAULT);
    let database_size = size("--database-size", numbers.database_size.as_ref())?;
    let packet_size = size("--packet-size", numbers.packet_size.as_ref())?.unwrap_or(PACKET_SIZE_DEFAULT);
    for (place, value) in [("--page-size", page_size), ("--packet-size", packet_size)] {
        if value < 1.0 {
            return Err(PlanError::input(place, "it is 0"));
        }
    }
    let cores = numbers.cores.as_ref().map(|text| parse_number("--cores", text));
    let cores = cores.transpose()?;
    if let Some(cores) = cores {
        check_cores("--cores", cores)?;
    }
    let busy = numbers.busy_cores.as_ref();
    let busy = busy.map(|text| parse_part("--busy-cores", text, cores)).transpose()?;
    if let Some(busy) = busy {
        check_busy(busy, cores)?;
    }
    if numbers.packets.is_none() && numbers.packet_size.is_some() {
        return Err(PlanError::input("--packet-size", "of no packets: state --packets"));
    }
    let reads_mb = numbers.reads_mb.as_ref().map(|mb| format!("{mb}MB/s"));
    let mut load = LoadBuilder::default();
    let of_pages = [
        (Operation::ReadRandom, "--reads", &numbers.reads),
        (Operation::ReadRandom, "--reads-mb", &reads_mb),
        (
            Operation::ReadSequential,
            "--sequential-reads",
            &numbers.sequential_reads,
        ),
        (Operation::Write, "--writes", &numbers.writes),
    ];
    for (operation, place, text) in of_pages {
        load.pages(operation, pieces(place, text.as_ref(), page_size)?, page_size);
    }
    let commits = count("--commits", numbers.commits.as_ref())?.unwrap_or(0.0);
    load.count(Operation::Commit, commits);
    add_log(numbers, commits, &mut load)?;
    let backup_bytes = backup_bytes(numbers.backup.as_ref(), database_size)?;
    load.bytes(Operation::Backup, backup_bytes / page_size, backup_bytes);
    let packets = pieces("--packets", numbers.packets.as_ref(), packet_size)?;
    load.bytes(Operation::Packet, packets, packets * packet_size);
    let handshakes = count("--handshakes", numbers.handshakes.as_ref())?;
    load.count(Operation::Handshake, handshakes.unwrap_or(0.0));
    let load = load.finish();
    if load.is_zero() {
        return Err(PlanError::input(
            "numbers by hand",
            "no operation is stated: state --reads, for example",
        ));
    }
    let observation = Observation {
        engine: Engine::ByHand,
        notes: vec!["numbers by hand, taken as constant".to_owned()],
        page_size: whole(page_size)?,
        cores,
        database_mib: database_size.map(|bytes| bytes / MIB),
        serialized_share: None,
        intervals: vec![ObservedInterval {
            seconds: 1.0,
            load,
            requests: count("--requests", numbers.requests.as_ref())?,
            cpu_seconds: busy,
        }],
    };
    observation.check()?;
    Ok(observation)
}

fn add_log(numbers: &ByHand, commits: f64, load: &mut LoadBuilder) -> Result<(), PlanError> {
    let Some(text) = numbers.log.as_ref() else {
        if numbers.log_writes.is_some() {
            return Err(PlanError::input(
                "--log-writes",
                "their bytes are not known: state --log",
            ));
        }
        return Ok(());
    };
    let bytes = match Rate::parse("--log", text)? {
        Rate::Bytes(bytes) => bytes,
        Rate::Count(_) => return Err(PlanError::input("--log", format!("{text:?} has no unit of bytes"))),
    };
    let writes = count("--log-writes", numbers.log_writes.as_ref())?.unwrap_or(commits);
    if bytes == 0.0 && numbers.log_writes.is_some() && writes > 0.0 {
        return Err(PlanError::input("--log-writes", "they have no bytes: state --log"));
    }
    if bytes > 0.0 && writes == 0.0 {
        let reason = "the number of log writes is not known: state --log-writes or --commits";
        return Err(PlanError::input("--log", reason));
    }
    if bytes > 0.0 {
        load.bytes(Operation::LogRecord, writes, bytes);
    }
    Ok(())
}

fn backup_bytes(text: Option<&String>, database_size: Option<f64>) -> Result<f64, PlanError> {
    let place = "--backup";
    match text.map(|text| Rate::parse(place, text)).transpose()? {
        None => Ok(0.0),
        Some(Rate::Bytes(bytes)) => Ok(bytes),
        Some(Rate::Count(backups)) => {
            let bytes = database_size
                .ok_or_else(|| PlanError::input(place, "the size of a backup is not known: state --database-size"))?;
            Ok(backups * bytes)
        }
    }
}

fn size(place: &str, text: Option<&String>) -> Result<Option<f64>, PlanError> {
    text.map(|text| parse_size(place, text)).transpose()
}

fn count(place: &str, text: Option<&String>) -> Result<Option<f64>, PlanError> {
    match text.map(|text| Rate::parse(place, text)).transpose()? {
        None => Ok(None),
        Some(Rate::Count(count)) => Ok(Some(count)),
        Some(Rate::Bytes(_)) => Err(PlanError::input(
            place,
            "it is a count, and has no unit of bytes: 400/s",
        )),
    }
}

fn pieces(place: &str, text: Option<&String>, piece: f64) -> Result<f64, PlanError> {
    match text.map(|text| Rate::parse(place, text)).transpose()? {
        None => Ok(0.0),
        Some(Rate::Count(count)) => Ok(count),
        Some(Rate::Bytes(bytes)) => Ok(bytes / piece),
    }
}

fn whole(page_size: f64) -> Result<u32, PlanError> {
    let text = format!("{page_size}");
    let reason = || format!("{text} bytes is no size of a page; 8KiB is one, and 8KB are 8000 bytes");
    let size: u32 = text.parse().map_err(|_| PlanError::input("--page-size", reason()))?;
    if !size.is_power_of_two() {
        return Err(PlanError::input("--page-size", reason()));
    }
    Ok(size)
}

const PAGE_SIZE_DEFAULT: f64 = 8192.0;
const PACKET_SIZE_DEFAULT: f64 = 4096.0;
