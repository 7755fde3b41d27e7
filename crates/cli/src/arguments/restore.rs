//! The arguments of `selenite restore`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use selenite::parse_utc;
use selenite_backup::ArchiveName;

pub const AFTER_HELP: &str = "Example:\n  selenite -i key.txt restore /backups --to app.db\n\n\
    Restores the newest backup, unless --backup or --at is given. The file is new: every page is \
    encrypted under a new key, and read back before the file gets its name. Everyone who could \
    open the database when it was backed up can open it, also holders of key slots that were \
    removed since. With --for, only these recipients can; it is then another database, with a \
    new id. The file is readable by its owner only (mode 600); with --force it keeps the owner \
    and mode of the file that it replaces.";

#[derive(Args)]
pub struct Restore {
    /// The destination of the backups: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DEST")]
    pub destination: OsString,
    /// The file to write.
    #[arg(long, value_name = "PATH")]
    pub to: PathBuf,
    /// The id of the database, if there are backups of several.
    #[arg(long, value_name = "ID", value_parser = parse_id)]
    pub database: Option<String>,
    /// Restore to this point in time (UTC): the newest backup before it, plus commits up to it if
    /// the database was followed. 2026-03-01T12:00:00Z or "2026-03-01 12:00".
    #[arg(long, value_name = "TIME", value_parser = parse_time, conflicts_with = "backup")]
    pub at: Option<u64>,
    /// The name of the backup.
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub backup: Option<ArchiveName>,
    /// Replace an existing file.
    #[arg(long)]
    pub force: bool,
    /// Key holder of the restored database, instead of the original ones: age1..., or an identity.
    /// May be repeated.
    #[arg(long = "for", value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Accept a backup with missing pages; they are filled with zeros.
    #[arg(long)]
    pub allow_missing: bool,
    /// Accept a backup that does not match the keyring file's pin, such as one from before `keys
    /// renew`.
    #[arg(long)]
    pub unpinned: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

fn parse_id(text: &str) -> Result<String, String> {
    let id = selenite_backup::parse_database_id(text);
    id.map(|_| text.to_owned())
        .ok_or_else(|| "not a database id (32 hexadecimal digits)".to_owned())
}

fn parse_time(text: &str) -> Result<u64, String> {
    parse_utc(text).ok_or_else(|| "expected a time such as 2026-03-01T12:00:00Z".to_owned())
}

fn parse_name(text: &str) -> Result<ArchiveName, String> {
    text.parse()
        .map_err(|()| "not the name of a backup, such as 20260301T120000Z-0123456789abcdef".to_owned())
}
