//! Keys of a transit engine: a server of ours that answers as Vault's documents say
//! (<https://developer.hashicorp.com/vault/api-docs/secret/transit>), and one that does not.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::fixture::{Fixture, Ran};
use crate::service_double::{Fault, Request, Server};

const TOKEN: &str = "hvs.marker-of-the-token";

/// As the documents have it; "encryption" is by XOR.
fn answer(request: &Request, mask: u8) -> (u16, String) {
    let body: Value = serde_json::from_slice(&request.body).unwrap();
    let text = |name: &str| body[name].as_str().unwrap_or_default().to_owned();
    let error = |status, text: &str| (status, json!({"errors": [text]}).to_string());
    let flip = |bytes: Vec<u8>| -> Vec<u8> { bytes.into_iter().map(|byte| byte ^ mask).collect() };
    let of_path: Vec<&str> = request.path.split('/').collect();
    match of_path.as_slice() {
        ["", "v1", "auth", "approle", "login"] if text("secret_id") == "the secret id" => {
            (200, json!({"auth": {"client_token": TOKEN}}).to_string())
        }
        ["", "v1", "auth", "k8s", "login"] if text("role") == "app" && text("jwt") == "the jwt" => {
            (200, json!({"auth": {"client_token": TOKEN}}).to_string())
        }
        ["", "v1", "auth", ..] => error(400, "invalid role or secret ID"),
        _ if token_of(request) != TOKEN => error(403, "permission denied"),
        ["", "v1", "transit", "encrypt", "app"] => {
            let plain = BASE64_STANDARD.decode(text("plaintext")).unwrap();
            let wrapped = format!("vault:v1:{}", BASE64_STANDARD.encode(flip(plain)));
            (
                200,
                json!({"data": {"ciphertext": wrapped, "key_version": 1}}).to_string(),
            )
        }
        ["", "v1", "transit", "decrypt", "app"] => {
            let wrapped = text("ciphertext");
            let Ok(bytes) = BASE64_STANDARD.decode(wrapped.trim_start_matches("vault:v1:")) else {
                return error(400, "invalid ciphertext: no prefix");
            };
            (
                200,
                json!({"data": {"plaintext": BASE64_STANDARD.encode(flip(bytes))}}).to_string(),
            )
        }
        ["", "v1", "transit", ..] => error(400, "encryption key not found"),
        _ => error(404, "no handler for route"),
    }
}

fn token_of(request: &Request) -> &str {
    request.header("x-vault-token")
}

fn fixture() -> (Fixture, Server) {
    let fixture = Fixture::new();
    for (name, text) in [
        ("token.txt", TOKEN),
        ("role.txt", "the role"),
        ("secret.txt", "the secret id"),
        ("jwt.txt", "the jwt"),
        ("bad.txt", "hvs.another"),
    ] {
        fs::write(fixture.path(name), format!("{text}\n")).unwrap();
        fs::set_permissions(fixture.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    let error = json!({"errors": ["permission denied", TOKEN]}).to_string();
    (fixture, Server::start(answer, &error))
}

fn words<'a>(server: &'a Server, more: &[&'a str]) -> Vec<&'a str> {
    [
        &["key-service", "vault", "--address", &server.address, "--key", "app"],
        more,
    ]
    .concat()
}

fn check(fixture: &Fixture, server: &Server, more: &[&str]) -> Ran {
    fixture.run(&words(server, &[more, &["check"]].concat()))
}

fn configure(fixture: &Fixture, server: &Server) {
    let folder = fixture.path(".config/selenite");
    fs::create_dir_all(&folder).unwrap();
    let words = words(server, &["--token-file"]);
    let token = fixture.path("token.txt");
    let line: Vec<String> = std::iter::once(env!("CARGO_BIN_EXE_selenite"))
        .chain(words)
        .chain([token.to_str().unwrap()])
        .map(|word| format!("{word:?}"))
        .collect();
    fs::write(
        folder.join("config.toml"),
        format!("[commands]\nvault = [{}]\n", line.join(", ")),
    )
    .unwrap();
}

const BY_TOKEN: [&str; 2] = ["--token-file", "token.txt"];

#[test]
fn a_database_is_opened_by_a_key_of_the_service() {
    let (fixture, server) = fixture();
    configure(&fixture, &server);
    fixture.plain("app.db", crate::fixture::NOTES);
    fixture.run(&["-i", "command:vault", "encrypt", "app.db"]).done();
    let select = ["-i", "command:vault", "exec", "app.db", "SELECT count(*) FROM note"];
    assert_eq!(fixture.run(&select).done().out.trim(), "500");
    let asked = server.requests();
    assert!(
        asked
            .iter()
            .all(|one| token_of(one) == TOKEN && one.path.starts_with("/v1/transit/")),
        "{asked:?}"
    );
    assert!(
        fixture
            .run(&["keys", "list", "app.db"])
            .done()
            .out
            .contains("command vault")
    );
    // A service that returns another key opens nothing.
    server.set(&[Fault::Lie]);
    fixture
        .run(&select)
        .failed(4, "its key service answered what is not the key of this slot");
    fixture.run(&select).done();
}

#[test]
fn each_way_to_log_in_gives_a_token() {
    let (fixture, server) = fixture();
    let approle = ["--role-id-file", "role.txt", "--secret-id-file", "secret.txt"];
    let kubernetes = [
        "--kubernetes-role",
        "app",
        "--jwt-file",
        "jwt.txt",
        "--auth-mount",
        "k8s",
    ];
    for more in [&BY_TOKEN[..], &approle, &kubernetes] {
        let told = check(&fixture, &server, more).done().out;
        assert!(told.contains("app, version v1: encrypts and decrypts"), "{told}");
        assert!(
            server
                .requests()
                .iter()
                .filter(|one| one.path.contains("transit"))
                .all(|one| token_of(one) == TOKEN)
        );
    }
    for (more, status, said) in [
        (&["--token-file", "bad.txt"][..], 4, "403: permission denied"),
        (&["--role-id-file", "role.txt", "--secret-id-file", "bad.txt"], 4, "400"),
        (&["--token-file", "missing.txt"], 6, "missing.txt"),
        (
            &["--mount", "other", "--token-file", "token.txt"],
            4,
            "404: no handler for route",
        ),
        (&[], 2, "no token"),
    ] {
        let ran = check(&fixture, &server, more);
        assert!(ran.status == status && ran.err.contains(said), "{more:?}: {ran:?}");
    }
}

#[test]
fn an_answer_that_is_none_is_an_error_and_one_that_is_late_is_asked_again() {
    let (fixture, server) = fixture();
    let temporary = [
        Fault::Status(429),
        Fault::Status(500),
        Fault::Status(503),
        Fault::Short,
        Fault::Gone,
    ];
    for fault in temporary {
        server.set(&[fault, fault]);
        let ran = check(&fixture, &server, &BY_TOKEN);
        assert_eq!(ran.status, 0, "{fault:?}: {ran:?}");
        // The HTTP client itself may repeat a request on a connection that ended before an answer.
        assert!(server.requests().len() >= 4, "{fault:?}");
    }
    for (fault, status) in [
        (Fault::Status(400), 4),
        (Fault::Status(403), 4),
        (Fault::Status(404), 4),
        (Fault::Status(307), 4),
        (Fault::Garbage, 6),
        (Fault::Echo, 6),
    ] {
        for request in 0..2 {
            let mut faults = vec![fault];
            if request == 1 {
                // The first answer is as it should be.
                let wrapped = ask(&fixture, &server, "wrap", &[7; 64]).1;
                server.set(&faults);
                server.requests();
                let (code, out, err) = ask(&fixture, &server, "unwrap", &wrapped);
                assert!(
                    code == Some(status) && out.is_empty() && !err.contains(TOKEN),
                    "{fault:?}: {err}"
                );
            } else {
                server.set(&std::mem::take(&mut faults));
                let ran = check(&fixture, &server, &BY_TOKEN);
                assert!(ran.status == status && !ran.err.contains(TOKEN), "{fault:?}: {ran:?}");
            }
            assert_eq!(server.requests().len(), 1, "{fault:?}: asked again");
        }
    }
}

#[test]
fn a_service_is_trusted_by_its_certificate() {
    let (fixture, _) = fixture();
    let (server, certificate) = Server::start_tls(answer);
    check(&fixture, &server, &BY_TOKEN).failed(6, "certificate is not trusted");
    assert!(server.requests().is_empty());
    fs::write(fixture.path("ca.pem"), certificate).unwrap();
    let with_ca = [&BY_TOKEN[..], &["--ca-file", "ca.pem"]].concat();
    check(&fixture, &server, &with_ca).done();
    // The certificate of another server.
    fs::write(fixture.path("ca.pem"), Server::start_tls(answer).1).unwrap();
    check(&fixture, &server, &with_ca).failed(6, "certificate is not trusted");
    fs::write(fixture.path("ca.pem"), "no certificate").unwrap();
    check(&fixture, &server, &with_ca).failed(2, "has no certificate");
    for (years, what) in [([2000, 2020], "has expired"), ([3000, 4000], "is not valid yet")] {
        let (server, certificate) = Server::start_tls_in(answer, years);
        fs::write(fixture.path("ca.pem"), certificate).unwrap();
        check(&fixture, &server, &with_ca).failed(6, what);
        assert!(server.requests().is_empty());
    }
}

fn ask(fixture: &Fixture, server: &Server, task: &str, input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    fixture.ask(&words(server, &[&BY_TOKEN[..], &[task]].concat()), input)
}

#[test]
fn a_key_goes_to_the_configured_place_alone() {
    let (fixture, server) = fixture();
    let run = |address: &str, more: &[&str]| {
        let words = ["key-service", "vault", "--address", address, "--key", "app"];
        fixture.run(&[&words[..], &BY_TOKEN, more, &["check"]].concat())
    };
    run("http://192.0.2.1:8200", &[]).failed(2, "http:// is for an agent on this machine");
    run("https://user:secret@127.0.0.1", &[]).failed(2, "alone");
    run("ftp://127.0.0.1", &[]).failed(2, "begins with https://");
    // It speaks no TLS, and what is sent to it in clear is no token.
    let failed = run(&server.address.replace("http", "https"), &[]);
    assert!(
        failed.status == 6 && failed.err.contains("ended the connection"),
        "{failed:?}"
    );
    assert!(server.requests().is_empty());
    // A key's name is one part of the path.
    let words = [
        "key-service",
        "vault",
        "--address",
        &server.address,
        "--key",
        "../../sys/seal?x=#",
    ];
    fixture.run(&[&words[..], &BY_TOKEN, &["check"]].concat()).failed(4, "");
    assert!(
        server
            .requests()
            .iter()
            .all(|one| one.path.starts_with("/v1/transit/encrypt/"))
    );
}
