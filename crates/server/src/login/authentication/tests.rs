use std::time::{Duration, Instant};

use selenite_engine::Access;
use tempfile::TempDir;

use super::*;
use crate::master::Master;
use crate::password::PasswordCost;
use crate::transport::TlsSetup;
use crate::{Config, DataFolder};

/// The server of a folder, without its listener: started, or started again.
fn instance(place: &TempDir) -> Instance {
    selenite_engine::install().unwrap();
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
    Instance::new(config, folder, master, tls).unwrap()
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
