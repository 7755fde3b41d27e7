//! The arguments of `selenite backup`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;

pub const AFTER_HELP: &str = "Example:\n  selenite -i key.txt backup app.db /backups\n\n\
    Others read and write meanwhile. Every page is opened before it is sent; pages are \
    compressed, then encrypted under a new key. Everyone who can open the database can open its \
    backups, and each --recipient: without a key there is no restore. Exit status 5: a page is \
    bad, and named.\n\n\
    The sizes of backups reveal how well rows compress. If strangers write rows and see these \
    sizes, use --no-compress.";

#[derive(Args)]
pub struct Backup {
    /// The database.
    pub database: PathBuf,
    /// The destination of the backups: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DEST")]
    pub destination: OsString,
    /// Back up only the changes since the newest backup at the destination.
    #[arg(long)]
    pub incremental: bool,
    /// Continue an interrupted backup at once; no other backup may be running. By default, one is
    /// continued after two minutes without progress.
    #[arg(long)]
    pub resume: bool,
    /// Include a digest of all rows for restore and drill to compare. Reads the whole database once
    /// more.
    #[arg(long)]
    pub digest: bool,
    /// Also verify unchanged pages, which are not sent.
    #[arg(long)]
    pub verify: bool,
    /// Additional recipient of this backup (age1...), such as an escrow identity. May be repeated.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Do not compress, so that sizes reveal nothing about the contents.
    #[arg(long)]
    pub no_compress: bool,
    /// zstd compression level, 1 to 19.
    #[arg(long, value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(i32).range(1..=19), conflicts_with = "no_compress")]
    pub level: i32,
    /// Omit pages that fail authentication and report them. By default, such a page aborts the
    /// backup.
    #[arg(long)]
    pub skip_bad: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
