//! A disk that is full during a re-encryption: the operation continues when there is room.

use selenite::reencrypt::Goal;
use selenite::{Class, EngineError, Watch};
use selenite_testing::Disk;
use selenite_testing::own_process;

use super::{CONVERSIONS, Fixture};

#[test]
fn a_full_disk_is_reported_with_the_command_to_continue() {
    own_process!();
    let fixture = Fixture::new();
    for conversion in &CONVERSIONS {
        let origin = fixture.origin(conversion);
        let mut begun_count = 0;
        for room in (0..40).map(|pages| pages * 1024) {
            let disk = Disk::of_image(&origin);
            let _entered = disk.enter();
            disk.limit(disk.used() + room);
            let done = fixture.reencrypt(conversion.goal, &Watch::none());
            disk.limit(u64::MAX);
            let Err(error) = done else { break };
            let context = format!("{}, {room} bytes: {error:?}", conversion.name);
            assert!(
                matches!(error, EngineError::NoRoom { .. }) && error.class() == Class::Io,
                "{context}"
            );
            let is_begun = error
                .advice()
                .contains("free about 1 MiB there, then continue with: selenite reencrypt");
            assert!(!is_begun || error.advice().contains("--resume"), "{context}");
            begun_count += u32::from(is_begun);
            let goal = if is_begun { Goal::GoOn } else { conversion.goal };
            fixture.reencrypt(goal, &Watch::none()).expect(&context);
            assert_eq!(fixture.is_of_first_epoch(), Ok(false), "{context}");
        }
        // A journal that is kept has the room that it needs.
        assert!(begun_count > 0 || conversion.mode != "wal", "{}", conversion.name);
    }
}
