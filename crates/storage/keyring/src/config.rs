//! The configuration: the identity, the keyring file, the state folder and the commands.
//!
//! ```toml
//! identity = "age:key.txt"       # relative paths start at this file's folder
//! keyring = "~/.local/share/selenite/keyring.toml"
//! state = "/var/lib/selenite"
//! origin = "own"                 # or "any": databases of others are opened, too
//! passphrase_cost_max = 4        # in multiples of the default cost of a slot
//! [commands]
//! kms = ["/usr/bin/kms", "--key", "x"]
//! vault = "vault-helper --mount 'my transit'"
//! ```
//!
//! - commands-from-here-only: commands are defined in the configuration and nowhere else: a
//!   database only refers to one by name (FORMAT 3.4).
//! - environment-in-load-only: only [`Config::load`] reads the environment.
//! - unknown-key-is-an-error: an unknown key is an error: a typo in `keyring` must not disable
//!   pinning.
//! - nothing-when-elevated: a process with elevated rights ([`Config::elevated`]) reads neither
//!   file nor environment, since the user who started it controls both.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;
use toml::de::DeTable;

use crate::spec::{Spec, is_command_name};
use crate::toml_text::{self, TomlFault, Value};
use crate::{KeyError, Keyring, OriginPolicy, argv, secret_file};

/// The user's settings, as a value that callers pass around. The default is empty.
#[derive(Clone, Debug, Default)]
pub struct Config {
    identity: Option<Spec>,
    keyring: Option<PathBuf>,
    keyring_by_default: Option<PathBuf>,
    state: Option<PathBuf>,
    state_by_default: Option<PathBuf>,
    origin: OriginPolicy,
    commands: BTreeMap<String, Vec<String>>,
    passphrase_cost_max: Option<u32>,
    is_elevated: bool,
}

impl Config {
    /// Reads the file named by `SELENITE_CONFIG`, or `config.toml` in the platform's folder for
    /// configurations (`~/.config/selenite` on Linux), which need not exist. `SELENITE_IDENTITY`,
    /// `SELENITE_KEYRING`, `SELENITE_STATE` and `SELENITE_ORIGIN` override the file.
    ///
    /// `env` returns environment variables: `&|name| std::env::var_os(name)`.
    pub fn load(env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, KeyError> {
        let set = |name| env(name).filter(|value| !value.is_empty());
        let project = ProjectDirs::from("", "", "selenite");
        let folder = project.as_ref().map(|dirs| dirs.config_dir().to_owned());
        let home = set("HOME").map(PathBuf::from);
        let mut config = match (set("SELENITE_CONFIG"), &folder) {
            (Some(path), _) => Self::read_named(Path::new(&path), home.as_deref())?,
            (None, Some(folder)) => Self::read_if_there(&folder.join("config.toml"), home.as_deref())?,
            (None, None) => Self::default(),
        };
        if let Some(identity) = set("SELENITE_IDENTITY") {
            config.identity = Some(Spec::from_os(&identity)?);
        }
        if let Some(keyring) = set("SELENITE_KEYRING") {
            config.keyring = Some(keyring.into());
        }
        if let Some(state) = set("SELENITE_STATE") {
            config.state = Some(state.into());
        }
        if let Some(origin) = set("SELENITE_ORIGIN") {
            config.origin = origin.to_string_lossy().parse()?;
        }
        config.state_by_default = project.map(|dirs| dirs.state_dir().unwrap_or(dirs.data_local_dir()).to_owned());
        config.keyring_by_default = folder.map(|folder| folder.join("keyring.toml"));
        Ok(config)
    }

    /// The configuration of a process with elevated rights (set-user-ID, set-group-ID, file
    /// capabilities): empty, and unable to run a program for a key.
    #[must_use]
    pub fn elevated() -> Self {
        Self {
            is_elevated: true,
            ..Self::default()
        }
    }

    /// Whether the process has elevated rights.
    pub fn is_elevated(&self) -> bool {
        self.is_elevated
    }

    /// The maximum cost of a passphrase slot that is tried, as a multiple of the default cost.
    pub fn passphrase_cost_max(&self) -> u32 {
        self.passphrase_cost_max.unwrap_or(PASSPHRASE_COST_MAX)
    }

    /// Parses the text of a configuration file at `path`, which need not exist. `home` replaces `~/`.
    pub fn parse(text: &str, path: &Path, home: Option<&Path>) -> Result<Self, KeyError> {
        let place = PathBase {
            folder: path.parent().unwrap_or(Path::new("")),
            home,
        };
        toml_text::parse(path, text, |table| Self::from_table(table, &place))
    }

    /// The identity for callers that specify none.
    pub fn identity(&self) -> Option<&Spec> {
        self.identity.as_ref()
    }

    /// The origin policy for callers that specify none.
    pub fn origin(&self) -> OriginPolicy {
        self.origin
    }

    /// Adds a command: `argv` is run as `argv... wrap` and `argv... unwrap`.
    #[must_use]
    pub fn with_command(mut self, name: &str, argv: &[&str]) -> Self {
        self.commands
            .insert(name.to_owned(), argv.iter().map(|&word| word.to_owned()).collect());
        self
    }

    /// The names of all commands, each with its words.
    pub fn commands(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.commands
            .iter()
            .map(|(name, argv)| (name.as_str(), argv.as_slice()))
    }

    /// The words of the named command.
    pub fn command(&self, name: &str) -> Result<&[String], KeyError> {
        self.commands.get(name).map(Vec::as_slice).ok_or_else(|| {
            let nearest = toml_text::nearest(name, self.commands.keys().map(String::as_str));
            KeyError::UnknownCommand {
                name: name.to_owned(),
                nearest: nearest.map(str::to_owned),
            }
        })
    }

    /// The path of the keyring file, which need not exist: `keyring` if it is set, or else
    /// `keyring.toml` in the platform's folder for configurations.
    pub fn keyring_path(&self) -> Option<&Path> {
        self.keyring.as_deref().or(self.keyring_by_default.as_deref())
    }

    /// Loads the keyring file. A configured file must exist; the default one need not.
    pub fn load_keyring(&self) -> Result<Keyring, KeyError> {
        match (&self.keyring, &self.keyring_by_default) {
            (Some(path), _) => Keyring::load(path),
            (None, Some(path)) => Keyring::load_if_there(path),
            (None, None) => Ok(Keyring::default()),
        }
    }

    /// The folder for records of operations on databases: `state` if it is set, or else the
    /// platform's folder for state (`~/.local/state/selenite` on Linux). It need not exist.
    pub fn state_folder(&self) -> Option<&Path> {
        self.state.as_deref().or(self.state_by_default.as_deref())
    }

    fn read(path: &Path, home: Option<&Path>) -> Result<Self, KeyError> {
        Self::parse(&secret_file::read_trusted_text(path)?, path, home)
    }

    /// The file that `SELENITE_CONFIG` names.
    fn read_named(path: &Path, home: Option<&Path>) -> Result<Self, KeyError> {
        match Self::read(path, home) {
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Err(KeyError::BadConfig {
                path: path.to_owned(),
                line: None,
                problem: "SELENITE_CONFIG names this file, and it does not exist".into(),
            }),
            read => read,
        }
    }

    fn read_if_there(path: &Path, home: Option<&Path>) -> Result<Self, KeyError> {
        match Self::read(path, home) {
            Err(KeyError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            read => read,
        }
    }

    fn from_table(table: &DeTable<'_>, place: &PathBase<'_>) -> Result<Self, TomlFault> {
        let mut config = Self::default();
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "identity" => config.identity = Some(place.spec(value)?),
                "keyring" => {
                    config.keyring = Some(place.path(Path::new(toml_text::string("keyring", value)?)));
                }
                "state" => config.state = Some(place.path(Path::new(toml_text::string("state", value)?))),
                "origin" => {
                    let word = toml_text::string("origin", value)?;
                    let policy = word.parse();
                    config.origin =
                        policy.map_err(|error: KeyError| TomlFault::new(value.span(), error.to_string()))?;
                }
                "commands" => config.commands = commands(value)?,
                "passphrase_cost_max" => config.passphrase_cost_max = Some(cost_max(value)?),
                _ => return Err(TomlFault::unknown_key(key, &KEYS)),
            }
        }
        Ok(config)
    }
}

/// The folders that relative paths and `~/` refer to.
struct PathBase<'a> {
    folder: &'a Path,
    home: Option<&'a Path>,
}

impl PathBase<'_> {
    fn path(&self, path: &Path) -> PathBuf {
        match (path.strip_prefix("~"), self.home) {
            (Ok(below), Some(home)) => home.join(below),
            _ => self.folder.join(path),
        }
    }

    fn spec(&self, value: &Value<'_>) -> Result<Spec, TomlFault> {
        let spec: Spec = toml_text::string("identity", value)?
            .parse()
            .map_err(|error: KeyError| TomlFault::new(value.span(), error.to_string()))?;
        Ok(spec.map_path(|path| self.path(path)))
    }
}

fn cost_max(value: &Value<'_>) -> Result<u32, TomlFault> {
    let number = value
        .get_ref()
        .as_integer()
        .and_then(|number| number.as_str().parse::<u32>().ok());
    number.filter(|number| *number > 0).ok_or_else(|| {
        let problem = "passphrase_cost_max must be a number of at least 1: a multiple of the cost of the slots that selenite writes";
        TomlFault::new(value.span(), problem)
    })
}

fn commands(value: &Value<'_>) -> Result<BTreeMap<String, Vec<String>>, TomlFault> {
    let mut commands = BTreeMap::new();
    for (key, value) in toml_text::table("commands", value)? {
        let name = key.get_ref().as_ref();
        if !is_command_name(name) {
            let problem = "a command's name has 1 to 64 letters, digits, '-', '_' or '.'";
            return Err(TomlFault::new(key.span(), problem));
        }
        let argv = words(name, value)?;
        if argv.first().is_none_or(String::is_empty) {
            return Err(TomlFault::new(value.span(), format!("command {name} is empty")));
        }
        commands.insert(name.to_owned(), argv);
    }
    Ok(commands)
}

fn words(name: &str, value: &Value<'_>) -> Result<Vec<String>, TomlFault> {
    if let Some(line) = value.get_ref().as_str() {
        return argv::split(line).map_err(|problem| TomlFault::new(value.span(), problem));
    }
    let array = value.get_ref().as_array().ok_or_else(|| {
        TomlFault::new(
            value.span(),
            format!("command {name} must be a string or an array of strings"),
        )
    })?;
    array
        .iter()
        .map(|word| toml_text::string("a command's word", word).map(str::to_owned))
        .collect()
}

const KEYS: [&str; 6] = [
    "identity",
    "keyring",
    "state",
    "origin",
    "passphrase_cost_max",
    "commands",
];
/// 256 MiB of memory and 12 passes over 64 MiB: less than a second, for a slot that an attacker may have written.
const PASSPHRASE_COST_MAX: u32 = 4;

#[cfg(test)]
mod tests;
