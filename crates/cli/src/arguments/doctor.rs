//! The arguments of `selenite doctor`.

use std::path::PathBuf;

use clap::Args;

pub const AFTER_HELP: &str = "\
Example:
  selenite doctor app.db

Runs each Python, Node.js and sqlite3 of PATH, pyenv and nvm with a short script that loads the extension. Changes \
nothing. Exit status 1: there is a problem; advice alone is exit status 0.";

#[derive(Args)]
pub struct Doctor {
    /// Databases to check: their file system, permissions and status.
    pub database: Vec<PathBuf>,
    /// The extension [default: the one beside the command].
    #[arg(long, value_name = "FILE")]
    pub extension: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
