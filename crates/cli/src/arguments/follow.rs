//! The arguments of `selenite follow`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

pub const AFTER_HELP: &str = "Example:\n  selenite -i key.txt follow app.db /backups\n  selenite -i key.txt restore /backups --to app.db --at 2026-03-01T12:00:00Z\n\n\
    Makes a backup, then adds what is committed, a moment later, until it is ended (SIGTERM, \
    Ctrl-C). Killed, it goes on where it stopped, by what it finds at the destination; if it can't, \
    it makes a new backup with what changed. Others read and write meanwhile, and never wait for it. \
    It needs a database in WAL mode. While it runs nobody can leave that mode, and a checkpoint of \
    kind RESTART or TRUNCATE waits for up to two of its turns. The destination needs no key.";

#[derive(Args)]
pub struct Follow {
    /// The database.
    pub database: PathBuf,
    /// Where backups are kept: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DEST")]
    pub destination: String,
    /// How many seconds what is there may be behind, while the destination can be reached.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = parse_seconds)]
    pub lag: Duration,
    /// After how many hours a new backup is made at the latest: restoring takes the newest, and what was added to it. Each seventh has all pages, the others what changed.
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=8760))]
    pub renew_hours: u32,
    /// How long the database's log may grow while the destination can't be reached, in MiB. Beyond that it is let go, and a new
    /// backup is made later.
    #[arg(long, value_name = "MIB", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..))]
    pub max_log_mib: u32,
    /// Send what there is, and end.
    #[arg(long)]
    pub once: bool,
    /// Who may open these backups besides: age1..., an identity that is kept elsewhere, say. May be given several times.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Do not compress: lengths say nothing of what is in the rows then.
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
        .ok_or_else(|| "it may be 0.1 to 3600".to_owned())
}
