//! Pages counted by the epoch in their trailer.

use std::collections::BTreeMap;

use selenite::storage::Disk;
use selenite::{Class, Encrypt, Watch, count_epochs, encrypt};

use crate::support::Fixture;

#[test]
fn pages_are_counted_by_the_epoch_in_their_trailers() {
    let fixture = Fixture::new();
    let sql = "PRAGMA page_size = 1024; CREATE TABLE note (a);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO note SELECT hex(randomblob(200)) FROM n;";
    let path = fixture.plain("app.db", sql);
    let clear = count_epochs(&Disk, &path, &Watch::none()).unwrap_err();
    assert_eq!(clear.class(), Class::NotEncrypted);
    encrypt(&Disk, &path, &fixture.access(), &Encrypt::default(), &Watch::none()).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let page_count = u64::try_from((bytes.len() - 65536) / 1024).unwrap();
    assert!(page_count > 1100, "more than is read at once");
    let count = || count_epochs(&Disk, &path, &Watch::none()).unwrap();
    assert_eq!(
        (count().pages, count().blank_count),
        (BTreeMap::from([(1, page_count)]), 0)
    );
    // Three pages of another epoch, a hole, and a truncated page.
    for page in [1, 1025, 1100] {
        bytes[65536 + page * 1024 - 45] = 2;
    }
    bytes[65536 + 1024..65536 + 2048].fill(0);
    bytes.truncate(bytes.len() - 500);
    std::fs::write(&path, bytes).unwrap();
    let counts = count();
    assert_eq!(counts.pages, BTreeMap::from([(1, page_count - 5), (2, 3)]));
    assert_eq!(counts.blank_count, 2);
}
