//! Keys in a token of SoftHSM, and modules that misbehave.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::Command;

use crate::fixture::{Fixture, Ran, run};

pub const MODULE: &str = "/usr/lib/softhsm/libsofthsm2.so";
pub const PIN: &str = "1234-marker-of-the-pin";

/// A fixture with a token that is called `app`, and its PIN in `pin.txt`.
pub fn fixture() -> Fixture {
    let mut fixture = Fixture::new();
    let tokens = fixture.path(".config/tokens");
    fs::create_dir_all(&tokens).unwrap();
    let config = fixture.path(".config/softhsm2.conf");
    fs::write(
        &config,
        format!(
            "directories.tokendir = {}\nobjectstore.backend = file\n",
            tokens.display()
        ),
    )
    .unwrap();
    fixture.variables.push(("SOFTHSM2_CONF", config.display().to_string()));
    add_token(&fixture, "app");
    set_pin(&fixture, PIN);
    fixture
}

fn add_token(fixture: &Fixture, label: &str) {
    let mut command = Command::new("softhsm2-util");
    command
        .args([
            "--init-token",
            "--free",
            "--label",
            label,
            "--so-pin",
            "0000-so-pin",
            "--pin",
            PIN,
        ])
        .envs(fixture.variables.iter().map(|(name, value)| (*name, value)));
    run(&mut command).done();
}

fn set_pin(fixture: &Fixture, pin: &str) {
    let path = fixture.path("pin.txt");
    fs::write(&path, format!("{pin}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

pub fn uri(fixture: &Fixture, key: &str) -> String {
    let pin = fixture.path("pin.txt");
    format!(
        "pkcs11:token=app;object={key}?module-path={MODULE}&pin-source={}",
        pin.display()
    )
}

pub fn service(fixture: &Fixture, uri: &str, words: &[&str]) -> Ran {
    fixture.run(&[&["key-service", "pkcs11", "--uri", uri], words].concat())
}

/// What the command answers to bytes of standard input.
fn ask(fixture: &Fixture, uri: &str, words: &[&str], input: &[u8]) -> (Option<i32>, Vec<u8>, String) {
    fixture.ask(&[&["key-service", "pkcs11", "--uri", uri], words].concat(), input)
}

pub fn configure(fixture: &Fixture, uri: &str, more: &str) {
    let folder = fixture.path(".config/selenite");
    fs::create_dir_all(&folder).unwrap();
    let program = env!("CARGO_BIN_EXE_selenite");
    let text = format!("[commands]\nhsm = [\"{program}\", \"key-service\", \"pkcs11\", \"--uri\", \"{uri}\"{more}]\n");
    fs::write(folder.join("config.toml"), text).unwrap();
}

#[test]
fn a_database_is_opened_by_a_key_that_stays_in_its_token() {
    let fixture = fixture();
    for (kind, more) in [("aes", ""), ("rsa", ", \"--oaep\", \"sha1\"")] {
        let uri = uri(&fixture, kind);
        service(&fixture, &uri, &["generate", "--kind", kind]).done();
        service(&fixture, &uri, &["generate", "--kind", kind]).failed(4, "has a key of this name");
        configure(&fixture, &uri, more);
        let name = format!("{kind}.db");
        fixture.plain(&name, crate::fixture::NOTES);
        fixture.run(&["-i", "command:hsm", "encrypt", &name]).done();
        let count = fixture
            .run(&["-i", "command:hsm", "exec", &name, "SELECT count(*) FROM note"])
            .done();
        assert_eq!(count.out.trim(), "500");
        assert!(fixture.run(&["keys", "list", &name]).done().out.contains("command hsm"));
        fixture.run(&["-i", "key.txt", "exec", &name, "SELECT 1"]).failed(4, "");
    }
    // The other key of the token opens nothing of this one.
    configure(&fixture, &uri(&fixture, "aes"), "");
    fixture
        .run(&["-i", "command:hsm", "exec", "rsa.db", "SELECT 1"])
        .failed(4, "hsm");
}

#[test]
fn what_is_wrapped_is_unwrapped_and_what_was_altered_is_not() {
    let fixture = fixture();
    let plain: Vec<u8> = (0..64).collect();
    for (kind, more) in [("aes", &[][..]), ("rsa", &["--oaep", "sha1"])] {
        let uri = uri(&fixture, kind);
        service(&fixture, &uri, &["generate", "--kind", kind]).done();
        let told = service(&fixture, &uri, &[more, &["check"]].concat()).done().out;
        assert!(told.contains("wraps and unwraps by"), "{told}");
        let (status, wrapped, _) = ask(&fixture, &uri, &[more, &["wrap"]].concat(), &plain);
        assert_eq!(status, Some(0));
        assert!(!wrapped.windows(16).any(|part| plain.windows(16).any(|own| own == part)));
        let (status, again, _) = ask(&fixture, &uri, &["unwrap"], &wrapped);
        assert!(status == Some(0) && again == plain);
        for at in 0..wrapped.len() {
            let mut altered = wrapped.clone();
            altered[at] ^= 1;
            let (status, answer, said) = ask(&fixture, &uri, &["unwrap"], &altered);
            assert!(status != Some(0) && answer.is_empty(), "{kind}, byte {at}: {said}");
        }
    }
    let (status, answer, said) = ask(&fixture, &uri(&fixture, "aes"), &["wrap"], &[0; 63]);
    assert!(
        status == Some(4) && answer.is_empty() && said.contains("63 bytes to wrap"),
        "{said}"
    );
}

#[test]
fn a_wrong_pin_is_tried_once() {
    let fixture = fixture();
    let uri = uri(&fixture, "aes");
    service(&fixture, &uri, &["generate"]).done();
    configure(&fixture, &uri, "");
    let path = fixture.plain("app.db", crate::fixture::NOTES);
    fixture.run(&["-i", "command:hsm", "encrypt", "app.db"]).done();
    set_pin(&fixture, "4321-other");
    service(&fixture, &uri, &["check"]).failed(4, "the token refused the PIN");
    for _ in 0..3 {
        service(&fixture, &uri, &["check"]).failed(4, "it is not tried again");
        fixture
            .run(&["-i", "command:hsm", "exec", "app.db", "SELECT 1"])
            .failed(4, "key service \"hsm\"");
    }
    set_pin(&fixture, PIN);
    service(&fixture, &uri, &["check"]).done();
    fixture.run(&["-i", "command:hsm", "exec", "app.db", "SELECT 1"]).done();
    // Neither the PIN nor the other one is in a file but its own and the token's.
    for place in [
        path,
        fixture.path(".config/selenite/keyring.toml"),
        fixture.path(".local"),
    ] {
        let found = run(Command::new("grep")
            .args(["-rla", "-e", PIN, "-e", "4321-other"])
            .arg(place));
        assert_eq!(found.status, 1, "{found:?}");
    }
}

#[test]
fn several_processes_use_a_token_at_once() {
    let fixture = fixture();
    let uri = uri(&fixture, "aes");
    service(&fixture, &uri, &["generate"]).done();
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| (0..8).for_each(|_| drop(service(&fixture, &uri, &["check"]).done())));
        }
    });
}

/// A process that was killed while the token had not answered leaves such a line.
#[test]
fn an_unfinished_try_is_repeated_only_if_the_token_refused_no_pin_since() {
    let fixture = fixture();
    let uri = uri(&fixture, "aes");
    service(&fixture, &uri, &["generate"]).done();
    let note = || {
        let notes = fs::read_dir(fixture.path(".local/state/selenite/pins")).unwrap();
        let paths: Vec<PathBuf> = notes.map(|note| note.unwrap().path()).collect();
        let [path] = &paths[..] else { panic!("{paths:?}") };
        path.clone()
    };
    assert_eq!(fs::read_to_string(note()).unwrap(), "", "an answer ends the try");
    set_pin(&fixture, "4321-other");
    service(&fixture, &uri, &["check"]).failed(4, "the token refused the PIN");
    let line = fs::read_to_string(note()).unwrap();
    let unfinished = line.replace('\n', " unfinished\n");
    fs::write(note(), &unfinished).unwrap();
    service(&fixture, &uri, &["check"]).failed(4, "it is not tried again");
    set_pin(&fixture, PIN);
    service(&fixture, &uri, &["check"]).done();
    let modified = fs::metadata(fixture.path("pin.txt")).unwrap();
    let words: Vec<&str> = line.split(' ').collect();
    let state = format!("{} {} {}", modified.size(), modified.mtime(), modified.mtime_nsec());
    fs::write(note(), format!("{state} {} unfinished\n", words[3].trim())).unwrap();
    service(&fixture, &uri, &["check"]).done();
    assert_eq!(fs::read_to_string(note()).unwrap(), "");
}

#[test]
fn a_link_in_the_state_folder_has_no_other_file_written() {
    let fixture = fixture();
    let uri = uri(&fixture, "aes");
    service(&fixture, &uri, &["generate"]).done();
    let pin = fs::metadata(fixture.path("pin.txt")).unwrap();
    let folder = fixture.path(".local/state/selenite/pins");
    let note = folder.join(format!("{}-{}", pin.dev(), pin.ino()));
    fs::remove_file(&note).unwrap();
    fs::write(fixture.path("victim"), "theirs").unwrap();
    std::os::unix::fs::symlink(fixture.path("victim"), &note).unwrap();
    set_pin(&fixture, "4321-other");
    service(&fixture, &uri, &["check"]).failed(6, "could not be remembered");
    fs::remove_file(&note).unwrap();
    fs::hard_link(fixture.path("victim"), &note).unwrap();
    service(&fixture, &uri, &["check"]).failed(6, "could not be remembered");
    assert_eq!(fs::read_to_string(fixture.path("victim")).unwrap(), "theirs");
    // The folder itself.
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(fixture.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(fixture.path("elsewhere"), &folder).unwrap();
    service(&fixture, &uri, &["check"]).failed(6, "could not be remembered");
    assert_eq!(fs::read_dir(fixture.path("elsewhere")).unwrap().count(), 0);
}

/// A file is empty while another program rewrites it.
#[test]
fn an_empty_pin_is_not_tried() {
    let fixture = fixture();
    let uri = uri(&fixture, "aes");
    service(&fixture, &uri, &["generate"]).done();
    for empty in ["", "\r"] {
        set_pin(&fixture, empty);
        for _ in 0..2 {
            service(&fixture, &uri, &["check"]).failed(4, "has no PIN");
        }
    }
}

#[test]
fn what_is_missing_or_ambiguous_is_said() {
    let fixture = fixture();
    let good = uri(&fixture, "aes");
    service(&fixture, &good, &["check"]).failed(4, "no AES or RSA key");
    service(&fixture, &good, &["generate"]).done();
    for (from, to, status, said) in [
        ("token=app", "token=other", 6, "no token is there"),
        ("object=aes", "object=none", 4, "no AES or RSA key"),
        ("object=aes", "type=private", 4, "no AES or RSA key"),
        (MODULE, "/usr/lib/no-module.so", 6, "can't load the module"),
        ("pin-source=", "pin-value=", 2, "use pin-source"),
        ("pkcs11:", "pkcs12:", 2, "begins with pkcs11:"),
        ("pin.txt", "missing.txt", 6, "can't look at the file of the PIN"),
    ] {
        let ran = service(&fixture, &good.replace(from, to), &["check"]);
        assert!(
            ran.status == status && ran.err.contains(said),
            "{from} as {to}: {ran:?}"
        );
    }
    for (mode, others_read) in [(0o600, false), (0o640, false), (0o644, true)] {
        fs::set_permissions(fixture.path("pin.txt"), fs::Permissions::from_mode(mode)).unwrap();
        let said = service(&fixture, &good, &["check"]).done().err;
        assert_eq!(
            said.contains("warning: other users can read"),
            others_read,
            "{mode:o}: {said}"
        );
    }
    fs::set_permissions(fixture.path("pin.txt"), fs::Permissions::from_mode(0o666)).unwrap();
    service(&fixture, &good, &["check"]).failed(4, "not trusted");
    set_pin(&fixture, PIN);
    add_token(&fixture, "app");
    service(&fixture, &good, &["check"]).failed(4, "several tokens");
}

/// A PIN and a key are in the memory of a process that a module may crash.
#[test]
fn no_core_is_dumped() {
    let fixture = fixture();
    let module = compile(
        &fixture,
        "core",
        "struct rlimit core; getrlimit(RLIMIT_CORE, &core);\
         dprintf(2, \"core %ld %ld, dumpable %d\\n\", core.rlim_cur, core.rlim_max, prctl(PR_GET_DUMPABLE)); return 5;",
    );
    let uri = uri(&fixture, "aes").replace(MODULE, &module);
    service(&fixture, &uri, &["check"]).failed(6, "core 0 0, dumpable 0");
}

/// A module whose first function has this body.
fn compile(fixture: &Fixture, name: &str, does: &str) -> String {
    let (source, module) = (fixture.path(&format!("{name}.c")), fixture.path(&format!("{name}.so")));
    let text = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n#include <unistd.h>\n#include <sys/prctl.h>\n\
         #include <sys/resource.h>\nunsigned long C_GetFunctionList(void **list) {{ {does} }}\n"
    );
    fs::write(&source, text).unwrap();
    run(Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-o"])
        .arg(&module)
        .arg(&source))
    .done();
    module.display().to_string()
}

/// A module that kills its process, or leaves a child with its output behind.
#[test]
fn a_module_does_nothing_to_the_process_that_opens_a_database() {
    let fixture = fixture();
    let uri = uri(&fixture, "aes");
    service(&fixture, &uri, &["generate"]).done();
    configure(&fixture, &uri, "");
    fixture.plain("app.db", crate::fixture::NOTES);
    fixture.run(&["-i", "command:hsm", "encrypt", "app.db"]).done();
    for (name, does) in [
        ("crash", "abort();"),
        ("exit", "_exit(0);"),
        ("fork", "if (fork() == 0) { pause(); } return 5;"),
        ("nothing", "*list = 0; return 0;"),
    ] {
        let module = compile(&fixture, name, does);
        configure(&fixture, &uri.replace(MODULE, &module), "");
        let failed = fixture.run(&["-i", "command:hsm", "exec", "app.db", "SELECT 1"]);
        assert_eq!(failed.status, 4, "{name}: {failed:?}");
        assert!(failed.err.contains("key service \"hsm\""), "{name}: {failed:?}");
    }
}
