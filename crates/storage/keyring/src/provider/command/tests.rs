//! Tests of external commands, with shell scripts as key services. They wait for processes only, not for time.

use std::io::{Read, pipe};
use std::os::fd::AsRawFd;

use super::*;
use crate::fixture::{DATABASE, MASTER, ROTATE, SLOT, command, master, slot_of};

fn service(script: &str) -> CommandIdentity {
    *command(script)
}

fn slot() -> Slot {
    slot_of(
        SlotKind::Command,
        service(ROTATE).wrap(DATABASE, SLOT, &master()).unwrap(),
    )
}

fn failure(error: KeyError) -> ServiceFailure {
    let KeyError::KeyServiceUnavailable { service, failure } = error else {
        panic!("{error:?}")
    };
    assert_eq!(service, "kms");
    failure
}

fn wrap_failure(script: &str) -> ServiceFailure {
    failure(service(script).wrap(DATABASE, SLOT, &master()).unwrap_err())
}

fn unwrap_failure(script: &str) -> ServiceFailure {
    failure(service(script).unwrap(DATABASE, &slot()).err().unwrap())
}

#[test]
fn a_command_unwraps_what_it_wrapped() {
    let slot = slot();
    assert_eq!(slot.identifier, b"kms");
    assert_ne!(slot.wrapped[32..], MASTER);
    assert_eq!(service(ROTATE).unwrap(DATABASE, &slot).unwrap().expose(), &MASTER);
}

#[test]
fn a_check_finds_a_command_that_does_not_unwrap_what_it_wrapped() {
    service(ROTATE).check().unwrap();
    for script in ["exit 3", "cat", "test $1 = wrap && base64"] {
        failure(service(script).check().unwrap_err());
    }
}

#[test]
fn a_command_gets_wrap_or_unwrap_as_its_last_argument() {
    let script = format!("test \"$1 $2\" = 'my key wrap' -o \"$1 $2\" = 'my key unwrap' && {ROTATE}");
    let argv = ["sh", "-c", &script, "sh", "my key"].map(str::to_owned);
    CommandIdentity::new("kms", &argv)
        .wrap(DATABASE, SLOT, &master())
        .unwrap();
}

#[test]
fn a_command_is_tried_only_for_slots_that_name_it() {
    let slot = slot();
    assert!(service(ROTATE).can_open(&slot));
    let other = CommandIdentity::new("vault", &[]);
    assert!(!other.can_open(&slot));
    assert!(!other.owns(DATABASE, &slot).unwrap());
}

#[test]
fn a_command_that_hangs_times_out() {
    for script in [
        "exec sleep 1000",
        "exec sleep 1000 >&-",
        "sleep 1000 <&0 & trap '' TERM; wait",
    ] {
        let hanging = service(script).with_time_limit(Duration::from_millis(50));
        let error = hanging.unwrap(DATABASE, &slot()).err().unwrap();
        assert!(matches!(failure(error), ServiceFailure::TimedOut(_)), "{script}");
    }
}

#[test]
fn an_abandoned_command_is_killed_with_its_children() {
    // The script and its child hold one of our pipes open; reading it ends only when both have
    // ended. The command is abandoned because of its endless answer, which begins when the child is
    // running: no clock is involved.
    let (mut reader, writer) = pipe().unwrap();
    let held = format!("/proc/{}/fd/{}", std::process::id(), writer.as_raw_fd());
    let script = format!("exec 9>{held}; echo ready >&9; sleep 1000 & exec yes");
    assert!(matches!(unwrap_failure(&script), ServiceFailure::AnswerTooLong(65536)));
    drop(writer);
    let mut seen = String::new();
    reader.read_to_string(&mut seen).unwrap();
    assert_eq!(seen, "ready\n");
}

#[test]
fn a_command_ends_even_if_its_child_keeps_stdout_open() {
    let script = format!("{ROTATE}; sleep 1000 &");
    assert_eq!(service(&script).unwrap(DATABASE, &slot()).unwrap().expose(), &MASTER);
}

#[test]
fn a_command_ends_even_if_a_daemon_of_it_keeps_stdout_open() {
    // The daemon ends with our pipe; the command ends when the daemon has left its group.
    let (held, writer) = pipe().unwrap();
    let (ready, told) = pipe().unwrap();
    let [held_path, ready_path, told_path] = [held.as_raw_fd(), ready.as_raw_fd(), told.as_raw_fd()]
        .map(|descriptor| format!("/proc/{}/fd/{descriptor}", std::process::id()));
    let script =
        format!("{ROTATE}; setsid sh -c 'echo ready >{told_path}; exec cat {held_path}' & read line <{ready_path}");
    assert_eq!(service(&script).unwrap(DATABASE, &slot()).unwrap().expose(), &MASTER);
    drop(writer);
}

#[test]
fn a_command_that_fails_gives_its_status_and_never_its_output() {
    let secret = "do-not-tell";
    let script = format!("cat >/dev/null; echo {secret}; echo {secret} >&2; exit 3");
    let error = service(&script).unwrap(DATABASE, &slot()).err().unwrap();
    let text = format!("{error} {error:?} {}", error.advice());
    assert!(text.contains("exit status: 3"), "{text}");
    assert!(!text.contains(secret), "{text}");
    assert!(matches!(unwrap_failure("kill -9 $$"), ServiceFailure::Exited(_)));
    assert!(matches!(unwrap_failure("exit 1"), ServiceFailure::Exited(_)));
}

#[test]
fn stderr_output_and_unread_stdin_are_ignored() {
    let script = format!("yes | head -c 1000000 >&2; {ROTATE}; yes | head -c 1000000 >&2");
    assert_eq!(service(&script).unwrap(DATABASE, &slot()).unwrap().expose(), &MASTER);
    assert!(matches!(
        unwrap_failure("exec <&-; printf x"),
        ServiceFailure::AnswerSize(1)
    ));
}

#[test]
fn a_command_that_can_not_be_run_is_an_error() {
    let missing = CommandIdentity::new("kms", &["/nonexistent/kms".to_owned()]);
    let error = missing.unwrap(DATABASE, &slot()).err().unwrap();
    assert!(
        error.to_string().starts_with("key service \"kms\" could not be run: "),
        "{error}"
    );
    let empty = CommandIdentity::new("kms", &[]);
    assert!(matches!(
        failure(empty.unwrap(DATABASE, &slot()).err().unwrap()),
        ServiceFailure::Io(_)
    ));
}

#[test]
fn a_command_that_answers_another_size_or_too_much_is_refused() {
    assert!(matches!(
        unwrap_failure("cat >/dev/null"),
        ServiceFailure::AnswerSize(0)
    ));
    assert!(matches!(
        unwrap_failure("cat; printf x"),
        ServiceFailure::AnswerSize(65)
    ));
    assert!(matches!(
        unwrap_failure("head -c 65536 /dev/zero"),
        ServiceFailure::AnswerSize(65536)
    ));
    assert!(matches!(
        unwrap_failure("cat /dev/zero"),
        ServiceFailure::AnswerTooLong(65536)
    ));
    assert!(matches!(wrap_failure("cat >/dev/null"), ServiceFailure::AnswerSize(0)));
    assert!(matches!(
        wrap_failure("head -c 8193 /dev/zero"),
        ServiceFailure::AnswerSize(8193)
    ));
}

#[test]
fn a_command_that_answers_another_plaintext_has_another_key() {
    let is_other = |error: &KeyError| {
        let refusal = Refusal::OtherKey;
        matches!(error, KeyError::KeyRefused { refusal: found, .. } if *found == refusal)
    };
    for script in ["head -c 64 /dev/zero", &format!("{ROTATE} | tr '\\321' '\\322'")] {
        let error = service(script).unwrap(DATABASE, &slot()).err().unwrap();
        assert!(is_other(&error), "{script}: {error}");
    }
    let error = service(ROTATE).unwrap(DatabaseId([9; 16]), &slot()).err().unwrap();
    assert!(is_other(&error), "{error}");
}

#[test]
fn a_command_that_does_not_return_the_key_makes_no_slot() {
    for script in [
        "cat",
        "printf head; cat; printf tail",
        "head -c 100 /dev/zero",
        "if [ \"$1\" = wrap ]; then printf lost; else head -c 64 /dev/zero; fi",
    ] {
        assert!(
            matches!(wrap_failure(script), ServiceFailure::RoundTripFailed),
            "{script}"
        );
    }
}

#[test]
fn the_fingerprint_depends_on_every_word() {
    let of = |name: &str, argv: &[&str]| {
        let argv: Vec<String> = argv.iter().map(|&word| word.to_owned()).collect();
        CommandIdentity::new(name, &argv).fingerprint()
    };
    let all = [
        of("a", &["b", "c"]),
        of("a", &["bc"]),
        of("ab", &["c"]),
        of("a", &["b", "c", ""]),
    ];
    for (index, one) in all.iter().enumerate() {
        assert!(!all[index + 1..].contains(one));
    }
}
