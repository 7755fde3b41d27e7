//! A cell: one kind of work in one cache state.

use std::path::PathBuf;
use std::time::Duration;

use selenite_worker::protocol::{Hummer, PLAIN, Workload};
use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::online::{self, Online};
use super::quantity::Time;

/// A resolved cell. In the store it is JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// The name.
    pub name: String,
    /// The display name.
    pub label: String,
    /// The name of the dataset.
    pub data: String,
    /// The work. A [`Workload::Convert`] to [`TO_ARM`] converts an unencrypted database to the
    /// cipher of each arm.
    pub work: Workload,
    /// The location of the pages when the clock starts.
    pub cache: CacheState,
    /// The number of processes that work concurrently.
    pub processes: u32,
    /// Whether arms without a page pool get as much additional SQLite page cache as the others have
    /// in their pools.
    #[serde(default)]
    pub same_memory: bool,
    /// Whether it counts for the verdict of an arm.
    pub gating: bool,
    /// How pages are re-encrypted during the work; the work is then a [`Workload::Hummer`] that
    /// ends on a control.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub online: Option<Online>,
}

/// The location of pages before a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// On storage only.
    Cold,
    /// In the system's page cache.
    Os,
    /// In SQLite's page cache.
    Page,
}

/// The value of `convert` that means the cipher of each arm.
pub const TO_ARM: &str = "arm";

/// Whether work changes the rows or the file.
#[must_use]
pub fn writes(work: &Workload) -> bool {
    match work {
        Workload::Insert { .. } | Workload::UpdateAll => true,
        Workload::Hummer { hummer } => hummer.mix[1] + hummer.mix[2] > 0,
        Workload::Like { .. }
        | Workload::Equal { .. }
        | Workload::SelectAll
        | Workload::Backup
        | Workload::Convert { .. }
        | Workload::Rekey
        | Workload::Archive { .. }
        | Workload::IntegrityCheck
        | Workload::QuickCheck
        | Workload::PhysicalVerify
        | Workload::Readers { .. }
        | Workload::Open { .. }
        | Workload::Messages { .. } => false,
    }
}

/// The number of connections that a kind of work has open concurrently in one process.
#[must_use]
pub fn connections(work: &Workload) -> u32 {
    match work {
        Workload::Readers { connections } => *connections,
        Workload::Like { .. }
        | Workload::Equal { .. }
        | Workload::Insert { .. }
        | Workload::UpdateAll
        | Workload::SelectAll
        | Workload::Backup
        | Workload::Hummer { .. }
        | Workload::Convert { .. }
        | Workload::Rekey
        | Workload::Archive { .. }
        | Workload::IntegrityCheck
        | Workload::QuickCheck
        | Workload::PhysicalVerify
        | Workload::Open { .. }
        | Workload::Messages { .. } => 1,
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CellTable {
    name: String,
    label: Option<String>,
    data: Option<String>,
    work: WorkTable,
    cache: CacheState,
    processes: Option<u32>,
    #[serde(default)]
    same_memory: bool,
    #[serde(default)]
    gating: bool,
    mixes: Option<Vec<String>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct WorkTable {
    kind: Kind,
    rehearsals: Option<u32>,
    rows: Option<u64>,
    to: Option<String>,
    incremental: Option<bool>,
    mix: Option<String>,
    loops: Option<u64>,
    pause_every: Option<u64>,
    pause: Option<Time>,
    connections: Option<u32>,
    times: Option<u64>,
    turns: Option<u64>,
    packet_size: Option<u16>,
    phase: Option<Time>,
    administrator: Option<PathBuf>,
    options: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Like,
    Equal,
    Insert,
    UpdateAll,
    SelectAll,
    Backup,
    Hummer,
    Convert,
    Rekey,
    Archive,
    IntegrityCheck,
    QuickCheck,
    PhysicalVerify,
    Readers,
    Open,
    Online,
    Messages,
}

impl CellTable {
    /// The cell, or one for each mix.
    pub(super) fn resolve(&self) -> Result<Vec<Cell>, ConfigError> {
        let refused = |what: String| ConfigError::new(format!("cell `{}`: {what}", self.name));
        super::check_name("cell", &self.name)?;
        let processes = self.processes.unwrap_or(1);
        if !(1..=PROCESSES_MAX).contains(&processes) {
            return Err(refused(format!("`processes` must be from 1 to {PROCESSES_MAX}")));
        }
        if processes > 1 && !matches!(self.work.kind, Kind::Hummer | Kind::Insert | Kind::Online) {
            return Err(refused(
                "only `hummer`, `insert` and `online` can have several processes".to_owned(),
            ));
        }
        let online = self.work.online(self.cache).map_err(refused)?;
        let Some(mixes) = &self.mixes else {
            let work = self
                .work
                .resolve(self.cache, self.work.mix.as_deref())
                .map_err(refused)?;
            return Ok(vec![self.cell(self.name.clone(), (work, online), processes, "")]);
        };
        if !matches!(self.work.kind, Kind::Hummer | Kind::Online) || self.work.mix.is_some() || mixes.is_empty() {
            return Err(refused(
                "`mixes` is for `hummer` and `online`, instead of `mix` in its work, and not empty".to_owned(),
            ));
        }
        let one = |mix: &String| {
            let work = self.work.resolve(self.cache, Some(mix)).map_err(refused)?;
            let name = format!("{}/{}", self.name, mix.replace('/', "-"));
            Ok(self.cell(name, (work, online.clone()), processes, &format!(" {mix}")))
        };
        mixes.iter().map(one).collect()
    }

    fn cell(&self, name: String, (work, online): (Workload, Option<Online>), processes: u32, suffix: &str) -> Cell {
        let label = match &self.label {
            Some(label) => format!("{label}{suffix}"),
            None if online.is_some() => format!(
                "{}, while pages are re-encrypted",
                label(&work, self.cache, processes, self.same_memory)
            ),
            None => label(&work, self.cache, processes, self.same_memory),
        };
        let data = self.data.clone().unwrap_or_else(|| super::data::MAIN.to_owned());
        Cell {
            name,
            label,
            data,
            work,
            cache: self.cache,
            processes,
            same_memory: self.same_memory,
            gating: self.gating,
            online,
        }
    }
}

impl WorkTable {
    fn resolve(&self, cache: CacheState, mix: Option<&str>) -> Result<Workload, String> {
        self.refuse_unused_keys()?;
        let rehearsals = match (cache, self.rehearsals) {
            (CacheState::Page, None) => 1,
            (CacheState::Page, Some(0)) => return Err("cache `page` needs at least one rehearsal".to_owned()),
            (_, rehearsals) => rehearsals.unwrap_or(0),
        };
        if cache == CacheState::Cold && rehearsals > 0 {
            return Err("after a rehearsal nothing is `cold`".to_owned());
        }
        if let (Kind::Rekey | Kind::Archive, false) = (self.kind, cache == CacheState::Os) {
            return Err("this works on a copy that was just written: its cache is `os`".to_owned());
        }
        Ok(match self.kind {
            Kind::Like => Workload::Like { rehearsals },
            Kind::Equal => Workload::Equal { rehearsals },
            Kind::Insert => match self.rows {
                Some(rows @ 1..=ROWS_MAX) => Workload::Insert { rows },
                _ => return Err(format!("`insert` needs `rows`, from 1 to {ROWS_MAX}")),
            },
            Kind::UpdateAll => Workload::UpdateAll,
            Kind::SelectAll => Workload::SelectAll,
            Kind::Backup => Workload::Backup,
            Kind::Hummer | Kind::Online => Workload::Hummer {
                hummer: self.hummer(mix)?,
            },
            Kind::Convert => match self.to.as_deref() {
                Some(to @ (PLAIN | TO_ARM)) => Workload::Convert { to: to.to_owned() },
                _ => {
                    return Err("`convert` needs `to = \"plain\"`, or `to = \"arm\"` for each arm's cipher".to_owned());
                }
            },
            Kind::Rekey => Workload::Rekey,
            Kind::Archive => Workload::Archive {
                incremental: self.incremental.unwrap_or(false),
            },
            Kind::IntegrityCheck => Workload::IntegrityCheck,
            Kind::QuickCheck => Workload::QuickCheck,
            Kind::PhysicalVerify => Workload::PhysicalVerify,
            Kind::Readers => match self.connections {
                Some(connections @ 1..=PROCESSES_MAX) => Workload::Readers { connections },
                _ => {
                    return Err(format!("`readers` needs `connections`, from 1 to {PROCESSES_MAX}"));
                }
            },
            Kind::Open => match self.times {
                Some(times @ 1..=ROWS_MAX) => Workload::Open { times },
                _ => return Err(format!("`open` needs `times`, from 1 to {ROWS_MAX}")),
            },
            Kind::Messages => self.messages(cache)?,
        })
    }

    fn messages(&self, cache: CacheState) -> Result<Workload, String> {
        if cache != CacheState::Os {
            return Err("`messages` reads no database: its cache is `os`".to_owned());
        }
        let packet_size = self.packet_size.unwrap_or(PACKET_SIZE);
        if !(PACKET_SIZE_MIN..=PACKET_SIZE_MAX).contains(&packet_size) {
            return Err(format!(
                "`packet_size` must be from {PACKET_SIZE_MIN} to {PACKET_SIZE_MAX}"
            ));
        }
        match self.turns {
            Some(turns @ 1..=TURNS_MAX) => Ok(Workload::Messages { turns, packet_size }),
            _ => Err(format!("`messages` needs `turns`, from 1 to {TURNS_MAX}")),
        }
    }

    fn hummer(&self, mix: Option<&str>) -> Result<Hummer, String> {
        let pause = self.pause.map_or(Duration::from_secs(1), |pause| pause.0);
        let mix = mix.ok_or("`hummer` needs a `mix`, such as \"4/3/3\", or the cell `mixes`")?;
        let ends_by_itself = self.kind == Kind::Hummer;
        let loops = self
            .loops
            .or((!ends_by_itself).then_some(online::LOOPS))
            .ok_or("`hummer` needs `loops`, the number for each process")?;
        if loops == 0 {
            return Err("`loops` must be at least 1".to_owned());
        }
        Ok(Hummer {
            mix: parse_mix(mix)?,
            loops,
            pause_every: self.pause_every.unwrap_or(0),
            pause_ms: u64::try_from(pause.as_millis()).map_err(|_| "`pause` is too long")?,
        })
    }

    /// How pages are re-encrypted during the work, if they are.
    fn online(&self, cache: CacheState) -> Result<Option<Online>, String> {
        if self.kind != Kind::Online {
            return Ok(None);
        }
        if cache != CacheState::Os {
            return Err("`online` warms up by itself: its cache is `os`".to_owned());
        }
        Online::resolve(self.phase, self.administrator.clone(), self.options.clone()).map(Some)
    }

    /// A key that this kind of work does not use is an error, never ignored.
    fn refuse_unused_keys(&self) -> Result<(), String> {
        let scans = matches!(self.kind, Kind::Like | Kind::Equal);
        let online = self.kind == Kind::Online;
        let hummer = self.kind == Kind::Hummer || online;
        let unused = [
            ("rehearsals", self.rehearsals.is_some() && !scans),
            ("rows", self.rows.is_some() && self.kind != Kind::Insert),
            ("to", self.to.is_some() && self.kind != Kind::Convert),
            ("incremental", self.incremental.is_some() && self.kind != Kind::Archive),
            ("mix", self.mix.is_some() && !hummer),
            ("loops", self.loops.is_some() && self.kind != Kind::Hummer),
            ("pause_every", self.pause_every.is_some() && !hummer),
            ("pause", self.pause.is_some() && !hummer),
            ("connections", self.connections.is_some() && self.kind != Kind::Readers),
            ("times", self.times.is_some() && self.kind != Kind::Open),
            ("turns", self.turns.is_some() && self.kind != Kind::Messages),
            ("packet_size", self.packet_size.is_some() && self.kind != Kind::Messages),
            ("phase", self.phase.is_some() && !online),
            ("administrator", self.administrator.is_some() && !online),
            ("options", self.options.is_some() && !online),
        ];
        match unused.iter().find(|(_, is_unused)| *is_unused) {
            Some((key, _)) => Err(format!("this kind of work has no `{key}`")),
            None => Ok(()),
        }
    }
}

/// Parses a mix: reads, updates and inserts in ten loops.
///
/// Errors: the reason.
pub fn parse_mix(text: &str) -> Result<[u8; 3], String> {
    let parts: Vec<u8> = text
        .split('/')
        .map_while(|part| part.parse().ok().filter(|n| *n <= 10))
        .collect();
    match <[u8; 3]>::try_from(parts) {
        Ok(mix) if text.split('/').count() == 3 && mix.iter().sum::<u8>() == 10 => Ok(mix),
        _ => Err(format!(
            "mix `{text}` is not three numbers that add up to 10, such as \"4/3/3\""
        )),
    }
}

fn label(work: &Workload, cache: CacheState, processes: u32, same_memory: bool) -> String {
    let several = if processes > 1 {
        format!(", {processes} processes")
    } else {
        String::new()
    };
    let what = match work {
        Workload::Like { .. } => "LIKE scan".to_owned(),
        Workload::Equal { .. } => "= scan".to_owned(),
        Workload::Insert { rows } => format!("insert {rows}{several}"),
        Workload::UpdateAll => "update all".to_owned(),
        Workload::SelectAll => "select all".to_owned(),
        Workload::Backup => "backup".to_owned(),
        Workload::Hummer {
            hummer: Hummer {
                mix: [read, update, insert],
                ..
            },
        } => format!("mix {read}/{update}/{insert}{several}"),
        Workload::Convert { to } if to == PLAIN => "copy into clear".to_owned(),
        Workload::Convert { .. } => "encrypting copy".to_owned(),
        Workload::Rekey => "rekey".to_owned(),
        Workload::Archive { incremental: false } => "full backup, kept elsewhere".to_owned(),
        Workload::Archive { incremental: true } => "incremental backup, kept elsewhere".to_owned(),
        Workload::IntegrityCheck => "integrity_check".to_owned(),
        Workload::QuickCheck => "quick_check".to_owned(),
        Workload::PhysicalVerify => "physical verify".to_owned(),
        Workload::Readers { connections } => format!("{connections} connections that read all"),
        Workload::Open { times } => format!("open and close {times} times"),
        Workload::Messages { turns, packet_size } => return format!("{turns} turns, packets of {packet_size} bytes"),
    };
    let memory = if same_memory { ", same memory" } else { "" };
    let cache = match cache {
        CacheState::Cold => "cold",
        CacheState::Os => "OS cache",
        CacheState::Page => "page cache",
    };
    format!("{what}, {cache}{memory}")
}

/// With more processes, the measurement would be that of the scheduler.
const PROCESSES_MAX: u32 = 256;
/// SQL Server's own default.
const PACKET_SIZE: u16 = 4096;
/// MS-TDS 2.2.6.4.
const PACKET_SIZE_MIN: u16 = 512;
const PACKET_SIZE_MAX: u16 = 32767;
/// The server's loop counter is an int.
const TURNS_MAX: u64 = 1_000_000_000;
/// With more rows, a block takes too long.
const ROWS_MAX: u64 = 10_000_000;
