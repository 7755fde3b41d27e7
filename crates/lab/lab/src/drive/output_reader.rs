//! Reads the standard output and standard error of a process, with a thread each.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStderr, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// One line of output.
#[derive(Debug, PartialEq, Eq)]
pub enum OutputLine {
    /// A line, without its terminator.
    Line(String),
    /// The beginning of a line that is longer than [`LINE_BYTES_MAX`] or not UTF-8.
    Invalid(String),
    /// No line within the time limit.
    Timeout,
    /// The end of the output.
    End,
}

/// A process's output.
pub struct OutputReader {
    lines: Receiver<OutputLine>,
    reader: JoinHandle<()>,
    stderr: Stderr,
}

/// The last lines of a process's standard error.
pub struct Stderr {
    last: Arc<Mutex<VecDeque<String>>>,
    /// Nothing is sent on it: it is closed when the thread ends.
    ended: Receiver<()>,
    reader: JoinHandle<()>,
}

impl OutputReader {
    /// Starts the threads.
    pub fn new(stdout: ChildStdout, stderr: ChildStderr) -> Self {
        let (sender, lines) = sync_channel(LINES_AHEAD);
        let reader = std::thread::spawn(move || read_lines(stdout, &sender));
        Self {
            lines,
            reader,
            stderr: Stderr::new(stderr),
        }
    }

    /// Waits for the next line, at most `limit`.
    pub fn next(&self, limit: Duration) -> OutputLine {
        match self.lines.recv_timeout(limit) {
            Ok(word) => word,
            Err(RecvTimeoutError::Timeout) => OutputLine::Timeout,
            Err(RecvTimeoutError::Disconnected) => OutputLine::End,
        }
    }

    /// The next line, if one is available.
    pub fn pending(&self) -> OutputLine {
        match self.lines.try_recv() {
            Ok(word) => word,
            Err(TryRecvError::Empty) => OutputLine::Timeout,
            Err(TryRecvError::Disconnected) => OutputLine::End,
        }
    }

    /// The last lines of standard error so far.
    pub fn last_errors(&self) -> Vec<String> {
        self.stderr.last()
    }

    /// Waits for both threads of a killed process. A thread that cannot end because another process
    /// holds the pipe open is abandoned after [`CLOSE_TIMEOUT`].
    pub fn close(self) -> Vec<String> {
        while !matches!(self.next(CLOSE_TIMEOUT), OutputLine::End | OutputLine::Timeout) {}
        drop(self.lines);
        if self.reader.is_finished() || self.stderr.is_over() {
            let _ = self.reader.join();
        }
        self.stderr.close()
    }
}

impl Stderr {
    fn new(stderr: ChildStderr) -> Self {
        let last = Arc::new(Mutex::new(VecDeque::new()));
        let (sender, ended) = sync_channel(0);
        let kept = Arc::clone(&last);
        let reader = std::thread::spawn(move || {
            keep_last(stderr, &kept);
            drop(sender);
        });
        Self { last, ended, reader }
    }

    fn last(&self) -> Vec<String> {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.iter().cloned().collect()
    }

    fn is_over(&self) -> bool {
        self.ended.recv_timeout(CLOSE_TIMEOUT) == Err(RecvTimeoutError::Disconnected)
    }

    fn close(self) -> Vec<String> {
        if self.is_over() {
            let last = self.last();
            let _ = self.reader.join();
            return last;
        }
        self.last()
    }
}

fn read_lines(stdout: impl Read, out: &SyncSender<OutputLine>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match (&mut stdout).take(LINE_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let is_whole = line.pop_if(|byte| *byte == b'\n').is_some();
        let word = match String::from_utf8(line) {
            Ok(text) if is_whole => OutputLine::Line(text),
            Ok(text) => OutputLine::Invalid(beginning(&text)),
            Err(error) => OutputLine::Invalid(beginning(&String::from_utf8_lossy(error.as_bytes()))),
        };
        if out.send(word).is_err() {
            return;
        }
    }
}

fn keep_last(stderr: impl Read, last: &Mutex<VecDeque<String>>) {
    let mut stderr = BufReader::new(stderr);
    loop {
        let mut line = Vec::new();
        match (&mut stderr).take(ERROR_BYTES_MAX).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line).trim_end().to_owned();
        if text.is_empty() {
            continue;
        }
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == ERROR_LINES {
            last.pop_front();
        }
        last.push_back(text);
    }
}

/// The beginning of a text, for an error message.
pub fn beginning(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).collect()
}

/// 16 MiB: a sample with ten histograms is less than 1 MiB.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// A worker answers one line at a time; one that sends more is blocked.
const LINES_AHEAD: usize = 4;
/// The part of a line that is shown in error messages.
const SHOWN_CHARS: usize = 120;
/// A panic's message and its backtrace.
const ERROR_LINES: usize = 20;
/// 1 KiB: longer than any line of a diagnostic message.
const ERROR_BYTES_MAX: u64 = 1 << 10;
/// The pipes of a killed process are closed at once; 2 s allow for a machine that swaps.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
