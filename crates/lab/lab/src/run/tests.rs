mod extension;
mod faults;
mod flow;
mod guess;
mod online;
mod sim;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sim::{Sim, SimFault};

use super::*;
use crate::store::BlockRow;

const TEXT: &str = r#"
[study]
name = "s"
seed = 7
sessions = 2
pairs = 2
[data]
kind = "statements"
rows = 10
[data.cards]
kind = "cards"
rows = 10
[arms.AES_256]
engine = "selenite"
cipher = "AES_256"
[[cells]]
name = "insert"
work = { kind = "insert", rows = 1 }
cache = "os"
gating = true
[[cells]]
name = "select"
work = { kind = "select-all" }
cache = "cold"
gating = true
[[cells]]
name = "check"
data = "cards"
work = { kind = "integrity-check" }
cache = "page"
"#;

/// Blocks of a session: cells, pairs, arms.
const PER_SESSION: usize = 3 * 2 * 3;

struct StudyFolder {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl StudyFolder {
    fn new() -> StudyFolder {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.lab.db");
        StudyFolder { _folder: folder, path }
    }

    fn copies(&self) -> PathBuf {
        self.path.with_file_name("s.lab.db.copies")
    }

    fn run(&self, sim: &Sim, text: &str) -> Result<RunOutcome, RunError> {
        let config = Config::parse(text).unwrap();
        let command = "selenite lab run".to_owned();
        let new = NewStudy {
            path: self.path.clone(),
            config,
            command,
        };
        run(new, around(&mut sim.clone(), &mut Quiet))
    }

    fn resume(&self, sim: &Sim) -> Result<RunOutcome, RunError> {
        resume(&self.path, None, around(&mut sim.clone(), &mut Quiet))
    }

    fn extend(&self, sim: &Sim, sessions: u32) -> Result<RunOutcome, RunError> {
        extend(&self.path, sessions, around(&mut sim.clone(), &mut Quiet))
    }

    fn blocks(&self) -> Vec<BlockRow> {
        Store::read(&self.path).unwrap().blocks().unwrap()
    }

    fn void(&self) -> Vec<String> {
        self.blocks().into_iter().filter_map(|block| block.void).collect()
    }

    /// The number of pairs in which all arms count, by cell.
    fn whole_pairs(&self, arms: usize) -> BTreeMap<i64, usize> {
        let mut pairs: BTreeMap<(i64, u32, u32), usize> = BTreeMap::new();
        for block in self.blocks().iter().filter(|block| block.void.is_none()) {
            *pairs.entry((block.cell, block.session, block.pair)).or_default() += 1;
        }
        let mut cells = BTreeMap::new();
        for ((cell, ..), _) in pairs.iter().filter(|(_, count)| **count == arms) {
            *cells.entry(*cell).or_default() += 1;
        }
        cells
    }

    fn left_over(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path.parent().unwrap()).unwrap();
        entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }
}

/// A context with its own flag for each call, because tests run concurrently.
fn around<'a>(testbed: &'a mut Sim, observer: &'a mut dyn Observer) -> RunContext<'a, Sim> {
    let interrupt: &'static AtomicBool = Box::leak(Box::default());
    testbed.0.borrow_mut().interrupt = Some(interrupt);
    RunContext {
        testbed,
        observer,
        interrupt,
        keep: false,
        commit: String::new(),
    }
}

fn complete() -> RunOutcome {
    RunOutcome::Over(StudyState::Complete)
}

/// Whether something exists at a path.
fn is_there(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
