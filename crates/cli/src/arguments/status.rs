//! The arguments of `selenite status`.

use std::path::PathBuf;

use clap::Args;
use selenite_engine::folder::Limits;

#[derive(Args)]
pub struct Status {
    /// The database, or a folder: then every database in it and below.
    pub database: PathBuf,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
    /// Answer in Prometheus' text format.
    #[arg(long, conflicts_with = "json")]
    pub prometheus: bool,
    /// Write the answer to this file, replacing it in one step: for node_exporter's textfile collector.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Exit with status 1 if there is a warning.
    #[arg(long)]
    pub fail_on_warning: bool,
    /// Warn of a data key that is older; 0 for never.
    #[arg(long, value_name = "DAYS", default_value_t = Limits::default().data_key_days)]
    pub data_key_days: u64,
    /// Warn of a master key that is older; 0 for never.
    #[arg(long, value_name = "DAYS", default_value_t = Limits::default().master_key_days)]
    pub master_key_days: u64,
    /// Warn where the last verify that found all well is longer ago, or not known of; 0 for never.
    #[arg(long, value_name = "DAYS", default_value_t = Limits::default().verify_days)]
    pub verify_days: u64,
    /// Count the pages of each epoch in the file, which reads all of it.
    #[arg(long, conflicts_with = "prometheus")]
    pub pages: bool,
}

impl Status {
    /// How old things may be.
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

The last verify is what selenite verify kept in the state folder: SELENITE_STATE, or ~/.local/state/selenite.";
