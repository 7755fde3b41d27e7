//! Errors of a configuration, with their position.

use std::fmt;

/// Why a configuration is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The line, counted from 1, if known.
    pub line: Option<usize>,
    /// The error.
    pub what: String,
    /// Advice on what to do.
    pub next: Option<String>,
}

impl ConfigError {
    /// An error without a line.
    pub(crate) fn new(what: impl Into<String>) -> ConfigError {
        ConfigError {
            line: None,
            what: what.into(),
            next: None,
        }
    }

    /// Sets the line, from a byte offset of the text.
    pub(crate) fn at(mut self, text: &str, offset: usize) -> ConfigError {
        self.line
            .get_or_insert_with(|| text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1);
        self
    }

    /// Sets the advice.
    pub(crate) fn next(mut self, next: impl Into<String>) -> ConfigError {
        self.next = Some(next.into());
        self
    }

    /// An unknown name, with the most similar of the known ones.
    pub(crate) fn unknown(kind: &str, name: &str, names: &[&str]) -> ConfigError {
        let all = names.join(", ");
        let next = match nearest(name, names) {
            Some(near) => format!("did you mean `{near}`? known: {all}"),
            None => format!("known: {all}"),
        };
        ConfigError::new(format!("unknown {kind} `{name}`")).next(next)
    }

    /// An error of the TOML parser.
    pub(crate) fn of_toml(error: &toml::de::Error, text: &str) -> ConfigError {
        let told = error.message();
        let mut names = told.split('`').skip(1).step_by(2);
        let refused = match (
            told.starts_with("unknown field"),
            told.starts_with("unknown variant"),
            names.next(),
        ) {
            (true, _, Some(name)) => ConfigError::unknown("key", name, &names.collect::<Vec<_>>()),
            (_, true, Some(name)) => ConfigError::unknown("name", name, &names.collect::<Vec<_>>()),
            _ => ConfigError::new(told.trim_end().to_lowercase_first()),
        };
        match error.span() {
            Some(span) => refused.at(text, span.start),
            None => refused,
        }
    }
}

/// The name most similar to `name`, if one is similar enough.
pub(crate) fn nearest<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    let likeness = |other: &str| strsim::jaro_winkler(&name.to_lowercase(), &other.to_lowercase());
    names
        .iter()
        .map(|other| (likeness(other), *other))
        .filter(|(likeness, _)| *likeness >= LIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, other)| other)
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(out, "line {line}: ")?;
        }
        out.write_str(&self.what)?;
        match &self.next {
            Some(next) => write!(out, "; {next}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ConfigError {}

trait LowercaseFirst {
    fn to_lowercase_first(&self) -> String;
}

impl LowercaseFirst for str {
    fn to_lowercase_first(&self) -> String {
        let mut rest = self.chars();
        rest.next()
            .map(|first| first.to_lowercase().chain(rest).collect())
            .unwrap_or_default()
    }
}

/// The similarity of `colt` and `cold`.
const LIKE: f64 = 0.7;
