//! The arguments of `selenite follow`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

pub const AFTER_HELP: &str = "Example:\n  selenite -i key.txt follow app.db /backups\n  selenite -i key.txt restore \
    /backups --to app.db --at 2026-03-01T12:00:00Z\n\n\
    Makes a backup, then adds what is committed, a moment later, until it is stopped (SIGTERM, \
    Ctrl-C). Killed, it continues from the state of the destination; if it cannot, it makes a \
    new backup of what changed. Others read and write meanwhile, and never wait for it. The \
    database must be in WAL mode. While it runs, no one can leave that mode, and a checkpoint of \
    kind RESTART or TRUNCATE waits for up to two rounds. The destination needs no key.";

#[derive(Args)]
pub struct Follow {
    /// The database.
    pub database: PathBuf,
    /// The destination of the backups: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DEST", required_unless_present = "anchor_to")]
    pub destination: Option<OsString>,
    /// Append short anchors to this file, or pass them to command:NAME; they detect an older copy when
    /// the database is opened with anchor=PLACE.
    #[arg(long, value_name = "PLACE")]
    pub anchor_to: Option<OsString>,
    /// Shortest time between two anchors, in seconds.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds, requires = "anchor_to")]
    pub anchor_interval: Duration,
    /// Go on with anchors although the database is older than the newest one: it was restored.
    #[arg(long, requires = "anchor_to")]
    pub accept_older: bool,
    /// Write the first anchor of the database: PLACE has none. Otherwise it must have one.
    #[arg(long, requires = "anchor_to", conflicts_with = "accept_older")]
    pub first_anchor: bool,
    /// Maximum lag in seconds while the destination is reachable.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_seconds)]
    pub lag: Duration,
    /// Maximum age of the newest backup in hours. A restore applies the newest backup and the log
    /// after it. Every seventh backup is full, the others are incremental.
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8760))]
    pub renew_hours: u32,
    /// Maximum size of the WAL in MiB while the destination is unreachable. Beyond it, the WAL is
    /// released and a new backup is made later.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_log_mib: u32,
    /// Send pending changes, then exit.
    #[arg(long)]
    pub once: bool,
    /// Additional recipient of these backups (age1...), such as an escrow identity. May be
    /// repeated.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Do not compress, so that sizes reveal nothing about the contents.
    #[arg(long)]
    pub no_compress: bool,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse::<f64>()
        .ok()
        .filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "expected 0.1 to 3600".to_owned())
}
