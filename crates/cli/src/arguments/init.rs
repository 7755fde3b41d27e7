//! The arguments of `selenite init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use selenite::Suite;

use super::parse_suite;

pub const AFTER_HELP: &str = "\
Example:
  selenite init app.db
  selenite init app.db --lang go --identity ~/keys/app.txt

Without --identity, SELENITE_IDENTITY and a configuration file, the key file is key.txt in the current folder: a new \
one, or the one that is there. A key file is never overwritten. A database that is there is not changed.";

#[derive(Args)]
pub struct Init {
    /// The database.
    pub database: PathBuf,
    /// Print the lines for this language [default: by the files of the current folder].
    #[arg(long, value_name = "LANGUAGE")]
    pub lang: Option<Language>,
    /// The cipher suite: AES_256, AES_192, AES_128, AEGIS_256X4, AEGIS_128X4, CHACHA20,
    /// AES_256_CTR_HMAC.
    #[arg(long, value_name = "SUITE", default_value = Suite::DEFAULT.name(), value_parser = parse_suite)]
    pub cipher: Suite,
    /// Additional key holder: age1..., or an identity. May be repeated.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// A language whose programs open the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    Python,
    Node,
    Go,
    Java,
    Rust,
    Ruby,
    Php,
    Shell,
}
