//! The arguments.

pub mod lab;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use selenite_engine::{Access, EngineError, PageSize, Suite};

/// Transparent encryption for SQLite databases.
#[derive(Parser)]
#[command(name = "selenite", version, max_term_width = 100, after_help = AFTER_HELP)]
pub struct Arguments {
    /// Whose identity opens the database: PATH, age:PATH, raw:PATH, passphrase:PATH or command:NAME
    /// [default: SELENITE_IDENTITY, then the configuration file]
    // Not clap's to parse: it would repeat a secret key that stands here by mistake.
    #[arg(long, short, global = true, value_name = "SPEC")]
    pub identity: Option<String>,

    /// Admit TRIPLE_DES_3KEY, which is there to be compared and left.
    #[arg(long, global = true)]
    pub allow_deprecated: bool,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Make a new identity (an age key).
    #[command(after_help = "Example:\n  selenite keygen -o key.txt")]
    Keygen(Keygen),
    /// Encrypt a database, in its place or to a new file.
    #[command(after_help = "Example:\n  selenite --identity key.txt encrypt app.db\n\n\
        In its place, nobody else can use the database meanwhile. With --to, readers go on and writers wait.")]
    Encrypt(Encrypt),
    /// Decrypt a database, in its place or to a new file.
    #[command(after_help = "Example:\n  selenite --identity key.txt decrypt app.db --to clear.db")]
    Decrypt(Decrypt),
    /// Say what a database is; without a key, what it says of itself.
    #[command(after_help = "Example:\n  selenite status app.db")]
    Status(Status),
    /// Check that every page is what was written, and that the pages make a database.
    #[command(after_help = "Example:\n  selenite --identity key.txt verify app.db\n\n\
        Exit status 5: pages are bad. Their numbers are on standard error.")]
    Verify(Verify),
    /// List and change the key slots: who can open a database.
    #[command(after_help = "Example:\n  selenite keys list app.db")]
    Keys(Keys),
    /// Seal every page anew, under a new data key or in another suite, while nobody uses the database.
    #[command(
        hide = true,
        after_help = "Example:\n  selenite -i key.txt reencrypt-offline app.db --new-key"
    )]
    ReencryptOffline(ReencryptOffline),
    /// Run SQL on a database.
    #[command(after_help = "Example:\n  selenite --identity key.txt exec app.db \"SELECT * FROM note\"")]
    Exec(Exec),
    /// Measure what encryption costs here.
    #[command(after_help = "Example:\n  selenite lab run quick\n  selenite lab report quick.lab.db --html quick.html")]
    Lab(lab::Lab),
    /// A worker of the lab, which speaks JSON on standard input and output.
    #[command(hide = true)]
    LabWorker,
}

#[derive(Args)]
pub struct Keygen {
    /// The file to write, for its owner only; without it the key is written to standard output.
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Args)]
pub struct Encrypt {
    /// The database.
    pub database: PathBuf,
    /// Leave the database as it is, and write the encrypted one to this new file.
    #[arg(long, value_name = "NEW")]
    pub to: Option<PathBuf>,
    /// What to seal pages in: AES_256, AES_192, AES_128, AEGIS_256X4, AEGIS_128X4, CHACHA20.
    #[arg(long, value_name = "SUITE", default_value = "AES_256", value_parser = parse_suite)]
    pub cipher: Suite,
    /// Who else can open it: age1..., or the spec of an identity. May be given several times.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
}

#[derive(Args)]
pub struct Decrypt {
    /// The database.
    pub database: PathBuf,
    /// Leave the database as it is, and write the one in clear to this new file.
    #[arg(long, value_name = "NEW")]
    pub to: Option<PathBuf>,
}

#[derive(Args)]
pub struct Status {
    /// The database.
    pub database: PathBuf,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Verify {
    /// The database.
    pub database: PathBuf,
    /// Only authenticate the pages, without SQLite: also where others are using it.
    #[arg(long)]
    pub physical_only: bool,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct Keys {
    #[command(subcommand)]
    pub command: KeysCommand,
}

/// What to do with key slots.
#[derive(Subcommand)]
pub enum KeysCommand {
    /// List them. Needs no key.
    #[command(after_help = "Example:\n  selenite keys list app.db")]
    List(KeysList),
    /// Let somebody else open it, too.
    #[command(after_help = "Example:\n  selenite -i key.txt keys add app.db age1... --label \"backup host\"")]
    Add(KeysAdd),
    /// Take a slot away. Who had the key keeps what they have seen: see renew.
    #[command(after_help = "Example:\n  selenite -i key.txt keys remove app.db 5f0c")]
    Remove(KeysRemove),
    /// Put somebody in the place of somebody else, in one step.
    #[command(after_help = "Example:\n  selenite -i key.txt keys replace app.db 5f0c age1...")]
    Replace(KeysReplace),
    /// Make a new master key, and wrap it for everybody who can be asked.
    #[command(after_help = "Example:\n  selenite -i key.txt keys renew app.db\n\n\
        Data keys stay as they are: whoever had the old master key can still read pages, new ones too.\n\
        This version does not replace data keys: decrypt the database and encrypt it anew.")]
    Renew(KeysRenew),
    /// Write both superblocks anew, with the same keys: for a database that has lost one of them.
    #[command(after_help = "Example:\n  selenite -i key.txt keys repair app.db")]
    Repair(KeysRepair),
    /// Take the present master key for the database's own from now on (keyring file).
    #[command(after_help = "Example:\n  selenite -i key.txt keys pin app.db")]
    Pin(KeysPin),
}

#[derive(Args)]
pub struct KeysList {
    /// The database.
    pub database: PathBuf,
    /// Answer in JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Args)]
pub struct KeysAdd {
    /// The database.
    pub database: PathBuf,
    /// Who: age1..., or the spec of an identity.
    pub recipient: String,
    /// A few words for people.
    #[arg(long, default_value = "")]
    pub label: String,
}

#[derive(Args)]
pub struct KeysRemove {
    /// The database.
    pub database: PathBuf,
    /// The first digits of the slot's id.
    pub slot: String,
}

#[derive(Args)]
pub struct KeysReplace {
    /// The database.
    pub database: PathBuf,
    /// The first digits of the old slot's id.
    pub slot: String,
    /// Who comes in its place: age1..., or the spec of an identity.
    pub recipient: String,
    /// A few words for people.
    #[arg(long, default_value = "")]
    pub label: String,
}

#[derive(Args)]
pub struct KeysRenew {
    /// The database.
    pub database: PathBuf,
    /// Whose slot is kept, besides those of age recipients and of the identity in force. May be given several times.
    #[arg(long, short, value_name = "RECIPIENT")]
    pub recipient: Vec<String>,
    /// Drop the slots that nobody who was named opens.
    #[arg(long)]
    pub drop: bool,
}

#[derive(Args)]
pub struct KeysRepair {
    /// The database.
    pub database: PathBuf,
}

#[derive(Args)]
pub struct KeysPin {
    /// The database.
    pub database: PathBuf,
    /// Whatever was pinned before: for a master key that was renewed elsewhere.
    #[arg(long)]
    pub replace: bool,
}

#[derive(Args)]
#[command(group = clap::ArgGroup::new("goal").required(true))]
pub struct ReencryptOffline {
    /// The database.
    pub database: PathBuf,
    /// In another suite: AES_256, AES_192, AES_128, AEGIS_256X4, AEGIS_128X4, CHACHA20.
    #[arg(long, group = "goal", value_name = "SUITE", value_parser = parse_suite)]
    pub cipher: Option<Suite>,
    /// Under a new data key, in the same suite.
    #[arg(long, group = "goal")]
    pub new_key: bool,
    /// In clear, in this layout: the file still needs the extension. See decrypt, too.
    #[arg(long, group = "goal")]
    pub off: bool,
    /// From clear, in this layout, to AES_256.
    #[arg(long, group = "goal")]
    pub on: bool,
}

#[derive(Args)]
pub struct Exec {
    /// The database.
    pub database: PathBuf,
    /// Statements, divided by semicolons.
    pub sql: String,
    /// Answer in JSON: a line for each statement that answers rows.
    #[arg(long)]
    pub json: bool,
    /// Make a new database, for the identity in force.
    #[arg(long)]
    pub create: bool,
    /// What to seal the pages of a new database in: AES_256, AES_192, AES_128, AEGIS_256X4, AEGIS_128X4, CHACHA20.
    #[arg(long, requires = "create", value_name = "SUITE", default_value = "AES_256", value_parser = parse_suite)]
    pub cipher: Suite,
    /// The page size of a new database: a power of two from 1024 to 65536.
    #[arg(long, requires = "create", value_name = "BYTES", default_value = "4096", value_parser = parse_page_size)]
    pub page_size: PageSize,
}

impl Arguments {
    /// How databases are opened.
    pub fn access(&self) -> Result<Access, EngineError> {
        let identity = self.identity.as_deref().map(str::parse).transpose()?;
        Ok(Access {
            identity,
            // As the VFS has it.
            allow_plain: std::env::var_os("SELENITE_PLAIN").is_some_and(|value| value == "allow"),
            allow_deprecated: self.allow_deprecated,
            ..Access::default()
        })
    }
}

fn parse_suite(name: &str) -> Result<Suite, String> {
    Suite::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = Suite::ALL.into_iter().skip(1).map(Suite::name).collect();
        format!("it may be {}", names.join(", "))
    })
}

fn parse_page_size(text: &str) -> Result<PageSize, String> {
    let size = text.parse::<u32>().ok().and_then(|size| PageSize::try_from(size).ok());
    size.ok_or_else(|| "it may be 1024, 2048, 4096, 8192, 16384, 32768 or 65536".to_owned())
}

const AFTER_HELP: &str = "\
Example:
  selenite keygen -o key.txt
  selenite --identity key.txt encrypt app.db
  selenite --identity key.txt exec app.db \"SELECT count(*) FROM note\"

Exit status:
  0  done           2  usage          4  no key or wrong key  6  input/output  130  interrupted
  1  anything else  3  not encrypted  5  data refused         7  busy";

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn clap_finds_the_arguments_sound() {
        Arguments::command().debug_assert();
    }
}
