//! The progress report of an operation on all pages of a database, in `DB-selenite` (FORMAT 11): a text for users.
//!
//! - informative-only: the report is only displayed, since any process that may write to the folder
//!   can write one.

/// The maximum size in bytes that is written or read: far more than all lines have.
pub const SIZE_MAX: usize = 4096;

/// An operation in progress, as seen by other processes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// The process that runs the operation.
    pub pid: u32,
    /// The start: seconds since 1970-01-01 UTC.
    pub since: u64,
    /// Whether the operation copies the database, which no other connection can use meanwhile.
    pub is_offline: bool,
    /// The old suite and the new one.
    pub what: String,
    /// What the operation waits for; empty while it works.
    pub waiting: String,
    /// The start of the wait: seconds since 1970-01-01 UTC; 0 while it works.
    pub waiting_since: u64,
    /// Bytes of pages that are processed.
    pub done: u64,
    /// Bytes of all pages.
    pub total: u64,
    /// Bytes per second.
    pub rate: u64,
    /// The 99th percentile of the time a batch blocked writers, in microseconds, without syncs.
    pub lock_p99: u64,
}

impl Report {
    /// Encodes the report as text.
    #[must_use]
    pub fn encode(&self) -> String {
        format!(
            "pid {}\nsince {}\noffline {}\nwaiting_since {}\ndone {}\ntotal {}\nrate {}\nlock_p99_us {}\nwhat {}\nwaiting {}\n",
            self.pid,
            self.since,
            u8::from(self.is_offline),
            self.waiting_since,
            self.done,
            self.total,
            self.rate,
            self.lock_p99,
            short(&self.what),
            short(&self.waiting)
        )
    }

    /// Parses any text: missing or invalid values are 0 or empty.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut report = Self::default();
        let text = String::from_utf8_lossy(&bytes[..bytes.len().min(SIZE_MAX)]);
        for line in text.split('\n') {
            let (name, value) = line.split_once(' ').unwrap_or((line, ""));
            let number = || value.parse().unwrap_or(0);
            match name {
                "pid" => report.pid = value.parse().unwrap_or(0),
                "since" => report.since = number(),
                "offline" => report.is_offline = value == "1",
                "waiting_since" => report.waiting_since = number(),
                "done" => report.done = number(),
                "total" => report.total = number(),
                "rate" => report.rate = number(),
                "lock_p99_us" => report.lock_p99 = number(),
                "what" => report.what = short(value),
                "waiting" => report.waiting = short(value),
                _ => {}
            }
        }
        report
    }
}

/// Shortens a text to one line without control characters for a terminal.
fn short(text: &str) -> String {
    let one_line = |char: char| {
        if char.is_control() {
            char::REPLACEMENT_CHARACTER
        } else {
            char
        }
    };
    text.chars().take(TEXT_MAX).map(one_line).collect()
}

/// Two such texts, in any script, and all numbers fit into [`SIZE_MAX`].
const TEXT_MAX: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            pid: 7,
            since: 8,
            is_offline: true,
            what: "AES_256 to AEGIS_256X4".to_owned(),
            waiting: "waiting for readers: process 9 reads".to_owned(),
            waiting_since: 10,
            done: 1,
            total: 2,
            rate: 3,
            lock_p99: 4,
        }
    }

    #[test]
    fn a_report_round_trips() {
        assert_eq!(Report::parse(report().encode().as_bytes()), report());
        assert_eq!(Report::parse(b"nothing\n\x00"), Report::default());
        assert_eq!(Report::parse(b""), Report::default());
    }

    #[test]
    fn lines_are_those_of_the_document() {
        let cells = crate::document::rows("11.2");
        let mut named: Vec<&str> = cells
            .iter()
            .flat_map(|row| row[0].split(", "))
            .map(|name| name.trim_matches('`'))
            .collect();
        let text = report().encode();
        let mut written: Vec<&str> = text
            .lines()
            .map(|line| line.split_once(' ').unwrap_or((line, "")).0)
            .collect();
        named.sort_unstable();
        written.sort_unstable();
        assert_eq!(written, named);
    }

    #[test]
    fn the_longest_report_is_read_completely() {
        let long = Report {
            pid: u32::MAX,
            since: u64::MAX,
            is_offline: true,
            what: "\u{10ffff}".repeat(5000),
            waiting: "\u{10ffff}".repeat(5000),
            waiting_since: u64::MAX,
            done: u64::MAX,
            total: u64::MAX,
            rate: u64::MAX,
            lock_p99: u64::MAX,
        };
        let text = long.encode();
        assert!(text.len() <= SIZE_MAX, "{}", text.len());
        let read = Report::parse(text.as_bytes());
        assert_eq!((read.rate, read.waiting.chars().count()), (u64::MAX, TEXT_MAX));
    }

    #[test]
    fn any_bytes_are_parsed_without_control_characters() {
        let text = report().encode().into_bytes();
        for cut in 0..text.len() {
            let _ = Report::parse(&text[..cut]);
        }
        for place in 0..text.len() {
            for bit in 0..8 {
                let mut flipped = text.clone();
                flipped[place] ^= 1 << bit;
                let read = Report::parse(&flipped);
                assert!(!(read.what + &read.waiting).contains(char::is_control));
            }
        }
        let hostile = b"pid 99999999999\nrate -1\nwhat \x1b[2Jgone\rnext\x00\nsince 18446744073709551616\n";
        let read = Report::parse(hostile);
        assert_eq!((read.pid, read.rate, read.since), (0, 0, 0));
        assert!(!read.what.contains(char::is_control), "{read:?}");
        assert_eq!(Report::parse(&b"what x\n".repeat(100_000)).what, "x");
    }
}
