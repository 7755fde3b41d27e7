//! Keys in a TPM 2.0, which swtpm emulates, through the PKCS#11 module tpm2-pkcs11.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use crate::fixture::{Fixture, Ran, run};

const PIN: &str = "1234-marker-of-the-pin";
const SELECT: [&str; 5] = ["-i", "command:tpm", "exec", "app.db", "SELECT count(*) FROM note"];

/// A running TPM. Its state is a folder.
struct Tpm(Child);

impl Tpm {
    /// Starts it, and returns when it listens.
    fn start(fixture: &Fixture, state: &str) -> Self {
        let folder = fixture.path(&format!(".config/{state}"));
        fs::create_dir_all(&folder).unwrap();
        let socket = fixture.path("s.txt");
        // Of one that was killed.
        let _ = fs::remove_file(&socket);
        let _ = fs::remove_file(fixture.path("s.txt.ctrl"));
        let mut command = Command::new("swtpm");
        command
            .args([
                "socket",
                "--tpm2",
                "--flags",
                "not-need-init,startup-clear",
                "--tpmstate",
            ])
            .arg(format!("dir={}", folder.display()))
            .arg("--server")
            .arg(format!("type=unixio,path={}", socket.display()))
            .arg("--ctrl")
            .arg(format!("type=unixio,path={}.ctrl", socket.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let mut tpm = Self(command.spawn().unwrap());
        while UnixStream::connect(&socket).is_err() {
            assert!(tpm.0.try_wait().unwrap().is_none(), "swtpm does not start");
            std::thread::yield_now();
        }
        tpm
    }
}

impl Drop for Tpm {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn module() -> PathBuf {
    format!("/usr/lib/{}-linux-gnu/libtpm2_pkcs11.so.1", std::env::consts::ARCH).into()
}

/// A fixture with a token that is called `app` in the TPM `tpm`, and its PIN in `pin.txt`.
fn fixture() -> (Fixture, Tpm) {
    let mut fixture = Fixture::new();
    let store = fixture.path(".config/store");
    fs::create_dir_all(&store).unwrap();
    let socket = fixture.path("s.txt");
    fixture.variables.extend([
        ("TPM2_PKCS11_STORE", store.display().to_string()),
        ("TPM2_PKCS11_TCTI", format!("swtpm:path={}", socket.display())),
    ]);
    let tpm = Tpm::start(&fixture, "tpm");
    add_token(&fixture, "1", "app", PIN);
    set_pin(&fixture, PIN);
    // What the module left in the TPM's memory is gone: there is no resource manager.
    drop(tpm);
    let tpm = Tpm::start(&fixture, "tpm");
    (fixture, tpm)
}

fn add_token(fixture: &Fixture, slot: &str, label: &str, pin: &str) {
    let mut command = Command::new("softhsm2-util");
    command
        .arg("--module")
        .arg(module())
        .args(["--init-token", "--slot", slot, "--label", label])
        .args(["--so-pin", "0000-so-pin", "--pin", pin])
        .envs(fixture.variables.iter().map(|(name, value)| (*name, value)));
    run(&mut command).done();
}

fn set_pin(fixture: &Fixture, pin: &str) {
    let path = fixture.path("pin.txt");
    fs::write(&path, format!("{pin}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

fn uri(fixture: &Fixture, token: &str) -> String {
    let (module, pin) = (module(), fixture.path("pin.txt"));
    format!(
        "pkcs11:token={token};object=tde?module-path={}&pin-source={}",
        module.display(),
        pin.display()
    )
}

fn service(fixture: &Fixture, words: &[&str]) -> Ran {
    fixture.run(&[&["key-service", "pkcs11", "--uri", &uri(fixture, "app")], words].concat())
}

/// A database that a key of the TPM opens, and so does `key.txt`.
fn encrypt(fixture: &Fixture) {
    let (program, uri) = (env!("CARGO_BIN_EXE_selenite"), uri(fixture, "app"));
    let folder = fixture.path(".config/selenite");
    fs::create_dir_all(&folder).unwrap();
    let text = format!("[commands]\ntpm = [\"{program}\", \"key-service\", \"pkcs11\", \"--uri\", \"{uri}\"]\n");
    fs::write(folder.join("config.toml"), text).unwrap();
    fixture.plain("app.db", crate::fixture::NOTES);
    fixture.run(&["-i", "command:tpm", "encrypt", "app.db"]).done();
    let recipient = fixture.recipient("key.txt");
    fixture
        .run(&["-i", "command:tpm", "keys", "add", "app.db", &recipient])
        .done();
}

fn by_the_other_key(fixture: &Fixture) {
    fixture
        .run(&["-i", "key.txt", "exec", "--origin", "any", "app.db", "SELECT 1"])
        .done();
}

#[test]
fn a_database_is_opened_by_a_key_that_stays_in_its_tpm() {
    let (fixture, tpm) = fixture();
    service(&fixture, &["generate"]).failed(4, "generates no AES keys");
    service(&fixture, &["generate", "--kind", "rsa2048"]).done();
    let told = service(&fixture, &["check"]).done().out;
    assert!(told.contains("by RSA-OAEP with SHA-256"), "{told}");
    encrypt(&fixture);
    fixture.run(&["-i", "command:tpm", "keys", "renew", "app.db"]).done();
    assert_eq!(fixture.run(&SELECT).done().out.trim(), "500");
    // Without the TPM, with another one, and with this one again.
    drop(tpm);
    fixture.run(&SELECT).failed(4, "key service \"tpm\"");
    service(&fixture, &["check"]).failed(6, "initialize");
    by_the_other_key(&fixture);
    let tpm = Tpm::start(&fixture, "other");
    fixture.run(&SELECT).failed(4, "key service \"tpm\"");
    let failed = service(&fixture, &["check"]).failed(6, "log in at the token");
    assert!(!failed.err.contains(PIN), "{failed:?}");
    drop(tpm);
    let _tpm = Tpm::start(&fixture, "tpm");
    assert_eq!(fixture.run(&SELECT).done().out.trim(), "500");
}

/// This TPM locks itself after three, and counts a restart without shutdown, too.
#[test]
fn a_wrong_pin_counts_once_in_the_tpm() {
    let (fixture, _tpm) = fixture();
    service(&fixture, &["generate", "--kind", "rsa2048"]).done();
    encrypt(&fixture);
    let other = "5678-marker-of-the-pin";
    add_token(&fixture, "2", "other", other);
    set_pin(&fixture, other);
    service(&fixture, &["check"]).failed(4, "the token refused the PIN");
    for _ in 0..3 {
        service(&fixture, &["check"]).failed(4, "it is not tried again");
        fixture.run(&SELECT).failed(4, "key service \"tpm\"");
    }
    // Of that token it is the right one.
    let uri = uri(&fixture, "other");
    fixture
        .run(&["key-service", "pkcs11", "--uri", &uri, "check"])
        .failed(4, "no AES or RSA key");
    set_pin(&fixture, PIN);
    fixture.run(&SELECT).done();
    set_pin(&fixture, "wrong");
    service(&fixture, &["check"]).failed(4, "the token refused the PIN");
    set_pin(&fixture, PIN);
    service(&fixture, &["check"]).failed(4, "has locked its PIN");
    by_the_other_key(&fixture);
}
