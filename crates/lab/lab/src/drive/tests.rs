use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use selenite_worker::protocol::{Control, DatabaseSpec, Digest, Done, PLAIN, PROTOCOL, Request, Sample, Workload};

use super::*;

/// Long enough for a busy machine.
const LIMIT: Duration = Duration::from_secs(60);
/// Short enough to wait for.
const SHORT: Duration = Duration::from_millis(100);
const HELLO: &str =
    r#"{"ok":{"protocol":5,"engine":"fake","library":"sh","sqlite_version":"3","sqlite_source_id":"x","ciphers":[]}}"#;

/// A worker in sh, which runs `body` for each line.
fn fake(body: &str) -> WorkerCommand {
    let script = format!("while read -r line; do {body}; done");
    WorkerCommand {
        args: vec!["-c".to_owned(), script],
        environment: [("HELLO".to_owned(), HELLO.to_owned())].into(),
        ..WorkerCommand::new("/bin/sh")
    }
}

/// A worker in sh that answers `hello`, and runs `cases` of sh for other requests.
fn polite(cases: &str) -> WorkerCommand {
    let rest = r#"*quit*) exit 0;; *) echo '{"ok":{}}';;"#;
    fake(&format!(
        r#"case "$line" in *hello*) echo "$HELLO";; {cases} {rest} esac"#
    ))
}

fn hello_error(command: &WorkerCommand, limit: Duration) -> DriveError {
    Worker::start(command).unwrap().hello(limit).unwrap_err()
}

/// Whether a process exists, possibly as a zombie.
fn is_there(pid: u32) -> bool {
    Path::new(&format!("/proc/{pid}")).exists()
}

/// Waits for the end of a killed process, which only its new parent can reap.
fn wait_until_gone(pid: u32) {
    let deadline = Instant::now() + LIMIT;
    let state = || std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    while !state().is_empty() && !state().contains(") Z ") {
        assert!(Instant::now() < deadline, "process {pid} lives on");
        std::thread::yield_now();
    }
}

fn spec() -> DatabaseSpec {
    DatabaseSpec {
        path: PathBuf::from("x.db"),
        cipher: PLAIN.to_owned(),
        key_file: PathBuf::new(),
        settings: BTreeMap::new(),
        page_size: 4096,
        cache_kib: 2048,
        journal_mode: "wal".to_owned(),
        synchronous: "normal".to_owned(),
    }
}

fn sample(began_ns: u64, elapsed_ns: u64, answer: &str) -> Sample {
    Sample {
        began_ns,
        elapsed_ns,
        cpu_ns: 5,
        pages: began_ns,
        answer: answer.to_owned(),
        ..Sample::default()
    }
}

fn histogram(values: &[u64]) -> String {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    for value in values {
        histogram.record(*value).unwrap();
    }
    let mut bytes = Vec::new();
    V2DeflateSerializer::new().serialize(&histogram, &mut bytes).unwrap();
    STANDARD.encode(bytes)
}

#[test]
fn a_worker_is_asked_answers_and_ends() {
    let mut worker = Worker::start(&polite("")).unwrap();
    let pid = worker.pid();
    assert_eq!(worker.hello(LIMIT).unwrap().engine, "fake");
    worker.ask::<Done>(&Request::Close, LIMIT).unwrap();
    worker.quit(LIMIT);
    assert!(!is_there(pid));
}

#[test]
fn a_missing_worker_is_named_with_advice() {
    let error = Worker::start(&WorkerCommand::new("/nowhere/selenite-worker-x")).unwrap_err();
    assert!(matches!(error, DriveError::NotStarted { .. }), "{error}");
    assert!(error.to_string().contains("/nowhere/selenite-worker-x"), "{error}");
    assert!(error.advice().contains("exists"));
}

#[test]
fn a_worker_that_dies_has_its_status_and_last_words() {
    let error = hello_error(&fake("echo one >&2; echo two >&2; exit 7"), LIMIT);
    let DriveError::Died { at, status } = &error else {
        panic!("{error}");
    };
    assert_eq!(status, "exit status: 7");
    assert_eq!(at.stderr, ["one", "two"]);
    assert_eq!(at.request, "hello");
}

#[test]
fn last_words_are_bounded() {
    let noise = "i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo line $i >&2; done; exit 1";
    let DriveError::Died { at, .. } = hello_error(&fake(noise), LIMIT) else {
        panic!("it lives");
    };
    assert_eq!(at.stderr.len(), 20);
    assert_eq!(at.stderr[19], "line 100");
}

#[test]
fn a_worker_that_hangs_is_killed_with_all_that_it_started() {
    let command = fake(r#"sleep 1000 & echo $! >&2; wait"#);
    let mut worker = Worker::start(&command).unwrap();
    let mut pid = worker.pid();
    // The id of its child is known once the first poll has found no answer.
    let mut limit = SHORT;
    let child = loop {
        let error = worker.hello(limit).unwrap_err();
        let DriveError::Hung { at, .. } = error else {
            panic!("{error}");
        };
        if let Some(child) = at.stderr.first() {
            break child.parse().unwrap();
        }
        limit *= 2;
        worker = Worker::start(&command).unwrap();
        pid = worker.pid();
    };
    assert!(!is_there(pid));
    wait_until_gone(child);
    assert!(matches!(
        worker.ask::<Done>(&Request::Close, LIMIT),
        Err(DriveError::Died { .. })
    ));
}

#[test]
fn a_dropped_worker_is_gone() {
    let worker = Worker::start(&fake("sleep 1000")).unwrap();
    let pid = worker.pid();
    drop(worker);
    assert!(!is_there(pid));
}

#[test]
fn an_invalid_line_is_not_an_answer() {
    for rubbish in [
        "echo hi",
        r#"echo '{"ok":{}}'"#,
        r"printf '\377\n'",
        "echo; :",
        "echo '[1]'",
    ] {
        let error = hello_error(&fake(rubbish), LIMIT);
        assert!(matches!(error, DriveError::Invalid { .. }), "{rubbish}: {error}");
    }
}

#[test]
fn a_line_without_end_is_no_answer() {
    let error = hello_error(&fake("cat /dev/zero"), LIMIT);
    let DriveError::Invalid { line, .. } = error else {
        panic!("{error}");
    };
    assert_eq!(line.len(), 120);
}

#[test]
fn output_without_a_request_is_invalid() {
    let mut worker = Worker::start(&fake(r#"echo "$HELLO"; echo "$HELLO""#)).unwrap();
    worker.hello(LIMIT).unwrap();
    // Whether the second line arrives before the next request or after it, it is not a digest.
    let error = worker.ask::<Digest>(&Request::Digest, LIMIT).unwrap_err();
    assert!(matches!(error, DriveError::Invalid { .. }), "{error}");
}

#[test]
fn another_protocol_version_is_reported() {
    let error = hello_error(&fake(r#"echo '{"ok":{"protocol":99}}'"#), LIMIT);
    assert!(
        matches!(
            error,
            DriveError::WrongProtocol {
                theirs: 99,
                ours: PROTOCOL,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn a_worker_continues_after_a_refusal() {
    let refusing = polite(r#"*open*) echo '{"error":"no such cipher"}';;"#);
    let mut group = WorkerGroup::start(&refusing, 1, LIMIT).unwrap();
    let error = group.open(&spec(), LIMIT).unwrap_err();
    assert!(
        error.is_refusal() && error.to_string().contains("no such cipher"),
        "{error}"
    );
    group.close(LIMIT).unwrap();
    group.quit(LIMIT);
}

#[test]
fn a_group_shares_the_work_and_sums_the_samples() {
    let text = |sample: &Sample| serde_json::to_string(&serde_json::json!({ "ok": sample })).unwrap();
    let mut first = sample(100, 50, "a");
    first.latencies = [("read".to_owned(), histogram(&[1000, 2000]))].into();
    let mut second = sample(120, 60, "b");
    second.latencies = [
        ("read".to_owned(), histogram(&[5_000_000_000])),
        ("insert".to_owned(), histogram(&[7])),
    ]
    .into();
    let mut command = polite(r#"*'"index":0,"count":2'*) echo "$FIRST";; *'"index":1,"count":2'*) echo "$SECOND";;"#);
    command
        .environment
        .extend([("FIRST".to_owned(), text(&first)), ("SECOND".to_owned(), text(&second))]);
    let mut group = WorkerGroup::start(&command, 2, LIMIT).unwrap();
    assert_eq!(group.pids().len(), 2);

    let total = group.run(&Workload::SelectAll, 1, LIMIT, &mut || None).unwrap();
    assert_eq!(
        (total.sample.began_ns, total.sample.elapsed_ns, total.stagger_ns),
        (100, 80, 20)
    );
    assert_eq!((total.sample.cpu_ns, total.sample.pages), (10, 120));
    assert_eq!(total.sample.answer.len(), 64);
    assert!(total.sample.latencies.is_empty());
    let read: Histogram<u64> = Deserializer::new()
        .deserialize(&mut total.histograms["read"].as_slice())
        .unwrap();
    let counts = [1000, 2000, 5_000_000_000].map(|value| read.count_at(value));
    assert_eq!((read.len(), counts), (3, [1, 1, 1]));
    let insert: Histogram<u64> = Deserializer::new()
        .deserialize(&mut total.histograms["insert"].as_slice())
        .unwrap();
    assert_eq!(insert.len(), 1);
    group.quit(LIMIT);
}

#[test]
fn controls_are_passed_on_while_work_is_under_way() {
    let answer = serde_json::to_string(&serde_json::json!({ "ok": sample(1, 2, "x") })).unwrap();
    let mut command = polite(r#"*'"do":"run"'*) ;; *control*stop*true*) echo "$ANSWER";;"#);
    command.environment.insert("ANSWER".to_owned(), answer);
    let mut group = WorkerGroup::start(&command, 2, LIMIT).unwrap();
    let mut asked = 0;
    let mut control = || {
        asked += 1;
        (asked == 2).then_some(Control { stop: true, mix: None })
    };
    group.run(&Workload::SelectAll, 1, LIMIT, &mut control).unwrap();
    assert!(asked >= 2);
}

#[test]
fn a_worker_that_hangs_ends_the_whole_group() {
    let mut group = WorkerGroup::start(&polite(r#"*'"do":"run"'*) sleep 1000;;"#), 3, LIMIT).unwrap();
    let pids = group.pids();
    let error = group.run(&Workload::SelectAll, 1, SHORT, &mut || None).unwrap_err();
    assert!(matches!(error, DriveError::Hung { .. }), "{error}");
    assert!(pids.into_iter().all(|pid| !is_there(pid)));
}

#[test]
fn invalid_histograms_are_an_invalid_answer() {
    let mut broken = sample(1, 2, "x");
    broken.latencies = [("read".to_owned(), "AAAA".to_owned())].into();
    let mut command = polite(r#"*'"do":"run"'*) echo "$ANSWER";;"#);
    let answer = serde_json::to_string(&serde_json::json!({ "ok": broken })).unwrap();
    command.environment.insert("ANSWER".to_owned(), answer);
    let mut group = WorkerGroup::start(&command, 1, LIMIT).unwrap();
    let error = group.run(&Workload::SelectAll, 1, LIMIT, &mut || None).unwrap_err();
    assert!(error.to_string().contains("latencies of read"), "{error}");
}
