use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::ffi::ShmMemory;
use crate::index_header::{CHECKSUM, FRAME_MAX, SALTS, VERSION, WORD_COUNT, checksum};

type Header = [u32; WORD_COUNT];

/// The size of a WAL index's first region; under Miri only of its header.
const REGION_SIZE: usize = if cfg!(miri) { 256 } else { 32768 };

/// A header as SQLite leaves it, of a log with `frame_max` frames.
fn header(frame_max: u32, salt: u32) -> Header {
    let mut words = [0; WORD_COUNT];
    words[0] = VERSION;
    words[2] = frame_max;
    words[3] = u32::from_ne_bytes([1, 0, 0, 4]);
    words[FRAME_MAX] = frame_max;
    words[5] = 100;
    words[SALTS] = salt;
    words[SALTS + 1] = salt ^ 0x5555;
    let sums = checksum(&words[..CHECKSUM]);
    words[CHECKSUM..].copy_from_slice(&sums);
    words
}

fn write_copy(memory: &ShmMemory, copy: usize, header: &Header) {
    for (index, word) in header.iter().enumerate() {
        memory.set_word(copy * WORD_COUNT + index, *word);
    }
}

/// An index of a log of which `backfilled` frames are in the database.
fn index(header: &Header, backfilled: u32, attempted: u32) -> ShmMemory {
    let memory = ShmMemory::new(REGION_SIZE);
    write_copy(&memory, 0, header);
    write_copy(&memory, 1, header);
    memory.set_word(BACKFILLED, backfilled);
    memory.set_word(ATTEMPTED, attempted);
    memory
}

fn label(memory: &ShmMemory) -> Option<Label> {
    Label::of_log(1, &memory.region())
}

#[test]
fn a_whole_index_has_a_label_that_its_salts_and_numbers_tell_from_others() {
    let known = label(&index(&header(10, 7), 3, 5));
    assert!(known.is_some());
    assert_eq!(label(&index(&header(10, 7), 3, 5)), known);
    // A commit does not change the database file.
    assert_eq!(label(&index(&header(11, 7), 3, 5)), known);
    for other in [
        index(&header(10, 8), 3, 5),
        index(&header(10, 7), 4, 5),
        index(&header(10, 7), 3, 6),
    ] {
        assert!(label(&other).is_some_and(|other| Some(other) != known));
    }
    assert_ne!(
        Label::of_log(2, &index(&header(10, 7), 3, 5).region()),
        known,
        "other keys"
    );
}

/// A writer is in the middle of `walIndexWriteHdr`: the copies differ in any one word, or one has a word of neither.
#[test]
fn an_index_with_a_torn_header_has_no_label() {
    for word in 0..WORD_COUNT {
        for copies in [&[0][..], &[1], &[0, 1]] {
            let memory = index(&header(10, 7), 3, 5);
            for copy in copies {
                let at = copy * WORD_COUNT + word;
                let found = memory.region().word(at).unwrap();
                memory.set_word(at, found ^ 0x0100);
            }
            assert_eq!(label(&memory), None, "word {word} of copies {copies:?}");
        }
    }
    for first_words in 1..WORD_COUNT {
        let (old, new) = (header(10, 7), header(12, 8));
        // In SQLite's order: the second copy first, then the first.
        for (torn, whole) in [(1, &old), (0, &new)] {
            let memory = index(whole, 0, 0);
            let (before, after) = (&old, &new);
            let mut words = *before;
            words[..first_words].copy_from_slice(&after[..first_words]);
            write_copy(&memory, torn, &words);
            let differs = words != *whole;
            assert_eq!(label(&memory).is_none(), differs, "{first_words} words of copy {torn}");
        }
    }
}

#[test]
fn an_index_that_is_not_ready_or_of_another_version_has_no_label() {
    let mut words = header(10, 7);
    words[3] = 0;
    let sums = checksum(&words[..CHECKSUM]);
    words[CHECKSUM..].copy_from_slice(&sums);
    assert_eq!(label(&index(&words, 3, 5)), None);
    let mut words = header(10, 7);
    words[0] = VERSION + 1;
    let sums = checksum(&words[..CHECKSUM]);
    words[CHECKSUM..].copy_from_slice(&sums);
    assert_eq!(label(&index(&words, 3, 5)), None);
    assert_eq!(label(&ShmMemory::new(REGION_SIZE)), None, "zeros");
    assert_eq!(label(&ShmMemory::new(64)), None, "a region that is too short");
}

/// `walRestartHdr` sets the header first, and nBackfillAttempted after.
#[test]
fn the_index_of_a_restarting_log_has_no_label() {
    assert_eq!(label(&index(&header(0, 8), 0, 5)), None);
    assert_eq!(label(&index(&header(4, 8), 0, 5)), None);
    assert_eq!(label(&index(&header(4, 8), 5, 0)), None);
    assert!(label(&index(&header(5, 8), 5, 5)).is_some());
    assert!(label(&index(&header(0, 8), 0, 0)).is_some());
}

/// Under Miri each step takes a thousand times as long.
const LABEL_COUNT: u32 = if cfg!(miri) { 50 } else { 300_000 };

/// A writer changes the index continuously, word by word; each label read must be one that was
/// valid at some time.
#[test]
fn an_index_that_changes_between_the_reads_has_no_label_or_a_valid_one() {
    let (one, other) = ((header(10, 7), 3), (header(20, 9), 15));
    let memory = index(&one.0, one.1, one.1);
    let allowed = [&one, &other].map(|(header, copied)| label(&index(header, *copied, *copied)));
    let stop = AtomicBool::new(false);
    let (mut found, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                for (header, copied) in [&other, &one] {
                    // A log that restarts, but with both numbers set: they are 0 in between.
                    memory.set_word(BACKFILLED, 0);
                    write_copy(&memory, 1, header);
                    write_copy(&memory, 0, header);
                    memory.set_word(ATTEMPTED, *copied);
                    memory.set_word(BACKFILLED, *copied);
                }
            }
        });
        for _ in 0..LABEL_COUNT {
            match label(&memory) {
                None => refused += 1,
                Some(Label::Log { words, .. }) => {
                    // The numbers are written separately: the salts are always those of one header.
                    assert_eq!(words[1], words[0] ^ 0x5555, "{words:?}");
                    let is_between = words[2] == 0 || words[3] != words[2];
                    let is_known = allowed.contains(&Some(Label::Log {
                        superblock_generation: 1,
                        words,
                    }));
                    assert!(is_known || is_between, "{words:?}");
                    found += 1;
                }
                Some(Label::Trailer { .. }) => panic!("a label of another mode"),
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    println!("{found} labels, {refused} times none");
    assert!(found + refused == LABEL_COUNT && label(&memory).is_some());
}
