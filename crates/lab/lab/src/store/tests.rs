use std::fs;

use selenite_worker::protocol::Sample;

use super::*;
use crate::config::{CacheState, Config};
use crate::phase::{Phase, Phases};
use crate::preset;
use crate::schedule::{Extent, draw};
use crate::summary::{ArmRole, HostFacts, HostSample};

fn study() -> StudyRow {
    StudyRow {
        name: "s".into(),
        config: preset::PRESETS[0].text.into(),
        config_sha256: "00".into(),
        seed: u64::MAX >> 1,
        lab_version: "0".into(),
        commit: String::new(),
        command: "selenite lab run s".into(),
        created_s: 1_700_000_000,
        host: HostFacts {
            facts: vec![("cores".into(), "2".into())],
            warnings: vec![],
        },
        state: StudyState::Unfinished,
    }
}

fn arm(name: &str) -> (ArmFacts, BTreeMap<String, MasterRow>) {
    let facts = ArmFacts {
        name: name.into(),
        label: name.into(),
        control: None,
        role: ArmRole::Plain,
        cipher: "plain".into(),
        library: "x".into(),
        sqlite_version: "3".into(),
        proof: vec![],
        bytes: 1,
        pages: 1,
        pool: None,
        none: None,
        limits: Vec::new(),
        program_sha256: None,
    };
    let master = MasterRow {
        digest: "d".into(),
        rows: 5,
        bytes: 6,
        pages: 7,
    };
    (facts, BTreeMap::from([("main".to_owned(), master)]))
}

/// A store with two arms and the cells of the first preset, without blocks that have run.
fn planned(path: &Path) -> Store {
    let mut store = Store::create(path, &study()).unwrap();
    let cells = Config::parse(preset::PRESETS[0].text).unwrap().cells;
    let draws = draw(
        1,
        Extent {
            sessions: 1,
            pairs: 2,
            cells: cells.len(),
            arms: 2,
        },
    );
    store.plan(&[arm("plain"), arm("plain2")], &cells, &draws).unwrap();
    store
}

fn instance(store: &mut Store) -> i64 {
    let (data, path) = ("main".to_owned(), "x".to_owned());
    store.begin_session(1, 5).unwrap();
    store
        .add_instance(&InstanceRow {
            session: 1,
            arm: 1,
            data,
            made: 0,
            pids: vec![7, 8],
            path,
        })
        .unwrap()
}

fn sample() -> Sample {
    Sample {
        cpu_ns: 5,
        instructions: Some(9),
        answer: "a".into(),
        ..Sample::default()
    }
}

#[test]
fn what_was_written_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.lab.db");
    let mut store = planned(&path);
    let reader = Store::read(&path).unwrap();
    assert_eq!(reader.study().unwrap(), study());
    assert_eq!(reader.arms().unwrap()[1].facts.name, "plain2");
    assert_eq!(reader.arms().unwrap()[1].masters["main"].pages, 7);
    assert_eq!(reader.cells().unwrap()[1].cell.cache, CacheState::Cold);
    let instance = instance(&mut store);
    let plan = reader.schedule().unwrap();
    let (host, sample) = (
        HostSample {
            steal: Some(0.5),
            ..HostSample::default()
        },
        sample(),
    );
    let histograms = BTreeMap::from([("read".to_owned(), vec![1, 2, 3])]);
    let phases = Phases {
        before: Phase::of(&sample, 17),
        during: Phase::of(&sample, 18),
        after: Phase::of(&sample, 19),
        sealing: None,
    };
    let mut block = NewBlock {
        seq: 1,
        instance,
        began_s: 1.5,
        sample: Some(&sample),
        phases: Some(&phases),
        histograms: &histograms,
        host: &host,
        void: None,
    };
    store.add_block(&block).unwrap();
    assert!(matches!(store.add_block(&block), Err(StoreError::Damaged { .. })));
    (block.seq, block.sample, block.void) = (2, None, Some("died"));
    store.add_block(&block).unwrap();
    store.add_event(2.0, "what").unwrap();
    let blocks = reader.blocks().unwrap();
    assert_eq!(
        (blocks[0].arm, blocks[0].cell, blocks[0].pair),
        (plan[0].arm, plan[0].cell, plan[0].pair)
    );
    assert_eq!(blocks[0].sample, sample);
    assert_eq!((blocks[0].phases.as_ref(), &blocks[1].phases), (Some(&phases), &None));
    assert_eq!(blocks[0].host, host);
    assert_eq!(
        (blocks[1].void.as_deref(), &blocks[1].sample),
        (Some("died"), &Sample::default())
    );
    let histograms = reader.histograms().unwrap();
    assert_eq!((histograms.len(), histograms[0].v2.as_slice()), (1, &[1u8, 2, 3][..]));
    assert_eq!(reader.events().unwrap()[0].text, "what");
    assert_eq!(reader.instances().unwrap()[0].pids, [7, 8]);
    store.end_session(1, 9, Some("gone")).unwrap();
    assert_eq!(reader.blocks().unwrap()[0].void.as_deref(), Some("gone"));
    assert!(reader.histograms().unwrap().is_empty());
    store.set_state(StudyState::OutOfBudget).unwrap();
    assert_eq!(reader.study().unwrap().state, StudyState::OutOfBudget);
}

#[test]
fn asks_are_taken_once_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.lab.db");
    let mut store = Store::create(&path, &study()).unwrap();
    let mut user = Store::read(&path).unwrap();
    user.ask(&Control {
        stop: false,
        mix: Some([1, 2, 7]),
    })
    .unwrap();
    user.ask(&Control { stop: true, mix: None }).unwrap();
    let asks = store.take_asks().unwrap();
    assert_eq!(asks[0].control.mix, Some([1, 2, 7]));
    assert!(asks[1].control.stop);
    assert!(store.take_asks().unwrap().is_empty());
}

#[test]
fn a_store_is_never_overwritten_nor_run_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.lab.db");
    let store = Store::create(&path, &study()).unwrap();
    assert!(Store::runs(&path));
    assert!(matches!(Store::create(&path, &study()), Err(StoreError::Running(_))));
    assert!(matches!(Store::open(&path), Err(StoreError::Running(_))));
    store.settle();
    assert!(!Store::runs(&path));
    assert!(matches!(Store::create(&path, &study()), Err(StoreError::Exists(_))));
    Store::open(&path).unwrap().settle();
    let left: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["s.lab.db"]);
}

#[test]
fn other_files_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.lab.db");
    assert!(matches!(Store::read(&path), Err(StoreError::Missing(_))));
    assert!(matches!(Store::read(folder.path()), Err(StoreError::NotAStore(_))));
    fs::write(
        &path,
        "not a database at all, but long enough to be looked at by SQLite".repeat(20),
    )
    .unwrap();
    assert!(matches!(Store::read(&path), Err(StoreError::NotAStore(_))));
    fs::remove_file(&path).unwrap();
    Connection::open(&path)
        .unwrap()
        .execute_batch("CREATE TABLE t (a)")
        .unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::NotAStore(_))));
    fs::remove_file(&path).unwrap();
    planned(&path).settle();
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 9")
        .unwrap();
    assert!(matches!(Store::read(&path), Err(StoreError::Version { found: 9, .. })));
    Connection::open(&path)
        .unwrap()
        .execute_batch("PRAGMA user_version = 1")
        .unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[5 * 4096..].fill(0xff);
    fs::write(&path, bytes).unwrap();
    assert!(matches!(Store::read(&path), Err(StoreError::Damaged { .. })));
}

#[test]
fn an_invalid_row_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.lab.db");
    planned(&path).settle();
    Connection::open(&path)
        .unwrap()
        .execute_batch("UPDATE study SET state = 'x'; UPDATE arm SET facts = '{'")
        .unwrap();
    let store = Store::read(&path).unwrap();
    assert!(matches!(store.study(), Err(StoreError::Damaged { .. })));
    assert!(matches!(store.arms(), Err(StoreError::Damaged { .. })));
}
