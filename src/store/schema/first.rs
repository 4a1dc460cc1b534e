//! The tables of the first version. Never edited: whatever came later is a migration of its own.

pub(super) const MIGRATION_1: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE sessions(
    name TEXT PRIMARY KEY, created_ms INTEGER NOT NULL, last_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE inbox(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued'
) STRICT;
CREATE INDEX inbox_queued ON inbox(session, id) WHERE state = 'queued';

CREATE TABLE events(
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    type TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY(session, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX events_boundaries ON events(session, seq)
    WHERE type IN ('summary', 'window.dropped', 'session.cleared');

CREATE TABLE outbox(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    session TEXT NOT NULL,
    door TEXT NOT NULL,
    address TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'queued'
) STRICT;
CREATE INDEX outbox_queued ON outbox(door, address, id) WHERE state = 'queued';

CREATE TABLE calls(
    id TEXT PRIMARY KEY,
    session TEXT NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    arguments TEXT NOT NULL,
    origin TEXT NOT NULL,
    principal TEXT NOT NULL,
    state TEXT NOT NULL,
    pin TEXT NOT NULL DEFAULT '',
    cwd TEXT NOT NULL DEFAULT '',
    env_names TEXT NOT NULL DEFAULT '',
    policy_version TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL DEFAULT '',
    rule TEXT NOT NULL DEFAULT '',
    outcome TEXT,
    server_state TEXT,
    received_ms INTEGER NOT NULL,
    started_ms INTEGER,
    ended_ms INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_open ON calls(session, state) WHERE state IN ('received', 'waiting', 'approved', 'started');

CREATE TABLE approvals(
    id TEXT PRIMARY KEY,
    call TEXT NOT NULL,
    session TEXT NOT NULL,
    state TEXT NOT NULL,
    question TEXT NOT NULL,
    approvers TEXT NOT NULL,
    digest TEXT NOT NULL,
    asked_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    decided_ms INTEGER,
    decided_by TEXT,
    answer TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX approvals_call ON approvals(call);
CREATE INDEX approvals_waiting ON approvals(session) WHERE state = 'waiting';

CREATE TABLE grants(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    effect TEXT NOT NULL,
    principal TEXT NOT NULL,
    session TEXT,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    shape TEXT NOT NULL,
    origin TEXT NOT NULL,
    says TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER,
    revoked_ms INTEGER,
    approval TEXT NOT NULL
) STRICT;
CREATE INDEX grants_live ON grants(server, tool) WHERE revoked_ms IS NULL;

CREATE TABLE audit(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    call TEXT NOT NULL,
    body TEXT NOT NULL,
    prev TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;

CREATE TABLE pins(
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    launch TEXT NOT NULL,
    pin TEXT NOT NULL,
    raw TEXT NOT NULL,
    new_pin TEXT,
    new_raw TEXT,
    seen_ms INTEGER NOT NULL,
    PRIMARY KEY(server, tool)
) STRICT, WITHOUT ROWID;
CREATE TABLE launches(
    server TEXT PRIMARY KEY, launch TEXT NOT NULL, era TEXT NOT NULL DEFAULT '', listed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts(
    digest TEXT PRIMARY KEY, bytes INTEGER NOT NULL, mime TEXT NOT NULL, call TEXT NOT NULL, created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE usage(
    session TEXT NOT NULL,
    reply_seq INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    PRIMARY KEY(session, reply_seq)
) STRICT, WITHOUT ROWID;
";
