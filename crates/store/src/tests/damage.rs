//! Every table and every column of a store: what cannot be read is found and put aside, and what
//! protects protects no less than before. The tables are read from the store itself, so that none
//! can be forgotten.

use serde_json::json;

use super::*;
use claw_domain::{
    Address, Approvers, ClientName, Event, EventBody, GrantEffect, Inbound, InboundBody, Origin,
    Outbound, OutboundBody,
};

/// Columns that are no text any more and hold nobody up, and why.
const HARMLESS: &[(&str, &str, &str)] = &[
    ("events", "session", "no session has such a name; its own misses the row"),
    ("events", "type", "the body says what it is"),
    ("put_aside", "of_table", "what was damaged is kept as it was, and read as bytes"),
    ("put_aside", "id", "the same"),
    ("put_aside", "body", "the same"),
    ("put_aside", "rest", "the same"),
    ("put_aside", "why", "the same"),
];
/// Looked at by tests of their own, because nobody may change a row there.
const AUDIT: &str = "audit";

fn filled() -> (Rig, Connection) {
    let rig = Rig::new();
    drop(rig.open());
    let conn = Connection::open(rig.path()).unwrap();
    let tx = Tx::new(&conn);
    let event = |seq| Event {
        seq,
        at_ms: 1,
        body: EventBody::LimitReached { limit: "l".into(), text: "t".into() },
    };
    (1..=3).for_each(|seq| tx.append_event(&session(), &event(seq)).unwrap());
    let inbound = Inbound {
        session: session(),
        from: Address("console/1".into()),
        principal: "p".into(),
        origin: Origin::Owner,
        body: InboundBody::Stop,
    };
    tx.add_inbound_once(&inbound, "mark", 9).unwrap();
    let body = OutboundBody::Notice { text: "n".into() };
    tx.add_outbound(&Outbound { session: session(), to: Address("console/1".into()), body })
        .unwrap();
    let asked = Question { call: "seeded:3:0".parse().unwrap(), ..question("asked", 5) };
    tx.add_approval(&asked, &Approvers::parse("p"), "d").unwrap();
    tx.audit(&AuditEntry { kind: "received", call: String::new(), body: json!({}) }).unwrap();
    tx.add_day_spent("2026-01-01", DaySpent::default()).unwrap();
    conn.execute_batch(include_str!("one_row_each.sql")).unwrap();
    let row = "INSERT INTO put_aside(of_table, id, body, rest, why, put_aside_ms) VALUES ('x', 'x', 'x', 'x', 'x', 1)";
    conn.execute_batch(row).unwrap();
    assert_eq!(tx.damaged_rows().unwrap(), [], "nothing is wrong with it yet");
    (rig, conn)
}

fn names(conn: &Connection, sql: &str) -> Vec<String> {
    let mut query = conn.prepare(sql).unwrap();
    query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn tables(conn: &Connection) -> Vec<String> {
    let all = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'";
    names(conn, all)
}

/// Changes one store, looks, and leaves it as it was.
fn tried<T>(conn: &Connection, damage: &str, look: impl FnOnce(&Tx<'_>) -> T) -> T {
    conn.execute_batch("SAVEPOINT tried").unwrap();
    conn.execute_batch(damage).unwrap_or_else(|error| panic!("{error}: {damage}"));
    let looked = look(&Tx::new(conn));
    conn.execute_batch("ROLLBACK TO tried; RELEASE tried").unwrap();
    looked
}

/// What the doctor does, until it finds nothing more. How many rows it has found at first.
#[track_caller]
fn mended(tx: &Tx<'_>, what: &str) -> usize {
    let mut first = None;
    for _ in 0..4 {
        let found = tx.damaged_rows().unwrap_or_else(|error| panic!("{what}: {error}"));
        first.get_or_insert(found.len());
        if found.is_empty() {
            assert!(tx.verify_audit(None).unwrap().is_ok(), "{what}");
            return first.unwrap();
        }
        for row in found {
            tx.put_aside(&row, "put aside", "p").unwrap_or_else(|error| panic!("{what}: {error}"));
        }
    }
    panic!("{what}: it is found forever: {:?}", tx.damaged_rows().unwrap());
}

#[test]
fn whatever_becomes_of_any_column_of_any_table_is_found_and_put_aside() {
    let (_rig, conn) = filled();
    let mut columns = 0;
    for table in tables(&conn).iter().filter(|table| *table != AUDIT) {
        let count: i64 =
            conn.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
        assert!(count > 0, "{table} needs a row in one_row_each.sql");
        let of = |kind: &str| {
            names(
                &conn,
                &format!("SELECT name FROM pragma_table_info('{table}') WHERE type = '{kind}'"),
            )
        };
        for column in of("TEXT") {
            let harmless = HARMLESS.iter().any(|(t, c, _)| (*t, *c) == (table, &column));
            let not_utf8 = format!(
                "UPDATE {table} SET {column} = CAST(substr({column}, 1, 2) || x'ff' || substr({column}, 3) AS TEXT)
                 WHERE {column} IS NOT NULL"
            );
            let found = tried(&conn, &not_utf8, |tx| mended(tx, &not_utf8));
            let some: i64 = conn
                .query_row(&format!("SELECT count({column}) FROM {table}"), [], |row| row.get(0))
                .unwrap();
            assert_eq!(found > 0, some > 0 && !harmless, "{table}.{column}, which is not UTF-8");
            for other in ["'no {json'", "hex(zeroblob(500000))", "''"] {
                let other = format!("UPDATE OR IGNORE {table} SET {column} = {other}");
                tried(&conn, &other, |tx| mended(tx, &other));
            }
            columns += 1;
        }
        for column in of("INTEGER") {
            let huge = format!("UPDATE OR IGNORE {table} SET {column} = {}", i64::MAX);
            tried(&conn, &huge, |tx| mended(tx, &huge));
            columns += 1;
        }
        let missing = format!("DELETE FROM {table}");
        tried(&conn, &missing, |tx| mended(tx, &missing));
    }
    assert!(columns > 200, "{columns}");
}

#[test]
fn single_values_that_are_no_values_are_found_and_put_aside() {
    let (_rig, conn) = filled();
    for (key, value) in [
        ("spent.day", "'yesterday 5'"),
        ("spent.day", "'2026-01-01 five 0'"),
        ("audit.head", "'x'"),
        ("audit.head", "CAST(x'31ff' AS TEXT)"),
        ("audit.seal", "CAST(x'ff' AS TEXT)"),
        ("clock.believed", "'soon'"),
        ("clock.believed", "'9223372036854775807'"),
        ("told.seeded", "CAST(x'ff' AS TEXT)"),
        ("persona.faults", "'{'"),
        ("heartbeat.morning", "'{'"),
        ("offers.s", "'{'"),
        ("pins.changes", "'x'"),
    ] {
        let damage = format!("INSERT OR REPLACE INTO meta VALUES ('{key}', {value})");
        let found = if key == "audit.seal" {
            // Without the key nobody mends what was sealed.
            tried(&conn, &damage, |tx| {
                let found = tx.damaged_rows().unwrap();
                assert!(matches!(tx.put_aside(&found[0], "", "p"), Err(StoreError::NoKey)));
                found.len()
            })
        } else {
            tried(&conn, &damage, |tx| mended(tx, &damage))
        };
        assert_eq!(found, 1, "{damage}");
    }
    let gone = "DELETE FROM meta WHERE key = 'audit.head'";
    assert_eq!(tried(&conn, gone, |tx| mended(tx, gone)), 1);
}

#[test]
fn what_protects_protects_no_less_once_it_was_put_aside() {
    let (_rig, conn) = filled();
    let spoil = |table: &str, column: &str| {
        format!("UPDATE {table} SET {column} = CAST({column} || x'ff' AS TEXT)")
    };
    tried(&conn, &spoil("grants", "shape"), |tx| {
        mended(tx, "a refusal");
        let rows = tx.grants().unwrap();
        assert_eq!(
            (rows.len(), rows[0].effect, rows[0].tool.as_str()),
            (1, GrantEffect::Deny, "t")
        );
        assert_eq!(rows[0].shape, "null", "it covers every call of its tool");
    });
    let allowed = format!("UPDATE grants SET effect = 'allow'; {}", spoil("grants", "shape"));
    tried(&conn, &allowed, |tx| {
        mended(tx, "a grant");
        assert!(tx.grants().unwrap().is_empty());
    });
    tried(&conn, &spoil("clients", "day"), |tx| {
        mended(tx, "a client");
        let client = tx.client(&ClientName::new("laptop".to_owned()).unwrap()).unwrap().unwrap();
        assert!(client.revoked_ms.is_some());
    });
    tried(&conn, &spoil("pins", "pin"), |tx| {
        let before = tx.pins_version().unwrap();
        mended(tx, "a pin");
        assert!(tx.pins(None).unwrap().is_empty() && tx.pins_version().unwrap() > before);
        assert!(tx.launch("s").unwrap().is_some(), "what it lists is compared, not taken as it is");
    });
    let switch = "INSERT INTO meta VALUES ('panic', CAST(x'ff' AS TEXT))";
    tried(&conn, switch, |tx| {
        mended(tx, "the stop switch");
        assert!(tx.panic_in_store().unwrap().is_some());
    });
    for spent in ["'2026-01-01'", "CAST(x'ff' AS TEXT)"] {
        let spent = format!("INSERT OR REPLACE INTO meta VALUES ('spent.day', {spent})");
        tried(&conn, &spent, |tx| {
            assert!(matches!(tx.day_spent("2026-07-01"), Err(StoreError::Unreadable { .. })));
            mended(tx, "what was spent");
            let lost = DaySpent { tokens: 11, micro_usd: 0, is_lost: true };
            assert_eq!(tx.day_spent("2026-07-01").unwrap(), lost, "{spent}");
            tx.add_day_spent("2026-07-01", DaySpent { tokens: 1, ..lost }).unwrap();
            let more = DaySpent { tokens: 12, ..lost };
            assert_eq!(tx.day_spent("2026-07-01").unwrap(), more, "{spent}");
            assert_eq!(tx.day_spent("2026-07-02").unwrap(), DaySpent::default(), "{spent}");
        });
    }
    tried(&conn, &spoil("firings", "title"), |tx| {
        mended(tx, "a firing");
        assert!(tx.knows_firing("j1.1-1").unwrap(), "it is not taken a second time");
    });
    tried(&conn, &spoil("guests", "name"), |tx| {
        mended(tx, "a guest");
        assert!(tx.allowed_users().unwrap().is_empty());
    });
}

/// The head is put back by the rows themselves, and a row tells of it forever.
#[tokio::test]
async fn a_lost_head_of_the_audit_is_put_back_and_told_forever() {
    let rig = Rig::new();
    let place = AnchorPlace { folder: rig.dir.path().join("state"), credential: None };
    let entry = || AuditEntry { kind: "received", call: String::new(), body: json!({}) };
    for (damage, sealed) in [
        ("DELETE FROM meta WHERE key = 'audit.head'", true),
        ("UPDATE meta SET value = 'x' WHERE key = 'audit.head'", true),
        // Somebody has cut the newest row off as well.
        (
            "DROP TRIGGER audit_no_delete; DELETE FROM audit WHERE id = (SELECT max(id) FROM audit);
             DELETE FROM meta WHERE key = 'audit.head'",
            false,
        ),
    ] {
        let store = Store::open_anchored(&rig.path(), Some(&place)).unwrap();
        store.write(move |tx| tx.audit(&entry())).await.unwrap();
        store.write(move |tx| tx.audit(&entry())).await.unwrap();
        rig.tamper(damage);
        let refused = store.write(move |tx| tx.audit(&entry())).await.unwrap_err().to_string();
        assert!(refused.contains("the head of the audit") && refused.contains("--repair"), "{refused}");
        let broken = store.read(|tx| tx.verify_audit(None)).unwrap().unwrap_err();
        assert!(broken.what.starts_with("the head of the audit cannot be read"), "{broken:?}");
        store
            .write(|tx| {
                let found = tx.damaged_rows()?;
                found.iter().try_for_each(|row| tx.put_aside(row, "", "p").map(drop))
            })
            .await
            .unwrap();
        store.write(move |tx| tx.audit(&entry())).await.unwrap();
        match store.read(|tx| tx.verify_audit(None)).unwrap() {
            Ok(whole) => {
                assert!(sealed, "{whole:?}");
                assert!(whole.heads.iter().all(|head| head.sealed) && !whole.heads.is_empty());
            }
            // The seal knows of a row that is gone.
            Err(broken) => assert!(!sealed, "{broken:?}"),
        }
    }
}
