//! What is looked at after every commit and by chat commands, in a store with 1,000 and with
//! 100,000 rows of everything that is over: it must not grow with them.

use std::time::Instant;

use claw_core::domain::{CallId, SessionId};
use claw_core::store::{StoreError, Tx, now_ms};
use rusqlite::Connection;

use crate::home::{Home, runtime};
use crate::{Row, median};

const LOOKS: usize = 31;
const FEW: u32 = 1_000;
const MANY: u32 = 100_000;

/// Closed rows, as claw leaves them; half a second apart from November 2023 on, so that sums by day
/// have something to sum. The day of 1970 that "since ever" begins with is read reply by reply, and
/// holds none.
const FILL: &str = "
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
    INSERT INTO approvals SELECT 'a' || i, 'main:' || i || ':0', 'main', 'decided', '{}', '', '', i, i, i, '', '{}', NULL FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
    INSERT INTO posted(address, message, approval, state, file) SELECT 'telegram/7/5', i, 'a' || i, 'closed', 0 FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
    INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state, rule, received_ms, started_ms)
    SELECT 'main:' || i || ':0', 'main', 's', 't', '{}', 'owner', 'p', 'ended', 'grant.' || (i % 5), i, i FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
    INSERT INTO inbox(session, kind, at_ms, body, state) SELECT 'main', 'message', i * 500, '{}', 'absorbed' FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
    INSERT INTO outbox(session, door, address, at_ms, body, state)
    SELECT 'main', 'telegram', 'telegram/7/5', i * 500, '{}', 'sent' FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
    INSERT INTO audit(at_ms, kind, call, body, prev, hash) SELECT i, 'ended', 'main:' || i || ':0', '{}', '', '' FROM n;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
    INSERT INTO usage SELECT 'main', i, 1700000000000 + i * 500, 'p', 'm', 10, 10, 0, 0 FROM n;
INSERT INTO usage_days SELECT session, at_ms / 86400000, provider, model, count(*), sum(input_tokens), sum(output_tokens),
    sum(cached_tokens), sum(cache_write_tokens) FROM usage GROUP BY 1, 2, 3, 4;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ROWS)
    INSERT INTO grants(effect, principal, server, tool, shape, origin, says, created_ms, expires_ms, approval)
    SELECT 'allow', 'p', 's', 't', '{}', 'owner', 's/t', i, i, 'a' || i FROM n;
";

type Look = fn(&Tx<'_>) -> Result<usize, StoreError>;

/// What claw looks at, and where.
const LOOKED_AT: [(&str, Look); 8] = [
    ("after each commit: questions that were closed", |tx| Ok(tx.posted_and_closed()?.len())),
    ("after each commit: sessions with work", |tx| {
        Ok(tx.sessions_with_work("telegram.", 0)?.len())
    }),
    ("a verdict: grants for one tool", |tx| Ok(tx.grants_for("s", "t")?.len())),
    ("`/usage`: of today", |tx| Ok(tx.usage_by_model(None, now_ms())?.len())),
    ("`/status`: of the session", |tx| Ok(tx.usage_since(Some(&session()), 0)?.replies as usize)),
    ("`claw audit explain`: rows of a call", |tx| Ok(tx.audit_of(&call())?.len())),
    ("the daily digest: of 100 calls", |tx| Ok(tx.ran_without_question(400, 500)?.len())),
    ("a start after an unclean end", |tx| Ok(tx.in_the_middle("telegram.")?.0)),
];

pub fn rows() -> Vec<Row> {
    let (few, many) = (looked(FEW), looked(MANY));
    let row = |((what, _), (few, many)): (&(&str, Look), (f64, f64))| {
        Row::new(
            format!("{what}, {MANY} rows"),
            format!("{many:.0} µs"),
            format!("{:.1} times", many / few),
        )
    };
    LOOKED_AT.iter().zip(few.into_iter().zip(many)).map(row).collect()
}

fn call() -> CallId {
    CallId::Reply { session: session(), reply_seq: 500, block: 0 }
}

fn session() -> SessionId {
    SessionId::new("main").unwrap()
}

/// Medians in µs.
fn looked(rows: u32) -> Vec<f64> {
    let home = Home::new();
    let app = home.app();
    let db = Connection::open(app.store.path()).unwrap();
    db.execute_batch(&FILL.replace("ROWS", &rows.to_string())).unwrap();
    // What the daily retention does.
    runtime().block_on(app.store.write(|tx| tx.close_expired_grants())).unwrap();
    let median_of = |(_, look): &(&str, Look)| {
        let times = (0..LOOKS).map(|_| {
            let began = Instant::now();
            app.store.read(look).unwrap();
            began.elapsed().as_secs_f64() * 1_000_000.0
        });
        median(times.collect())
    };
    LOOKED_AT.iter().map(median_of).collect()
}
