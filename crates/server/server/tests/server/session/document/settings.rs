//! SET options and isolation levels.

use super::{Page, code};

pub fn write(page: &mut Page) {
    page.heading("SET options that are ON or OFF", &["option", "ON", "OFF"]);
    for name in SWITCHES {
        let on = page.state(&format!("SET {name} ON"));
        let off = page.state(&format!("SET {name} OFF"));
        page.row(&[&code(name), &on, &off]);
    }
    page.heading("SET options with a value", &["option", "for example", "state"]);
    for (name, value) in VALUES {
        let text = format!("SET {name} {value}");
        let state = page.state(&text);
        page.row(&[&code(name), &code(&text), &state]);
    }
    page.heading("Isolation levels", &["level", "state", "here"]);
    for (name, here) in LEVELS {
        let text = format!("SET TRANSACTION ISOLATION LEVEL {name}; BEGIN TRAN; SELECT a FROM t; COMMIT");
        let state = page.state(&text);
        page.row(&[&code(name), &state, here]);
    }
}

/// SQL Server's own list.
const SWITCHES: [&str; 32] = [
    "ANSI_DEFAULTS",
    "ANSI_NULL_DFLT_OFF",
    "ANSI_NULL_DFLT_ON",
    "ANSI_NULLS",
    "ANSI_PADDING",
    "ANSI_WARNINGS",
    "ARITHABORT",
    "ARITHIGNORE",
    "CONCAT_NULL_YIELDS_NULL",
    "CURSOR_CLOSE_ON_COMMIT",
    "DISABLE_DEF_CNST_CHK",
    "FMTONLY",
    "FORCEPLAN",
    "IDENTITY_INSERT u",
    "IMPLICIT_TRANSACTIONS",
    "NO_BROWSETABLE",
    "NOCOUNT",
    "NOEXEC",
    "NUMERIC_ROUNDABORT",
    "PARSEONLY",
    "QUOTED_IDENTIFIER",
    "REMOTE_PROC_TRANSACTIONS",
    "SHOWPLAN_ALL",
    "SHOWPLAN_TEXT",
    "SHOWPLAN_XML",
    "STATISTICS IO",
    "STATISTICS PROFILE",
    "STATISTICS TIME",
    "STATISTICS XML",
    "XACT_ABORT",
    "RESULT_SET_CACHING",
    "NO_SUCH_OPTION",
];

const VALUES: [(&str, &str); 9] = [
    ("CONTEXT_INFO", "0x01"),
    ("DATEFIRST", "7"),
    ("DATEFORMAT", "mdy"),
    ("DEADLOCK_PRIORITY", "LOW"),
    ("LANGUAGE", "us_english"),
    ("LOCK_TIMEOUT", "1000"),
    ("QUERY_GOVERNOR_COST_LIMIT", "5"),
    ("ROWCOUNT", "0"),
    ("TEXTSIZE", "2147483647"),
];

const LEVELS: [(&str, &str); 5] = [
    (
        "READ UNCOMMITTED",
        "as READ COMMITTED: what is not committed is never seen",
    ),
    (
        "READ COMMITTED",
        "each statement sees what was committed when it began; the first write enters the queue",
    ),
    (
        "REPEATABLE READ",
        "enters the queue of writers at once, so that no one else writes meanwhile",
    ),
    ("SERIALIZABLE", "as REPEATABLE READ"),
    (
        "SNAPSHOT",
        "enters the queue of writers at once: no update conflict 3960",
    ),
];
