//! Object stores over the network: a real one, and one with injected faults, both on loopback.
mod asking_for_keys;
mod faults;
mod faulty_store;
mod real;
mod real_store;
mod threads;
mod tls;

use std::net::{Ipv4Addr, TcpListener};
use std::time::Duration;

use selenite_backup::{
    Destination, StoreError,
    s3::{RetryPolicy, Settings},
};

/// The key that the tests sign with. No error may show the secret.
const KEY_ID: &str = "AKIATEST";
const SECRET: &str = "hunter2/hunter2+hunter2";

/// A listener on a free port, below those that the system assigns to clients.
fn listen() -> TcpListener {
    for port in 20_000 + (std::process::id() % 10_000) as u16..32_768 {
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return listener;
        }
    }
    panic!("no port is free");
}

/// Settings for a store on that port, with short waits.
fn settings(port: u16) -> Settings {
    let mut settings = Settings::default();
    for (name, value) in [
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_ENDPOINT_URL", &format!("http://127.0.0.1:{port}")),
    ] {
        settings.environment.insert(name.to_owned(), value.to_owned());
    }
    settings.policy = RetryPolicy {
        request: Duration::from_secs(20),
        tries_max: 3,
        pause_first: Duration::from_millis(1),
        pause_max: Duration::from_millis(2),
        ..RetryPolicy::default()
    };
    settings
}

fn open(settings: &Settings) -> Box<dyn Destination> {
    selenite_backup::open_with("s3://backups/db", settings).unwrap()
}

/// The error, after a check that it shows no secret.
fn refused<T>(result: Result<T, StoreError>) -> StoreError {
    let error = result.err().expect("it should have been refused");
    let shown = format!("{error} {error:?}");
    assert!(!shown.contains("hunter2"), "{shown}");
    error
}
