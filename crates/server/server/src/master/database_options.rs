//! The options of ALTER DATABASE SET: which there are, what they may be set to, and what a database has.
//!
//! - `no-option-without-meaning`: an option is taken only if the server does what it says, or if it says what the
//!   server does anyway. Any other value is refused by name. Options that say how SQL Server keeps its statistics, and
//!   defaults of sessions (which set their own), are taken as they are.
//! - `options-are-the-servers`: they are in master.db: whether a database may be opened is known before it is.

use std::collections::BTreeMap;

use selenite_compiler::same_name;
use selenite_tsql::ast::{ExprKind, Literal, Setting};

use super::{Master, MasterError};

/// The options of a database that are not at their default.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct DatabaseOptions(BTreeMap<&'static str, String>);

/// Who may use a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UserAccess {
    /// Everyone who has a user in it.
    Multi,
    /// One session.
    Single,
    /// Its owners, and administrators.
    Restricted,
}

/// Why an option can't be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptionFault {
    /// It is not one, or its value is none: the word that is wrong.
    Syntax(String),
    /// SQL Server has it, and we have not: `SET NAME VALUE`.
    Unsupported(String),
    /// 15048: the level is none.
    CompatibilityLevel,
}

/// An option.
struct OptionSpec {
    name: &'static str,
    /// What it may be set to; the first is the default.
    values: &'static [&'static str],
    /// What SQL Server can set it to, and this server can't.
    refused: &'static [&'static str],
}

impl UserAccess {
    /// `sys.databases.user_access`.
    pub fn number(self) -> i32 {
        match self {
            Self::Multi => 0,
            Self::Single => 1,
            Self::Restricted => 2,
        }
    }

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Multi => "MULTI_USER",
            Self::Single => "SINGLE_USER",
            Self::Restricted => "RESTRICTED_USER",
        }
    }
}

impl DatabaseOptions {
    /// Sets an option.
    ///
    /// # Errors
    /// [`OptionFault`]; nothing is set then.
    pub fn set(&mut self, setting: &Setting) -> Result<(), OptionFault> {
        let (spec, value) = read(setting)?;
        if spec.values.first().is_some_and(|default| *default == value) {
            self.0.remove(spec.name);
        } else {
            self.0.insert(spec.name, value);
        }
        Ok(())
    }

    /// What a setting is called that this server has not.
    pub fn unsupported(setting: &Setting) -> Option<String> {
        match read(setting) {
            Err(OptionFault::Unsupported(what)) => Some(what),
            Err(OptionFault::Syntax(_) | OptionFault::CompatibilityLevel) | Ok(_) => None,
        }
    }

    /// Whether a switch is on.
    pub fn is_on(&self, name: &str) -> bool {
        self.word(name) == "ON"
    }

    /// Whether a cursor is LOCAL unless its declaration says GLOBAL.
    pub fn is_local_cursor_default(&self) -> bool {
        self.word("CURSOR_DEFAULT") == "LOCAL"
    }

    /// The names of the switches that are on.
    pub fn switched_on(&self) -> Vec<&'static str> {
        let names = OPTIONS.iter().map(|spec| spec.name);
        names.filter(|name| self.is_on(name)).collect()
    }

    /// Who may use it.
    pub fn user_access(&self) -> UserAccess {
        let all = [UserAccess::Single, UserAccess::Restricted];
        let found = all.into_iter().find(|one| one.word() == self.word(USER_ACCESS));
        found.unwrap_or(UserAccess::Multi)
    }

    /// Whether nothing in it may be changed.
    pub fn is_read_only(&self) -> bool {
        self.word(UPDATEABILITY) == "READ_ONLY"
    }

    /// Whether no one may use it.
    pub fn is_offline(&self) -> bool {
        self.word(STATE) == "OFFLINE"
    }

    /// COMPATIBILITY_LEVEL.
    pub fn compatibility_level(&self) -> u8 {
        self.word(COMPATIBILITY_LEVEL).parse().unwrap_or(160)
    }

    fn word(&self, name: &str) -> &str {
        let of = |spec: &OptionSpec| spec.values.first().copied();
        let default = || OPTIONS.iter().find(|spec| spec.name == name).and_then(of);
        self.0
            .get(name)
            .map(String::as_str)
            .or_else(default)
            .unwrap_or_default()
    }

    /// As master.db has them: `NAME=VALUE` between semicolons.
    fn encode(&self) -> String {
        let pairs = self.0.iter().map(|(name, value)| format!("{name}={value}"));
        pairs.collect::<Vec<_>>().join(";")
    }

    /// What [`DatabaseOptions::encode`] has written; an option of a newer server is passed over.
    fn parse(text: &str) -> Self {
        let pairs = text.split(';').filter_map(|pair| pair.split_once('='));
        let known = pairs.filter_map(|(name, value)| {
            let spec = OPTIONS.iter().find(|spec| spec.name == name)?;
            spec.values.contains(&value).then(|| (spec.name, value.to_owned()))
        });
        Self(known.collect())
    }
}

impl Master {
    /// The options of every database that has some.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn database_options(&self) -> Result<BTreeMap<i32, DatabaseOptions>, MasterError> {
        self.with(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT id, options FROM selenite_database WHERE options <> ''")?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))?;
            let parsed = rows.map(|row| row.map(|(id, text)| (id, DatabaseOptions::parse(&text))));
            Ok(parsed.collect::<Result<_, _>>()?)
        })
    }

    /// Stores a database's options.
    ///
    /// # Errors
    /// SQLite's error.
    pub fn set_database_options(&self, id: i32, options: &DatabaseOptions) -> Result<(), MasterError> {
        self.change(|connection| {
            let sql = "UPDATE selenite_database SET options = ?2 WHERE id = ?1";
            connection.execute(sql, (id, options.encode()))?;
            Ok(())
        })
    }
}

/// The option that a setting means, and its value.
fn read(setting: &Setting) -> Result<(&'static OptionSpec, String), OptionFault> {
    let name = setting.name.text.as_str();
    let alone = |spec: &&OptionSpec| {
        spec.values
            .iter()
            .chain(spec.refused)
            .any(|value| same_name(value, name))
    };
    if setting.value.is_none() && !setting.equals {
        let spec = OPTIONS.iter().filter(|spec| spec.name.starts_with('@')).find(alone);
        let spec = spec.ok_or_else(|| OptionFault::Syntax(name.to_owned()))?;
        return admitted(spec, name);
    }
    let Some(spec) = OPTIONS.iter().find(|spec| same_name(spec.name, name)) else {
        return Err(match UNSUPPORTED.iter().any(|known| same_name(known, name)) {
            true => OptionFault::Unsupported(format!("SET {}", name.to_ascii_uppercase())),
            false => OptionFault::Syntax(name.to_owned()),
        });
    };
    let digits = match setting.expr().map(|value| &value.kind) {
        Some(ExprKind::Literal(Literal::Integer(digits))) => Some(digits.as_str()),
        Some(_) | None => None,
    };
    if spec.name == COMPATIBILITY_LEVEL && digits.is_some_and(|digits| !spec.values.contains(&digits)) {
        return Err(OptionFault::CompatibilityLevel);
    }
    let word = setting.word().map(|word| word.text.as_str()).or(digits);
    let word = word.ok_or_else(|| OptionFault::Unsupported(format!("SET {}", spec.name)))?;
    admitted(spec, word)
}

fn admitted(spec: &'static OptionSpec, word: &str) -> Result<(&'static OptionSpec, String), OptionFault> {
    if let Some(value) = spec.values.iter().find(|value| same_name(value, word)) {
        return Ok((spec, (*value).to_owned()));
    }
    let shown = spec.name.strip_prefix('@').map_or(spec.name, |_| "");
    match spec.refused.iter().find(|value| same_name(value, word)) {
        Some(value) => Err(OptionFault::Unsupported(
            format!("SET {shown} {value}").replace("  ", " "),
        )),
        None => Err(OptionFault::Syntax(word.to_owned())),
    }
}

/// Who may use the database. The names with `@` are of options that are set by their value alone.
const USER_ACCESS: &str = "@USER_ACCESS";
/// Whether it may be changed.
const UPDATEABILITY: &str = "@UPDATEABILITY";
/// Whether it may be used.
const STATE: &str = "@STATE";
const COMPATIBILITY_LEVEL: &str = "COMPATIBILITY_LEVEL";

const fn spec(name: &'static str, values: &'static [&'static str], refused: &'static [&'static str]) -> OptionSpec {
    OptionSpec { name, values, refused }
}

const OFF_OR_ON: &[&str] = &["OFF", "ON"];
const ON_OR_OFF: &[&str] = &["ON", "OFF"];

const OPTIONS: &[OptionSpec] = &[
    spec(USER_ACCESS, &["MULTI_USER", "SINGLE_USER", "RESTRICTED_USER"], &[]),
    spec(UPDATEABILITY, &["READ_WRITE", "READ_ONLY"], &[]),
    spec(STATE, &["ONLINE", "OFFLINE"], &["EMERGENCY"]),
    spec(
        "@BROKER",
        &["DISABLE_BROKER"],
        &["ENABLE_BROKER", "NEW_BROKER", "ERROR_BROKER_CONVERSATIONS"],
    ),
    spec(
        COMPATIBILITY_LEVEL,
        &["160", "150", "140", "130", "120", "110", "100"],
        &[],
    ),
    // Each statement of READ COMMITTED reads one committed state of the database, without a lock, in either setting.
    spec("READ_COMMITTED_SNAPSHOT", OFF_OR_ON, &[]),
    spec("ALLOW_SNAPSHOT_ISOLATION", OFF_OR_ON, &[]),
    // There is a log of SQLite's, and no backup of it.
    spec("RECOVERY", &["SIMPLE"], &["FULL", "BULK_LOGGED"]),
    spec("PAGE_VERIFY", &["CHECKSUM"], &["TORN_PAGE_DETECTION", "NONE"]),
    // A file is open as long as a session uses it.
    spec("AUTO_CLOSE", OFF_OR_ON, &[]),
    spec("AUTO_SHRINK", &["OFF"], &["ON"]),
    spec("AUTO_CREATE_STATISTICS", ON_OR_OFF, &[]),
    spec("AUTO_UPDATE_STATISTICS", ON_OR_OFF, &[]),
    spec("AUTO_UPDATE_STATISTICS_ASYNC", OFF_OR_ON, &[]),
    spec("ANSI_NULL_DEFAULT", OFF_OR_ON, &[]),
    spec("ANSI_NULLS", ON_OR_OFF, &[]),
    spec("ANSI_PADDING", ON_OR_OFF, &[]),
    spec("ANSI_WARNINGS", ON_OR_OFF, &[]),
    spec("ARITHABORT", ON_OR_OFF, &[]),
    spec("CONCAT_NULL_YIELDS_NULL", ON_OR_OFF, &[]),
    spec("NUMERIC_ROUNDABORT", &["OFF"], &["ON"]),
    spec("QUOTED_IDENTIFIER", ON_OR_OFF, &[]),
    spec("RECURSIVE_TRIGGERS", OFF_OR_ON, &[]),
    spec("CURSOR_CLOSE_ON_COMMIT", &["OFF"], &["ON"]),
    spec("CURSOR_DEFAULT", &["GLOBAL", "LOCAL"], &[]),
    spec("QUERY_STORE", &["OFF"], &["ON", "CLEAR"]),
    spec("TRUSTWORTHY", &["OFF"], &["ON"]),
    spec("DB_CHAINING", &["OFF"], &["ON"]),
    spec("HONOR_BROKER_PRIORITY", &["OFF"], &["ON"]),
    spec("DATE_CORRELATION_OPTIMIZATION", &["OFF"], &["ON"]),
    spec("PARAMETERIZATION", &["SIMPLE"], &["FORCED"]),
    spec("MIXED_PAGE_ALLOCATION", &["OFF"], &["ON"]),
    spec("ACCELERATED_DATABASE_RECOVERY", &["OFF"], &["ON"]),
    spec("CHANGE_TRACKING", &["OFF"], &["ON"]),
];

/// What SQL Server has besides.
const UNSUPPORTED: &[&str] = &[
    "AUTOMATIC_TUNING",
    "CONTAINMENT",
    "DEFAULT_FULLTEXT_LANGUAGE",
    "DEFAULT_LANGUAGE",
    "FILESTREAM",
    "HADR",
    "LEDGER",
    "MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT",
    "NESTED_TRIGGERS",
    "PARTNER",
    "PERSISTENT_LOG_BUFFER",
    "REMOTE_DATA_ARCHIVE",
    "SUPPLEMENTAL_LOGGING",
    "TARGET_RECOVERY_TIME",
    "TEMPORAL_HISTORY_RETENTION",
    "TRANSFORM_NOISE_WORDS",
    "TWO_DIGIT_YEAR_CUTOFF",
    "VARDECIMAL_STORAGE_FORMAT",
    "WITNESS",
];

#[cfg(test)]
mod tests {
    use selenite_tsql::ast::{AlterDatabaseAction, StatementKind};
    use selenite_tsql::{Options, parse};

    use super::*;

    fn set(options: &mut DatabaseOptions, text: &str) -> Result<(), OptionFault> {
        let tree = parse(&format!("ALTER DATABASE d SET {text}"), Options::default()).unwrap();
        let StatementKind::AlterDatabase(alter) = &tree.statements[0].kind else {
            panic!("{text}");
        };
        let AlterDatabaseAction::Set { options: settings, .. } = &alter.action else {
            panic!("{text}");
        };
        settings.iter().try_for_each(|setting| options.set(setting))
    }

    #[test]
    fn options_come_back_as_they_were_stored() {
        let mut options = DatabaseOptions::default();
        let all = "SINGLE_USER, READ_ONLY, COMPATIBILITY_LEVEL = 150, READ_COMMITTED_SNAPSHOT ON, AUTO_CLOSE ON";
        set(&mut options, all).unwrap();
        set(&mut options, "AUTO_CLOSE OFF, RECOVERY SIMPLE, ansi_nulls off").unwrap();
        let read = DatabaseOptions::parse(&options.encode());
        assert_eq!(read, options);
        assert_eq!(read.user_access(), UserAccess::Single);
        assert!(read.is_read_only() && !read.is_offline());
        assert_eq!(read.compatibility_level(), 150);
        assert!(read.is_on("READ_COMMITTED_SNAPSHOT") && !read.is_on("ANSI_NULLS") && !read.is_on("AUTO_CLOSE"));
        assert!(read.is_on("ANSI_PADDING"));
        assert_eq!(
            DatabaseOptions::parse("FUTURE=ON;AUTO_CLOSE=MAYBE"),
            DatabaseOptions::default()
        );
    }

    #[test]
    fn an_option_that_means_nothing_here_is_refused_by_name() {
        let mut options = DatabaseOptions::default();
        let refused = |what: &str| Err(OptionFault::Unsupported(what.to_owned()));
        let syntax = |what: &str| Err(OptionFault::Syntax(what.to_owned()));
        for (text, fault) in [
            ("RECOVERY FULL", refused("SET RECOVERY FULL")),
            ("EMERGENCY", refused("SET EMERGENCY")),
            ("QUERY_STORE = ON", refused("SET QUERY_STORE ON")),
            ("TARGET_RECOVERY_TIME = 60 SECONDS", refused("SET TARGET_RECOVERY_TIME")),
            ("NO_SUCH ON", syntax("NO_SUCH")),
            ("AUTO_CLOSE MAYBE", syntax("MAYBE")),
            ("AUTO_CLOSE", syntax("AUTO_CLOSE")),
            ("COMPATIBILITY_LEVEL = 90", Err(OptionFault::CompatibilityLevel)),
        ] {
            assert_eq!(set(&mut options, text), fault, "{text}");
        }
        assert_eq!(options, DatabaseOptions::default());
    }
}
