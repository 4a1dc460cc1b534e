//! The schema, and the numbered migrations that follow it. Must not know how they are applied, or
//! what the rows mean.

mod first;

pub(super) use first::SCHEMA;

/// The version of `SCHEMA` (`PRAGMA user_version`), from which later releases migrate. A lower
/// number is of the time before the first release. Such a store is refused.
pub(super) const FIRST: u32 = 18;

/// Every migration after `SCHEMA`, in order; never edited, only appended to. Each one leads to the
/// next version, the first one from `FIRST`.
pub(super) const MIGRATIONS: &[&str] = &[
    MIGRATION_19,
    MIGRATION_20,
    MIGRATION_21,
    MIGRATION_22,
    MIGRATION_23,
    MIGRATION_24,
    MIGRATION_25,
    MIGRATION_26,
    MIGRATION_27,
    MIGRATION_28,
    MIGRATION_29,
    MIGRATION_30,
    MIGRATION_31,
    MIGRATION_32,
    MIGRATION_33,
];

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

// What ran in a stretch of time is counted by the index alone. Each daily digest that was told,
// with its lines as they were; `day` is empty for one that somebody asked for.
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

// The results that a call has put aside are found by the call.
const MIGRATION_24: &str = "
CREATE INDEX artifacts_call ON artifacts(call);
";

// Firings of jobs that were written down, each once.
const MIGRATION_25: &str = "
CREATE TABLE firings(
    id TEXT PRIMARY KEY NOT NULL,
    job TEXT NOT NULL,
    revision INTEGER NOT NULL,
    session TEXT,
    became TEXT NOT NULL,
    title TEXT NOT NULL,
    schedule TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX firings_at ON firings(at_ms);
CREATE INDEX firings_job ON firings(job, revision, at_ms);
";

// The words of a reminder that was told, and what its owner has answered, once.
const MIGRATION_26: &str = "
ALTER TABLE firings ADD COLUMN said TEXT;
ALTER TABLE firings ADD COLUMN answer TEXT;
CREATE INDEX firings_said ON firings(session, at_ms) WHERE said IS NOT NULL;
";

// What its owner calls an artifact. No two are called the same.
const MIGRATION_27: &str = "
ALTER TABLE artifacts ADD COLUMN alias TEXT;
CREATE UNIQUE INDEX artifacts_alias ON artifacts(alias) WHERE alias IS NOT NULL;
";

// MCP clients that call claw, what each has used today, and which process sees to each of their
// calls, so that none is driven by two and each end is given out once.
const MIGRATION_28: &str = "
CREATE TABLE clients(
    name TEXT PRIMARY KEY NOT NULL,
    since_ms INTEGER NOT NULL,
    seen_ms INTEGER,
    revoked_ms INTEGER,
    last_number INTEGER NOT NULL DEFAULT 0,
    day TEXT NOT NULL DEFAULT '',
    day_calls INTEGER NOT NULL DEFAULT 0,
    day_tokens INTEGER NOT NULL DEFAULT 0,
    told_day TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;
CREATE TABLE client_calls(
    client TEXT NOT NULL,
    number INTEGER NOT NULL,
    digest TEXT NOT NULL,
    driver TEXT NOT NULL,
    holder TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    handed_ms INTEGER,
    PRIMARY KEY(client, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX client_calls_like ON client_calls(client, digest, number);
CREATE INDEX client_calls_open ON client_calls(client, number) WHERE ended_ms IS NULL;
CREATE INDEX client_calls_ended ON client_calls(ended_ms) WHERE ended_ms IS NOT NULL;
";

// A message, or a call of a client, that its sender sends again because claw was restarted is known
// by its mark.
const MIGRATION_29: &str = "
ALTER TABLE inbox ADD COLUMN mark TEXT;
CREATE UNIQUE INDEX inbox_mark ON inbox(mark) WHERE mark IS NOT NULL;
ALTER TABLE client_calls ADD COLUMN mark TEXT;
";

// What a server asks in the middle of a call, round by round, until the call has ended.
const MIGRATION_30: &str = "
CREATE TABLE rounds(
    call TEXT NOT NULL,
    nth INTEGER NOT NULL,
    in_call INTEGER NOT NULL,
    requests TEXT NOT NULL,
    request_state TEXT,
    answers TEXT NOT NULL,
    state TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    PRIMARY KEY(call, nth)
) STRICT, WITHOUT ROWID;
";

// The task that a server has made of a call, until the call has ended.
const MIGRATION_31: &str = "
CREATE TABLE server_tasks(
    call TEXT PRIMARY KEY NOT NULL,
    task TEXT NOT NULL,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
";

// What an owner lets each server of others do, and what an owner is asked about it at first sight.
const MIGRATION_32: &str = "
CREATE TABLE trust(
    server TEXT PRIMARY KEY NOT NULL,
    launch TEXT NOT NULL,
    level TEXT,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_ms INTEGER NOT NULL DEFAULT 0,
    first_seen_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE trust_questions(
    id TEXT PRIMARY KEY NOT NULL,
    server TEXT NOT NULL,
    launch TEXT NOT NULL,
    shown TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new',
    level TEXT,
    address TEXT NOT NULL DEFAULT '',
    message INTEGER NOT NULL DEFAULT 0,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_ms INTEGER NOT NULL DEFAULT 0,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX trust_questions_open ON trust_questions(at_ms) WHERE state <> 'closed';
";

// What an owner is asked beside the calls is of one kind, with several contents. Until now access
// requests, new servers and changed tools had a table each.
const MIGRATION_33: &str = "
CREATE TABLE owner_questions(
    id TEXT PRIMARY KEY NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    bot INTEGER NOT NULL DEFAULT 0,
    form TEXT NOT NULL DEFAULT '',
    shown TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'new',
    answer TEXT,
    address TEXT NOT NULL DEFAULT '',
    message INTEGER NOT NULL DEFAULT 0,
    decided_by TEXT NOT NULL DEFAULT '',
    decided_ms INTEGER NOT NULL DEFAULT 0,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO owner_questions
    SELECT 'access.' || bot || '.' || chat, 'access', CAST(chat AS TEXT), bot, '', body,
        CASE WHEN state IN ('let_in', 'ignored') THEN 'decided' ELSE state END,
        CASE state WHEN 'let_in' THEN 'let_in' WHEN 'ignored' THEN 'ignore' END,
        address, message, decided_by, decided_ms, at_ms
    FROM strangers;
INSERT INTO owner_questions
    SELECT id, 'new_server', server, 0, launch, shown, state, level,
        address, message, decided_by, decided_ms, at_ms
    FROM trust_questions;
INSERT INTO owner_questions
    SELECT id, 'changed_tools', server, 0, forms, shown,
        CASE WHEN state IN ('accepted', 'kept') THEN 'decided' ELSE state END,
        CASE state WHEN 'accepted' THEN 'accept' WHEN 'kept' THEN 'keep_withheld' END,
        address, message, decided_by, decided_ms, at_ms
    FROM pin_questions;
DROP TABLE strangers;
DROP TABLE trust_questions;
DROP TABLE pin_questions;
CREATE INDEX owner_questions_to_show ON owner_questions(at_ms, id)
    WHERE state IN ('new', 'decided', 'stale');
CREATE INDEX owner_questions_open ON owner_questions(kind, subject) WHERE state IN ('new', 'told');
CREATE INDEX owner_questions_at ON owner_questions(kind, bot, at_ms);
";
