//! Loads the identities and recipients of a spec. This is the only module that knows all providers.

use std::io;
use std::path::Path;

use crate::provider::age::{AgeRecipient, identity_file};
use crate::provider::command::CommandIdentity;
use crate::provider::held::load_held;
use crate::provider::passphrase::PassphraseIdentity;
use crate::provider::raw::RawIdentity;
use crate::spec::holds_age_secret;
use crate::{Config, Identity, KeyError, OriginProof, Recipient, Spec, platform, secret_file};

/// Loads the identities of a spec ([`Spec`]): one, or all of an age identity file.
///
/// `BadSpec` and `UnknownCommand` if there is none, `Io` and `BadFile` if a file is not valid.
pub fn load_identity(spec: &str, config: &Config) -> Result<Vec<Box<dyn Identity>>, KeyError> {
    load(&spec.parse()?, config)
}

/// Parses a recipient: `age1...`, or the spec of exactly one identity.
///
/// `BadRecipient` or `UnknownRecipient` if there is none; else the errors of [`load_identity`].
pub fn parse_recipient(spec: &str, config: &Config) -> Result<Box<dyn Recipient>, KeyError> {
    if spec.starts_with("age1") {
        let recipient = spec.parse::<AgeRecipient>()?;
        if config.is_elevated() && recipient.needs_plugin() {
            return Err(PLUGIN_REFUSED);
        }
        return Ok(Box::new(recipient));
    }
    let several = "contains several identities: give the recipient (age1...)";
    let mut identities = load_identity(spec, config).map_err(|error| unknown_recipient(spec, error))?;
    match (identities.pop(), identities.is_empty()) {
        (Some(identity), true) => Ok(identity),
        _ => Err(KeyError::BadRecipient {
            text: spec.to_owned(),
            problem: several,
        }),
    }
}

/// The error for text without a prefix, which may be intended as something other than a file: a mail address, a name.
fn unknown_recipient(text: &str, error: KeyError) -> KeyError {
    let is_bare = matches!(text.parse(), Ok(Spec::Detected(_)));
    if let KeyError::Io { verb, path, source } = error {
        if source.kind() == io::ErrorKind::NotFound && is_bare {
            let text = text.to_owned();
            return KeyError::UnknownRecipient { text, source };
        }
        return KeyError::Io { verb, path, source };
    }
    error
}

/// As [`parse_recipient`]; but if the text is the recipient of one of `identities`, the result is
/// that identity. Its secret is available, so a slot made for it gets an origin mark (FORMAT 4.7).
pub fn parse_recipient_of(
    spec: &str,
    config: &Config,
    identities: Vec<Box<dyn Identity>>,
) -> Result<Box<dyn Recipient>, KeyError> {
    let parsed = parse_recipient(spec, config)?;
    let own = identities
        .into_iter()
        .find(|identity| identity.origin_proof() == OriginProof::Token && identity.describe() == parsed.describe());
    Ok(own.map_or(parsed, |identity| identity as Box<dyn Recipient>))
}

/// Loads the identities of a parsed spec, such as [`Config::identity`].
pub fn load(spec: &Spec, config: &Config) -> Result<Vec<Box<dyn Identity>>, KeyError> {
    match spec {
        Spec::Detected(path) => detected(path, config),
        Spec::Age(path) => of_age(path, &read(path)?, config),
        Spec::Raw(path) => one(RawIdentity::from_file(path, &read(path)?)?),
        Spec::Passphrase(path) => {
            let identity = PassphraseIdentity::from_file(path, &read(path)?)?;
            one(identity.with_cost_max(config.passphrase_cost_max()))
        }
        Spec::Held(token) => load_held(spec, *token),
        Spec::Command(_) if config.is_elevated() => Err(KeyError::Elevated { what: "a key command" }),
        Spec::Command(name) => one(CommandIdentity::new(name, config.command(name)?)),
    }
}

/// The file of a spec that users other than its owner can read, if any.
pub fn readable_by_others(spec: &Spec) -> Option<&Path> {
    match spec {
        Spec::Detected(path) | Spec::Age(path) | Spec::Raw(path) | Spec::Passphrase(path) => {
            platform::is_readable_by_others(path).then_some(path)
        }
        Spec::Held(_) | Spec::Command(_) => None,
    }
}

fn of_age(path: &Path, contents: &[u8], config: &Config) -> Result<Vec<Box<dyn Identity>>, KeyError> {
    let parsed = identity_file::parse(path, contents)?;
    if config.is_elevated() && parsed.has_plugin {
        return Err(PLUGIN_REFUSED);
    }
    Ok(parsed.identities)
}

fn detected(path: &Path, config: &Config) -> Result<Vec<Box<dyn Identity>>, KeyError> {
    let contents = read(path)?;
    let unclear = |problem: &'static str| KeyError::BadFile {
        path: path.to_owned(),
        line: None,
        problem: problem.into(),
    };
    if std::str::from_utf8(&contents).is_ok_and(holds_age_secret) {
        return of_age(path, &contents, config);
    }
    if contents.len() != RAW_KEY_SIZE {
        return Err(unclear(
            "neither an age identity nor a raw key of 32 bytes: use passphrase:PATH for a passphrase",
        ));
    }
    if is_text(&contents) {
        return Err(unclear(
            "32 bytes of text: use raw:PATH for a key, passphrase:PATH for a passphrase",
        ));
    }
    one(RawIdentity::from_file(path, &contents)?)
}

/// Whether the contents were probably typed. One random key in 10^13 is mistaken for text.
fn is_text(contents: &[u8]) -> bool {
    contents
        .iter()
        .all(|byte| byte.is_ascii_graphic() || byte.is_ascii_whitespace())
}

fn one(identity: impl Identity + 'static) -> Result<Vec<Box<dyn Identity>>, KeyError> {
    Ok(vec![Box::new(identity)])
}

fn read(path: &Path) -> Result<zeroize::Zeroizing<Vec<u8>>, KeyError> {
    secret_file::read_trusted(path, KEY_FILE_SIZE_MAX)
}

/// 64 KiB: hundreds of age identities.
const KEY_FILE_SIZE_MAX: usize = 65536;
const RAW_KEY_SIZE: usize = 32;
/// Plugins are searched in PATH.
const PLUGIN_REFUSED: KeyError = KeyError::Elevated { what: "an age plugin" };

#[cfg(test)]
mod tests {
    use std::fs;

    use selenite_format::SlotKind;

    use super::*;
    use crate::keygen;

    fn file(folder: &tempfile::TempDir, name: &str, contents: &[u8]) -> String {
        let path = folder.path().join(name);
        fs::write(&path, contents).unwrap();
        path.display().to_string()
    }

    fn kinds(spec: &str) -> Vec<SlotKind> {
        let identities = load_identity(spec, &Config::default()).unwrap();
        identities.iter().map(|identity| identity.kind()).collect()
    }

    fn complaint(spec: &str) -> String {
        load_identity(spec, &Config::default()).unwrap_err().to_string()
    }

    #[test]
    fn the_kind_of_a_path_is_detected_from_its_content() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (keygen(0), keygen(0));
        let age = file(&folder, "age", format!("{}{}", *one.text, *two.text).as_bytes());
        assert_eq!(kinds(&age), [SlotKind::Age, SlotKind::Age]);
        let raw = file(&folder, "raw", &[0xee; 32]);
        assert_eq!(kinds(&raw), [SlotKind::Raw]);
        for contents in [&b""[..], b"a passphrase\n", &[0xee; 31], &[0xee; 33]] {
            let path = file(&folder, "other", contents);
            assert!(complaint(&path).contains("use passphrase:PATH"), "{contents:?}");
        }
        let text = file(&folder, "text", b"thirty-one letters and a newline");
        assert!(complaint(&text).contains("use raw:PATH for"));
    }

    #[test]
    fn a_prefix_overrides_the_content() {
        let folder = tempfile::tempdir().unwrap();
        let text = file(&folder, "text", b"thirty-one letters and a newline");
        assert_eq!(kinds(&format!("raw:{text}")), [SlotKind::Raw]);
        assert_eq!(kinds(&format!("passphrase:{text}")), [SlotKind::Passphrase]);
        assert!(complaint(&format!("age:{text}")).contains("line 1: not an age identity"));
        let long = file(&folder, "long", &vec![b'x'; 65537]);
        assert!(complaint(&format!("raw:{long}")).contains("more than 65536 bytes"));
        assert!(complaint(&format!("raw:{text}.no")).starts_with("can't read "));
    }

    #[test]
    fn a_command_is_looked_up_in_the_configuration() {
        let config = Config::default().with_command("kms", &["/bin/true"]);
        let identities = load_identity("command:kms", &config).unwrap();
        assert_eq!(identities[0].describe(), "command kms");
        let error = load_identity("command:kmz", &config).unwrap_err();
        assert!(matches!(error, KeyError::UnknownCommand { .. }), "{error}");
    }

    #[test]
    fn a_process_with_elevated_rights_runs_no_program_for_its_keys() {
        let folder = tempfile::tempdir().unwrap();
        let config = Config::elevated().with_command("kms", &["/bin/true"]);
        let refused = |spec: &str| {
            let error = load_identity(spec, &config).unwrap_err();
            assert!(matches!(error, KeyError::Elevated { .. }), "{spec}: {error}");
        };
        refused("command:kms");
        let plugin = "AGE-PLUGIN-FAKE-18YX8DC";
        let path = file(&folder, "plugin", format!("{plugin}\n").as_bytes());
        load_identity(&path, &Config::default()).unwrap();
        refused(&path);
        refused(&format!("age:{path}"));
        let one = keygen(0);
        let path = file(&folder, "one", one.text.as_bytes());
        load_identity(&path, &config).unwrap();
        let error = parse_recipient(
            "age1yubikey1qwt50d05nh5vutpdzmlg5wn80xq5negm4uj9ghv0snvdd3yysf5yw3rhl3t",
            &config,
        );
        assert!(matches!(error.unwrap_err(), KeyError::Elevated { .. }));
        parse_recipient(&one.recipient, &config).unwrap();
    }

    #[test]
    fn a_key_file_that_others_can_write_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, "raw", &[0xee; 32]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        for spec in [
            path.clone(),
            format!("raw:{path}"),
            format!("passphrase:{path}"),
            format!("age:{path}"),
        ] {
            let error = load_identity(&spec, &Config::default()).unwrap_err();
            assert!(matches!(error, KeyError::Untrusted { .. }), "{spec}: {error}");
        }
        assert_eq!(readable_by_others(&path.parse().unwrap()), Some(Path::new(&path)));
    }

    #[test]
    fn a_recipient_is_an_age_recipient_or_one_identity() {
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (keygen(0), keygen(0));
        let config = Config::default();
        let describe = |spec: &str| parse_recipient(spec, &config).map(|found| found.describe());
        assert_eq!(describe(&one.recipient).unwrap(), one.recipient);
        let path = file(&folder, "one", one.text.as_bytes());
        assert_eq!(describe(&path).unwrap(), one.recipient);
        let path = file(&folder, "two", format!("{}{}", *one.text, *two.text).as_bytes());
        assert!(describe(&path).unwrap_err().to_string().contains("several"));
        let error = parse_recipient("bob@example.com", &config).err().unwrap();
        assert!(matches!(error, KeyError::UnknownRecipient { .. }), "{error}");
        assert!(
            error
                .to_string()
                .starts_with("\"bob@example.com\" is neither a recipient nor a file")
        );
        assert!(error.advice().contains("age1..."), "{}", error.advice());
        assert!(
            describe("age1nonsense")
                .unwrap_err()
                .to_string()
                .contains("not an age recipient")
        );
    }
}
