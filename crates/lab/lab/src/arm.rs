//! The arms of a study: the configured ones, and the unencrypted ones that every study has.
//!
//! - own-library-as-baseline: an encrypted arm is compared with its own library without encryption,
//!   never with another library.
//! - none-differs-by-cipher: an arm of suite NONE that another arm is compared with differs from it
//!   only in the cipher: it has the same settings.

use std::collections::BTreeMap;
use std::path::PathBuf;

use selenite_worker::protocol::{Hello, PLAIN};

use crate::config::arm::{ENGINES, FLOOR_ARM, OWN_PLAIN, PLAIN_ARM, SQLITE, TRANSIT};
use crate::config::{Cell, Config, ConfigError};
use crate::summary::ArmRole;

/// An arm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// The name.
    pub name: String,
    /// The name of the engine.
    pub engine: String,
    /// The cipher of its databases, or [`PLAIN`].
    pub cipher: String,
    /// Further options of the engine.
    pub settings: BTreeMap<String, String>,
    /// Whether it may use AES instructions.
    pub aes_instructions: bool,
    /// Size of Selenite's page pool in each process, in bytes; none if the arm does not set it.
    pub pool: Option<u64>,
    /// The program, if the configuration names one.
    pub worker: Option<PathBuf>,
    /// The kind of arm.
    pub role: ArmRole,
    /// The index of its control.
    pub control: Option<usize>,
    /// The index of the arm of suite NONE with which it is also compared.
    pub none: Option<usize>,
}

/// The arms of a study: plain, its second copy, the plain arms of other engines, then the configured ones.
///
/// Errors: two plain arms of the same name, because an engine's name has two workers.
pub fn arms(config: &Config) -> Result<Vec<Arm>, ConfigError> {
    let baseline = config.study.baseline.as_str();
    let program = config.arms.iter().find(|arm| arm.engine == baseline);
    let program = program.and_then(|arm| arm.worker.clone());
    let mut arms = vec![
        plain(PLAIN_ARM, baseline, program.clone(), ArmRole::Plain, None),
        plain(FLOOR_ARM, baseline, program, ArmRole::Floor, Some(0)),
    ];
    for arm in config.arms.iter().filter(|arm| arm.engine != OWN) {
        let name = control(&arm.engine, baseline);
        match arms.iter().find(|other| other.name == name) {
            None => arms.push(plain(&name, &arm.engine, arm.worker.clone(), ArmRole::Plain, None)),
            Some(other) if other.worker == arm.worker => {}
            Some(_) => {
                let what = format!("engine `{}` has two different workers", arm.engine);
                return Err(ConfigError::new(what).next("give each its own engine name"));
            }
        }
    }
    for arm in &config.arms {
        let name = control(&arm.engine, baseline);
        arms.push(Arm {
            name: arm.name.clone(),
            engine: arm.engine.clone(),
            cipher: arm.cipher.clone(),
            settings: arm.settings.clone(),
            aes_instructions: arm.aes_instructions,
            pool: arm.pool,
            worker: arm.worker.clone(),
            role: ArmRole::Encrypted,
            control: arms.iter().position(|other| other.name == name),
            none: None,
        });
    }
    let nones: Vec<Option<usize>> = arms.iter().map(|arm| none_of(&arms, arm)).collect();
    for (arm, none) in arms.iter_mut().zip(nones) {
        arm.none = none;
    }
    Ok(arms)
}

impl Arm {
    /// The display name.
    #[must_use]
    pub fn label(&self, hello: &Hello) -> String {
        let without = if self.aes_instructions {
            ""
        } else {
            " without AES instructions"
        };
        match (self.role, self.engine.as_str()) {
            (ArmRole::Floor, engine) if engine == TRANSIT || hello.server => {
                format!("{} in clear, second copy", hello.library)
            }
            (ArmRole::Plain, SQLITE) => format!("SQLite {} in clear", hello.sqlite_version),
            (ArmRole::Floor, _) => format!("SQLite {} in clear, second copy", hello.sqlite_version),
            (ArmRole::Plain, _) => format!("{} in clear", hello.library),
            (ArmRole::Encrypted, _) => {
                let pool = self
                    .pool
                    .map_or_else(String::new, |bytes| format!(", page pool of {}", size(bytes)));
                let key = match self.settings.get("key") {
                    Some(kind) => format!(", {kind} key"),
                    None => String::new(),
                };
                format!("{} {}{without}{pool}{key}", hello.library, self.cipher)
            }
        }
    }

    /// Stock SQLite, as the source of rows for engines that are not SQLite.
    #[must_use]
    pub fn of_rows() -> Self {
        plain("rows", SQLITE, None, ArmRole::Plain, None)
    }

    /// Checks that the engine does the work of all cells.
    ///
    /// Errors: it does not; the message lists what it does.
    pub fn check_works(&self, hello: &Hello, cells: &[Cell]) -> Result<(), ConfigError> {
        let known: Vec<&str> = hello.works.iter().map(String::as_str).collect();
        let refused = cells.iter().find(|cell| !known.contains(&cell.work.kind()));
        match refused.filter(|_| !known.is_empty()) {
            Some(cell) => {
                let work = cell.work.kind();
                let what = format!("cell `{}`: engine `{}` does no work `{work}`", cell.name, self.engine);
                Err(ConfigError::new(what).next(format!("it does {}", known.join(", "))))
            }
            None => Ok(()),
        }
    }

    /// Checks that the engine supports the arm's cipher.
    ///
    /// Errors: the cipher is unknown; the message lists the known ones.
    pub fn check(&self, hello: &Hello) -> Result<(), ConfigError> {
        let known: Vec<&str> = hello.ciphers.iter().map(String::as_str).collect();
        if self.cipher == PLAIN || known.contains(&self.cipher.as_str()) {
            return Ok(());
        }
        let unknown = ConfigError::unknown("cipher", &self.cipher, &known);
        let what = format!("arm `{}`: {} of engine `{}`", self.name, unknown.what, self.engine);
        Err(ConfigError { what, ..unknown })
    }
}

/// The arm of suite NONE with the same settings, if there is one.
fn none_of(arms: &[Arm], arm: &Arm) -> Option<usize> {
    let is_own = arm.engine == OWN && arm.cipher != NONE;
    let same = |other: &Arm| other.engine == OWN && other.cipher == NONE && other.settings == arm.settings;
    is_own.then(|| arms.iter().position(same))?
}

/// The name of the control of an engine's arms.
fn control(engine: &str, baseline: &str) -> String {
    match engine == OWN || engine == baseline {
        true => PLAIN_ARM.to_owned(),
        false => format!("{engine}{OWN_PLAIN}"),
    }
}

fn size(bytes: u64) -> String {
    crate::report::bytes(crate::summary::as_f64(bytes))
}

fn plain(name: &str, engine: &str, worker: Option<PathBuf>, role: ArmRole, control: Option<usize>) -> Arm {
    Arm {
        name: name.to_owned(),
        engine: engine.to_owned(),
        cipher: PLAIN.to_owned(),
        settings: BTreeMap::new(),
        aes_instructions: true,
        pool: None,
        worker,
        role,
        control,
        none: None,
    }
}

/// This project's engine, whose SQLite is that of [`SQLITE`].
const OWN: &str = ENGINES[0];
/// The suite that does not encrypt.
const NONE: &str = "NONE";

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[study]\nname = \"s\"\n[data]\nkind = \"scan\"\nsize = \"1MiB\"\n\
        [arms.a]\nengine = \"sqlcipher\"\ncipher = \"x\"\n[arms.b]\nengine = \"selenite\"\ncipher = \"AES_256\"\n\
        [arms.c]\nengine = \"sqlcipher\"\ncipher = \"y\"\naes_instructions = false\n\
        [[cells]]\nname = \"l\"\nwork = { kind = \"like\" }\ncache = \"os\"\n";

    #[test]
    fn every_engine_has_its_own_control() {
        let arms = arms(&Config::parse(TEXT).unwrap()).unwrap();
        let seen: Vec<_> = arms.iter().map(|arm| (arm.name.as_str(), arm.control)).collect();
        let wanted = [
            ("plain", None),
            ("plain2", Some(0)),
            ("sqlcipher-plain", None),
            ("a", Some(2)),
            ("b", Some(0)),
            ("c", Some(2)),
        ];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn an_arm_is_compared_with_suite_none_of_the_same_settings_only() {
        let text = TEXT.replacen(
            "[[cells]]",
            "[arms.d]\nengine = \"selenite\"\ncipher = \"NONE\"\npool = \"64MiB\"\n\
             [arms.e]\nengine = \"selenite\"\ncipher = \"AES_128\"\npool = \"64MiB\"\n\
             [arms.f]\nengine = \"selenite\"\ncipher = \"AES_128\"\naes_instructions = false\npool = \"64MiB\"\n[[cells]]",
            1,
        );
        let arms = arms(&Config::parse(&text).unwrap()).unwrap();
        let seen: Vec<_> = arms[3..].iter().map(|arm| (arm.name.as_str(), arm.none)).collect();
        let wanted = [
            ("a", None),
            ("b", None),
            ("c", None),
            ("d", None),
            ("e", Some(6)),
            ("f", Some(6)),
        ];
        assert_eq!(seen, wanted);
        assert_eq!(arms[7].pool, Some(64 << 20));
        assert_eq!(arms[7].settings["pool_size"], "67108864");
    }

    #[test]
    fn one_name_has_one_worker() {
        let text = TEXT.replacen("cipher = \"x\"", "cipher = \"x\"\nworker = \"/w\"", 1);
        assert!(
            arms(&Config::parse(&text).unwrap())
                .unwrap_err()
                .to_string()
                .contains("two different workers")
        );
    }

    #[test]
    fn an_unknown_cipher_is_reported_with_the_nearest() {
        let arms = arms(&Config::parse(TEXT).unwrap()).unwrap();
        let hello = Hello {
            protocol: 5,
            engine: "selenite".into(),
            library: "Selenite 0".into(),
            sqlite_version: "3".into(),
            sqlite_source_id: String::new(),
            ciphers: vec!["AES_128".into(), "CHACHA20".into()],
            without_aes: BTreeMap::new(),
            server: false,
            works: Vec::new(),
            limits: Vec::new(),
        };
        let error = arms[4].check(&hello).unwrap_err().to_string();
        assert!(
            error.contains("`b`") && error.contains("did you mean `AES_128`?"),
            "{error}"
        );
        arms[0].check(&hello).unwrap();
    }
}
