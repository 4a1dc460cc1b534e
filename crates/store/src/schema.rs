//! The schema, and the numbered migrations that follow it. Must not know how they are applied, or
//! what the rows mean.

/// The version of `SCHEMA` (`PRAGMA user_version`), from which later releases migrate. A lower
/// number is of the time before the first release. Such a store is refused.
pub(super) const FIRST: u32 = 18;

/// Every migration after `SCHEMA`, in order; never edited, only appended to. Each one leads to the
/// next version, the first one from `FIRST`.
pub(super) const MIGRATIONS: &[&str] =
    &[MIGRATION_19, MIGRATION_20, MIGRATION_21, MIGRATION_22, MIGRATION_23];

/// A new store, before the migrations. Never edited: a store of this version may be anywhere.
pub(super) const SCHEMA: &str = "
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

// An id of a call says who made the call. Until now every one was a session and two numbers, and
// staged actions, lists and pauses had numbers that no reply has. The audit stays as it is.
const MIGRATION_19: &str = "
CREATE TEMP TABLE todays_ids(earlier TEXT PRIMARY KEY, today TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO temp.todays_ids
    WITH named(id, is_action) AS (
        SELECT call, 1 FROM staged
        UNION SELECT list, 0 FROM staged WHERE list NOT IN (SELECT call FROM staged)
        UNION SELECT id, 0 FROM calls
            WHERE server = 'claw' AND tool IN ('go_on', 'staged_all', 'staged_buttons')
    ), cut AS (
        SELECT id, is_action, rtrim(id, '0123456789') AS stem FROM named
    ), numbered AS (
        SELECT id, is_action, stem, CAST(substr(id, length(stem) + 1) AS INTEGER) AS number
        FROM cut WHERE stem LIKE '_%:_%:' AND stem <> id
    )
    SELECT id, stem || CASE
        WHEN is_action THEN 'action.' || number
        WHEN number = 1000 THEN 'all'
        WHEN number > 1000 THEN 'buttons.' || (number - 1000)
        WHEN number >= 500 THEN 'deaths.' || (number - 500)
        ELSE 'budget.' || number END
    FROM numbered;

UPDATE approvals SET
    call = (SELECT today FROM temp.todays_ids WHERE earlier = call),
    question = CASE WHEN json_valid(question) THEN
        json_set(question, '$.call', (SELECT today FROM temp.todays_ids WHERE earlier = call)) ELSE question END
    WHERE call IN (SELECT earlier FROM temp.todays_ids);
UPDATE calls SET id = (SELECT today FROM temp.todays_ids WHERE earlier = id)
    WHERE id IN (SELECT earlier FROM temp.todays_ids);
UPDATE staged SET list = (SELECT today FROM temp.todays_ids WHERE earlier = list)
    WHERE list IN (SELECT earlier FROM temp.todays_ids);
UPDATE staged SET call = (SELECT today FROM temp.todays_ids WHERE earlier = call)
    WHERE call IN (SELECT earlier FROM temp.todays_ids);
UPDATE artifacts SET call = (SELECT today FROM temp.todays_ids WHERE earlier = call)
    WHERE call IN (SELECT earlier FROM temp.todays_ids);

CREATE TEMP VIEW events_of_calls AS
    SELECT session, seq, CASE WHEN json_valid(body) THEN
            json_extract(body, '$.call.session') || ':' || json_extract(body, '$.call.reply_seq')
            || ':' || json_extract(body, '$.call.block') END AS earlier
    FROM events WHERE type IN ('call.parked', 'call.answered', 'action.answered', 'action.result');
UPDATE events SET body = json_set(body, '$.call', found.today)
    FROM (SELECT session, seq, today FROM temp.events_of_calls JOIN temp.todays_ids USING (earlier)) AS found
    WHERE events.session = found.session AND events.seq = found.seq;
DROP VIEW temp.events_of_calls;

CREATE TEMP VIEW questions_to_show AS
    SELECT id, CASE WHEN json_valid(body) THEN json_extract(body, '$.body.question.call.session') || ':'
            || json_extract(body, '$.body.question.call.reply_seq') || ':'
            || json_extract(body, '$.body.question.call.block') END AS earlier
    FROM outbox;
UPDATE outbox SET body = json_set(body, '$.body.question.call', found.today)
    FROM (SELECT id, today FROM temp.questions_to_show JOIN temp.todays_ids USING (earlier)) AS found
    WHERE outbox.id = found.id;
DROP VIEW temp.questions_to_show;

DROP TABLE temp.todays_ids;
DELETE FROM kept_windows;
";

// What a question shows beside the arguments (the effect, the difference) is covered by the digest
// of its call. A call that was frozen before shows nothing else.
const MIGRATION_20: &str = "ALTER TABLE calls ADD COLUMN shown TEXT NOT NULL DEFAULT '';";

// How many questions each standing answer has saved, and when it did last. Questions are found by
// when they were answered.
const MIGRATION_21: &str = "
CREATE INDEX approvals_answered ON approvals(decided_ms) WHERE answer IS NOT NULL;
ALTER TABLE grants ADD COLUMN uses INTEGER NOT NULL DEFAULT 0;
ALTER TABLE grants ADD COLUMN last_used_ms INTEGER;
";

// A call that is asked about together with others of its reply names the question about all of
// them. One of before stands by itself.
const MIGRATION_22: &str = "
ALTER TABLE approvals ADD COLUMN list TEXT;
CREATE INDEX approvals_list ON approvals(list) WHERE list IS NOT NULL;
";

// What ran in a stretch of time is counted by the index alone. Each daily digest that was told, with
// its lines as they were; `day` is empty for one that somebody asked for.
const MIGRATION_23: &str = "
CREATE INDEX calls_ran ON calls(started_ms, rule) WHERE started_ms IS NOT NULL;
CREATE TABLE daily_digests(
    nr INTEGER PRIMARY KEY AUTOINCREMENT,
    day TEXT,
    until_ms INTEGER NOT NULL,
    boot TEXT NOT NULL,
    up_ms INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX daily_digests_day ON daily_digests(day) WHERE day IS NOT NULL;
";
