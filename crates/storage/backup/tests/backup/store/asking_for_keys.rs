//! If the settings contain no keys, they are requested from a service.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::thread::{self, JoinHandle};

use selenite_backup::{StoreErrorKind, s3::Settings};

use super::real_store::RealStore;
use super::{KEY_ID, SECRET, listen, open, refused, settings};

fn without_keys(port: u16, metadata: &str) -> Settings {
    let mut settings = settings(port);
    settings.environment.remove("AWS_ACCESS_KEY_ID");
    settings.environment.remove("AWS_SECRET_ACCESS_KEY");
    let name = "AWS_EC2_METADATA_SERVICE_ENDPOINT".to_owned();
    settings.environment.insert(name, metadata.to_owned());
    settings
}

/// A machine's metadata service, which answers `count` requests.
fn metadata_service(count: usize) -> (u16, JoinHandle<Vec<String>>) {
    let listener: TcpListener = listen();
    let port = listener.local_addr().unwrap().port();
    let keys = format!(
        "{{\"Code\":\"Success\",\"AccessKeyId\":\"{KEY_ID}\",\"SecretAccessKey\":\"{SECRET}\",\"Token\":\"\",\"Expiration\":\"2999-01-01T00:00:00Z\"}}"
    );
    let answers = thread::spawn(move || {
        let mut asked = Vec::new();
        while asked.len() < count {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let mut header = String::new();
            while reader.read_line(&mut header).unwrap() > 2 {
                header.clear();
            }
            let answer = match line.split_whitespace().nth(1).unwrap() {
                "/latest/api/token" => "token",
                "/latest/meta-data/iam/security-credentials/" => "role",
                "/latest/meta-data/iam/security-credentials/role" => &keys,
                other => panic!("{other}"),
            };
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
                answer.len()
            );
            reader.get_mut().write_all(head.as_bytes()).unwrap();
            asked.push(line);
        }
        asked
    });
    (port, answers)
}

#[test]
fn the_metadata_service_is_asked_once_for_all_requests() {
    let store = RealStore::start();
    let (port, answers) = metadata_service(3);
    let mut settings = without_keys(store.port, &format!("http://127.0.0.1:{port}"));
    // Only the signing key matters: a token would have to be known to the store.
    settings
        .environment
        .insert("AWS_REGION".to_owned(), "eu-west-1".to_owned());
    let place = open(&settings);
    place.put_new("a", b"1").unwrap();
    assert_eq!(place.get("a", 1).unwrap(), b"1");
    assert!(answers.join().unwrap()[0].starts_with("PUT /latest/api/token"));
    // Two for the probe, one to write, one to read, three for the keys.
    assert_eq!(place.traffic().requests, 7);
    assert_eq!(place.traffic().received, 1);
}

#[test]
fn a_machine_without_a_metadata_service_is_asked_once() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let store = RealStore::start();
    let mut settings = without_keys(store.port, &format!("http://127.0.0.1:{port}"));
    let place = open(&settings);
    let error = refused(place.put_new("a", b"1"));
    assert_eq!(error.kind, StoreErrorKind::Denied);
    assert!(error.what.contains("AWS_ACCESS_KEY_ID"), "{error}");
    assert_eq!((place.traffic().requests, place.traffic().retries), (1, 0));

    settings
        .environment
        .insert("AWS_EC2_METADATA_DISABLED".to_owned(), "true".to_owned());
    let error = refused(selenite_backup::open_with("s3://backups/db", &settings));
    assert_eq!(error.kind, StoreErrorKind::Usage);
}
