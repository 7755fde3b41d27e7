//! The arguments.

pub mod anchor_store;
pub mod backup;
pub mod backups;
pub mod completions;
pub mod doctor;
mod exported_key;
pub mod follow;
pub mod import;
pub mod init;
pub mod key_service;
#[cfg(feature = "lab")]
pub mod lab;
#[cfg(feature = "lab")]
pub mod plan;
pub mod restore;
#[cfg(feature = "serve")]
pub mod serve;
mod status;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use selenite::{Access, EngineError, PageSize, Spec, Suite, fips_module};
use selenite_keyring::OriginPolicy;

pub use exported_key::{KeysExport, KeysImport};
pub use status::Status;

/// Transparent encryption for SQLite databases.
#[derive(Parser)]
#[command(name = "selenite", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Arguments {
    /// The identity that opens the database: PATH, age:PATH, raw:PATH, passphrase:PATH or
    /// command:NAME [default: SELENITE_IDENTITY, then the configuration file]
    // Not clap's to parse: it would repeat a secret key that stands here by mistake.
    #[arg(long, short, global = true, value_name = "SPEC")]
    pub identity: Option<OsString>,

    /// Accept databases and backups of this identity's own making only (own), or also of others
    /// (any) [default: SELENITE_ORIGIN, then the configuration file, then own]
    #[arg(long, global = true, value_name = "ORIGIN", value_parser = parse_origin)]
    pub origin: Option<OriginPolicy>,

    /// Allow TRIPLE_DES_3KEY, which exists for comparison and migration only.
    #[arg(long, global = true)]
    pub allow_deprecated: bool,

    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The command.
#[derive(Subcommand)]
pub enum Command {
    /// Generate a new identity (an age key).
    #[command(after_help = "Example:\n  selenite keygen -o key.txt")]
    Keygen(Keygen),
    /// Make a key and an encrypted database, and print the lines that open it in your language.
    #[command(after_help = init::AFTER_HELP)]
    Init(init::Init),
    /// Encrypt a database, in place or to a new file.
    #[command(after_help = "Example:\n  selenite --identity key.txt encrypt app.db\n\n\
        In place, no other process can use the database meanwhile. With --to, readers continue and \
        writers wait.")]
    Encrypt(Encrypt),
    /// Decrypt a database, in place or to a new file.
    #[command(after_help = "Example:\n  selenite --identity key.txt decrypt app.db --to clear.db")]
    Decrypt(Decrypt),
    /// Import a database of SQLCipher or SQLite3 Multiple Ciphers into a new, encrypted one.
    #[command(after_help = import::AFTER_IMPORT)]
    Import(import::Import),
    /// Export a database into SQLCipher's format.
    #[command(after_help = import::AFTER_EXPORT)]
    Export(import::Export),
    /// Show the status of a database or folder; without a key, unauthenticated.
    #[command(after_help = status::AFTER_HELP)]
    Status(Status),
    /// Verify that every page is authentic and the database is consistent.
    #[command(after_help = "Example:\n  selenite --identity key.txt verify app.db\n\n\
        Exit status 5: pages are bad, or older than the anchor. Their numbers are on standard \
        error.\n\n\
        An anchor is a small file to be kept elsewhere. Compared with it, a database is the same, \
        changed, or older: some pages or the whole file were put back from a copy. Ordinary writes \
        cause no alarm. A page from a process that wrote nothing in the anchored database counts as \
        changed; that it is new is not proved. After the master key is renewed, the anchor is \
        refused: write a new one.")]
    Verify(Verify),
    /// Copy what can be read from a damaged database to a new one.
    #[command(
        after_help = "Example:\n  selenite --identity key.txt salvage app.db --to saved.db\n\n\
            The damaged database is only read. Exit status 5: something is lost, and listed on standard \
            error."
    )]
    Salvage(Salvage),
    /// List and change key slots: who can open a database.
    #[command(after_help = "Example:\n  selenite keys list app.db")]
    Keys(Keys),
    /// Wrap and unwrap keys by a PKCS#11 token, Vault or AWS KMS, as a key command.
    #[command(after_help = key_service::AFTER_HELP)]
    KeyService(key_service::KeyService),
    /// Keep short anchors in a folder or object store, as a command of follow --anchor-to.
    #[command(after_help = anchor_store::AFTER_HELP)]
    AnchorStore(anchor_store::AnchorStore),
    /// Re-encrypt every page under a new data key or another suite, online.
    #[command(after_help = "Example:\n  selenite -i key.txt reencrypt app.db --new-key\n\n\
        Others read and write meanwhile. A kill loses nothing: continue with --resume. At the end no \
        page is left under the old key, which is destroyed.")]
    Reencrypt(Reencrypt),
    /// Revoke a key holder: remove the key slot, renew the master key, replace the data key.
    #[command(after_help = "Example:\n  selenite -i key.txt compromised app.db 5f0c\n\n\
        The first step excludes the identity, the second a holder of the master key, the third a \
        holder of the data key. Earlier copies stay readable with the old keys. Interrupted, it \
        continues with --go-on.")]
    Compromised(Compromised),
    /// Replicate a database continuously: a backup, then every commit.
    #[command(after_help = follow::AFTER_HELP)]
    Follow(follow::Follow),
    /// Back up a database online, compressed and encrypted.
    #[command(after_help = backup::AFTER_HELP)]
    Backup(backup::Backup),
    /// Restore a database from a backup to a new file.
    #[command(after_help = restore::AFTER_HELP)]
    Restore(restore::Restore),
    /// Run a program and record which pages it reads and writes, without their contents.
    #[command(
        after_help = "Example:\n  selenite trace --recipient age1... --output app.trace -- python3 app.py\n\n\
            The program has to load the extension. Each of its processes writes a file of its own: the output's \
            name, a dot, and the number of the process. Next: selenite -i key.txt plan observe trace app.trace.*"
    )]
    Trace(Trace),
    /// List, verify and prune backups.
    #[command(after_help = "Example:\n  selenite backups list /backups")]
    Backups(backups::Backups),
    /// Rehearse a restore: restore the newest backup to a temporary folder, check it, report the
    /// time.
    #[command(after_help = backups::DRILL_HELP)]
    Drill(backups::Drill),
    /// Serve databases to SQL Server clients over TDS and TLS.
    #[cfg(feature = "serve")]
    #[command(after_help = serve::AFTER_HELP)]
    Serve(Box<serve::Serve>),
    /// Serve databases: not in this build.
    #[cfg(not(feature = "serve"))]
    #[command(hide = true)]
    Serve(NotBuiltIn),
    /// Run SQL on a database.
    #[command(after_help = "Example:\n  selenite --identity key.txt exec app.db \"SELECT * FROM note\"")]
    Exec(Exec),
    /// Measure the cost of encryption on this machine.
    #[cfg(feature = "lab")]
    #[command(after_help = "Example:\n  selenite lab run quick\n  selenite lab report quick.lab.db --html quick.html")]
    Lab(lab::Lab),
    /// Measure the cost of encryption: not in this build.
    #[cfg(not(feature = "lab"))]
    #[command(hide = true)]
    Lab(NotBuiltIn),
    /// Predict the cost of encryption for a system before anything of it is encrypted.
    #[cfg(feature = "lab")]
    #[command(after_help = "Example:\n  selenite plan calibrate --output calibration.json")]
    Plan(plan::Plan),
    /// Predict the cost of encryption: not in this build.
    #[cfg(not(feature = "lab"))]
    #[command(hide = true)]
    Plan(NotBuiltIn),
    /// Check this machine, its SQLite hosts, keys and databases, and say what to do.
    #[command(after_help = doctor::AFTER_HELP)]
    Doctor(doctor::Doctor),
    /// Print a completion script for a shell.
    #[command(after_help = completions::AFTER_HELP)]
    Completions(completions::Completions),
    /// Write the man pages to a folder, for packages.
    #[command(hide = true)]
    ManPages(completions::ManPages),
    /// A worker of the lab, which speaks JSON on standard input and output.
    #[cfg(feature = "lab")]
    #[command(hide = true)]
    LabWorker,
    /// Measures a server for the lab.
    #[cfg(feature = "lab")]
    #[command(hide = true)]
    LabTransitWorker,
    /// A session of a calibration, which prints JSON on standard output.
    #[cfg(feature = "lab")]
    #[command(hide = true)]
    PlanSession(plan::PlanSession),
}

/// Accepts all arguments of a command that this build does not have, so that the error names the command.
#[cfg(not(all(feature = "serve", feature = "lab")))]
#[derive(Args)]
#[command(disable_help_flag = true)]
pub struct NotBuiltIn {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<std::ffi::OsString>,
}

#[derive(Args)]
pub struct Trace {
    /// The age recipient who can read the trace: age1...
    #[arg(long, value_name = "RECIPIENT")]
    pub recipient: String,
    /// What the names of the traces begin with.
    #[arg(long, short, value_name = "FILE", default_value = "selenite.trace")]
    pub output: PathBuf,
    /// Bytes of a trace at most; then its recording ends.
    #[arg(long, value_name = "BYTES", default_value = "67108864", value_parser = clap::value_parser!(u64).range(1 << 20..))]
    pub limit: u64,
    /// The program and its arguments.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub command: Vec<std::ffi::OsString>,
}

#[derive(Args)]
pub struct Keygen {
    /// The output file, readable by its owner only [default: standard output].
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct Encrypt {
    /// The database.
    pub database: PathBuf,
    /// Write the encrypted database to this new file, and keep the original.
    #[arg(long, value_name = "NEW")]
    pub to: Option<PathBuf>,
    /// The cipher suite: AES_256, AES_192, AES_128, AEGIS_256X4, AEGIS_128X4, CHACHA20,
    /// AES_256_CTR_HMAC.
    #[arg(long, value_name = "SUITE", default_value = Suite::DEFAULT.name(), value_parser = parse_suite)]
    pub cipher: Suite,
    /// Additional key holder: age1..., or an identity. May be repeated.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Let others go on reading and writing meanwhile, and then in the encrypted database. They have to
    /// have opened it with the extension, plain=allow and an identity.
    #[arg(long, conflicts_with = "to")]
    pub online: bool,
    /// With --online: the longest time in milliseconds that others may be kept waiting at the end.
    /// After that they go on, and it is tried again.
    #[arg(long = "max-lock-ms", value_name = "MS", default_value = "200", requires = "online", value_parser = parse_millis)]
    pub max_lock: Duration,
    /// With --online: a database in rollback mode. Convert it although there are processes whose open
    /// files are not to be seen: none of them uses it.
    #[arg(long, requires = "online")]
    pub ignore_unseen: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Decrypt {
    /// The database.
    pub database: PathBuf,
    /// Write the unencrypted database to this new file, and keep the original.
    #[arg(long, value_name = "NEW")]
    pub to: Option<PathBuf>,
    /// Let others go on reading and writing meanwhile, and then in the unencrypted database: see
    /// `selenite encrypt --online`. Needs --confirm.
    #[arg(long, conflicts_with = "to", requires = "confirm")]
    pub online: bool,
    /// With --online: the name of the database's file, once more: what others write from then on is
    /// unencrypted.
    #[arg(long, value_name = "NAME", requires = "online")]
    pub confirm: Option<String>,
    /// With --online: the longest time in milliseconds that others may be kept waiting at the end.
    #[arg(long = "max-lock-ms", value_name = "MS", default_value = "200", requires = "online", value_parser = parse_millis)]
    pub max_lock: Duration,
    /// With --online: a database in rollback mode. Convert it although there are processes whose open
    /// files are not to be seen: none of them uses it.
    #[arg(long, requires = "online")]
    pub ignore_unseen: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Verify {
    /// The database.
    #[arg(required_unless_present = "files0_from")]
    pub database: Option<PathBuf>,
    /// Databases whose names are in this file (-: standard input), each followed by a NUL character.
    /// Prints a line of JSON for each, with its result or error.
    #[arg(long, value_name = "FILE", requires = "json", conflicts_with_all = ["database", "anchor", "write_anchor"])]
    pub files0_from: Option<PathBuf>,
    /// With --files0-from: add what `selenite status --json` prints to each result.
    #[arg(long, requires = "files0_from", conflicts_with = "database")]
    pub with_status: bool,
    /// Only authenticate pages, without SQLite's integrity check; works while others use the
    /// database.
    #[arg(long)]
    pub physical_only: bool,
    /// Compare with this anchor to detect pages or a whole file from an older copy.
    #[arg(long, value_name = "FILE")]
    pub anchor: Option<PathBuf>,
    /// Write an anchor if everything is authentic; with --anchor, it includes that one's history.
    /// Checkpoints the WAL; without a WAL, commits of others wait meanwhile.
    #[arg(long, value_name = "FILE")]
    pub write_anchor: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Salvage {
    /// The damaged database; no other process may use it.
    pub database: PathBuf,
    /// The new database, for the current identity and the age recipients of the old one.
    #[arg(long, value_name = "NEW")]
    pub to: PathBuf,
    /// Additional key holder: age1..., or an identity. May be repeated.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Keys {
    #[command(subcommand)]
    pub command: KeysCommand,
}

/// A command on key slots.
#[derive(Subcommand)]
pub enum KeysCommand {
    /// List key slots. Needs no key.
    #[command(after_help = "Example:\n  selenite keys list app.db")]
    List(KeysList),
    /// Add a key slot.
    #[command(after_help = "Example:\n  selenite -i key.txt keys add app.db age1... --label \"backup host\"")]
    Add(KeysAdd),
    /// Remove a key slot. Its holder may still know the master key: see renew.
    #[command(after_help = "Example:\n  selenite -i key.txt keys remove app.db 5f0c\n  \
        selenite -i key.txt keys remove app.db \"backup host\"\n  selenite -i key.txt keys remove app.db age1...")]
    Remove(KeysRemove),
    /// Replace a key slot in one step.
    #[command(after_help = "Example:\n  selenite -i key.txt keys replace app.db 5f0c age1...")]
    Replace(KeysReplace),
    /// Renew the master key and wrap it for all remaining key holders.
    #[command(after_help = "Example:\n  selenite -i key.txt keys renew app.db\n\n\
        Data keys do not change: a former holder of the master key can still read pages, also new \
        ones. To replace the data key, see reencrypt --new-key; to exclude a key holder, \
        compromised.")]
    Renew(KeysRenew),
    /// Rewrite both superblocks with the same keys, after one was damaged.
    #[command(after_help = "Example:\n  selenite -i key.txt keys repair app.db")]
    Repair(KeysRepair),
    /// Export the master key to a recipient for escrow.
    #[command(after_help = exported_key::EXPORT_HELP)]
    Export(KeysExport),
    /// Add a key slot using an exported master key.
    #[command(after_help = exported_key::IMPORT_HELP)]
    Import(KeysImport),
    /// Accept databases that others made as this identity's own.
    #[command(after_help = "Example:\n  selenite -i key.txt keys accept app.db\n\n\
        A database that others made for a public recipient is refused until it is accepted, because \
        anyone who knows the recipient can make one. Accept it if you know who made it: they, and \
        the holders of its other key slots, can read what is written to it.")]
    Accept(KeysAccept),
    /// Pin the current master key in the keyring file.
    #[command(after_help = "Example:\n  selenite -i key.txt keys pin app.db")]
    Pin(KeysPin),
}

#[derive(Args)]
pub struct KeysList {
    /// The database.
    pub database: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct KeysAdd {
    /// The database.
    pub database: PathBuf,
    /// The new key holder: age1..., or an identity.
    pub recipient: String,
    /// A description.
    #[arg(long, default_value = "")]
    pub label: String,
}

#[derive(Args)]
pub struct KeysRemove {
    /// The database.
    pub database: PathBuf,
    /// The key slot: the first digits of its id, its label, or its recipient (age1...).
    pub slot: String,
    /// Remove it even if it is the only slot of the current identity, which can then no longer
    /// open the database.
    #[arg(long)]
    pub force: bool,
}

#[derive(Args)]
pub struct KeysReplace {
    /// The database.
    pub database: PathBuf,
    /// The old key slot: the first digits of its id, its label, or its recipient (age1...).
    pub slot: String,
    /// The new key holder: age1..., or an identity.
    pub recipient: String,
    /// A description.
    #[arg(long, default_value = "")]
    pub label: String,
}

#[derive(Args)]
pub struct KeysRenew {
    /// The database.
    pub database: PathBuf,
    /// Another identity whose slot is kept, besides age recipients and the current identity. May be
    /// repeated.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Drop key slots that none of the given identities opens.
    #[arg(long)]
    pub drop: bool,
}

#[derive(Args)]
pub struct KeysRepair {
    /// The database.
    pub database: PathBuf,
}

#[derive(Args)]
pub struct KeysAccept {
    /// The databases.
    #[arg(required = true)]
    pub database: Vec<PathBuf>,
}

#[derive(Args)]
pub struct KeysPin {
    /// The database.
    pub database: PathBuf,
    /// Replace an existing pin, for a master key that was renewed elsewhere.
    #[arg(long)]
    pub replace: bool,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("what").required(true))]
pub struct Reencrypt {
    /// The database.
    pub database: PathBuf,
    /// Change the suite: AES_256, AES_192, AES_128, AEGIS_256X4, AEGIS_128X4, CHACHA20,
    /// AES_256_CTR_HMAC.
    #[arg(long, group = "what", value_name = "SUITE", value_parser = parse_suite)]
    pub cipher: Option<Suite>,
    /// Use a new data key and the same suite.
    #[arg(long, group = "what")]
    pub new_key: bool,
    /// Remove encryption but keep the file layout (suite NONE); the file still needs the extension.
    /// See also decrypt.
    #[arg(long, group = "what")]
    pub off: bool,
    /// From clear, in this layout, to AES_256.
    #[arg(long, group = "what")]
    pub on: bool,
    /// Continue after a pause, an interruption or a crash.
    #[arg(long, group = "what")]
    pub resume: bool,
    /// Pause the running re-encryption until --resume.
    #[arg(long, group = "what")]
    pub pause: bool,
    /// Show the progress and the process that does it.
    #[arg(long, group = "what")]
    pub status: bool,
    /// Re-encrypt offline, by a parallel copy that replaces the file. No other process may use the
    /// database.
    #[arg(long, conflicts_with_all = ["resume", "pause", "status", "max_rate"])]
    pub offline: bool,
    /// Limit the rate of re-encryption, such as 50MB/s.
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub max_rate: Option<u64>,
    /// The longest time in milliseconds that a batch may block a writer (99th percentile, without
    /// syncs). Batches shrink until it holds.
    #[arg(long = "max-lock-ms", value_name = "MS", default_value = "20", value_parser = parse_millis)]
    pub max_lock: Duration,
    /// Print JSON, with --status.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Compromised {
    /// The database.
    pub database: PathBuf,
    /// The key slot to remove: the first digits of its id, its label, or its recipient (age1...);
    /// see keys list.
    pub slot: String,
    /// Continue an interrupted run that has removed the slot.
    #[arg(long)]
    pub go_on: bool,
    /// Additional key holder afterwards, besides age recipients and the current identity. May be
    /// repeated.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Drop key slots that none of the given identities opens.
    #[arg(long)]
    pub drop: bool,
    /// Limit the rate of re-encryption, such as 50MB/s.
    #[arg(long, value_name = "RATE", value_parser = parse_rate)]
    pub max_rate: Option<u64>,
    /// The longest time in milliseconds that a batch may block a writer (99th percentile, without
    /// syncs).
    #[arg(long = "max-lock-ms", value_name = "MS", default_value = "20", value_parser = parse_millis)]
    pub max_lock: Duration,
}

#[derive(Args)]
pub struct Exec {
    /// The database.
    pub database: PathBuf,
    /// Statements, separated by semicolons.
    pub sql: String,
    /// Print JSON, one line per statement that returns rows.
    #[arg(long)]
    pub json: bool,
    /// Create a new database for the current identity.
    #[arg(long)]
    pub create: bool,
    /// The cipher suite of a new database: AES_256, AES_192, AES_128, AEGIS_256X4, AEGIS_128X4,
    /// CHACHA20, AES_256_CTR_HMAC.
    #[arg(long, requires = "create", value_name = "SUITE", default_value = Suite::DEFAULT.name(), value_parser = parse_suite)]
    pub cipher: Suite,
    /// The page size of a new database: a power of two from 1024 to 65536.
    #[arg(long, requires = "create", value_name = "BYTES", default_value = "4096", value_parser = parse_page_size)]
    pub page_size: PageSize,
}

impl Arguments {
    /// Parses the arguments of this process. If they are invalid, or help is requested, the process ends.
    pub fn of_process() -> Self {
        let mut command = Self::shown();
        if let Ok(Some(module)) = fips_module() {
            // clap wants a text that lives as long as the process.
            let version: &'static str = format!("{} (FIPS build, {module})", env!("CARGO_PKG_VERSION")).leak();
            command = command.version(version);
        }
        let matches = command.get_matches_mut();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command).exit())
    }

    /// The command for help, completions and man pages: a command's help omits global options that
    /// do not apply to it. They are still accepted there.
    pub fn shown() -> clap::Command {
        let mut all = Self::command();
        let globals: Vec<clap::Arg> = all.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
        for (command, options) in WITHOUT {
            for option in globals.iter().filter(|arg| options.contains(&arg.get_id().as_str())) {
                let hidden = option.clone().hide(true);
                all = all.mut_subcommand(command, |command| command.arg(hidden));
            }
        }
        all
    }

    /// The options with which databases are opened.
    pub fn access(&self) -> Result<Access, EngineError> {
        let identity = self.identity.as_deref().map(Spec::from_os).transpose()?;
        Ok(Access {
            identity,
            origin: self.origin,
            // The same rule as in the VFS.
            allow_plain: std::env::var_os("SELENITE_PLAIN").is_some_and(|value| value == "allow"),
            allow_deprecated: self.allow_deprecated,
            ..Access::default()
        })
    }
}

fn parse_origin(word: &str) -> Result<OriginPolicy, String> {
    word.parse().map_err(|_| "expected own or any".to_owned())
}

fn parse_suite(name: &str) -> Result<Suite, String> {
    Suite::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Suite::ALL.into_iter().skip(1).map(Suite::name).collect();
        let nearest = Suite::nearest(name).map(|suite| format!("did you mean {}? ", suite.name()));
        format!("{}expected one of {}", nearest.unwrap_or_default(), names.join(", "))
    })
}

fn parse_rate(text: &str) -> Result<u64, String> {
    let number = text.strip_suffix("/s").unwrap_or(text);
    let digits = number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &number[digits.len()..] {
        "kB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => 0,
    };
    let rate = digits.parse::<u64>().ok().and_then(|rate| rate.checked_mul(unit));
    rate.filter(|&rate| rate > 0)
        .ok_or_else(|| "expected a rate such as 50MB/s, 800kB/s or 64MiB/s".to_owned())
}

fn parse_millis(text: &str) -> Result<Duration, String> {
    let millis = text.parse::<u64>().ok().filter(|millis| (1..=60_000).contains(millis));
    millis
        .map(Duration::from_millis)
        .ok_or_else(|| "expected 1 to 60000".to_owned())
}

fn parse_page_size(text: &str) -> Result<PageSize, String> {
    let size = text.parse::<u32>().ok().and_then(|size| PageSize::try_from(size).ok());
    size.ok_or_else(|| "expected 1024, 2048, 4096, 8192, 16384, 32768 or 65536".to_owned())
}

/// The global options that do not apply to a command.
const WITHOUT: &[(&str, &[&str])] = &[
    ("keygen", &["identity", "origin", "allow_deprecated"]),
    ("init", &["origin", "allow_deprecated"]),
    ("encrypt", &["origin"]),
    ("doctor", &["origin", "allow_deprecated"]),
    ("serve", &["origin", "allow_deprecated"]),
    ("lab", &["identity", "origin", "allow_deprecated"]),
    ("plan", &["identity", "origin", "allow_deprecated"]),
    ("completions", &["identity", "origin", "allow_deprecated"]),
    ("man-pages", &["identity", "origin", "allow_deprecated"]),
];

const AFTER_HELP: &str = "\
Example:
  selenite init app.db
  selenite --identity key.txt encrypt old.db
  selenite --identity key.txt exec app.db \"SELECT count(*) FROM note\"

Exit status:
  0  done           2  usage          4  no key or wrong key  6  input/output  130  interrupted
  1  anything else  3  not encrypted  5  data refused         7  busy";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clap_accepts_the_definition_of_the_arguments() {
        Arguments::shown().debug_assert();
    }

    /// clap wraps lines at the terminal's width, so a paragraph must not contain line breaks.
    #[test]
    fn no_paragraph_of_a_help_text_has_lines_of_its_own() {
        let mut commands = vec![Arguments::command()];
        let mut count = 0;
        while let Some(command) = commands.pop() {
            commands.extend(command.get_subcommands().cloned());
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            for paragraph in help.split("\n\n") {
                let is_list = paragraph.starts_with("Example") || paragraph.starts_with("Exit status:\n");
                assert!(
                    is_list || !paragraph.contains('\n'),
                    "{}: {paragraph:?}",
                    command.get_name()
                );
                count += 1;
            }
        }
        assert!(count > 40, "{count} paragraphs");
    }
}
