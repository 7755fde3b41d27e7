//! A study's configuration: parsed TOML with consistent values.
//!
//! - unknown-is-an-error: an unknown key, name or unit is an error with its line; nothing is
//!   ignored.
//! - text-is-kept: the original text is what is stored and hashed.

pub mod arm;
mod baseline;
pub mod cell;
pub mod data;
pub mod error;
pub mod online;
pub mod published;
pub mod quantity;

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use selenite_stats::SESSIONS_MIN;
use selenite_worker::protocol::{Dataset, Workload};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use toml::Spanned;

pub use arm::ArmConfig;
pub use cell::{CacheState, Cell};
pub use error::ConfigError;
pub use online::Online;
pub use published::{Published, PublishedFigure};
use quantity::{Percent, Size, Time};

/// The configuration of a study.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// How the study is run.
    pub study: Study,
    /// The layout, the same for every arm.
    pub layout: Layout,
    /// The contents of databases, by name.
    pub data: BTreeMap<String, Dataset>,
    /// The encrypted arms, in the order of the text.
    pub arms: Vec<ArmConfig>,
    /// The cells, in the order of the text.
    pub cells: Vec<Cell>,
    /// The published measurement that the study repeats.
    pub published: Option<Published>,
    /// The original text.
    pub text: String,
}

/// How a study is run.
#[derive(Clone, Debug, PartialEq)]
pub struct Study {
    /// Its name: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// Its question, in one line.
    pub title: String,
    /// The seed; 0 if one is to be drawn.
    pub seed: u64,
    /// The maximum number of sessions.
    pub sessions: u32,
    /// Pairs of each cell in each session; even.
    pub pairs: u32,
    /// The half-width of intervals at which the study is precise enough, as a ratio.
    pub target_half_width: f64,
    /// No session is begun that would end after it.
    pub budget: Duration,
    /// The effect that matters, as a ratio.
    pub limit: f64,
    /// The time limit of a worker, after which it is killed.
    pub block_timeout: Duration,
    /// The engine of the two unencrypted arms that every study has.
    pub baseline: String,
}

/// How databases are laid out and opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The page size, in bytes.
    pub page_size: u32,
    /// SQLite's page cache of one connection, in KiB.
    pub cache_kib: u32,
    /// As in PRAGMA journal_mode.
    pub journal_mode: String,
    /// As in PRAGMA synchronous.
    pub synchronous: String,
}

impl Config {
    /// Reads and checks a configuration.
    ///
    /// Errors: what is wrong, where, and the known alternatives.
    pub fn parse(text: &str) -> Result<Config, ConfigError> {
        let tables: Tables = toml::from_str(text).map_err(|error| ConfigError::of_toml(&error, text))?;
        let study_at = tables.study.span().start;
        let mut study = tables
            .study
            .into_inner()
            .resolve()
            .map_err(|error| error.at(text, study_at))?;
        let data = resolve_data(&tables.data)?;
        let mut arms: Vec<_> = tables.arms.iter().collect();
        arms.sort_by_key(|(_, table)| table.span().start);
        let arm = |(name, table): &(&String, &Spanned<arm::ArmTable>)| {
            table
                .get_ref()
                .resolve(name)
                .map_err(|error| error.at(text, table.span().start))
        };
        let arms = arms.iter().map(arm).collect::<Result<Vec<_>, _>>()?;
        let mut cells = Vec::new();
        for table in &tables.cells {
            let made = table
                .get_ref()
                .resolve()
                .and_then(|made| check_cells(made, &data, &cells));
            cells.extend(made.map_err(|error| error.at(text, table.span().start))?);
        }
        if cells.is_empty() {
            return Err(ConfigError::new("no cell").next("add a table `[[cells]]`"));
        }
        let online = cells.iter().filter(|cell| cell.online.is_some()).count();
        if online > 0 && online < cells.len() {
            let what = "cells of work `online` are judged by another metric than others";
            return Err(ConfigError::new(what).next("make two studies"));
        }
        check_keys(&arms, &cells)?;
        study.baseline = baseline::of(&study.baseline, &arms, &cells)?;
        if let Some(unused) = data.keys().find(|name| cells.iter().all(|cell| &cell.data != *name)) {
            return Err(ConfigError::new(format!("no cell uses data `{unused}`")));
        }
        let published = tables.published.map(|table| {
            let at = table.span().start;
            let resolved = table.into_inner().resolve(&arms, &cells);
            resolved.map_err(|error| error.at(text, at))
        });
        let config = Config {
            study,
            layout: tables.layout.resolve()?,
            data,
            arms,
            cells,
            published: published.transpose()?,
            text: text.to_owned(),
        };
        Ok(config)
    }

    /// Whether its arms are engines with processes and data folders of their own.
    #[must_use]
    pub fn has_servers(&self) -> bool {
        ![arm::SQLITE, arm::TRANSIT].contains(&self.study.baseline.as_str())
    }

    /// SHA-256 of the text, in hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> String {
        hex(&Sha256::digest(self.text.as_bytes()))
    }

    /// Warnings about valid but inadvisable values, one sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.study.sessions < SESSIONS_MIN {
            let sessions = self.study.sessions;
            notes.push(format!(
                "{sessions} sessions are too few for a verdict, which needs {SESSIONS_MIN}"
            ));
        }
        if self.arms.is_empty() {
            notes.push(
                "no encrypted arm: this study only shows the difference between two unencrypted copies".to_owned(),
            );
        }
        if self.cells.iter().all(|cell| !cell.gating) {
            notes.push("no cell has `gating = true`: there will be no verdict".to_owned());
        }
        notes
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tables {
    study: Spanned<StudyTable>,
    #[serde(default)]
    layout: LayoutTable,
    data: data::DataTables,
    #[serde(default)]
    arms: BTreeMap<String, Spanned<arm::ArmTable>>,
    #[serde(default)]
    cells: Vec<Spanned<cell::CellTable>>,
    published: Option<Spanned<published::PublishedTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StudyTable {
    name: String,
    #[serde(default)]
    title: String,
    #[serde(default)]
    seed: u64,
    #[serde(default = "eight")]
    sessions: u32,
    #[serde(default = "eight")]
    pairs: u32,
    target_half_width: Option<Percent>,
    budget: Option<Time>,
    limit: Option<Percent>,
    block_timeout: Option<Time>,
    #[serde(default)]
    baseline: String,
}

fn eight() -> u32 {
    8
}

impl StudyTable {
    fn resolve(self) -> Result<Study, ConfigError> {
        check_name("study", &self.name)?;
        if self.name.contains('/') {
            return Err(ConfigError::new("the name of a study has no `/`"));
        }
        if !(1..=SESSIONS_MAX).contains(&self.sessions) {
            return Err(ConfigError::new(format!("`sessions` must be from 1 to {SESSIONS_MAX}")));
        }
        if self.pairs < 2 || !self.pairs.is_multiple_of(2) || self.pairs > PAIRS_MAX {
            let why = "every order of arms has its mirror image";
            return Err(ConfigError::new(format!(
                "`pairs` must be even, from 2 to {PAIRS_MAX}: {why}"
            )));
        }
        if i64::try_from(self.seed).is_err() {
            return Err(ConfigError::new("`seed` is too large"));
        }
        let block_timeout = self.block_timeout.map_or(Duration::from_secs(120), |time| time.0);
        if block_timeout.is_zero() {
            return Err(ConfigError::new("`block_timeout` must be positive"));
        }
        Ok(Study {
            title: if self.title.is_empty() {
                self.name.clone()
            } else {
                self.title
            },
            name: self.name,
            seed: self.seed,
            sessions: self.sessions,
            pairs: self.pairs,
            target_half_width: self.target_half_width.map_or(0.01, |share| share.0),
            budget: self.budget.map_or(Duration::from_secs(3600), |time| time.0),
            limit: self.limit.map_or(0.03, |share| share.0),
            block_timeout,
            baseline: self.baseline,
        })
    }
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct LayoutTable {
    page_size: Option<u32>,
    cache: Option<Size>,
    journal_mode: Option<String>,
    synchronous: Option<String>,
}

impl LayoutTable {
    fn resolve(self) -> Result<Layout, ConfigError> {
        let page_size = self.page_size.unwrap_or(4096);
        if !page_size.is_power_of_two() || !(512..=65536).contains(&page_size) {
            return Err(ConfigError::new("`page_size` must be a power of two from 512 to 65536"));
        }
        let cache = self.cache.map_or(2 << 20, |size| size.0);
        let cache_kib = u32::try_from(cache >> 10)
            .ok()
            .filter(|kib| (64..=CACHE_KIB_MAX).contains(kib));
        Ok(Layout {
            page_size,
            cache_kib: cache_kib.ok_or_else(|| ConfigError::new("`cache` must be from 64KiB to 1TiB"))?,
            journal_mode: choice("journal mode", self.journal_mode, "wal", &JOURNAL_MODES)?,
            synchronous: choice("synchronous", self.synchronous, "normal", &SYNCHRONOUS)?,
        })
    }
}

fn choice(kind: &str, value: Option<String>, default: &str, known: &[&str]) -> Result<String, ConfigError> {
    let value = value.map_or_else(|| default.to_owned(), |value| value.to_ascii_lowercase());
    match known.contains(&value.as_str()) {
        true => Ok(value),
        false => Err(ConfigError::unknown(kind, &value, known)),
    }
}

fn resolve_data(tables: &data::DataTables) -> Result<BTreeMap<String, Dataset>, ConfigError> {
    let one = |(name, table): (&String, &data::DataTable)| {
        check_name("data", name)?;
        if name.contains('/') {
            return Err(ConfigError::new(format!(
                "data `{name}`: the name of a dataset has no `/`"
            )));
        }
        Ok((name.clone(), table.resolve(name)?))
    };
    tables.0.iter().map(one).collect()
}

fn check_cells(made: Vec<Cell>, data: &BTreeMap<String, Dataset>, before: &[Cell]) -> Result<Vec<Cell>, ConfigError> {
    let mut names: BTreeSet<&str> = before.iter().map(|cell| cell.name.as_str()).collect();
    for cell in &made {
        let names_of_data: Vec<&str> = data.keys().map(String::as_str).collect();
        let Some(dataset) = data.get(&cell.data) else {
            return Err(ConfigError::unknown("data", &cell.data, &names_of_data));
        };
        let (needs, has) = (data::needs(&cell.work), data::kind(dataset));
        if let Some(needs) = needs.filter(|needs| *needs != has) {
            let what = format!(
                "cell `{}`: its work needs data of kind `{needs}`, `{}` is `{has}`",
                cell.name, cell.data
            );
            return Err(ConfigError::new(what).next("add a table `[data.NAME]`, and `data = \"NAME\"` to the cell"));
        }
        if !names.insert(&cell.name) {
            return Err(ConfigError::new(format!("there are two cells `{}`", cell.name)));
        }
    }
    Ok(made)
}

/// Refuses what an engine cannot do: suite NONE of Selenite has no key to change, and the peers
/// have no backups of their own.
fn check_keys(arms: &[ArmConfig], cells: &[Cell]) -> Result<(), ConfigError> {
    let stranger = arms
        .iter()
        .find(|arm| matches!(arm.engine.as_str(), "sqlcipher" | "sqlite3mc"));
    let archived = cells.iter().find(|cell| matches!(cell.work, Workload::Archive { .. }));
    if let (Some(arm), Some(cell)) = (stranger, archived) {
        let what = format!(
            "arm `{}` cannot make backups, which cell `{}` needs",
            arm.name, cell.name
        );
        return Err(ConfigError::new(what).next("remove one of them"));
    }
    let keyless = arms.iter().find(|arm| arm.engine == "selenite" && arm.cipher == "NONE");
    let rekeyed = cells.iter().find(|cell| cell.work == Workload::Rekey);
    match (keyless, rekeyed) {
        (Some(arm), Some(cell)) => {
            let what = format!("arm `{}` has no key, which cell `{}` changes", arm.name, cell.name);
            Err(ConfigError::new(what).next("remove one of them"))
        }
        _ => Ok(()),
    }
}

fn check_name(kind: &str, name: &str) -> Result<(), ConfigError> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    match name.len() <= NAME_MAX
        && name.bytes().next().is_some_and(|b| b.is_ascii_alphanumeric())
        && name.bytes().all(allowed)
    {
        true => Ok(()),
        false => {
            let rule = format!("up to {NAME_MAX} letters, digits, `-`, `_`, `.`, beginning with a letter or a digit");
            Err(ConfigError::new(format!("`{name}` is not a valid name of a {kind}")).next(rule))
        }
    }
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

const JOURNAL_MODES: [&str; 4] = ["wal", "delete", "truncate", "persist"];
const SYNCHRONOUS: [&str; 4] = ["off", "normal", "full", "extra"];
/// SQLite's cache_size of 1 TiB.
const CACHE_KIB_MAX: u32 = 1 << 30;
/// A larger number is a mistake.
const SESSIONS_MAX: u32 = 1000;
/// As for `SESSIONS_MAX`.
const PAIRS_MAX: u32 = 1000;
/// Names are parts of file names.
const NAME_MAX: usize = 64;

#[cfg(test)]
mod tests;
