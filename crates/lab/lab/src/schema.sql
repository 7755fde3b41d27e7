-- The store of a study. Rows are added and, but for `plan.block`, `study.state`, a session's end and `control.taken`,
-- never changed.
CREATE TABLE study (
    id            INTEGER PRIMARY KEY CHECK (id = 1),
    name          TEXT    NOT NULL,
    config        TEXT    NOT NULL,  -- the TOML text
    config_sha256 TEXT    NOT NULL,
    seed          INTEGER NOT NULL,  -- as i64
    lab_version   TEXT    NOT NULL,
    commit_id     TEXT    NOT NULL,
    command       TEXT    NOT NULL,
    created_s     INTEGER NOT NULL,
    host          TEXT    NOT NULL,  -- JSON: HostFacts
    state         TEXT    NOT NULL   -- StudyState
);
CREATE TABLE arm (
    id        INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL UNIQUE,
    facts     TEXT    NOT NULL       -- JSON: ArmFacts; bytes and pages of all its masters together
);
CREATE TABLE master (                -- what an arm's twins are copies of, one for each dataset
    arm    INTEGER NOT NULL REFERENCES arm,
    data   TEXT    NOT NULL,         -- as configured
    digest TEXT    NOT NULL,         -- of the rows
    rows   INTEGER NOT NULL,
    bytes  INTEGER NOT NULL,
    pages  INTEGER NOT NULL,
    PRIMARY KEY (arm, data)
) WITHOUT ROWID;
CREATE TABLE cell (
    id     INTEGER PRIMARY KEY,
    name   TEXT    NOT NULL UNIQUE,
    params TEXT    NOT NULL          -- JSON: the cell as configured
);
CREATE TABLE session (
    id        INTEGER PRIMARY KEY,   -- from 1
    created_s INTEGER NOT NULL,
    ended_s   INTEGER,
    void      TEXT                   -- why, if it does not count: a later one takes up what it left
);
CREATE TABLE instance (              -- a twin of one session
    id      INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES session,
    arm     INTEGER NOT NULL REFERENCES arm,
    data    TEXT    NOT NULL,        -- as configured
    made    INTEGER NOT NULL,        -- in this order within the session
    pids    TEXT    NOT NULL,        -- JSON
    path    TEXT    NOT NULL
);
CREATE TABLE plan (                  -- the schedule, written before anything runs
    seq     INTEGER PRIMARY KEY,     -- in this order
    session INTEGER NOT NULL,
    cell    INTEGER NOT NULL REFERENCES cell,
    pair    INTEGER NOT NULL,        -- blocks of one cell and pair of a session are compared with each other
    arm     INTEGER NOT NULL REFERENCES arm,
    seed    INTEGER NOT NULL,        -- of the work, as i64; the same for all arms of a pair
    block   INTEGER REFERENCES block -- once it ran
);
CREATE TABLE block (
    id       INTEGER PRIMARY KEY,
    plan     INTEGER NOT NULL REFERENCES plan (seq),
    instance INTEGER NOT NULL REFERENCES instance,
    began_s  REAL    NOT NULL,       -- since study.created_s
    sample   TEXT    NOT NULL,       -- JSON: Sample, of all processes together, without latencies; {} if void
    host     TEXT    NOT NULL,       -- JSON: HostSample
    void     TEXT                    -- why, if it does not count
);
CREATE TABLE histogram (
    block     INTEGER NOT NULL REFERENCES block,
    operation TEXT    NOT NULL,
    v2        BLOB    NOT NULL,      -- HdrHistogram V2-deflate, nanoseconds
    PRIMARY KEY (block, operation)
) WITHOUT ROWID;
CREATE TABLE event (
    id   INTEGER PRIMARY KEY,
    at_s REAL NOT NULL,              -- since study.created_s
    text TEXT NOT NULL
);
CREATE TABLE control (               -- what users ask of a study that runs
    id    INTEGER PRIMARY KEY,
    ask   TEXT    NOT NULL,          -- JSON: Control
    taken INTEGER NOT NULL DEFAULT 0
);
PRAGMA application_id = 0x534c6162;  -- SLab
PRAGMA user_version = 1;
