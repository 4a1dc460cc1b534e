//! The tables of version 18, with which every store begins. Must not know what came after.

/// A new store, before the migrations. Never edited: a store of this version may be anywhere.
pub(crate) const SCHEMA: &str = "
-- Whose file it is: `claw` in ASCII.
PRAGMA application_id = 0x636c6177;

CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE sessions(
    name TEXT PRIMARY KEY,
    created_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL
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
    state TEXT NOT NULL DEFAULT 'queued',
    parts_sent INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX outbox_waiting ON outbox(door, address, id) WHERE state IN ('queued', 'sending');
CREATE INDEX outbox_shown ON outbox(session, at_ms) WHERE state = 'sent';

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
CREATE INDEX calls_open ON calls(session, state)
    WHERE state IN ('received', 'waiting', 'approved', 'started');
CREATE INDEX calls_started ON calls(started_ms, id) WHERE state = 'started';

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

-- `boot` and `boot_ends_ms`: when a grant ends by the time that the system is up. No clock can set
-- that back.
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
    approval TEXT NOT NULL,
    boot TEXT NOT NULL DEFAULT '',
    boot_ends_ms INTEGER
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
CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
    WHEN OLD.id > coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'audit.cut'), 0)
    BEGIN SELECT RAISE(ABORT, 'the audit is append-only'); END;
CREATE INDEX audit_call ON audit(call, id) WHERE call <> '';

CREATE TABLE pins(
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    launch TEXT NOT NULL,
    pin TEXT NOT NULL,
    raw TEXT NOT NULL,
    new_pin TEXT,
    new_raw TEXT,
    seen_ms INTEGER NOT NULL,
    shown_pin TEXT,
    withheld INTEGER NOT NULL DEFAULT 0,
    told_pin TEXT,
    PRIMARY KEY(server, tool)
) STRICT, WITHOUT ROWID;

CREATE TABLE launches(
    server TEXT PRIMARY KEY,
    launch TEXT NOT NULL,
    era TEXT NOT NULL DEFAULT '',
    listed_ms INTEGER NOT NULL,
    knows_instructions INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts(
    digest TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL,
    mime TEXT NOT NULL,
    call TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    removed_ms INTEGER,
    removed_why TEXT NOT NULL DEFAULT ''
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
CREATE INDEX usage_at ON usage(at_ms);

CREATE TABLE updates(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    bot INTEGER NOT NULL,
    id INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'kept',
    body TEXT NOT NULL,
    UNIQUE(bot, id)
) STRICT;
CREATE INDEX updates_kept ON updates(bot, nr) WHERE state = 'kept';
CREATE INDEX updates_closed ON updates(at_ms) WHERE state <> 'kept';

-- Which message shows which question; `sent_s` is by the service's clock.
CREATE TABLE posted(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    approval TEXT NOT NULL,
    state TEXT NOT NULL,
    file INTEGER NOT NULL DEFAULT 0,
    sent_s INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX posted_live ON posted(approval) WHERE state <> 'closed';
CREATE INDEX posted_open ON posted(address, message) WHERE state NOT IN ('closed', 'why closed');

CREATE TABLE drafts(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    session TEXT NOT NULL,
    turn_seq INTEGER NOT NULL,
    step INTEGER NOT NULL,
    part INTEGER NOT NULL,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;

CREATE TABLE running(
    address TEXT NOT NULL,
    message INTEGER NOT NULL,
    session TEXT NOT NULL,
    title TEXT NOT NULL,
    PRIMARY KEY(address, message)
) STRICT, WITHOUT ROWID;

CREATE TABLE guests(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    name TEXT NOT NULL,
    by TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;

CREATE TABLE strangers(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new',
    address TEXT NOT NULL DEFAULT '',
    message INTEGER NOT NULL DEFAULT 0,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_ms INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;
CREATE INDEX strangers_live ON strangers(bot, state) WHERE state IN ('new', 'let_in', 'ignored');
CREATE INDEX strangers_at ON strangers(bot, at_ms);

CREATE TABLE blocked(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    why TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;

CREATE TABLE overheard(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL,
    at_s INTEGER NOT NULL,
    name TEXT NOT NULL,
    text TEXT NOT NULL
) STRICT;
CREATE INDEX overheard_at ON overheard(address, nr);
CREATE INDEX overheard_old ON overheard(at_s);

-- The model that a session's owner has chosen for it.
CREATE TABLE session_models(
    session TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    by TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The role that a session's owner has chosen for it.
CREATE TABLE session_roles(
    session TEXT PRIMARY KEY,
    role TEXT NOT NULL,
    by TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Beside each frozen call of a list: the list that it is shown in, the words that tell which it is,
-- and who is told.
CREATE TABLE staged(
    call TEXT PRIMARY KEY,
    list TEXT NOT NULL,
    number INTEGER NOT NULL,
    summary TEXT NOT NULL,
    told TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX staged_list ON staged(list, number);

-- Groups that have become another chat.
CREATE TABLE moved_chats(
    bot INTEGER NOT NULL,
    chat INTEGER NOT NULL,
    now INTEGER NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(bot, chat)
) STRICT, WITHOUT ROWID;

-- Further accepted forms of a tool.
CREATE TABLE pin_forms(
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    pin TEXT NOT NULL,
    raw TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(server, tool, pin)
) STRICT, WITHOUT ROWID;

-- What an owner is asked about a change of a tool, frozen.
CREATE TABLE pin_questions(
    id TEXT PRIMARY KEY,
    server TEXT NOT NULL,
    forms TEXT NOT NULL,
    shown TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'new',
    address TEXT NOT NULL DEFAULT '',
    message INTEGER NOT NULL DEFAULT 0,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_ms INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX pin_questions_open ON pin_questions(at_ms) WHERE state <> 'closed';

-- The sums of tokens by day (UTC), which `usage` alone had to be read whole for.
CREATE TABLE usage_days(
    session TEXT NOT NULL,
    day INTEGER NOT NULL,
    provider TEXT NOT NULL,
    model TEXT NOT NULL,
    replies INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    PRIMARY KEY(session, day, provider, model)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_days_day ON usage_days(day);

-- Rows of every table that could not be read, as they were.
CREATE TABLE put_aside(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    of_table TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    rest TEXT NOT NULL,
    why TEXT NOT NULL,
    put_aside_ms INTEGER NOT NULL
) STRICT;

-- The windows of long logs, so that a new process does not read them event by event.
CREATE TABLE kept_windows(
    session TEXT PRIMARY KEY,
    form TEXT NOT NULL,
    from_seq INTEGER NOT NULL,
    through_seq INTEGER NOT NULL,
    digest TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
";
