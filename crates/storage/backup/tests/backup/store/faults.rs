//! Faults on the network, one at a time.

use std::time::Duration;

use selenite_backup::{Destination, StoreErrorKind, Traffic};

use super::faulty_store::{Fault, FaultyStore, Habits};
use super::{open, refused, settings};

const OBJECT: &[u8] = b"sealed bytes";

/// A store that has passed the write-once probe, and a destination on it.
fn ready() -> (FaultyStore, Box<dyn Destination>) {
    let store = FaultyStore::start(Habits::default());
    let place = open(&settings(store.port));
    place.put_new("first", b"").unwrap();
    (store, place)
}

fn traffic(place: &dyn Destination, before: Traffic) -> [u64; 4] {
    let after = place.traffic();
    [
        after.requests - before.requests,
        after.retries - before.retries,
        after.sent - before.sent,
        after.received - before.received,
    ]
}

#[test]
fn a_write_has_a_checksum_and_a_precondition() {
    let (store, place) = ready();
    place.put_new("a/b", OBJECT).unwrap();
    let state = store.state();
    let asked = state.asked.last().unwrap();
    assert_eq!((asked.target.as_str(), asked.size), ("/backups/db/a/b", OBJECT.len()));
    assert_eq!(asked.headers["if-none-match"], "*");
    // printf 'sealed bytes' | sha256sum | xxd -r -p | base64
    assert_eq!(
        asked.headers["x-amz-checksum-sha256"],
        "81z1s2Gw6vewwC51gI4mDj83nEdFq+RVUrp2joVod0k="
    );
    let signed = &asked.headers["authorization"];
    for name in ["host", "if-none-match", "x-amz-checksum-sha256", "x-amz-content-sha256"] {
        assert!(signed.contains(name), "{name}: {signed}");
    }
}

#[test]
fn a_network_failure_is_retried_and_counted() {
    for fault in [
        Fault::Closes,
        Fault::Says(503, "SlowDown"),
        Fault::Says(500, "InternalError"),
        Fault::Says(429, ""),
    ] {
        let (store, place) = ready();
        let before = place.traffic();
        store.fail([fault]);
        place.put_new("a", OBJECT).unwrap();
        assert_eq!(traffic(place.as_ref(), before), [2, 1, 2 * OBJECT.len() as u64, 0]);
        store.fail([Fault::Closes]);
        let before = place.traffic();
        assert_eq!(place.get("a", 99).unwrap(), OBJECT);
        assert_eq!(traffic(place.as_ref(), before), [2, 1, 0, OBJECT.len() as u64]);
        for fault in [Fault::Says(503, ""), Fault::Closes] {
            store.fail([fault]);
            assert_eq!(place.list("").unwrap().len(), 2);
        }
        store.fail([Fault::Closes]);
        place.remove("a").unwrap();
        assert_eq!(refused(place.get("a", 99)).kind, StoreErrorKind::Missing);
    }
}

#[test]
fn a_persistent_failure_is_an_error() {
    let (store, place) = ready();
    let before = place.traffic();
    store.fail((0..3).map(|_| Fault::Says(503, "SlowDown")));
    let error = refused(place.put_new("a", OBJECT));
    assert_eq!((error.kind, error.verb), (StoreErrorKind::Unreachable, "write"));
    assert_eq!(
        error.to_string(),
        "can't write s3://backups/db/a: the store answered 503 SlowDown (As told.)"
    );
    assert_eq!(traffic(place.as_ref(), before)[..2], [3, 2]);
    assert_eq!(store.count("PUT"), 4);
}

#[test]
fn a_refusal_of_the_store_is_not_retried() {
    for (status, code, kind) in [
        (403, "AccessDenied", StoreErrorKind::Denied),
        (403, "SignatureDoesNotMatch", StoreErrorKind::Denied),
        (401, "", StoreErrorKind::Denied),
        (507, "XMinioStorageFull", StoreErrorKind::Full),
        (400, "QuotaExceeded", StoreErrorKind::Full),
        (404, "NoSuchBucket", StoreErrorKind::Usage),
        (301, "PermanentRedirect", StoreErrorKind::Usage),
        (501, "NotImplemented", StoreErrorKind::Other),
    ] {
        let (store, place) = ready();
        let before = place.traffic();
        let four = || (0..4).map(|_| Fault::Says(status, code));
        store.fail(four());
        let kinds = [
            refused(place.put_new("a", OBJECT)).kind,
            refused(place.get("a", 9)).kind,
            refused(place.list("a/")).kind,
            refused(place.remove("a")).kind,
        ];
        assert_eq!(kinds, [kind; 4], "{status} {code}");
        assert_eq!(traffic(place.as_ref(), before)[..2], [4, 0]);
    }
}

#[test]
fn a_write_whose_answer_was_lost_is_found_by_reading_it_back() {
    let (store, place) = ready();
    let before = place.traffic();
    store.fail([Fault::Loses]);
    place.put_new("a", OBJECT).unwrap();
    assert_eq!(store.state().objects["/backups/db/a"], OBJECT);
    // The write, the retry, the reading back.
    assert_eq!(
        traffic(place.as_ref(), before),
        [3, 1, 2 * OBJECT.len() as u64, OBJECT.len() as u64]
    );
}

#[test]
fn a_write_whose_answer_comes_too_late_is_found_by_reading_it_back() {
    let store = FaultyStore::start(Habits::default());
    let mut settings = settings(store.port);
    settings.policy.request = Duration::from_millis(500);
    // On a busy machine other responses may be late as well.
    settings.policy.tries_max = 100;
    let place = open(&settings);
    place.put_new("first", b"").unwrap();
    let before = store.count("GET");
    store.fail([Fault::LosesLate]);
    place.put_new("a", OBJECT).unwrap();
    assert!(store.count("GET") > before);
}

#[test]
fn a_write_that_another_overtook_is_refused() {
    let others = [
        b"other  bytes".to_vec(),
        b"short".to_vec(),
        b"longer than what was sent".to_vec(),
        Vec::new(),
    ];
    for other in others {
        let (store, place) = ready();
        store.fail([Fault::Overtaken(other.clone())]);
        assert_eq!(refused(place.put_new("a", OBJECT)).kind, StoreErrorKind::Exists);
        assert_eq!(store.state().objects["/backups/db/a"], other);
    }
}

#[test]
fn an_existing_object_is_not_read_back_if_no_response_was_lost() {
    let (store, place) = ready();
    place.put_new("a", OBJECT).unwrap();
    assert_eq!(refused(place.put_new("a", OBJECT)).kind, StoreErrorKind::Exists);
    store.fail([Fault::Says(409, "ConditionalRequestConflict")]);
    assert_eq!(refused(place.put_new("a", OBJECT)).kind, StoreErrorKind::Exists);
    assert_eq!(store.count("GET"), 0);
}

#[test]
fn a_lost_write_that_can_not_be_read_back_is_an_error() {
    let (store, place) = ready();
    store.fail([Fault::Loses, Fault::Says(412, ""), Fault::Says(403, "AccessDenied")]);
    let error = refused(place.put_new("a", OBJECT));
    assert_eq!((error.kind, error.verb), (StoreErrorKind::Denied, "write"));
    assert!(error.what.contains("the answer was lost"), "{error}");
}

#[test]
fn a_store_that_does_not_respond_times_out() {
    let store = FaultyStore::start(Habits::default());
    let mut settings = settings(store.port);
    settings.policy.request = Duration::from_millis(100);
    settings.policy.tries_max = 2;
    let place = open(&settings);
    store.fail((0..6).map(|_| Fault::Hangs));
    assert_eq!(refused(place.get("a", 9)).kind, StoreErrorKind::Unreachable);
    assert_eq!(refused(place.list("")).kind, StoreErrorKind::Unreachable);
    let error = refused(place.remove("a"));
    assert_eq!(
        (error.kind, error.what.as_str()),
        (StoreErrorKind::Unreachable, "timed out")
    );
    assert_eq!(place.traffic().requests, 6);
}

#[test]
fn attempts_end_after_the_total_time_limit() {
    let store = FaultyStore::start(Habits::default());
    let mut settings = settings(store.port);
    settings.policy.tries_max = u32::MAX;
    settings.policy.total = Duration::ZERO;
    let place = open(&settings);
    store.fail([Fault::Says(503, "")]);
    assert_eq!(refused(place.get("a", 9)).kind, StoreErrorKind::Unreachable);
    assert_eq!(place.traffic().requests, 1);
}

#[test]
fn a_refused_connection_is_unreachable_and_sends_nothing() {
    // TCPMUX, which is no longer in use: a free port could be taken by another test or program a moment later.
    let place = open(&settings(1));
    let error = refused(place.put_new("a", OBJECT));
    assert_eq!(error.kind, StoreErrorKind::Unreachable);
    assert!(error.what.starts_with("cannot connect: "), "{error}");
    let none = Traffic {
        requests: 3,
        retries: 2,
        ..Traffic::default()
    };
    assert_eq!(place.traffic(), none);
}

#[test]
fn a_truncated_response_is_retried_and_then_an_error() {
    let (store, place) = ready();
    place.put_new("a", OBJECT).unwrap();
    for missing in [1, OBJECT.len()] {
        store.fail((0..3).map(|_| Fault::Short(missing)));
        let error = refused(place.get("a", 99));
        assert_eq!(error.kind, StoreErrorKind::InvalidResponse);
        assert_eq!(error.what, "the answer was cut off");
        store.fail([Fault::Short(missing)]);
        assert_eq!(place.get("a", 99).unwrap(), OBJECT);
    }
    // A truncated list is an error.
    store.fail((0..3).map(|_| Fault::Short(30)));
    assert_eq!(refused(place.list("")).kind, StoreErrorKind::InvalidResponse);
    assert!(store.state().faults.is_empty());
}

#[test]
fn an_object_above_the_limit_is_refused_before_it_is_read() {
    let (store, place) = ready();
    place.put_new("a", &[7; 1 << 20]).unwrap();
    let before = place.traffic();
    assert_eq!(
        refused(place.get("a", (1 << 20) - 1)).kind,
        StoreErrorKind::InvalidResponse
    );
    assert_eq!(traffic(place.as_ref(), before), [1, 0, 0, 0]);
    assert_eq!(place.get("a", 1 << 20).unwrap(), [7; 1 << 20]);
    // A response without a length is an error, too.
    store.fail([Fault::Chunked]);
    assert_eq!(refused(place.get("a", 9)).kind, StoreErrorKind::InvalidResponse);
}

#[test]
fn a_store_that_reports_another_checksum_is_an_error() {
    let (store, place) = ready();
    store.fail([Fault::Header(
        "x-amz-checksum-sha256",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    )]);
    assert_eq!(
        refused(place.put_new("a", OBJECT)).kind,
        StoreErrorKind::InvalidResponse
    );
    store.fail([Fault::Header(
        "x-amz-checksum-sha256",
        "81z1s2Gw6vewwC51gI4mDj83nEdFq+RVUrp2joVod0k=",
    )]);
    place.put_new("b", OBJECT).unwrap();
    // An ETag is no checksum: with encryption by the store it is that of other bytes, and here it is always wrong.
    place.put_new("c", OBJECT).unwrap();
    // An object that arrived altered is sent again.
    store.fail([Fault::Says(400, "BadDigest")]);
    place.put_new("d", OBJECT).unwrap();
}

#[test]
fn a_success_status_of_another_server_is_an_error() {
    let (store, place) = ready();
    store.fail((0..2).map(|_| Fault::Stranger));
    assert_eq!(
        refused(place.put_new("a", OBJECT)).kind,
        StoreErrorKind::InvalidResponse
    );
    assert_eq!(refused(place.list("")).kind, StoreErrorKind::InvalidResponse);
}

#[test]
fn a_redirection_is_not_followed() {
    let elsewhere = FaultyStore::start(Habits::default());
    let (store, place) = ready();
    let to = format!("http://127.0.0.1:{}/x", elsewhere.port);
    store.fail((0..2).map(|_| Fault::Redirects(to.clone())));
    assert_eq!(refused(place.put_new("a", OBJECT)).kind, StoreErrorKind::Usage);
    assert_eq!(refused(place.get("a", 9)).kind, StoreErrorKind::Usage);
    assert_eq!(elsewhere.state().asked.len(), 0);
}

#[test]
fn a_store_that_overwrites_objects_is_detected_before_the_first_write() {
    let store = FaultyStore::start(Habits {
        writes_over: true,
        ..Habits::default()
    });
    let place = open(&settings(store.port));
    for _ in 0..2 {
        let error = refused(place.put_new("a", OBJECT));
        assert_eq!(error.kind, StoreErrorKind::InvalidResponse);
        assert!(error.what.contains("If-None-Match"), "{error}");
    }
    let state = store.state();
    assert_eq!(state.objects.keys().collect::<Vec<_>>(), ["/backups/db/.writes-once"]);
}

#[test]
fn the_write_once_probe_runs_once_and_is_not_listed() {
    let store = FaultyStore::start(Habits::default());
    let asked = || store.state().asked.len();
    let place = open(&settings(store.port));
    assert_eq!(place.list("").unwrap(), []);
    assert_eq!(asked(), 1);
    place.put_new("a", OBJECT).unwrap();
    assert_eq!(asked(), 4);
    place.put_new("b", OBJECT).unwrap();
    assert_eq!(asked(), 5);
    // Another process finds the object of the first, and sends one request.
    let another = open(&settings(store.port));
    another.put_new("c", OBJECT).unwrap();
    assert_eq!(asked(), 7);
    let names: Vec<String> = another
        .list("")
        .unwrap()
        .into_iter()
        .map(|object| object.name)
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
}

#[test]
fn lists_are_read_page_by_page_to_their_end() {
    let store = FaultyStore::start(Habits {
        page_size: 3,
        ..Habits::default()
    });
    let place = open(&settings(store.port));
    for number in 0..10 {
        place.put_new(&format!("a/{number}"), &[0; 7][..number % 7]).unwrap();
    }
    place.put_new("b/x", b"").unwrap();
    let before = place.traffic();
    store.fail([Fault::Says(503, ""), Fault::Closes]);
    let found = place.list("a/").unwrap();
    assert_eq!(traffic(place.as_ref(), before)[..2], [6, 2]);
    assert_eq!(found.len(), 10);
    assert_eq!(
        (found[9].name.as_str(), found[9].size, found[9].modified),
        ("a/9", 2, 1_795_309_200)
    );
    assert_eq!(place.list("c/").unwrap(), []);
    assert_eq!(place.list("").unwrap().len(), 11);
}

#[test]
fn an_endless_list_or_one_with_foreign_names_is_an_error() {
    let circles = FaultyStore::start(Habits {
        page_size: 1,
        lists_in_circles: true,
        ..Habits::default()
    });
    let place = open(&settings(circles.port));
    place.put_new("a", b"").unwrap();
    let error = refused(place.list(""));
    assert_eq!(
        (error.kind, error.what.as_str()),
        (StoreErrorKind::InvalidResponse, "its list does not end")
    );
    let without_token = FaultyStore::start(Habits {
        lists_without_token: true,
        ..Habits::default()
    });
    assert_eq!(
        refused(open(&settings(without_token.port)).list("")).kind,
        StoreErrorKind::InvalidResponse
    );
    for strange in ["other/x", "db", "dbx"] {
        let store = FaultyStore::start(Habits {
            lists_strange: Some(strange),
            ..Habits::default()
        });
        let place = open(&settings(store.port));
        // The marker of a folder is harmless.
        match strange {
            "db" => assert_eq!(place.list("").unwrap(), []),
            _ => assert_eq!(refused(place.list("")).kind, StoreErrorKind::InvalidResponse),
        }
    }
}

#[test]
fn invalid_object_names_are_not_requested() {
    let (store, place) = ready();
    let before = store.state().asked.len();
    for name in ["", "a//b", "../x", "a/./b", "/a", "a/"] {
        assert_eq!(refused(place.get(name, 9)).kind, StoreErrorKind::Usage, "{name}");
        assert_eq!(refused(place.put_new(name, b"")).kind, StoreErrorKind::Usage, "{name}");
        assert_eq!(refused(place.remove(name)).kind, StoreErrorKind::Usage, "{name}");
    }
    assert_eq!(store.state().asked.len(), before);
}
