//! While others write, nothing authentic is reported as bad, neither at the end of a log nor at
//! the end of the file.

use std::time::Duration;

use selenite::storage::Disk;
use selenite::verify::{Verify, physical, verify};
use selenite::{Access, Watch};

use crate::other_process::Writer;
use crate::salvage::{LAYOUT, NOTES, sealed};
use crate::support::Fixture;

fn verify_while_others_write(mode: &str) {
    let fixture = Fixture::new();
    let sql = format!("PRAGMA journal_mode = {mode}; {NOTES}");
    let path = sealed(&fixture, "app.db", &LAYOUT, &sql);
    let access = Access {
        busy_wait: Duration::from_secs(60),
        ..fixture.access()
    };
    let mut writer = Writer::start(&fixture, &path);
    writer.begin_to_write_on();
    for count in 0..120 {
        let report = physical(&Disk, &path, &access, &Watch::none()).unwrap();
        assert!(report.is_good(), "{mode} {count}: {report:?}");
        if count % 40 == 0 {
            let report = verify(&Disk, &path, &access, &Verify::default(), &Watch::none()).unwrap();
            assert!(report.physical.is_good(), "{mode} {count}: {report:?}");
            assert_eq!(report.faults, Some(Vec::new()), "{mode} {count}");
        }
    }
    let write_count = writer.end();
    println!("{mode}: others wrote {write_count} times meanwhile");
    assert!(write_count > 0);
}

#[test]
fn a_database_with_a_log_that_others_write_to_is_good() {
    verify_while_others_write("WAL");
}

#[test]
fn a_database_with_a_journal_that_others_write_to_is_good() {
    verify_while_others_write("DELETE");
}
