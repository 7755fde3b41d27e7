//! The arguments of `selenite restore`.

use std::path::PathBuf;

use clap::Args;
use selenite_backup::ArchiveName;
use selenite_engine::parse_utc;

pub const AFTER_HELP: &str = "Example:\n  selenite -i key.txt restore /backups --to app.db\n\n\
    The newest backup, unless --backup or --at says otherwise. The file is new: every page is sealed \
    under a new key, and opened once more before the file gets its name. Who could open the database \
    when it was backed up can open it: somebody whose key slot was removed since, too. With --for, \
    these can and nobody else; it is another database then, with an id of its own.";

#[derive(Args)]
pub struct Restore {
    /// Where backups are kept: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DEST")]
    pub destination: String,
    /// The file to write.
    #[arg(long, value_name = "PATH")]
    pub to: PathBuf,
    /// Of which database, where there are backups of several: its id.
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    pub database: Option<String>,
    /// As it was at this moment: the newest backup not after it, with what was committed up to then, where it was followed: 2026-03-01T12:00:00Z, or "2026-03-01 12:00", which is UTC.
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "backup")]
    pub at: Option<u64>,
    /// The one of this name.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub backup: Option<ArchiveName>,
    /// Replace the file, if there is one.
    #[arg(long)]
    pub force: bool,
    /// Who is to open it, in the place of who could open the database: age1..., or the spec of an identity. May be given several times.
    #[arg(long = "for", value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Restore a backup that lacks pages, too: they are zeros then.
    #[arg(long)]
    pub allow_missing: bool,
    /// Take a backup that the keyring file does not vouch for: one from before the master key was renewed, say.
    #[arg(long)]
    pub unpinned: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

fn parse_id(text: &str) -> Result<String, String> {
    let id = selenite_backup::parse_database_id(text);
    id.map(|_| text.to_owned())
        .ok_or_else(|| "not the id of a database: 32 hexadecimal digits".to_owned())
}

fn parse_time(text: &str) -> Result<u64, String> {
    parse_utc(text).ok_or_else(|| "not a moment such as 2026-03-01T12:00:00Z".to_owned())
}

fn parse_name(text: &str) -> Result<ArchiveName, String> {
    text.parse()
        .map_err(|()| "not the name of a backup, such as 20260301T120000Z-0123456789abcdef".to_owned())
}
