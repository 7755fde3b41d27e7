//! Other connections write with `synchronous = OFF`: a crash may then lose their commits, but the
//! superblock's statements about keys hold.

use std::path::Path;
use std::sync::Arc;

use selenite::State;
use selenite_testing::crash_point::Density;
use selenite_testing::own_process;
use selenite_testing::{Disk, Scenario, run};

use super::sim_storage::SimStorage;
use super::{CONVERSIONS, Fixture, PAGE_SIZE, PATH, PREFIX_SIZE, play};

/// No page is under a key that was dropped, and none up to the cursor under the old one (FORMAT 3.11).
fn check(fixture: &Fixture) -> Result<(), String> {
    let status = selenite::status(&SimStorage::of_thread(), Path::new(PATH), &fixture.access());
    let sealed = status.map_err(|error| error.to_string())?.sealed;
    let sealed = sealed.ok_or("not encrypted")?;
    let is_dropped = sealed.epochs.iter().all(|epoch| epoch.epoch != 1);
    let done = match (is_dropped, sealed.state) {
        (true, _) => sealed.page_count,
        (false, State::Steady) => 0,
        (false, _) => sealed.cursor,
    };
    let disk = Disk::of_thread().map_err(|code| code.to_string())?;
    let bytes = disk.bytes(PATH).ok_or("no database")?;
    for page in 1..=usize::try_from(done).map_err(|error| error.to_string())? {
        let trailer = PREFIX_SIZE + page * PAGE_SIZE - 48;
        if bytes.get(trailer..trailer + 4) == Some(&[0, 0, 0, 1]) {
            return Err(format!(
                "page {page} is old, of {done} that are done; dropped: {is_dropped}"
            ));
        }
    }
    Ok(())
}

#[test]
fn a_crash_leaves_no_page_under_a_dropped_key_where_others_sync_nothing() {
    own_process!();
    for conversion in &CONVERSIONS {
        let fixture = Arc::new(Fixture {
            synchronous: "off",
            ..Fixture::new()
        });
        let check = |_| check(&fixture);
        let name = format!("{}, nothing synced", conversion.name);
        let scenario = Scenario::new(&name, &check)
            .from(fixture.origin(conversion))
            .with_density(Density::DENSE)
            .with_points(5000);
        let summary = run(&scenario, |_| {
            play(&fixture, conversion);
            Ok(())
        });
        summary.assert_sound(500);
    }
}
