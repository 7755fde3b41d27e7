//! The study that a command names: a preset or a file, with the options that change it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use selenite::EngineError;
use selenite_lab::config::Config;
use selenite_lab::edit::Edit;
use selenite_lab::preset::preset;

use super::usage;
use crate::arguments::lab::LabRun;
use crate::cli_error::CliError;

/// The arms of a study.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Arms {
    /// The arms of the configuration.
    AsConfigured,
    /// Stock SQLite, twice.
    PlainOnly,
}

/// The configuration.
pub fn config(arguments: &LabRun, arms: Arms) -> Result<Config, CliError> {
    let text = text(&arguments.study)?;
    let is_changed = !(arguments.set.is_empty() && arguments.arm.is_empty() && arguments.cell.is_empty());
    if !is_changed && arms == Arms::AsConfigured {
        return Ok(Config::parse(&text)?);
    }
    // An error in the file itself is reported with its line numbers.
    Config::parse(&text)?;
    let mut edit = Edit::new(&text)?;
    edit.keep_arms(&arguments.arm)?;
    if arms == Arms::PlainOnly {
        edit.drop_arms();
    }
    edit.keep_cells(&arguments.cell)?;
    Ok(edit.with(&arguments.set)?)
}

/// The path of its store.
pub fn store(arguments: &LabRun, config: &Config) -> PathBuf {
    arguments
        .store
        .clone()
        .unwrap_or_else(|| PathBuf::from(format!("{}.lab.db", config.study.name)))
}

/// The command line, which a report shows for the reproduction of a study.
pub fn command_line() -> String {
    let words = std::env::args().skip(1).map(|word| quoted(&word));
    std::iter::once("selenite".to_owned())
        .chain(words)
        .collect::<Vec<_>>()
        .join(" ")
}

fn quoted(word: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=./:,%+@".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_bare) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What looks like a path is one; anything else is a preset's name.
pub fn text(study: &str) -> Result<String, CliError> {
    let path = Path::new(study);
    let is_path = study.contains('/') || path.extension().is_some() || path.is_file();
    if !is_path {
        return Ok(preset(study)?.text.to_owned());
    }
    if is_sqlite(path) {
        let what = format!(
            "{} is a store (an SQLite database), not a configuration",
            path.display()
        );
        return Err(usage(
            what,
            "give a preset or a configuration file; to show a store's results, use selenite lab report STORE",
        ));
    }
    std::fs::read_to_string(path).map_err(|source| {
        if matches!(source.kind(), ErrorKind::InvalidData | ErrorKind::IsADirectory) {
            let what = format!("{} is not a configuration: {source}", path.display());
            return usage(what, "selenite lab init writes one");
        }
        EngineError::Io {
            verb: "read",
            path: path.to_owned(),
            source,
        }
        .into()
    })
}

/// Whether a file is a SQLite database: a study's store in place of its configuration.
fn is_sqlite(path: &Path) -> bool {
    let mut head = [0; 16];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut head));
    read.is_ok() && head == *b"SQLite format 3\0"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_take_them_apart() {
        assert_eq!(quoted("data.size=64MiB"), "data.size=64MiB");
        assert_eq!(quoted("like-*"), "'like-*'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
