//! A destination in a store that checks signatures and checksums.

use selenite_backup::{StoreErrorKind, s3::Settings};

use super::real_store::RealStore;
use super::{open, refused, settings};

#[test]
fn objects_are_written_once_read_listed_and_removed() {
    let store = RealStore::start();
    let place = open(&settings(store.port));
    assert_eq!(place.place(), "s3://backups/db");
    assert_eq!(place.list("").unwrap(), []);
    for number in 0..10 {
        place
            .put_new(&format!("id/name/part-{number}"), &vec![number; usize::from(number)])
            .unwrap();
    }
    place.put_new("id/name2/begun", b"22").unwrap();
    let again = refused(place.put_new("id/name/part-3", b"other"));
    assert_eq!(again.kind, StoreErrorKind::Exists);
    assert_eq!(place.get("id/name/part-3", 3).unwrap(), [3; 3]);
    assert_eq!(
        refused(place.get("id/name/part-3", 2)).kind,
        StoreErrorKind::InvalidResponse
    );
    assert_eq!(place.beginning("id/name/part-3", 2).unwrap(), [3; 2]);
    assert_eq!(place.beginning("id/name/part-3", 9).unwrap(), [3; 3]);
    assert_eq!(
        refused(place.beginning("id/name/part-11", 9)).kind,
        StoreErrorKind::Missing
    );
    let missing = refused(place.get("id/name/part-11", 99));
    assert_eq!(
        (missing.kind, missing.name.as_str()),
        (StoreErrorKind::Missing, "s3://backups/db/id/name/part-11")
    );

    let found = place.list("id/name/").unwrap();
    let found: Vec<(&str, u64)> = found.iter().map(|object| (object.name.as_str(), object.size)).collect();
    assert_eq!(found.len(), 10);
    assert_eq!(found[9], ("id/name/part-9", 9));
    assert_eq!(place.list("").unwrap().len(), 11);
    assert_eq!(place.list("nobody/").unwrap(), []);

    place.remove("id/name/part-3").unwrap();
    place.remove("id/name/part-3").unwrap();
    assert_eq!(refused(place.get("id/name/part-3", 9)).kind, StoreErrorKind::Missing);
    place.put_new("id/name/part-3", b"new").unwrap();
    assert_eq!(place.traffic().sent, 45 + 2 + 5 + 3 + 2 * 73);
    assert_eq!(place.traffic().retries, 0);
    assert_eq!(place.traffic().received, 3 + 2 + 3);
    assert!(place.beginning("id/name/part-0", 9).unwrap().is_empty());
}

#[test]
fn an_object_of_sixteen_mebibytes_is_read_back_unchanged() {
    let store = RealStore::start();
    let place = open(&settings(store.port));
    let bytes: Vec<u8> = (0..16_u32 << 20)
        .map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect();
    place.put_new("part", &bytes).unwrap();
    assert_eq!(
        std::fs::read(store.folder.path().join("backups/db/part")).unwrap(),
        bytes
    );
    assert_eq!(place.get("part", bytes.len()).unwrap(), bytes);
}

#[test]
fn a_bucket_may_be_a_destination_as_a_whole() {
    let store = RealStore::start();
    let place = selenite_backup::open_with("s3://backups", &settings(store.port)).unwrap();
    place.put_new("a/b", b"1").unwrap();
    assert_eq!(place.get("a/b", 1).unwrap(), b"1");
    assert_eq!(place.list("").unwrap()[0].name, "a/b");
    assert_eq!(place.list("a/").unwrap()[0].name, "a/b");
    assert_eq!(place.place(), "s3://backups");
}

#[test]
fn another_key_is_refused() {
    let store = RealStore::start();
    open(&settings(store.port)).put_new("a", b"1").unwrap();
    for (name, value) in [("AWS_SECRET_ACCESS_KEY", "hunter2"), ("AWS_ACCESS_KEY_ID", "AKIAOTHER")] {
        let mut settings = settings(store.port);
        settings.environment.insert(name.to_owned(), value.to_owned());
        let place = open(&settings);
        let kinds = [
            refused(place.put_new("b", b"1")).kind,
            refused(place.get("a", 1)).kind,
            refused(place.list("")).kind,
            refused(place.remove("a")).kind,
        ];
        assert_eq!(kinds, [StoreErrorKind::Denied; 4], "{name}");
        assert_eq!(place.traffic().retries, 0);
    }
    assert!(store.folder.path().join("backups/db/a").exists());
    assert!(!store.folder.path().join("backups/db/b").exists());
}

#[test]
fn a_missing_bucket_is_a_usage_error() {
    let store = RealStore::start();
    let place = selenite_backup::open_with("s3://nobodys/db", &settings(store.port)).unwrap();
    assert_eq!(refused(place.list("")).kind, StoreErrorKind::Usage);
}

#[test]
fn keys_are_taken_from_a_profile() {
    let store = RealStore::start();
    let home = tempfile::tempdir().unwrap();
    let credentials = home.path().join("credentials");
    let text = format!(
        "[work]\naws_access_key_id = {}\naws_secret_access_key = {}\nendpoint_url = http://localhost:{}\n",
        super::KEY_ID,
        super::SECRET,
        store.port
    );
    std::fs::write(&credentials, text).unwrap();
    let mut of_profile = Settings::default();
    for (name, value) in [
        ("AWS_PROFILE", "work"),
        ("AWS_SHARED_CREDENTIALS_FILE", credentials.to_str().unwrap()),
    ] {
        of_profile.environment.insert(name.to_owned(), value.to_owned());
    }
    open(&of_profile).put_new("a", b"1").unwrap();
    assert_eq!(open(&settings(store.port)).get("a", 1).unwrap(), b"1");
}
