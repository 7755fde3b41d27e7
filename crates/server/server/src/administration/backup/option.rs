//! The options after WITH.
//!
//! - `no-option-is-ignored`: an option that is accepted is carried out, or describes what happens
//!   in any case: every backup has checksums, and no disk is rewound. Any other option is refused
//!   by its name.

use selenite_compiler::{Ends, SqlError};
use selenite_tsql::ast::{Setting, SettingValue};

use super::Words;

/// How a backup is made.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct BackupOptions {
    /// INIT or FORMAT: the existing backups are removed when this one is complete.
    pub replaces: bool,
    /// DIFFERENTIAL.
    pub differential: bool,
    /// COPY_ONLY.
    pub copy_only: bool,
    /// NO_COMPRESSION.
    pub in_full: bool,
    /// STATS.
    pub step: Option<u8>,
    /// NAME.
    pub name: Option<String>,
    /// DESCRIPTION.
    pub description: Option<String>,
}

/// How a backup is restored, or inspected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RestoreOptions {
    /// REPLACE.
    pub replaces: bool,
    /// STATS.
    pub step: Option<u8>,
    /// FILE: the number of the backup set, from 1.
    pub file: usize,
    /// MOVE: a file's name, and where to.
    pub moves: Vec<(String, String)>,
}

impl BackupOptions {
    /// Reads them.
    ///
    /// # Errors
    /// 155 for unknown ones, 3031 for two that exclude each other, 40517 for what is not supported.
    pub fn read(settings: &[Setting], words: Words<'_>) -> Result<Self, SqlError> {
        let mut options = Self::default();
        check(settings, "BACKUP", BACKUP)?;
        for setting in settings {
            let name = setting.name.text.to_ascii_uppercase();
            match name.as_str() {
                "INIT" | "FORMAT" => options.replaces = true,
                "DIFFERENTIAL" => options.differential = true,
                "COPY_ONLY" => options.copy_only = true,
                "NO_COMPRESSION" => options.in_full = true,
                "STATS" => options.step = Some(step(setting, words)?),
                "NAME" => options.name = text(setting, words)?,
                "DESCRIPTION" => options.description = text(setting, words)?,
                _ => {}
            }
        }
        if options.differential && options.replaces {
            return Err(SqlError::unsupported("BACKUP DATABASE WITH DIFFERENTIAL, INIT"));
        }
        Ok(options)
    }
}

impl RestoreOptions {
    /// Reads them.
    ///
    /// # Errors
    /// As [`BackupOptions::read`]; 3250 for a number that no backup set has.
    pub fn read(settings: &[Setting], words: Words<'_>) -> Result<Self, SqlError> {
        let mut options = Self {
            replaces: false,
            step: None,
            file: 1,
            moves: Vec::new(),
        };
        check(settings, "RESTORE", RESTORE)?;
        for setting in settings {
            let name = setting.name.text.to_ascii_uppercase();
            match name.as_str() {
                "REPLACE" => options.replaces = true,
                "STATS" => options.step = Some(step(setting, words)?),
                "FILE" => {
                    let number = setting.expr().map(|expr| words.number(expr)).transpose()?.unwrap_or(1);
                    let file = usize::try_from(number).ok().filter(|file| *file > 0);
                    options.file = file.ok_or_else(|| out_of_range(number, "FILE"))?;
                }
                "MOVE" => {
                    if let Some(SettingValue::Values(pair)) = &setting.value
                        && let [from, to] = pair.as_slice()
                    {
                        let (from, to) = (words.text(from)?, words.text(to)?);
                        options.moves.push((from.unwrap_or_default(), to.unwrap_or_default()));
                    }
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

fn step(setting: &Setting, words: Words<'_>) -> Result<u8, SqlError> {
    let Some(value) = setting.expr() else { return Ok(STEP) };
    let number = words.number(value)?;
    let step = u8::try_from(number).ok().filter(|step| (1..=100).contains(step));
    step.ok_or_else(|| out_of_range(number, "STATS"))
}

fn text(setting: &Setting, words: Words<'_>) -> Result<Option<String>, SqlError> {
    match setting.expr() {
        Some(value) => words.text(value),
        None => Ok(setting.word().map(|word| word.text.clone())),
    }
}

/// 3250: an option's value that is out of range.
fn out_of_range(number: i64, option: &str) -> SqlError {
    let text = format!("The value '{number}' is not within range for the {option} parameter.");
    SqlError::new(3250, Ends::Statement, text)
}

/// `no-option-is-ignored`: refuses options that are not supported.
fn check(settings: &[Setting], statement: &str, (taken, refused): (&[&str], &[&str])) -> Result<(), SqlError> {
    let names: Vec<String> = settings
        .iter()
        .map(|setting| setting.name.text.to_ascii_uppercase())
        .collect();
    for name in &names {
        if refused.contains(&name.as_str()) {
            let text = format!("Keyword or statement option '{name}' is not supported in {statement}.");
            return Err(SqlError::new(40517, Ends::Statement, text));
        }
        if !taken.contains(&name.as_str()) {
            let text = format!("'{name}' is not a recognized {statement} option.");
            return Err(SqlError::new(155, Ends::Batch, text).with_severity(15));
        }
    }
    let has = |name: &str| names.iter().any(|known| known == name);
    match EXCLUSIVE.iter().find(|(one, other)| has(one) && has(other)) {
        None => Ok(()),
        Some((one, other)) => {
            let text = format!(
                "Option '{one}' conflicts with option(s) '{other}'. Remove the conflicting option and reissue the statement."
            );
            // 3031: two options that exclude each other.
            Err(SqlError::new(3031, Ends::Statement, text))
        }
    }
}

/// The step that SQL Server reports if no number is given.
const STEP: u8 = 10;

const EXCLUSIVE: &[(&str, &str)] = &[
    ("INIT", "NOINIT"),
    ("FORMAT", "NOFORMAT"),
    ("FORMAT", "NOINIT"),
    ("COMPRESSION", "NO_COMPRESSION"),
    ("CHECKSUM", "NO_CHECKSUM"),
    ("SKIP", "NOSKIP"),
    ("REWIND", "NOREWIND"),
    ("UNLOAD", "NOUNLOAD"),
    ("RECOVERY", "NORECOVERY"),
];

const BACKUP: (&[&str], &[&str]) = (
    &[
        "INIT",
        "NOINIT",
        "FORMAT",
        "NOFORMAT",
        "DIFFERENTIAL",
        "COPY_ONLY",
        "COMPRESSION",
        "NO_COMPRESSION",
        "CHECKSUM",
        "NO_CHECKSUM",
        "STOP_ON_ERROR",
        "SKIP",
        "NOSKIP",
        "REWIND",
        "NOREWIND",
        "UNLOAD",
        "NOUNLOAD",
        "STATS",
        "NAME",
        "DESCRIPTION",
    ],
    &[
        "CONTINUE_AFTER_ERROR",
        "PASSWORD",
        "MEDIAPASSWORD",
        "MEDIANAME",
        "MEDIADESCRIPTION",
        "EXPIREDATE",
        "RETAINDAYS",
        "ENCRYPTION",
        "BLOCKSIZE",
        "BUFFERCOUNT",
        "MAXTRANSFERSIZE",
        "RESTART",
        "CREDENTIAL",
        "FILE_SNAPSHOT",
        "METADATA_ONLY",
        "SNAPSHOT",
        "NORECOVERY",
        "STANDBY",
        "NO_TRUNCATE",
    ],
);

const RESTORE: (&[&str], &[&str]) = (
    &[
        "REPLACE",
        "RECOVERY",
        "CHECKSUM",
        "NO_CHECKSUM",
        "STOP_ON_ERROR",
        "REWIND",
        "NOREWIND",
        "UNLOAD",
        "NOUNLOAD",
        "STATS",
        "FILE",
        "MOVE",
    ],
    &[
        "NORECOVERY",
        "STANDBY",
        "CONTINUE_AFTER_ERROR",
        "PASSWORD",
        "MEDIAPASSWORD",
        "MEDIANAME",
        "RESTART",
        "PARTIAL",
        "RESTRICTED_USER",
        "KEEP_REPLICATION",
        "KEEP_CDC",
        "KEEP_TEMPORAL_RETENTION",
        "ENABLE_BROKER",
        "ERROR_BROKER_CONVERSATIONS",
        "NEW_BROKER",
        "BLOCKSIZE",
        "BUFFERCOUNT",
        "MAXTRANSFERSIZE",
        "STOPAT",
        "STOPATMARK",
        "STOPBEFOREMARK",
        "CREDENTIAL",
        "FILESTREAM",
        "LOADHISTORY",
        "METADATA_ONLY",
        "SNAPSHOT",
    ],
);
