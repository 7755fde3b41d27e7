use std::collections::BTreeMap;
use std::sync::Mutex;

use selenite_cipher::{ArchiveId, Secret};
use selenite_format::archive::LogPosition;

use super::*;
use crate::archive::ArchiveError;
use crate::destination::{Object, Traffic};
use crate::log_reader::{LogChain, LogPlan};

/// A destination in memory whose writes can be made to fail.
#[derive(Default)]
struct Memory {
    objects: Mutex<BTreeMap<String, Vec<u8>>>,
    /// Makes the next put fail, after writing (`true`) or without writing.
    fails: Mutex<Option<bool>>,
}

impl Destination for Memory {
    fn put_new(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let error = |kind| StoreError {
            kind,
            verb: "write",
            name: name.to_owned(),
            what: "as told".to_owned(),
        };
        let fails = self.fails.lock().unwrap().take();
        if fails != Some(false) {
            let mut objects = self.objects.lock().unwrap();
            if objects.contains_key(name) {
                return Err(error(StoreErrorKind::Exists));
            }
            objects.insert(name.to_owned(), bytes.to_vec());
        }
        fails.map_or(Ok(()), |_| Err(error(StoreErrorKind::Unreachable)))
    }

    fn get(&self, name: &str, _: usize) -> Result<Vec<u8>, StoreError> {
        self.objects.lock().unwrap().get(name).cloned().ok_or(StoreError {
            kind: StoreErrorKind::Missing,
            verb: "read",
            name: name.to_owned(),
            what: "not there".to_owned(),
        })
    }

    fn list(&self, _: &str) -> Result<Vec<Object>, StoreError> {
        Ok(Vec::new())
    }

    fn remove(&self, name: &str) -> Result<(), StoreError> {
        self.objects.lock().unwrap().remove(name);
        Ok(())
    }

    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    fn place(&self) -> String {
        "memory".to_owned()
    }
}

const ID: DatabaseId = DatabaseId([3; 16]);
const MANIFEST: [u8; 32] = [8; 32];

fn archive_key(byte: u8) -> ArchiveKey {
    ArchiveKey::new(Secret::new([byte; 32]), ArchiveId([byte; 16]))
}

fn name(byte: u8) -> ArchiveName {
    ArchiveName::new(0, ArchiveId([byte; 16]))
}

fn end(frames: u32) -> LogEnd {
    LogEnd {
        position: LogPosition { salts: [5; 8], frames },
        checksum: if frames == 0 { [0; 8] } else { [6; 8] },
    }
}

fn writer(memory: &Arc<Memory>, byte: u8) -> LogWriter {
    let archive = (archive_key(byte), ID, name(byte));
    LogWriter::new(memory.clone(), archive, MANIFEST, end(0), CompressionLevel::default())
}

fn page_size() -> PageSize {
    PageSize::try_from(1024).unwrap()
}

/// Incompressible bytes.
fn noise(seed: u32) -> Vec<u8> {
    let mut state = seed.wrapping_mul(2_654_435_761) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state.to_be_bytes()[1]
    };
    std::iter::repeat_with(next).take(1024).collect()
}

/// Writes a turn up to `frames`, with pages 1 to `count`.
fn turn(writer: &mut LogWriter, frames: u32, made: u64, count: u32) -> Result<(), BackupError> {
    let mut turn = writer.turn(end(frames), (page_size(), count), made)?;
    for page_no in 1..=count {
        turn.page(page_no, &[7; 1024], &noise(page_no ^ frames << 16))?;
    }
    turn.finish()
}

fn numbers(plan: &LogPlan) -> Vec<u32> {
    plan.objects.iter().map(|(number, _)| *number).collect()
}

fn plan(memory: &Memory, byte: u8, count: u32, until: u64) -> Result<LogPlan, BackupError> {
    let chain = LogChain::new(MANIFEST, end(0).position);
    LogPlan::make(memory, (&archive_key(byte), ID, &name(byte)), chain, (count, until))
}

fn object(byte: u8, number: u32) -> String {
    object_key(ID, &name(byte), Part::Log(number))
}

#[test]
fn pages_are_restored_turn_by_turn_up_to_a_time() {
    let memory = Arc::new(Memory::default());
    let mut log = writer(&memory, 1);
    turn(&mut log, 3, 1000, 2).unwrap();
    turn(&mut log, 9, 2000, 5).unwrap();
    // With a clock that was set back.
    turn(&mut log, 12, 1500, 4).unwrap();
    assert_eq!((log.count(), log.end()), (3, end(12)));
    let of = |until| {
        let plan = plan(&memory, 1, 3, until).unwrap();
        (numbers(&plan), plan.end)
    };
    assert_eq!(of(999), (vec![], None));
    assert_eq!(of(1000), (vec![0], Some((2, 1000))));
    assert_eq!(of(1999), (vec![0], Some((2, 1000))));
    assert_eq!(of(2000), (vec![0, 1, 2], Some((4, 2000))));
    let key = archive_key(1);
    let first = LogObject::fetch(memory.as_ref(), (&key, ID, &name(1)), 1).unwrap();
    let mut pages = Vec::new();
    first
        .pages(
            page_size(),
            |error: ArchiveError| error,
            |page| {
                assert_eq!(page.bytes, noise(page.page_no ^ 9 << 16));
                pages.push(page.page_no);
                Ok(())
            },
        )
        .unwrap();
    assert_eq!(pages, [1, 2, 3, 4, 5]);
}

#[test]
fn a_turn_of_several_objects_is_valid_with_its_last_object_only() {
    let memory = Arc::new(Memory::default());
    let mut log = writer(&memory, 1);
    turn(&mut log, 1, 1, 1).unwrap();
    turn(&mut log, 9000, 2, 9000).unwrap();
    let count = log.count();
    assert!(count >= 4, "{count} objects");
    assert_eq!(plan(&memory, 1, count, 9).unwrap().objects.len(), count as usize);
    for cut in 1..count {
        let plan = plan(&memory, 1, cut, 9).unwrap();
        assert_eq!((numbers(&plan), plan.end), (vec![0], Some((1, 1))), "{cut} objects");
    }
    // A writer that continues after the cut repeats the turn, and the interrupted turn is ignored.
    memory.remove(&object(1, count - 1)).unwrap();
    let key = archive_key(1);
    let last = LogObject::fetch(memory.as_ref(), (&key, ID, &name(1)), count - 2).unwrap();
    let mut again = writer(&memory, 1).continue_after(count - 2, &last, 0);
    assert_eq!(again.end(), end(1));
    turn(&mut again, 9001, 3, 2).unwrap();
    let plan = plan(&memory, 1, count, 9).unwrap();
    assert_eq!((numbers(&plan), plan.end), (vec![0, count - 1], Some((2, 3))));
}

#[test]
fn altered_moved_missing_and_foreign_objects_are_refused() {
    let memory = Arc::new(Memory::default());
    let mut log = writer(&memory, 1);
    for frames in 1..5 {
        turn(&mut log, frames, u64::from(frames), 1).unwrap();
    }
    let mut other = writer(&memory, 2);
    turn(&mut other, 1, 1, 1).unwrap();
    let taken = |number| memory.get(&object(1, number), 0).unwrap();
    let with = |number: u32, bytes: Vec<u8>| {
        let whole = memory.objects.lock().unwrap().insert(object(1, number), bytes).unwrap();
        let refused = plan(&memory, 1, 4, 9);
        memory.objects.lock().unwrap().insert(object(1, number), whole);
        refused.unwrap_err()
    };
    let foreign = memory.get(&object(2, 0), 0).unwrap();
    assert!(matches!(with(0, foreign), BackupError::Unauthentic { .. }));
    assert!(matches!(with(1, taken(2)), BackupError::Unauthentic { .. }));
    let mut cut = taken(1);
    cut.pop();
    assert!(matches!(with(1, cut), BackupError::Unauthentic { .. }));
    for at in (0..taken(1).len()).step_by(97) {
        let mut altered = taken(1);
        altered[at] ^= 1;
        assert!(matches!(with(1, altered), BackupError::Unauthentic { .. }), "byte {at}");
    }
    assert!(plan(&memory, 1, 4, 9).is_ok());
    memory.remove(&object(1, 2)).unwrap();
    assert!(matches!(plan(&memory, 1, 4, 9), Err(BackupError::Chain { .. })));
    // Earlier times are not affected.
    assert_eq!(numbers(&plan(&memory, 1, 2, 9).unwrap()), [0, 1]);
}

#[test]
fn an_object_of_another_writer_of_the_same_archive_is_refused() {
    // Two writers that both continued after object 0: the second's object 1 replaced that of the first.
    let (one, two) = (Arc::new(Memory::default()), Arc::new(Memory::default()));
    let mut log = writer(&one, 1);
    turn(&mut log, 1, 1, 1).unwrap();
    *two.objects.lock().unwrap() = one.objects.lock().unwrap().clone();
    let key = archive_key(1);
    let last = LogObject::fetch(two.as_ref(), (&key, ID, &name(1)), 0).unwrap();
    let mut other = writer(&two, 1).continue_after(0, &last, 0);
    turn(&mut log, 2, 2, 1).unwrap();
    turn(&mut log, 3, 3, 1).unwrap();
    turn(&mut other, 2, 2, 1).unwrap();
    let swapped = two.get(&object(1, 1), 0).unwrap();
    one.objects.lock().unwrap().insert(object(1, 1), swapped);
    assert!(matches!(plan(&one, 1, 3, 9), Err(BackupError::Chain { .. })));
    // If both use one destination, the second fails.
    let mut late = writer(&one, 1).continue_after(0, &last, 0);
    assert!(matches!(
        turn(&mut late, 2, 4, 1),
        Err(BackupError::WrittenByOther { .. })
    ));
}

#[test]
fn an_object_that_may_have_been_written_is_sent_again() {
    for was_written in [true, false] {
        let memory = Arc::new(Memory::default());
        let mut log = writer(&memory, 1);
        turn(&mut log, 1, 1, 1).unwrap();
        *memory.fails.lock().unwrap() = Some(was_written);
        assert!(matches!(turn(&mut log, 2, 2, 1), Err(BackupError::Store(_))));
        assert_eq!(log.end(), end(1));
        log.flush_pending().unwrap();
        assert_eq!(log.end(), end(2));
        let again = turn(&mut log, 3, 3, 1);
        assert!(again.is_ok(), "{again:?}");
        let read = plan(&memory, 1, log.count(), 9);
        assert_eq!(read.unwrap().end, Some((1, 3)), "written: {was_written}");
    }
}

/// Checks `after-its-predecessor`.
#[test]
fn nothing_is_appended_to_a_missing_or_replaced_archive() {
    let memory = Arc::new(Memory::default());
    let mut writer = writer(&memory, 1);
    let object = |part| object_key(ID, &name(1), part);
    memory.put_new(&object(Part::Manifest), b"manifest").unwrap();
    turn(&mut writer, 1, 1, 1).unwrap();
    turn(&mut writer, 2, 2, 1).unwrap();
    let long_ago = || Instant::now().checked_sub(std::time::Duration::from_secs(60)).unwrap();
    for part in [Part::Manifest, Part::Log(1)] {
        let kept = memory.objects.lock().unwrap().remove(&object(part)).unwrap();
        let there = |memory: &Memory| memory.objects.lock().unwrap().keys().cloned().collect::<Vec<_>>();
        let before = there(&memory);
        writer.seen = long_ago();
        let refused = turn(&mut writer, 3, 3, 1).unwrap_err();
        assert!(matches!(refused, BackupError::ArchiveRemoved { .. }), "{refused}");
        assert_eq!(there(&memory), before);
        if part != Part::Manifest {
            memory.put_new(&object(part), b"another").unwrap();
            let refused = writer.flush_pending().unwrap_err();
            assert!(matches!(refused, BackupError::ArchiveRemoved { .. }), "{refused}");
            memory.remove(&object(part)).unwrap();
        }
        memory.put_new(&object(part), &kept).unwrap();
    }
    // The objects exist again: the pending object is written, and for a while its predecessors are not checked.
    writer.flush_pending().unwrap();
    memory.remove(&object(Part::Manifest)).unwrap();
    turn(&mut writer, 4, 4, 1).unwrap();
    assert_eq!(numbers(&plan(&memory, 1, 4, 9).unwrap()), [0, 1, 2, 3]);
}
