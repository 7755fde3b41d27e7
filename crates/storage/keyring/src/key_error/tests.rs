//! Tests of error messages and advice.

use std::error::Error;

use super::*;

fn io_error() -> io::Error {
    io::ErrorKind::NotFound.into()
}

fn all() -> Vec<KeyError> {
    let mut all = simple();
    all.extend(detailed());
    all.extend(named());
    let away = |failure| KeyError::KeyServiceUnavailable {
        service: "x".to_owned(),
        failure,
    };
    let refused = |refusal| KeyError::KeyRefused {
        slot: SlotId([1; 16]),
        refusal,
    };
    let failures = [
        ServiceFailure::Io(io_error()),
        ServiceFailure::TimedOut(Duration::from_secs(10)),
        ServiceFailure::Exited(ExitStatus::default()),
        ServiceFailure::StatusLost,
        ServiceFailure::AnswerTooLong(1),
        ServiceFailure::AnswerSize(1),
        ServiceFailure::RoundTripFailed,
        ServiceFailure::NotInstalled,
        ServiceFailure::Refused,
    ];
    all.extend(failures.map(away));
    all.extend(
        [
            Refusal::Cost,
            Refusal::CostLimit,
            Refusal::CostOfAll,
            Refusal::Size,
            Refusal::OutOfMemory,
        ]
        .map(refused),
    );
    all
}

fn simple() -> Vec<KeyError> {
    vec![
        KeyError::NoKey,
        KeyError::NoKeyToMake,
        KeyError::WrongKey,
        KeyError::Damaged,
        KeyError::NotEncrypted,
        KeyError::Retired,
        KeyError::LastSlot,
        KeyError::NoRecipient,
        KeyError::TooManySlots,
        KeyError::GenerationExhausted,
        KeyError::UnderWay,
        KeyError::NotUnderWay,
        KeyError::NothingToChange,
    ]
}

fn named() -> Vec<KeyError> {
    let text = || "x".to_owned();
    vec![
        KeyError::BadRecipient {
            text: text(),
            problem: "y",
        },
        KeyError::UnknownRecipient {
            text: text(),
            source: io_error(),
        },
        KeyError::NoSuchSlot { wanted: text() },
        KeyError::AmbiguousSlot {
            wanted: text(),
            slots: Vec::new(),
        },
    ]
}

fn detailed() -> Vec<KeyError> {
    let (path, text) = (PathBuf::from("p"), || "x".to_owned());
    let database_id = DatabaseId([1; 16]);
    let tampered = FormatError::Tampered { what: "state" };
    vec![
        KeyError::Tampered {
            what: "its MAC",
            source: None,
        },
        KeyError::Tampered {
            what: "state",
            source: Some(tampered),
        },
        KeyError::UnsupportedVersion { version: 2 },
        KeyError::DatabaseReplaced { database_id },
        KeyError::NotListed { database_id },
        KeyError::ExportedElsewhere {
            exported: database_id,
            database: DatabaseId([2; 16]),
        },
        KeyError::ExportedOther {
            exported: 1,
            database: 2,
        },
        KeyError::BadSpec {
            spec: text(),
            problem: "y",
        },
        KeyError::UnknownCommand {
            name: text(),
            nearest: Some(text()),
        },
        KeyError::BadFile {
            path: path.clone(),
            line: Some(3),
            problem: "y".into(),
        },
        KeyError::BadConfig {
            path: path.clone(),
            line: Some(3),
            problem: "y".into(),
        },
        KeyError::Untrusted {
            path: path.clone(),
            problem: Distrust::OtherOwner,
        },
        KeyError::Untrusted {
            path: path.clone(),
            problem: Distrust::OthersWrite,
        },
        KeyError::Elevated { what: "a command" },
        KeyError::NotApproved {
            what: "the suite CHACHA20".to_owned(),
        },
        KeyError::Io {
            verb: "read",
            path,
            source: io_error(),
        },
        KeyError::CannotWrap {
            recipient: text(),
            problem: "y",
        },
        KeyError::Unencodable(FormatError::TooLarge { size: 1 }),
    ]
}

#[test]
fn messages_and_advice_are_one_line_without_a_full_stop() {
    for error in all() {
        for text in [error.to_string(), error.advice().into_owned()] {
            assert!(
                !text.is_empty() && !text.contains('\n') && !text.ends_with('.'),
                "{text}"
            );
            let first = text.chars().next().unwrap();
            assert!(!first.is_uppercase(), "{text}");
        }
    }
}

#[test]
fn the_source_is_kept() {
    let count = all().iter().filter(|error| error.source().is_some()).count();
    assert_eq!(count, 5);
}
