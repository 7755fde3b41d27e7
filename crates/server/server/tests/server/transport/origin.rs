//! Whose master.db it is.

use std::path::Path;

use selenite::storage::Disk;
use selenite::{Access, Class, accept, keys};
use selenite_keyring::{keygen, write_key_file};
use selenite_server::Config;

use super::fixture::Fixture;
use super::start::start;

/// A server with an age identity of its own. Answers how it is started, and its recipient.
fn server(fixture: &Fixture, name: &str) -> (Config, String) {
    let key = fixture.place.path().join(format!("{name}.txt"));
    let made = keygen(0);
    write_key_file(&key, made.text.as_bytes()).unwrap();
    let mut config = fixture.config(0);
    config.data = fixture.place.path().join(name);
    config.access = Access {
        identity: Some(format!("age:{}", key.display()).parse().unwrap()),
        ..Access::default()
    };
    (config, made.recipient)
}

fn replace_master(from: &Path, to: &Path) {
    for tail in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(to.join(format!("master.db{tail}")));
    }
    std::fs::copy(from.join("master.db"), to.join("master.db")).unwrap();
}

#[test]
fn a_master_db_that_another_sealed_to_the_servers_recipient_is_refused_until_it_is_accepted() {
    let fixture = Fixture::new();
    let (config, recipient) = server(&fixture, "victim");
    let (attackers, _) = server(&fixture, "attacker");
    start(&config).0.unwrap().stop();
    let (running, theirs) = start(&attackers);
    running.unwrap().stop();
    let forged = attackers.data.join("master.db");
    keys::add(&Disk, &forged, &attackers.access, &recipient, "").unwrap();
    // Both open it, and neither key nor password of the victim's was needed.
    replace_master(&attackers.data, &config.data);
    let (started, said) = start(&config);
    let error = started.err().unwrap();
    assert_eq!(error.class(), Class::Key, "{error}");
    assert!(error.to_string().contains("foreign"), "{error}");
    assert!(error.advice().contains("keys accept"), "{}", error.advice());
    assert_eq!(said.password, None);
    // Whatever is configured for other databases.
    let mut careless = config.clone();
    careless.access.origin = Some(selenite_keyring::OriginPolicy::Any);
    assert_eq!(start(&careless).0.err().map(|error| error.class()), Some(Class::Key));
    // Once accepted, deliberately, it is the server's.
    accept(&Disk, &config.data.join("master.db"), &config.access).unwrap();
    start(&config).0.unwrap().stop();
    assert!(theirs.password.is_some());
}
