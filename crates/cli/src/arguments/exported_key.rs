//! The arguments of `selenite keys export` and `import`.

use std::path::PathBuf;

use clap::Args;

#[derive(Args)]
pub struct KeysExport {
    /// The database.
    pub database: PathBuf,
    /// The recipient of the key: age1...
    #[arg(long, value_name = "AGE")]
    pub recipient: String,
    /// The output file, readable by its owner only.
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct KeysImport {
    /// The database.
    pub database: PathBuf,
    /// The exported key.
    pub file: PathBuf,
    /// New key holder: age1..., or an identity. May be repeated.
    #[arg(long = "for", value_name = "RECIPIENT", required = true)]
    pub recipient: Vec<String>,
    /// A description.
    #[arg(long, default_value = "")]
    pub label: String,
}

pub const EXPORT_HELP: &str = "\
Example:
  selenite -i key.txt keys export app.db --recipient age1... --to app.key.age

A holder of the file and the recipient's identity can open this database, every copy and \
every backup of it, until the master key is renewed (keys renew): it never expires by \
itself. Keep both elsewhere, and apart. After keys renew, export again.";

pub const IMPORT_HELP: &str = "\
Example:
  selenite -i escrow.txt keys import app.db app.key.age --for age1...

The current identity opens the file; it need not open the database. A key exported before \
the master key was renewed opens nothing written since. Neither the file nor the database \
proves who made it: importing accepts the database, whose id and commitment are shown.";
