//! A key of AWS KMS: a server of ours that answers as the KMS API Reference says, and checks each signature as
//! "Signature Version 4 signing process" has it.

use aws_lc_rs::{digest, hmac};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::fixture::{Fixture, Ran};
use crate::service_double::{Fault, Request, Server};

const KEY_ID: &str = "AKIDEXAMPLE";
const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
const KEY: &str = "alias/app";

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn sha256(bytes: &[u8]) -> String {
    hex(digest::digest(&digest::SHA256, bytes).as_ref())
}

fn mac(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

/// The signature of a request with these headers, in a scope `date/region/service/aws4_request`.
fn signature(request: &Request, (method, query): (&str, &str), signed: &str, scope: &str) -> String {
    let headers: String = signed
        .split(';')
        .map(|name| format!("{name}:{}\n", request.header(name).trim()))
        .collect();
    let payload = sha256(&request.body);
    let canonical = format!("{method}\n{}\n{query}\n{headers}\n{signed}\n{payload}", request.path);
    let time = request.header("x-amz-date");
    let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{}", sha256(canonical.as_bytes()));
    let first = format!("AWS4{SECRET}").into_bytes();
    let key = scope.split('/').fold(first, |key, part| mac(&key, part));
    hex(&mac(&key, &to_sign))
}

/// `get-vanilla` of AWS's test suite for Signature Version 4: this test's own check is right.
#[test]
fn the_signature_is_that_of_the_published_vector() {
    let headers = [("host", "example.amazonaws.com"), ("x-amz-date", "20150830T123600Z")];
    let request = Request {
        path: "/".to_owned(),
        headers: headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        body: Vec::new(),
    };
    let found = signature(
        &request,
        ("GET", ""),
        "host;x-amz-date",
        "20150830/us-east-1/service/aws4_request",
    );
    assert_eq!(
        found,
        "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    );
}

fn is_signed(request: &Request) -> bool {
    let Some(rest) = request
        .header("authorization")
        .strip_prefix("AWS4-HMAC-SHA256 Credential=")
    else {
        return false;
    };
    let parts: Vec<&str> = rest
        .split(", ")
        .flat_map(|part| part.split_once('=').or(Some(("", part))))
        .map(|(_, value)| value)
        .collect();
    let [credential, signed, given] = parts[..] else {
        return false;
    };
    let Some((key, scope)) = credential.split_once('/') else {
        return false;
    };
    let covers = ["host", "x-amz-date", "x-amz-target", "content-type"]
        .iter()
        .all(|name| signed.split(';').any(|one| one == *name));
    key == KEY_ID
        && scope.ends_with("/eu-central-1/kms/aws4_request")
        && covers
        && signature(request, ("POST", ""), signed, scope) == given
}

/// As the API Reference has it; "encryption" is by XOR.
fn answer(request: &Request, mask: u8) -> (u16, String) {
    let error = |name: &str| {
        (
            400,
            json!({"__type": format!("com.amazonaws.kms#{name}"), "message": SECRET}).to_string(),
        )
    };
    if !is_signed(request) {
        return error("InvalidSignatureException");
    }
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let bytes = |name: &str| BASE64_STANDARD.decode(body[name].as_str().unwrap_or_default()).unwrap();
    let flip = |bytes: Vec<u8>| -> Vec<u8> { bytes.into_iter().map(|byte| byte ^ mask).collect() };
    if body["KeyId"] != KEY {
        return error("NotFoundException");
    }
    match request.header("x-amz-target") {
        "TrentService.Encrypt" => {
            let wrapped = [&b"blob"[..], &flip(bytes("Plaintext"))].concat();
            (
                200,
                json!({"CiphertextBlob": BASE64_STANDARD.encode(wrapped), "KeyId": KEY}).to_string(),
            )
        }
        "TrentService.Decrypt" => match bytes("CiphertextBlob").strip_prefix(b"blob") {
            Some(wrapped) => (
                200,
                json!({"Plaintext": BASE64_STANDARD.encode(flip(wrapped.to_vec())), "KeyId": KEY}).to_string(),
            ),
            None => error("InvalidCiphertextException"),
        },
        _ => error("UnknownOperationException"),
    }
}

fn fixture() -> (Fixture, Server) {
    let mut fixture = Fixture::new();
    let error = json!({"__type": "ThrottlingException", "message": SECRET}).to_string();
    for (name, value) in [
        ("AWS_ACCESS_KEY_ID", KEY_ID),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_REGION", "eu-central-1"),
    ] {
        fixture.variables.push((name, value.to_owned()));
    }
    (fixture, Server::start(answer, &error))
}

fn words<'a>(server: &'a Server, key: &'a str, task: &'a str) -> [&'a str; 7] {
    [
        "key-service",
        "aws-kms",
        "--endpoint",
        &server.address,
        "--key",
        key,
        task,
    ]
}

fn check(fixture: &Fixture, server: &Server) -> Ran {
    let ran = fixture.run(&words(server, KEY, "check"));
    assert!(!ran.err.contains(SECRET) && !ran.out.contains(SECRET), "{ran:?}");
    ran
}

fn ask(fixture: &Fixture, server: &Server, task: &str, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    fixture.ask(&words(server, KEY, task), input)
}

#[test]
fn a_database_is_opened_by_a_key_of_kms() {
    let (fixture, server) = fixture();
    let folder = fixture.path(".config/selenite");
    std::fs::create_dir_all(&folder).unwrap();
    let all = [&[env!("CARGO_BIN_EXE_selenite")][..], &words(&server, KEY, "")[..6]].concat();
    std::fs::write(folder.join("config.toml"), format!("[commands]\nkms = {all:?}\n")).unwrap();
    fixture.plain("app.db", crate::fixture::NOTES);
    fixture.run(&["-i", "command:kms", "encrypt", "app.db"]).done();
    let select = ["-i", "command:kms", "exec", "app.db", "SELECT count(*) FROM note"];
    assert_eq!(fixture.run(&select).done().out.trim(), "500");
    server.set(&[Fault::Lie]);
    fixture.run(&select).failed(4, "");
}

#[test]
fn requests_are_signed_and_wrong_ones_are_said() {
    let (mut fixture, server) = fixture();
    assert!(
        check(&fixture, &server)
            .done()
            .out
            .contains("alias/app: encrypts and decrypts")
    );
    assert!(server.requests().iter().all(is_signed));
    fixture
        .run(&words(&server, "alias/other", "check"))
        .failed(4, "NotFoundException");
    let wrapped = ask(&fixture, &server, "wrap", &[7; 64]).1;
    assert!(!wrapped.windows(64).any(|part| part == [7; 64]));
    assert_eq!(ask(&fixture, &server, "unwrap", &wrapped).1, [7; 64]);
    let (status, out, said) = ask(&fixture, &server, "unwrap", &wrapped[1..]);
    assert!(
        status == Some(4) && out.is_empty() && said.contains("not wrapped by this command"),
        "{said}"
    );
    fixture.variables[1].1 = "another secret".to_owned();
    check(&fixture, &server).failed(4, "InvalidSignatureException");
    fixture.variables.truncate(0);
    fixture.variables.push(("AWS_EC2_METADATA_DISABLED", "true".to_owned()));
    check(&fixture, &server).failed(2, "no keys");
}

/// What may be sent there without TLS are backups, which are encrypted.
#[test]
fn a_key_is_not_sent_in_clear_to_another_machine() {
    let (mut fixture, _) = fixture();
    fixture.variables.push(("AWS_ALLOW_HTTP", "true".to_owned()));
    let check = ["key-service", "aws-kms", "--key", KEY, "check"];
    let by_option = [&check[..4], &["--endpoint", "http://192.0.2.1:1"], &check[4..]].concat();
    fixture.run(&by_option).failed(2, "keys would be sent in clear");
    for name in ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_KMS"] {
        fixture.variables.push((name, "http://192.0.2.1:1".to_owned()));
        fixture.run(&check).failed(2, "keys would be sent in clear");
        fixture.variables.pop();
    }
}

#[test]
fn what_is_temporary_is_asked_again() {
    let (fixture, server) = fixture();
    for fault in [Fault::Status(400), Fault::Status(500), Fault::Short, Fault::Gone] {
        server.set(&[fault, fault]);
        let ran = check(&fixture, &server);
        assert_eq!(ran.status, 0, "{fault:?}: {ran:?}");
    }
    for fault in [Fault::Garbage, Fault::Echo] {
        server.requests();
        server.set(&[fault]);
        check(&fixture, &server).failed(6, "not one of such a service");
        assert_eq!(server.requests().len(), 1, "{fault:?}: asked again");
    }
}
