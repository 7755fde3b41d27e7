//! An arm: an engine with settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use selenite_worker::protocol::PLAIN;
use serde::Deserialize;

use super::error::ConfigError;
use super::quantity::Size;

/// The configuration of an encrypted arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArmConfig {
    /// The name.
    pub name: String,
    /// The name of the engine: one of [`ENGINES`], or any name with a `worker`.
    pub engine: String,
    /// The cipher, by the engine's own name.
    pub cipher: String,
    /// Further options of the engine.
    pub settings: BTreeMap<String, String>,
    /// Whether it may use AES instructions.
    pub aes_instructions: bool,
    /// Size of Selenite's page pool in each process, in bytes; none if the arm does not set it.
    pub pool: Option<u64>,
    /// The program of another engine.
    pub worker: Option<PathBuf>,
}

/// The engines whose workers the lab can find.
pub const ENGINES: [&str; 11] = [
    "selenite",
    SQLITE,
    "sqlcipher",
    "sqlite3mc",
    TRANSIT,
    SERVERS[0],
    SERVERS[1],
    SERVERS[2],
    SERVERS[3],
    SERVERS[4],
    SERVERS[5],
];
/// Stock SQLite.
pub const SQLITE: &str = "sqlite";
/// The engine that is this program as a server. Its ciphers are modes of encryption of a connection.
pub const TRANSIT: &str = "tds";
/// The engines that are not SQLite, and have processes of their own: `make engines`. A number after a
/// name is a version of it, without its point.
pub const SERVERS: [&str; 6] = ["mariadb", "mariadb118", "postgresql", "postgresql17", "duckdb", "serve"];
/// The name of the plain arm: the unencrypted [baseline](super::Study::baseline).
pub const PLAIN_ARM: &str = "plain";
/// The name of its second copy.
pub const FLOOR_ARM: &str = "plain2";
/// The suffix of the name of an engine's own plain arm.
pub const OWN_PLAIN: &str = "-plain";

/// The parameter of Selenite's URI for the page pool.
const POOL_SIZE: &str = "pool_size";

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArmTable {
    engine: String,
    cipher: String,
    #[serde(default)]
    settings: BTreeMap<String, String>,
    #[serde(default = "yes")]
    aes_instructions: bool,
    pool: Option<Size>,
    worker: Option<PathBuf>,
}

fn yes() -> bool {
    true
}

impl ArmTable {
    pub(super) fn resolve(&self, name: &str) -> Result<ArmConfig, ConfigError> {
        let refused = |what: String| ConfigError::new(format!("arm `{name}`: {what}"));
        super::check_name("arm", name)?;
        if name == PLAIN_ARM || name == FLOOR_ARM || name.ends_with(OWN_PLAIN) {
            return Err(refused(
                "the unencrypted arms are implied; choose another name".to_owned(),
            ));
        }
        if name.contains('/') {
            return Err(refused("the name of an arm has no `/`".to_owned()));
        }
        if self.cipher == PLAIN {
            return Err(refused("the unencrypted arms are implied; give a cipher".to_owned()));
        }
        if self.engine == SQLITE {
            return Err(refused(
                "stock SQLite does not encrypt, and its arms are implied".to_owned(),
            ));
        }
        if self.worker.is_none() && !ENGINES.contains(&self.engine.as_str()) {
            let unknown = ConfigError::unknown("engine", &self.engine, &ENGINES);
            let next = unknown.next.unwrap_or_default();
            let program = "give the path of a custom worker as `worker = \"/path\"`";
            return Err(refused(unknown.what).next(format!("{next}; {program}")));
        }
        super::check_name("engine", &self.engine)?;
        if self.worker.is_some() && ["selenite", SQLITE, TRANSIT].contains(&self.engine.as_str()) {
            return Err(refused("a custom `worker` needs another engine name".to_owned()));
        }
        if self.pool.is_some() && self.engine != "selenite" {
            return Err(refused("only engine `selenite` has a `pool`".to_owned()));
        }
        if self.settings.contains_key(POOL_SIZE) {
            return Err(refused(format!("set `{POOL_SIZE}` with `pool`, such as \"64MiB\"")));
        }
        let mut settings = self.settings.clone();
        settings.extend(self.pool.map(|Size(bytes)| (POOL_SIZE.to_owned(), bytes.to_string())));
        Ok(ArmConfig {
            name: name.to_owned(),
            engine: self.engine.clone(),
            cipher: self.cipher.clone(),
            settings,
            aes_instructions: self.aes_instructions,
            pool: self.pool.map(|size| size.0),
            worker: self.worker.clone(),
        })
    }
}
