//! Tests of age keys and plugins.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::identity_file::{keygen, parse};
use super::*;
use crate::fixture::{DATABASE, MASTER, SLOT, master, slot_of};
use crate::key_error::ServiceFailure;

const SECRET: &str = "AGE-SECRET-KEY-1GQ9778VQXMMJVE8SK7J6VT8UJ4HDQAJUVSFCWCM02D8GEWQ72PVQ2Y5J33";
const PUBLIC: &str = "age1t7rxyev2z3rw82stdlrrepyc39nvn86l5078zqkf5uasdy86jp6svpy7pa";
const FAKE_RECIPIENT: &str = "age1fake1qqqqqqqqxcpc7l";
const FAKE_IDENTITY: &str = "AGE-PLUGIN-FAKE-18YX8DC";
const OTHER_IDENTITY: &str = "AGE-PLUGIN-OTHER-1W258LR";

fn identities(text: &str) -> Vec<Box<dyn Identity>> {
    parse(Path::new("k"), text.as_bytes()).unwrap().identities
}

fn complaint(text: &str) -> String {
    parse(Path::new("k"), text.as_bytes()).unwrap_err().to_string()
}

fn slot_for(recipient: &dyn Recipient) -> Slot {
    slot_of(SlotKind::Age, recipient.wrap(DATABASE, SLOT, &master()).unwrap())
}

#[test]
fn an_age_key_unwraps_what_was_wrapped_for_its_recipient() {
    let identity = identities(SECRET).remove(0);
    assert_eq!(identity.describe(), PUBLIC);
    let recipient: AgeRecipient = PUBLIC.parse().unwrap();
    for slot in [slot_for(&recipient), slot_for(identity.as_ref())] {
        assert_eq!(slot.identifier, PUBLIC.as_bytes());
        assert!(slot.wrapped.starts_with(b"age-encryption.org/v1\n"));
        assert!(identity.is_named_by(&slot) && identity.owns(DATABASE, &slot).unwrap());
        assert_eq!(identity.unwrap(DATABASE, &slot).unwrap().expose(), &MASTER);
    }
}

#[test]
fn another_age_key_database_or_place_is_the_wrong_key() {
    let slot = slot_for(&PUBLIC.parse::<AgeRecipient>().unwrap());
    let other = identities(&keygen(0).text).remove(0);
    assert!(!other.is_named_by(&slot));
    let moved = Slot {
        id: SlotId([9; 16]),
        ..slot.clone()
    };
    let own = identities(SECRET).remove(0);
    for error in [
        other.unwrap(DATABASE, &slot).err().unwrap(),
        own.unwrap(DatabaseId([9; 16]), &slot).err().unwrap(),
        own.unwrap(DATABASE, &moved).err().unwrap(),
    ] {
        assert!(matches!(error, KeyError::WrongKey), "{error}");
    }
}

#[test]
fn a_hostile_age_file_is_the_wrong_key() {
    let own = identities(SECRET).remove(0);
    let slot = slot_for(own.as_ref());
    let unwrap = |wrapped: Vec<u8>| {
        own.unwrap(
            DATABASE,
            &Slot {
                wrapped,
                ..slot.clone()
            },
        )
    };
    for length in 0..slot.wrapped.len() {
        assert!(
            matches!(unwrap(slot.wrapped[..length].to_vec()), Err(KeyError::WrongKey)),
            "{length}"
        );
    }
    for index in 0..slot.wrapped.len() {
        let mut wrapped = slot.wrapped.clone();
        wrapped[index] ^= 1;
        assert!(matches!(unwrap(wrapped), Err(KeyError::WrongKey)), "{index}");
    }
    // Correctly sealed to this key, but not 64 bytes.
    let public: x25519::Recipient = PUBLIC.parse().unwrap();
    for size in [0, 63, 65, 1000] {
        assert!(matches!(
            unwrap(age::encrypt(&public, &vec![7; size]).unwrap()),
            Err(KeyError::WrongKey)
        ));
    }
}

#[test]
fn an_identity_file_holds_keys_comments_and_empty_lines() {
    let new = keygen(1_735_689_599);
    let text = format!("\n# a comment\r\n{SECRET}\r\n\n{}  {FAKE_IDENTITY}\n", *new.text);
    let found: Vec<String> = identities(&text).iter().map(|one| one.describe()).collect();
    assert_eq!(found, [PUBLIC, new.recipient.as_str(), "age plugin fake"]);
}

#[test]
fn keygen_writes_what_age_keygen_does() {
    let new = keygen(1_735_689_599);
    let lines: Vec<&str> = new.text.lines().collect();
    assert_eq!(lines[0], "# created: 2024-12-31T23:59:59Z");
    assert_eq!(lines[1], format!("# public key: {}", new.recipient));
    assert!(lines[2].starts_with("AGE-SECRET-KEY-1"));
    assert_eq!((lines.len(), new.text.capacity()), (3, 512));
    assert_eq!(identities(&new.text)[0].describe(), new.recipient);
    assert_ne!(keygen(0).recipient, new.recipient);
}

#[test]
fn a_bad_line_is_reported_by_number_and_never_shown() {
    let broken = &SECRET[..SECRET.len() - 1];
    assert_eq!(
        complaint(&format!("# x\n{broken}\n")),
        "k, line 2: a damaged age identity, or an unsupported kind"
    );
    assert!(complaint(&format!("{SECRET}\nhunter2")).ends_with("line 2: not an age identity"));
    assert!(complaint(PUBLIC).contains("line 1: a recipient (public key)"));
    assert!(complaint("age-encryption.org/v1\n...").contains("encrypted: decrypt it"));
    assert!(complaint("-----BEGIN AGE ENCRYPTED FILE-----").contains("encrypted: decrypt it"));
    assert_eq!(complaint("# nothing\n"), "k: contains no age identity");
    let binary = parse(Path::new("k"), b"\xff").unwrap_err();
    assert!(binary.to_string().contains("UTF-8"));
}

#[test]
fn a_recipient_is_native_or_a_plugins() {
    for text in [PUBLIC, FAKE_RECIPIENT] {
        assert_eq!(text.parse::<AgeRecipient>().unwrap().text(), text);
    }
    let long = format!("age1{}", "q".repeat(600));
    for text in ["age1", "age1qqq", SECRET, "", &PUBLIC[..60], &long] {
        let error = text.parse::<AgeRecipient>().err().unwrap();
        assert!(matches!(error, KeyError::BadRecipient { .. }), "{text}");
    }
}

#[test]
fn only_a_native_recipient_is_taken_from_a_slot() {
    let slot = slot_for(&PUBLIC.parse::<AgeRecipient>().unwrap());
    assert!(AgeRecipient::native_of(&slot).is_some());
    for identifier in [FAKE_RECIPIENT.as_bytes(), b"", b"age1\xff"] {
        assert!(
            AgeRecipient::native_of(&Slot {
                identifier: identifier.to_vec(),
                ..slot.clone()
            })
            .is_none()
        );
    }
    assert!(
        AgeRecipient::native_of(&Slot {
            kind: SlotKind::Raw,
            ..slot
        })
        .is_none()
    );
}

#[test]
fn a_missing_plugin_is_an_unavailable_service() {
    let recipient: AgeRecipient = FAKE_RECIPIENT.parse().unwrap();
    let slot = slot_for(&PUBLIC.parse::<AgeRecipient>().unwrap());
    for error in [
        recipient.wrap(DATABASE, SLOT, &master()).unwrap_err(),
        identities(FAKE_IDENTITY)[0].unwrap(DATABASE, &slot).err().unwrap(),
    ] {
        let KeyError::KeyServiceUnavailable {
            service,
            failure: ServiceFailure::NotInstalled,
        } = error
        else {
            panic!("{error:?}");
        };
        assert_eq!(service, "age-plugin-fake");
    }
}

#[test]
fn a_plugin_identity_wraps_only_if_a_comment_has_its_recipient() {
    let without = identities(FAKE_IDENTITY).remove(0);
    let error = without.wrap(DATABASE, SLOT, &master()).unwrap_err();
    assert!(matches!(error, KeyError::CannotWrap { .. }), "{error}");
    let with = identities(&format!("#    Recipient: {FAKE_RECIPIENT}\n{FAKE_IDENTITY}"));
    assert_eq!(with[0].describe(), FAKE_RECIPIENT);
    let of_another = identities(&format!("# Recipient: {FAKE_RECIPIENT}\n{OTHER_IDENTITY}"));
    assert_eq!(of_another[0].describe(), "age plugin other");
}

/// Plugins are found in PATH, which a test cannot change for itself: it runs itself again with another PATH.
#[test]
fn a_plugin_wraps_and_unwraps() {
    const AGAIN: &str = "SELENITE_TEST_WITH_PLUGIN";
    if std::env::var_os(AGAIN).is_some() {
        return plugin_round_trip();
    }
    let folder = tempfile::tempdir().unwrap();
    let plugin = folder.path().join("age-plugin-fake");
    fs::write(&plugin, FAKE_PLUGIN).unwrap();
    fs::set_permissions(&plugin, fs::Permissions::from_mode(0o700)).unwrap();
    let mut path = folder.path().as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap());
    let again = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "provider::age::tests::a_plugin_wraps_and_unwraps"])
        .env(AGAIN, "1")
        .env("PATH", path)
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && output.contains("1 passed"), "{output}");
}

fn plugin_round_trip() {
    let identity = identities(&format!("# recipient: {FAKE_RECIPIENT}\n{FAKE_IDENTITY}")).remove(0);
    let slot = slot_for(identity.as_ref());
    assert_eq!(slot.identifier, FAKE_RECIPIENT.as_bytes());
    assert!(identity.is_named_by(&slot) && identity.owns(DATABASE, &slot).unwrap());
    assert_eq!(identity.unwrap(DATABASE, &slot).unwrap().expose(), &MASTER);

    let not_its_own = slot_for(&PUBLIC.parse::<AgeRecipient>().unwrap());
    assert!(identity.can_open(&not_its_own) && !identity.is_named_by(&not_its_own));
    let error = identity.unwrap(DATABASE, &not_its_own).err().unwrap();
    assert!(matches!(error, KeyError::WrongKey), "{error}");
}

/// A plugin (<https://c2sp.org/age-plugin>) that wraps a file key as itself.
const FAKE_PLUGIN: &str = "#!/bin/sh
while read -r line; do
    case \"$line\" in
    '-> wrap-file-key') read -r key ;;
    '-> recipient-stanza 0 fake') read -r key ;;
    '-> done') read -r empty; break ;;
    esac
done
if [ -n \"$key\" ]; then
    case \"$1\" in
    --age-plugin=recipient-v1) printf -- '-> recipient-stanza 0 fake\\n%s\\n' \"$key\" ;;
    --age-plugin=identity-v1) printf -- '-> file-key 0\\n%s\\n' \"$key\" ;;
    esac
    read -r ok; read -r empty
fi
printf -- '-> done\\n\\n'
";
