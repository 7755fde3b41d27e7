//! A power failure at any step of an offline copy leaves the database unchanged, or the complete
//! new one; and the next run, which takes over the rest of the draft, finishes the copy.

use selenite::offline::{Offline, offline};
use selenite::storage::Disk;
use selenite::{Class, EngineError, Layout, PageSize, Suite, Watch};

use crate::offline::{DUMP, check, made};
use crate::power::Power;
use crate::support::{Fixture, query};

const SEED: u64 = 0x5eed_0021;

fn fail_everywhere(mode: &str, seed: u64) {
    println!("{mode}, seed {seed:#x}");
    let mut state = seed;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let layout = Layout {
        page_size: PageSize::try_from(1024).unwrap(),
        ..Layout::default()
    };
    let how = Offline {
        suite: Some(Suite::Aes128),
        noted_every: 2 << 20,
    };
    let mut taken_over = 0;
    for fails_at in 0.. {
        let fixture = Fixture::new();
        let access = fixture.access();
        let path = made(&fixture, &layout, mode, 5000);
        let rows = query(&path, &access, DUMP).unwrap();
        let power = Power::failing_at(fails_at);
        let ended = offline(&power, &path, &access, &how, &Watch::none());
        power.lose(&mut random);
        check(&path, &access, &rows);
        // A draft whose page bodies were lost although their trailers are on disk would be found
        // here.
        let again = match offline(&Disk, &path, &access, &how, &Watch::none()) {
            Err(EngineError::CopyDiffers { .. }) => panic!("step {fails_at}: what was noted was not on disk"),
            again => again.unwrap(),
        };
        taken_over += again.taken_over;
        check(&path, &access, &rows);
        assert_eq!(fixture.names(), ["app.db"], "step {fails_at}");
        if ended.is_ok() && power.step_count() < fails_at {
            println!("{fails_at} steps, {taken_over} bytes taken over");
            assert!(fails_at > 15 && taken_over > 0);
            return;
        }
    }
}

#[test]
fn a_power_failure_at_any_step_leaves_one_whole_database() {
    fail_everywhere("DELETE", SEED);
}

#[test]
fn a_power_failure_at_any_step_in_wal_mode_leaves_one_whole_database() {
    fail_everywhere("WAL", SEED + 1);
}

#[test]
fn a_full_disk_leaves_the_database_unchanged_and_no_other_file() {
    for mode in ["DELETE", "WAL"] {
        // The superblocks, the pages, and the file of done runs.
        for write_count in 0..6 {
            let fixture = Fixture::new();
            let path = made(&fixture, &Layout::default(), mode, 5000);
            let before = std::fs::read(&path).unwrap();
            let how = Offline {
                noted_every: 1,
                ..Offline::default()
            };
            let full = offline(
                &Power::full_after(write_count),
                &path,
                &fixture.access(),
                &how,
                &Watch::none(),
            );
            let Err(error @ EngineError::NoRoom { needed, .. }) = full else {
                panic!("{full:?}")
            };
            assert_eq!((needed, error.class()), (before.len().try_into().unwrap(), Class::Io));
            assert!(
                error.advice().contains("MiB there, then run the same command again"),
                "{}",
                error.advice()
            );
            assert_eq!(std::fs::read(&path).unwrap(), before);
            assert_eq!(fixture.names(), ["app.db"]);
        }
    }
}
