//! Another process that has a database open, and writes to it on request.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Stdio};

use selenite::storage::Disk;
use selenite::{Access, Database};
use selenite_testing::own_process::test_command;

use crate::support::{Collected, Fixture};

/// Another process with the database open: this test program, which runs [`child`].
pub struct Writer {
    child: Child,
    answers: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Writer {
    pub fn start(fixture: &Fixture, path: &Path) -> Self {
        let mut child = test_command("other_process::child")
            .env("SELENITE_TEST_OTHER_PATH", path)
            .env("SELENITE_TEST_KEY", fixture.spec("key"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, answers }
    }

    fn tell(&mut self, line: &str) {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The text after the word on the next line that has it: libtest may write before it.
    fn hear(&mut self, word: &str) -> String {
        let lines = &mut self.answers;
        lines
            .map(Result::unwrap)
            .find_map(|line| line.split_once(word).map(|(_, rest)| rest.to_owned()))
            .expect("the child answers")
    }

    pub fn run(&mut self, sql: &str) {
        self.tell(sql);
        self.hear("did it");
    }

    pub fn write(&mut self) {
        self.run("CREATE TABLE IF NOT EXISTS other (a); INSERT INTO other VALUES (hex(randomblob(700)))");
    }

    /// Makes it write until [`Writer::end`].
    pub fn begin_to_write_on(&mut self) {
        self.write();
        self.tell("on");
        self.hear("writing");
    }

    /// How often it wrote since [`Writer::begin_to_write_on`].
    pub fn end(mut self) -> u64 {
        drop(self.child.stdin.take());
        self.hear("wrote ").trim().parse().unwrap()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Does nothing when it is run as a test.
#[test]
fn child() {
    let Ok(path) = std::env::var("SELENITE_TEST_OTHER_PATH") else {
        return;
    };
    let access = Access {
        identity: Some(std::env::var("SELENITE_TEST_KEY").unwrap().parse().unwrap()),
        busy_wait: std::time::Duration::from_secs(60),
        ..Access::default()
    };
    selenite::install().unwrap();
    let database = Database::open(&Disk, Path::new(&path), &access).unwrap();
    let run = |sql: &str| database.run(sql, &mut Collected::default()).unwrap();
    // Not with lines(), which would keep the input locked for the thread below.
    let mut input = String::new();
    while std::io::stdin().read_line(&mut input).unwrap() > 0 {
        let line = std::mem::take(&mut input).trim_end().to_owned();
        if line != "on" {
            run(&line);
            println!("did it");
            continue;
        }
        println!("writing");
        run("PRAGMA wal_autocheckpoint = 10; PRAGMA cache_size = 8");
        let is_over = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let told = is_over.clone();
        std::thread::spawn(move || {
            // The end of the input.
            let _ = std::io::stdin().read_line(&mut String::new());
            told.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let mut count = 0;
        while !is_over.load(std::sync::atomic::Ordering::Relaxed) {
            let begun = std::time::Instant::now();
            run("UPDATE note SET text = hex(randomblob(100)) WHERE id % 50 = abs(random()) % 50");
            run("BEGIN IMMEDIATE; DELETE FROM note WHERE id % 40 = 1; UPDATE note SET text = 'x'; ROLLBACK");
            run("INSERT INTO other VALUES (hex(randomblob(700))); DELETE FROM other WHERE rowid % 9 = 1");
            count += 1;
            // SQLite's locks are not fair: without a pause this would keep all others out for as
            // long as they wait.
            let rest = begun + begun.elapsed() * 4;
            while std::time::Instant::now() < rest {
                std::thread::yield_now();
            }
        }
        println!("wrote {count}");
        return;
    }
    println!("wrote 0");
}
