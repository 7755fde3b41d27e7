//! The arguments of `selenite import` and `selenite export`.

use std::path::PathBuf;

use clap::Args;
use selenite::Suite;

use super::parse_suite;

pub const AFTER_IMPORT: &str = "Example:\n  \
    selenite --identity key.txt import old.db --to app.db --passphrase-file old-passphrase.txt\n\n\
    Without --format, the formats are tried one after the other: chacha20, aegis, sqlcipher4 and so on. An application \
    that sets parameters with its key needs them here, too, by the names that it uses: --format sqlcipher4 --set \
    kdf_iter=4000 --set cipher_page_size=8192. A database with a plaintext header needs --set \
    cipher_plaintext_header_size=32 and --set cipher_salt=DIGITS.\n\n\
    The old database is only read; no other process may use it meanwhile. Nothing is written to a disk in the clear. \
    Exit status 4: the key does not open it; 5: pages are not authentic: their numbers are on standard error.";

pub const AFTER_EXPORT: &str = "Example:\n  \
    selenite --identity key.txt export app.db --to old.db --format sqlcipher4 --passphrase-file passphrase.txt\n\n\
    The page size stays. If it is not the format's own, an application must set it after its key: PRAGMA \
    cipher_page_size.";

#[derive(Args)]
pub struct Import {
    /// The database to import.
    pub database: PathBuf,
    /// The new database.
    #[arg(long, value_name = "NEW")]
    pub to: PathBuf,
    #[command(flatten)]
    pub other: OtherFormat,
    /// If pages are damaged, import what can be read of the others; what is lost is listed.
    #[arg(long)]
    pub skip_bad: bool,
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

#[derive(Args)]
pub struct Export {
    /// The database to export.
    pub database: PathBuf,
    /// The new database, which only its owner can read.
    #[arg(long, value_name = "NEW")]
    pub to: PathBuf,
    #[command(flatten)]
    pub other: OtherFormat,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

/// How another product encrypts a database.
#[derive(Args)]
pub struct OtherFormat {
    /// The file with the passphrase in that format; a line break at its end does not count.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "raw_key_file",
        conflicts_with = "raw_key_file"
    )]
    pub passphrase_file: Option<PathBuf>,
    /// The file with the raw key in that format: 32 bytes or 64 hexadecimal digits, followed by the
    /// salt if there is one.
    #[arg(long, value_name = "FILE")]
    pub raw_key_file: Option<PathBuf>,
    /// The format: sqlcipher4, sqlcipher3, chacha20, aegis, ... [default: import tries all; export: sqlcipher4]
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<String>,
    /// A setting of the format, by its product's name. May be repeated.
    #[arg(long, value_name = "NAME=VALUE", requires = "format")]
    pub set: Vec<String>,
}
