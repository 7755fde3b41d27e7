//! Tests of the configuration. They name the file by `SELENITE_CONFIG`, so that the machine's own is never read.

use std::fs;

use super::*;

fn parsed(text: &str) -> Result<Config, KeyError> {
    Config::parse(text, Path::new("/etc/selenite/config.toml"), Some(Path::new("/home/u")))
}

fn complaint(text: &str) -> String {
    parsed(text).unwrap_err().to_string()
}

#[test]
fn parse_reads_every_key() {
    let config = parsed(
        "identity = 'age:/k'\nkeyring = '/r'\nstate = '/s'\n[commands]\nkms = ['/usr/bin/kms', '--key', 'x']\nv = \"v 'a b'\"",
    )
    .unwrap();
    assert_eq!(config.identity(), Some(&Spec::Age("/k".into())));
    assert_eq!(config.keyring_path(), Some(Path::new("/r")));
    assert_eq!(config.state_folder(), Some(Path::new("/s")));
    assert_eq!(config.command("kms").unwrap(), ["/usr/bin/kms", "--key", "x"]);
    assert_eq!(config.command("v").unwrap(), ["v", "a b"]);
}

#[test]
fn parse_of_nothing_is_the_empty_configuration() {
    let config = parsed("").unwrap();
    assert_eq!(config.identity(), None);
    assert_eq!(config.keyring_path(), None);
    assert!(config.load_keyring().is_ok());
}

#[test]
fn relative_paths_start_at_the_folder_of_the_file_and_a_tilde_at_home() {
    let config = parsed("identity = 'raw:k'\nkeyring = '~/r'").unwrap();
    assert_eq!(config.identity(), Some(&Spec::Raw("/etc/selenite/k".into())));
    assert_eq!(config.keyring_path(), Some(Path::new("/home/u/r")));
    let config = parsed("identity = 'command:kms'").unwrap();
    assert_eq!(config.identity(), Some(&Spec::Command("kms".into())));
}

#[test]
fn an_unknown_key_is_an_error_that_names_the_nearest_known_key() {
    assert_eq!(
        complaint("\nidentiy = 'x'"),
        "/etc/selenite/config.toml, line 2: unknown key \"identiy\", did you mean \"identity\"?"
    );
    assert!(complaint("keyrings = 'x'").ends_with("did you mean \"keyring\"?"));
    assert!(complaint("[command]\nx = 'y'").ends_with("did you mean \"commands\"?"));
    assert!(
        complaint("colour = 1").ends_with("known are identity, keyring, state, origin, passphrase_cost_max, commands")
    );
}

#[test]
fn values_of_the_wrong_kind_are_refused_with_their_line() {
    for (text, problem) in [
        ("identity = 1", "line 1: identity must be a quoted string"),
        ("\nidentity = ''", "line 2: \"\": the path is missing"),
        ("keyring = ['x']", "line 1: keyring must be a quoted string"),
        ("commands = 'x'", "line 1: commands must be a table: [commands]"),
        (
            "[commands]\nk = 1",
            "line 2: command k must be a string or an array of strings",
        ),
        (
            "[commands]\nk = ['a', 1]",
            "line 2: a command's word must be a quoted string",
        ),
        ("[commands]\nk = []", "line 2: command k is empty"),
        ("[commands]\nk = ''", "line 2: command k is empty"),
        ("[commands]\nk = ['']", "line 2: command k is empty"),
        ("[commands]\nk = \"a 'b\"", "line 2: a quote is not closed"),
        (
            "[commands]\n'a/b' = 'x'",
            "line 2: a command's name has 1 to 64 letters, digits, '-', '_' or '.'",
        ),
    ] {
        assert_eq!(
            complaint(text),
            format!("/etc/selenite/config.toml, {problem}"),
            "{text}"
        );
    }
    assert!(complaint("[commands]\nk = 'a | b'").contains("no shell runs this"));
}

#[test]
fn an_unknown_command_is_an_error_that_names_the_nearest_one() {
    let config = Config::default().with_command("kms", &["/bin/true"]);
    let error = config.command("kmss").unwrap_err().to_string();
    assert_eq!(
        error,
        "no command \"kmss\" in the configuration (did you mean \"kms\"?)"
    );
    let error = config.command("vault").unwrap_err().to_string();
    assert_eq!(error, "no command \"vault\" in the configuration");
}

#[test]
fn load_reads_the_named_file_and_the_environment_overrides_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    fs::write(&path, "identity = 'k'\nkeyring = 'r'\nstate = 's'").unwrap();
    let only_config = |name: &str| (name == "SELENITE_CONFIG").then(|| path.clone().into_os_string());
    let config = Config::load(&only_config).unwrap();
    assert_eq!(config.identity(), Some(&Spec::Detected(folder.path().join("k"))));
    assert_eq!(config.keyring_path(), Some(folder.path().join("r").as_path()));
    assert_eq!(config.state_folder(), Some(folder.path().join("s").as_path()));
    assert!(
        config.load_keyring().is_err(),
        "a keyring file that is named must be there"
    );

    let all = |name: &str| match name {
        "SELENITE_IDENTITY" => Some("raw:other".into()),
        "SELENITE_KEYRING" => Some("/other".into()),
        "SELENITE_STATE" => Some("/state".into()),
        _ => only_config(name),
    };
    let config = Config::load(&all).unwrap();
    assert_eq!(config.identity(), Some(&Spec::Raw("other".into())));
    assert_eq!(config.keyring_path(), Some(Path::new("/other")));
    assert_eq!(config.state_folder(), Some(Path::new("/state")));
}

#[test]
fn load_refuses_a_named_file_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.toml");
    let env = |name: &str| (name == "SELENITE_CONFIG").then(|| path.clone().into_os_string());
    let error = Config::load(&env).unwrap_err();
    assert!(matches!(&error, KeyError::BadConfig { .. }), "{error}");
    let said = "missing.toml: SELENITE_CONFIG names this file, and it does not exist";
    assert!(error.to_string().ends_with(said), "{error}");
}

#[test]
fn a_configuration_that_is_cut_off_or_damaged_is_taken_or_refused() {
    let whole = "identity = 'age:/k'\nkeyring = '/r'\n[commands]\nkms = ['a', \"b\"]\n";
    for end in 0..whole.len() {
        let _ = parsed(&whole[..end]);
        for byte in ['\0', '\'', '[', '=', '\u{e9}'] {
            let _ = parsed(&format!("{}{byte}{}", &whole[..end], &whole[end + 1..]));
        }
    }
}

#[test]
fn passphrase_cost_max_is_at_least_1() {
    assert_eq!(parsed("").unwrap().passphrase_cost_max(), 4);
    assert_eq!(parsed("passphrase_cost_max = 86").unwrap().passphrase_cost_max(), 86);
    for value in ["0", "-1", "1.5", "'4'", "5000000000"] {
        assert!(
            complaint(&format!("passphrase_cost_max = {value}")).contains("must be a number of at least 1"),
            "{value}"
        );
    }
}

#[test]
fn a_configuration_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.toml");
    fs::write(&path, "[commands]\nkms = '/bin/true'").unwrap();
    let env = |name: &str| (name == "SELENITE_CONFIG").then(|| path.clone().into_os_string());
    for (mode, is_refused) in [(0o600, false), (0o644, false), (0o777, true), (0o666, true)] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let loaded = Config::load(&env);
        assert_eq!(
            matches!(loaded, Err(KeyError::Untrusted { .. })),
            is_refused,
            "{mode:o}"
        );
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let error = Config::load(&env).unwrap_err();
    assert!(
        matches!(&error, KeyError::Untrusted { path, .. } if path == folder.path()),
        "{error}"
    );
}
