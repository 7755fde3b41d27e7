use std::sync::Barrier;
use std::time::{Duration, Instant};

use selenite::Access;
use tempfile::TempDir;

use super::*;
use crate::audit::AuditLog;
use crate::descriptors::Descriptors;
use crate::master::Master;
use crate::password::PasswordCost;
use crate::transport::TlsSetup;
use crate::{Config, DataFolder};

/// The server of a folder, without its listener: started, or started again.
fn instance(place: &TempDir) -> Instance {
    selenite::install().unwrap();
    let key = place.path().join("key");
    std::fs::write(&key, [7; 32]).unwrap();
    let mut config = Config::new(place.path().join("data"));
    config.password_cost = PasswordCost::LEAST;
    config.access = Access {
        identity: Some(format!("raw:{}", key.display()).parse().unwrap()),
        ..Access::default()
    };
    let folder = DataFolder::take(&config.data).unwrap();
    let master = if Master::is_there(folder.path()) {
        Master::open(folder.path(), &config.access).unwrap().unwrap()
    } else {
        let hash = PasswordHash::new("right", PasswordCost::LEAST).unwrap();
        Master::create(folder.path(), &config.access, &hash, || Ok(())).unwrap()
    };
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let key = rustls::pki_types::PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let tls = TlsSetup::new(&[made.cert.der().clone()], &key.into()).unwrap();
    let descriptors = Descriptors::provide(&mut config.limits).unwrap().0;
    let audit = AuditLog::open(&config.audit, folder.path(), &config.log).unwrap();
    Instance::new(config, folder, master, tls, (descriptors, audit)).unwrap()
}

fn try_in(instance: &Instance, password: &str, address: &str) -> Result<(), Refusal> {
    let applicant = Applicant {
        name: "sa",
        password,
        new_password: None,
        address: address.parse().unwrap(),
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let (outcome, afterwards) = authenticate(instance, &applicant);
    afterwards.write(instance);
    outcome.map(drop)
}

#[test]
fn a_lock_by_strangers_is_kept_when_the_server_starts_again_and_keeps_nobody_out_here() {
    let place = tempfile::tempdir().unwrap();
    let (stranger, owner) = ("192.0.2.1", "198.51.100.1");
    let first = instance(&place);
    assert!(try_in(&first, "right", owner).is_ok());
    for _ in 0..5 {
        assert!(matches!(try_in(&first, "wrong", stranger), Err(Refusal::WrongPassword)));
    }
    assert!(matches!(try_in(&first, "right", stranger), Err(Refusal::Locked)));
    assert!(try_in(&first, "right", owner).is_ok());
    let kept = first.master().login("sa").unwrap().unwrap().attempts;
    assert_eq!(kept.failure_count, 5);
    assert_eq!(kept.locked_until, kept.failure_last + 60);
    drop(first);

    let second = instance(&place);
    assert!(matches!(try_in(&second, "right", stranger), Err(Refusal::Locked)));
    assert!(try_in(&second, "right", "127.0.0.1").is_ok());
    second.unlock(&second.master().login("sa").unwrap().unwrap()).unwrap();
    assert!(try_in(&second, "right", stranger).is_ok());
    let kept = second.master().login("sa").unwrap().unwrap().attempts;
    assert_eq!(kept.failure_count, 0);
}

#[test]
fn a_login_that_comes_in_clears_what_was_kept_of_it() {
    let place = tempfile::tempdir().unwrap();
    let instance = instance(&place);
    assert!(try_in(&instance, "wrong", "192.0.2.1").is_err());
    assert_eq!(
        instance.master().login("sa").unwrap().unwrap().attempts.failure_count,
        1
    );
    assert!(try_in(&instance, "right", "192.0.2.1").is_ok());
    assert_eq!(
        instance.master().login("sa").unwrap().unwrap().attempts.failure_count,
        0
    );
}

#[test]
fn a_login_that_finds_no_time_to_be_checked_is_refused_as_any_other() {
    let place = tempfile::tempdir().unwrap();
    let instance = instance(&place);
    let limit = instance.config().limits.password_check_max;
    let now = Instant::now();
    let places: Vec<_> = (0..limit)
        .map(|_| instance.password_gate().enter(now).unwrap())
        .collect();
    for name in ["sa", "nobody"] {
        let applicant = Applicant {
            name,
            password: "right",
            new_password: None,
            address: [127, 0, 0, 1].into(),
            deadline: now,
        };
        let (outcome, _) = authenticate(&instance, &applicant);
        let refusal = outcome.unwrap_err();
        assert_eq!(refusal.notices(name)[0].number, 18456);
        assert_eq!(refusal.to_string(), "too many passwords are being checked");
    }
    drop(places);
    assert!(try_in(&instance, "right", "127.0.0.1").is_ok());
}

fn attempt(instance: &Instance, name: &str, password: &str, address: &str) -> Result<(), Refusal> {
    let applicant = Applicant {
        name,
        password,
        new_password: None,
        address: address.parse().unwrap(),
        deadline: Instant::now() + Duration::from_secs(60),
    };
    let (outcome, afterwards) = authenticate(instance, &applicant);
    afterwards.write(instance);
    outcome.map(drop)
}

/// The error numbers that a client is sent.
fn numbers(refused: Result<(), Refusal>) -> Vec<i32> {
    let notices = refused.unwrap_err().notices("x").into_iter();
    notices.map(|notice| notice.number).collect()
}

#[test]
fn two_hundred_simultaneous_passwords_are_tried_five_times() {
    let place = tempfile::tempdir().unwrap();
    let instance = instance(&place);
    let barrier = Barrier::new(THREADS);
    for (name, network) in [("sa", "192.0.2"), ("nobody", "198.51.100")] {
        let told: Vec<Vec<i32>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|number| {
                    let (instance, barrier) = (&instance, &barrier);
                    scope.spawn(move || {
                        // From four addresses: one would have no attempts left.
                        let address = format!("{network}.{}", number % 4);
                        barrier.wait();
                        numbers(attempt(instance, name, &format!("wrong-{number}"), &address))
                    })
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let tried = told.iter().filter(|numbers| **numbers == [18456]).count();
        let locked = told.iter().filter(|numbers| **numbers == [18486]).count();
        assert_eq!((tried, locked), (5, THREADS - 5), "{name}");
    }
}

/// Each of them costs a hash.
#[test]
fn attempts_on_a_locked_login_count_for_their_address() {
    let place = tempfile::tempdir().unwrap();
    let instance = instance(&place);
    let refused = |name: &str| attempt(&instance, name, "wrong", "192.0.2.1").unwrap_err().to_string();
    let per_address = instance.config().limits.attempts.per_address;
    for _ in 0..per_address {
        refused("sa");
    }
    assert_eq!(refused("nobody"), "too many wrong passwords from this address");
}

#[test]
fn many_simultaneous_right_passwords_are_let_in() {
    let place = tempfile::tempdir().unwrap();
    let instance = instance(&place);
    let barrier = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                barrier.wait();
                attempt(&instance, "sa", "right", "192.0.2.1").unwrap();
            });
        }
    });
}

#[test]
fn an_unknown_login_is_answered_as_a_known_one_in_every_state() {
    let place = tempfile::tempdir().unwrap();
    let instance = instance(&place);
    for address in ["192.0.2.1", "127.0.0.1"] {
        let told = |name: &str| -> Vec<Vec<i32>> {
            let tries = (0..7).map(|_| numbers(attempt(&instance, name, "wrong", address)));
            tries.collect()
        };
        let known = told("sa");
        assert_eq!(known[4..], [vec![18456], vec![18486], vec![18486]]);
        assert_eq!(told("nobody"), known, "{address}");
        // Names are compared without regard to case.
        assert_eq!(numbers(attempt(&instance, "NoBody", "wrong", address)), [18486]);
        assert_eq!(numbers(attempt(&instance, "SA", "wrong", address)), [18486]);
    }
}

const THREADS: usize = 200;
