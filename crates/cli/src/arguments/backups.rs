//! The arguments of `selenite backups` and `selenite drill`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use selenite::backups::Rules;

#[derive(Args)]
pub struct Backups {
    #[command(subcommand)]
    pub command: BackupsCommand,
}

/// A command on existing backups.
#[derive(Subcommand)]
pub enum BackupsCommand {
    /// List backups. Without a key, only what is not encrypted.
    #[command(after_help = LIST_HELP)]
    List(BackupsList),
    /// Verify that backups are authentic and complete.
    #[command(after_help = VERIFY_HELP)]
    Verify(BackupsVerify),
    /// Remove backups that no rule keeps, and unfinished ones.
    #[command(after_help = PRUNE_HELP)]
    Prune(BackupsPrune),
}

#[derive(Args)]
pub struct BackupsList {
    /// The destination of the backups.
    #[arg(value_name = "DEST")]
    pub destination: OsString,
    /// Only this database, by its id.
    #[arg(long, value_name = "ID")]
    pub database: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BackupsVerify {
    /// The destination of the backups.
    #[arg(value_name = "DEST")]
    pub destination: OsString,
    /// Only this database, by its id.
    #[arg(long, value_name = "ID")]
    pub database: Option<String>,
    /// Only this backup and those it depends on.
    #[arg(long, value_name = "NAME")]
    pub backup: Option<String>,
    /// Include backups that do not match the keyring file's pin, such as those from before `keys
    /// renew`.
    #[arg(long)]
    pub unpinned: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct BackupsPrune {
    /// The destination of the backups.
    #[arg(value_name = "DEST")]
    pub destination: OsString,
    /// Only this database, by its id.
    #[arg(long, value_name = "ID")]
    pub database: Option<String>,
    #[command(flatten)]
    pub keep: Keep,
    /// Only show what would be removed.
    #[arg(long)]
    pub dry_run: bool,
    /// Include backups that do not match the keyring file's pin, such as those from before `keys
    /// renew`.
    #[arg(long)]
    pub unpinned: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Retention rules. A backup is kept if any rule keeps it.
#[derive(Args)]
pub struct Keep {
    /// Keep the last N backups.
    #[arg(long, value_name = "N")]
    pub keep_last: Option<u32>,
    /// Keep the last backup of each of the last N hours that have one.
    #[arg(long, value_name = "N")]
    pub keep_hourly: Option<u32>,
    /// Keep the last backup of each of the last N days (UTC) that have one.
    #[arg(long, value_name = "N")]
    pub keep_daily: Option<u32>,
    /// Keep the last backup of each of the last N weeks (from Monday) that have one.
    #[arg(long, value_name = "N")]
    pub keep_weekly: Option<u32>,
    /// Keep the last backup of each of the last N months that have one.
    #[arg(long, value_name = "N")]
    pub keep_monthly: Option<u32>,
    /// Keep the last backup of each of the last N years that have one.
    #[arg(long, value_name = "N")]
    pub keep_yearly: Option<u32>,
    /// Keep all backups within this time before the newest: 36h, 30d, 8w, 2y.
    #[arg(long, value_name = "DURATION", value_parser = parse_duration)]
    pub keep_within: Option<u64>,
}

impl Keep {
    /// The rules in the engine's type.
    pub fn rules(&self) -> Rules {
        Rules {
            last: self.keep_last,
            hourly: self.keep_hourly,
            daily: self.keep_daily,
            weekly: self.keep_weekly,
            monthly: self.keep_monthly,
            yearly: self.keep_yearly,
            within: self.keep_within,
        }
    }
}

#[derive(Args)]
pub struct Drill {
    /// The destination of the backups.
    #[arg(value_name = "DEST")]
    pub destination: OsString,
    /// The id of the database, if there are backups of several.
    #[arg(long, value_name = "ID")]
    pub database: Option<String>,
    /// This backup instead of the newest.
    #[arg(long, value_name = "NAME")]
    pub backup: Option<String>,
    /// Accept a backup with missing pages; they are filled with zeros.
    #[arg(long)]
    pub allow_missing: bool,
    /// A folder with enough space for the restored database.
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// Parses a duration into seconds.
fn parse_duration(text: &str) -> Result<u64, String> {
    let parsed = || {
        let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let seconds = match unit {
            "h" => 3600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            "y" => 365 * 86_400,
            _ => return None,
        };
        digits.parse::<u64>().ok()?.checked_mul(seconds)
    };
    parsed().ok_or_else(|| "expected a duration such as 36h, 30d, 8w or 2y".to_owned())
}

const LIST_HELP: &str = "\
Example:
  selenite backups list /backups
  selenite -i key.txt backups list s3://bucket/app --json

MADE is the time of the database's state in the backup, PAGES its number of pages then. SIZE \
and PARTS are those of the backup alone. A backup is NOT complete if one of its parts is \
missing or too short in the destination's list; selenite backups verify checks their \
contents.";

const VERIFY_HELP: &str = "\
Example:
  selenite -i key.txt backups verify /backups

Every object is fetched once and decrypted. Exit status 5: an object is bad, missing or \
superfluous, and named on standard error. To test a restore and its duration, use selenite \
drill.";

const PRUNE_HELP: &str = "\
Example:
  selenite -i key.txt backups prune /backups --keep-daily 7 --keep-weekly 5 --keep-monthly 12 --dry-run

The newest backup and all bases of kept backups are kept. Without a rule every backup is \
kept. Unfinished backups are removed after a day. If one cannot be opened, no backup of its \
database is removed, because it may depend on any other. Other files are left alone.";

pub const DRILL_HELP: &str = "\
Example:
  selenite -i key.txt drill /backups

The newest backup is restored to a folder that is removed afterwards; every page is \
decrypted, SQLite's integrity_check run, and the rows compared if the backup has a digest. \
Exit status 5: the restored database failed a check.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_a_number_and_a_letter() {
        let days = |days: u64| Ok(days * 86_400);
        assert_eq!(parse_duration("36h"), Ok(36 * 3600));
        assert_eq!(
            (parse_duration("30d"), parse_duration("8w"), parse_duration("2y")),
            (days(30), days(56), days(730))
        );
        for text in [
            "",
            "d",
            "30",
            "30m",
            "-1d",
            "1.5d",
            "30d ",
            "99999999999999999999d",
            "9999999999999999999w",
            "3\u{e9}",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
