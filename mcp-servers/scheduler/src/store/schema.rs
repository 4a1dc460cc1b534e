//! The tables. A new version is a new number and a migration in `open`.

pub const VERSION: i64 = 1;

/// All times are seconds since 1970. Numbers are never given twice (AUTOINCREMENT), because ids are
/// made of them. A job that has ended or was cancelled is no row of `jobs` any more.
pub const SCHEMA: &str = "
CREATE TABLE jobs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    revision INTEGER NOT NULL,
    paused INTEGER NOT NULL,
    chat TEXT,
    plan TEXT NOT NULL,
    planned INTEGER,
    due_at INTEGER,
    last_planned INTEGER
);
CREATE INDEX jobs_due ON jobs (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX jobs_chat ON jobs (chat, number);

CREATE TABLE firings (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    job INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    planned INTEGER NOT NULL,
    since INTEGER NOT NULL,
    not_after INTEGER,
    zone TEXT NOT NULL,
    what TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('due', 'taken', 'expired', 'withdrawn')),
    settled INTEGER
);
CREATE INDEX firings_due ON firings (seq) WHERE state = 'due';
CREATE INDEX firings_due_job ON firings (job) WHERE state = 'due';
CREATE INDEX firings_expiring ON firings (not_after) WHERE state = 'due' AND not_after IS NOT NULL;

CREATE TABLE history (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    job INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    event TEXT NOT NULL,
    firing TEXT,
    planned INTEGER,
    count INTEGER NOT NULL,
    line TEXT
);
CREATE INDEX history_job ON history (job, seq);
";
