//! The arguments of `selenite status`.

use std::path::PathBuf;

use clap::Args;
use selenite::folder::Limits;

#[derive(Args)]
pub struct Status {
    /// A database, or a folder to search for databases.
    #[arg(required_unless_present = "files0_from")]
    pub database: Option<PathBuf>,
    /// Databases whose names are in this file (-: standard input), each followed by a NUL character.
    /// Prints a line of JSON for each, with its result or error.
    #[arg(long, value_name = "FILE", requires = "json", conflicts_with_all = ["database", "output", "pages"])]
    pub files0_from: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Print Prometheus' text format.
    #[arg(long, visible_alias = "metrics", conflicts_with = "json")]
    pub prometheus: bool,
    /// Write the output to this file atomically, for node_exporter's textfile collector.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Exit with status 1 if there is a warning.
    #[arg(long)]
    pub fail_on_warning: bool,
    /// Warn if a data key is older; 0: never.
    #[arg(long, value_name = "DAYS", default_value_t = Limits::default().data_key_days)]
    pub data_key_days: u64,
    /// Warn if a master key is older; 0: never.
    #[arg(long, value_name = "DAYS", default_value_t = Limits::default().master_key_days)]
    pub master_key_days: u64,
    /// Warn if the last successful verify is longer ago or not recorded; 0: never.
    #[arg(long, value_name = "DAYS", default_value_t = Limits::default().verify_days)]
    pub verify_days: u64,
    /// Count the pages under each data key. Reads the whole file.
    #[arg(long, conflicts_with = "prometheus")]
    pub pages: bool,
}

impl Status {
    /// Age limits in days.
    pub fn limits(&self) -> Limits {
        Limits {
            data_key_days: self.data_key_days,
            master_key_days: self.master_key_days,
            verify_days: self.verify_days,
        }
    }
}

pub const AFTER_HELP: &str = "\
Example:
  selenite status app.db
  selenite status /srv --fail-on-warning
  selenite status /srv --prometheus --output /var/lib/node_exporter/selenite.prom

Verifications are recorded in the state folder: SELENITE_STATE, or ~/.local/state/selenite.";
