//! An older state that is accepted (`--accept-older`), and the newer one that is given up with it.

use selenite::keys;
use selenite::reencrypt::{Goal, Reencrypt, reencrypt};

use super::*;

impl Anchored {
    fn re_encrypt(&self, goal: Goal, watch: &Watch) -> Result<(), EngineError> {
        let how = Reencrypt {
            goal,
            ..Reencrypt::default()
        };
        reencrypt(&Disk, &self.path, &self.fixture.access(), &how, watch).map(drop)
    }

    fn change(&self, a: u32) {
        let sql = format!("UPDATE t SET b = randomblob(2500) WHERE a = {a}");
        self.connect(&self.path).unwrap().execute_batch(&sql).unwrap();
    }
}

#[test]
fn a_restored_database_is_gone_on_with_when_that_is_said() {
    let anchored = Anchored::new();
    let old = anchored.copy("old");
    let connection = anchored.connect(&anchored.path).unwrap();
    connection.execute("UPDATE t SET b = 1", []).unwrap();
    assert_eq!(anchored.follow(false).unwrap(), 1);
    drop(connection);
    anchored.put_back(&old);
    let refused = anchored.follow(false).unwrap_err();
    assert!(matches!(refused, EngineError::Anchor { .. }), "{refused}");
    assert_eq!(
        (refused.class(), code(&anchored.open(&anchored.path, ""))),
        (Class::Data, VNODE)
    );
    assert_eq!(anchored.follow(true).unwrap(), 1);
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    assert_eq!(anchored.follow(false).unwrap(), 1);
}

#[test]
fn a_state_that_was_given_up_is_refused_although_it_was_re_encrypted() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let old = anchored.copy("old");
    anchored.re_encrypt(Goal::NewKey, &Watch::none()).unwrap();
    anchored.follow(false).unwrap();
    let given_up = anchored.copy("given-up");
    anchored.put_back(&old);
    assert_eq!(code(&anchored.open(&anchored.path, "")), VNODE);
    anchored.follow(true).unwrap();
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    assert_eq!(code(&anchored.open(&given_up, "")), VNODE);

    // It is re-encrypted itself: epochs of the same number, and in between pages of both.
    let stopped = Watch::new(Arc::new(Stop(AtomicBool::new(true))));
    anchored.re_encrypt(Goal::NewKey, &stopped).unwrap_err();
    for goal in [None, Some(Goal::GoOn)] {
        if let Some(goal) = goal {
            anchored.re_encrypt(goal, &Watch::none()).unwrap();
        }
        anchored.follow(false).unwrap();
        assert_eq!(code(&anchored.open(&anchored.path, "")), 0, "{goal:?}");
        assert_eq!(code(&anchored.open(&given_up, "")), VNODE, "{goal:?}");
    }
    anchored
        .connect(&anchored.path)
        .unwrap()
        .execute_batch("PRAGMA wal_checkpoint = TRUNCATE")
        .unwrap();
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
}

/// Its last commit wrote a page that the newest commits of the older state did not.
#[test]
fn a_state_that_was_given_up_is_refused_whatever_page_it_had_changed() {
    let anchored = Anchored::new();
    let rows = "WITH RECURSIVE n(i) AS (SELECT 41 UNION ALL SELECT i + 1 FROM n WHERE i < 600)
        INSERT INTO t SELECT i, randomblob(2500) FROM n; UPDATE t SET b = 1 WHERE a > 300";
    anchored.connect(&anchored.path).unwrap().execute_batch(rows).unwrap();
    anchored.follow(false).unwrap();
    let old = anchored.copy("old");
    let change = "UPDATE t SET b = randomblob(2500) WHERE a = 200";
    anchored.connect(&anchored.path).unwrap().execute_batch(change).unwrap();
    anchored.follow(false).unwrap();
    let given_up = anchored.copy("given-up");
    anchored.put_back(&old);
    anchored.follow(true).unwrap();
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    assert_eq!(code(&anchored.open(&given_up, "")), VNODE);
}

#[test]
fn the_superblock_of_a_state_that_was_given_up_is_refused_before_the_pages_of_the_accepted_one() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let old = anchored.copy("old");
    let (access, spec) = (anchored.fixture.access(), anchored.fixture.spec("other-key"));
    keys::add(&Disk, &anchored.path, &access, &spec, "").unwrap();
    anchored.follow(false).unwrap();
    let given_up = fs::read(anchored.copy("given-up")).unwrap();
    anchored.put_back(&old);
    anchored.follow(true).unwrap();
    anchored.change(5);
    anchored.follow(false).unwrap();
    assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
    let mixed = anchored.copy("mixed");
    let mut bytes = fs::read(&mixed).unwrap();
    bytes[..PREFIX].copy_from_slice(&given_up[..PREFIX]);
    fs::write(&mixed, bytes).unwrap();
    assert_eq!(code(&anchored.open(&mixed, "")), VNODE);
}

#[test]
fn a_state_from_before_the_master_key_was_renewed_keeps_the_sessions_of_its_own_anchors() {
    // Its superblock is changed, or not, until its generation is above that of the renewed one.
    for repairs in [0, 3] {
        accept_before_renewal(repairs);
    }
}

fn accept_before_renewal(repairs: usize) {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let oldest = anchored.copy("oldest");
    anchored.change(7);
    anchored.follow(false).unwrap();
    let accepted = anchored.copy("accepted");
    anchored.change(9);
    anchored.follow(false).unwrap();
    let given_up = anchored.copy("given-up");
    let mut renewed = 0;
    anchored
        .follow_with(&mut |_| {
            if renewed == 0 {
                let (access, spec) = (anchored.fixture.access(), anchored.fixture.spec("key"));
                keys::renew(&Disk, &anchored.path, &access, &[spec], false).unwrap();
            }
            renewed += 1;
            renewed == 3
        })
        .unwrap();
    let renewed = anchored.copy("renewed");
    anchored.put_back(&accepted);
    assert_eq!(code(&anchored.open(&anchored.path, "")), VNODE);
    for _ in 0..repairs {
        keys::repair(&Disk, &anchored.path, &anchored.fixture.access()).unwrap();
    }
    anchored.follow(true).unwrap();
    for _ in 0..2 {
        assert_eq!(code(&anchored.open(&anchored.path, "")), 0);
        for (name, path) in [("oldest", &oldest), ("given up", &given_up), ("renewed", &renewed)] {
            assert_ne!(code(&anchored.open(path, "")), 0, "{name}");
        }
        anchored.change(11);
        anchored.follow(false).unwrap();
    }
}

#[test]
fn a_state_in_the_middle_of_a_re_encryption_is_not_accepted() {
    let anchored = Anchored::new();
    anchored.follow(false).unwrap();
    let stopped = Watch::new(Arc::new(Stop(AtomicBool::new(true))));
    anchored.re_encrypt(Goal::NewKey, &stopped).unwrap_err();
    let refused = anchored.follow(true).unwrap_err();
    assert!(matches!(refused, EngineError::Usage { .. }), "{refused}");
    anchored.re_encrypt(Goal::GoOn, &Watch::none()).unwrap();
    anchored.follow(true).unwrap();
}

/// The superblocks (FORMAT 2.1).
const PREFIX: usize = 65_536;
