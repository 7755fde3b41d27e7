//! The arguments of `selenite backup`.

use std::path::PathBuf;

use clap::Args;

pub const AFTER_HELP: &str = "Example:\n  selenite -i key.txt backup app.db /backups\n\n\
    Others read and write meanwhile. Every page is opened before it is sent; pages are compressed, \
    then sealed under a key of the backup's own. Whoever can open the database can open its backups, \
    and each --recipient: without a key there is no restore. Exit status 5: a page is bad, and \
    named.\n\n\
    Lengths of backups say how well rows compress. Where strangers write rows and see these lengths, \
    use --no-compress.";

#[derive(Args)]
pub struct Backup {
    /// The database.
    pub database: PathBuf,
    /// Where backups are kept: a folder, or s3://BUCKET/PREFIX.
    #[arg(value_name = "DEST")]
    pub destination: String,
    /// Send what changed since the newest backup that is there, and rest on it.
    #[arg(long)]
    pub incremental: bool,
    /// Go on with an interrupted backup at once: nobody else is writing one. Without it, one that is older than two minutes is gone
    /// on with.
    #[arg(long)]
    pub resume: bool,
    /// Put the digest of all rows into the backup, for restore and drill to compare: all of the database is read once more.
    #[arg(long)]
    pub digest: bool,
    /// Open pages, too, that have not changed and are not sent.
    #[arg(long)]
    pub verify: bool,
    /// Who may open this backup besides: age1..., an identity that is kept elsewhere, say. May be given several times.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Do not compress: lengths say nothing of what is in the rows then.
    #[arg(long)]
    pub no_compress: bool,
    /// How hard to compress, from 1 to 19, as zstd counts it.
    #[arg(long, value_name = "LEVEL", default_value_t = 3, value_parser = clap::value_parser!(i32).range(1..=19), conflicts_with = "no_compress")]
    pub level: i32,
    /// Leave out pages that are not authentic, and name them; without it, they end the backup.
    #[arg(long)]
    pub skip_bad: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}
