//! A decision has one winner, whoever takes part; grants hold as long as they say.

use super::*;
use claw_domain::{Answer, Scope, Term};

fn yes() -> Answer {
    Answer::Allow { term: Term::Once, scope: Scope::Exact }
}

async fn asked(store: &Store, id: &str, expires_at_ms: i64) {
    let question = question(id, expires_at_ms);
    store.write(move |tx| tx.add_approval(&question, "p", "digest")).await.unwrap();
}

#[tokio::test]
async fn of_many_who_decide_at_once_exactly_one_wins() {
    let rig = Arc::new(Rig::new());
    let store = rig.open();
    for round in 0..5 {
        let id = ApprovalId(format!("q{round}"));
        asked(&store, &id.0, i64::MAX).await;
        let start = Arc::new(std::sync::Barrier::new(4));
        let threads: Vec<_> = (0..4)
            .map(|n| {
                let (rig, id, start) = (rig.clone(), id.clone(), start.clone());
                std::thread::spawn(move || {
                    let store = rig.open();
                    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
                    let (state, answer) =
                        if n % 2 == 0 { ("approved", yes()) } else { ("denied", Answer::Never) };
                    start.wait();
                    let by = format!("p{n}");
                    let job = store.write(move |tx| tx.decide(&id, state, Some(&answer), &by));
                    runtime.block_on(job).unwrap()
                })
            })
            .collect();
        let ends: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        assert_eq!(ends.iter().filter(|end| end.is_ok()).count(), 1, "{ends:?}");
        let row = store.read(|tx| tx.approval(&id)).unwrap().unwrap();
        let winner = ends.iter().position(Result::is_ok).unwrap();
        assert_eq!(row.decided_by.unwrap(), format!("p{winner}"));
        assert_eq!(row.state, if winner % 2 == 0 { "approved" } else { "denied" });
        for lost in ends.iter().filter_map(|end| end.as_ref().err()) {
            assert!(matches!(lost, DecideRefused::AlreadyDecided { .. }), "{lost}");
        }
    }
}

#[tokio::test]
async fn a_question_that_is_over_or_unknown_cannot_be_answered() {
    let store = Rig::new().open();
    asked(&store, "old", 1).await;
    let decide = |id: &str| {
        let id = ApprovalId(id.into());
        store.write(move |tx| tx.decide(&id, "approved", Some(&yes()), "p"))
    };
    assert_eq!(decide("old").await.unwrap().unwrap_err(), DecideRefused::Expired);
    assert!(matches!(decide("none").await.unwrap().unwrap_err(), DecideRefused::NotFound(_)));
    let expire = store
        .write(|tx| tx.decide(&ApprovalId("old".into()), "expired", None, "expired"))
        .await
        .unwrap();
    assert!(expire.is_ok());
    assert_eq!(decide("old").await.unwrap().unwrap_err(), DecideRefused::Expired);
}

#[tokio::test]
async fn a_grant_holds_until_it_ends_or_is_revoked() {
    let store = Rig::new().open();
    let grant = |session: Option<SessionId>, expires_ms| NewGrant {
        effect: "allow".into(),
        principal: "p".into(),
        session,
        server: "s".into(),
        tool: "t".into(),
        shape: "{}".into(),
        origin: "owner".into(),
        says: "s/t".into(),
        expires_ms,
        approval: "q".into(),
    };
    let grants = [
        grant(None, None),
        grant(None, Some(1)),
        grant(Some(session()), None),
        grant(None, Some(i64::MAX)),
    ];
    let ids = store.write(move |tx| {
        grants.iter().map(|grant| tx.add_grant(grant)).collect::<Result<Vec<_>, _>>()
    });
    let ids = ids.await.unwrap();
    let holding = || -> Vec<i64> {
        let live =
            store.read(|tx| tx.grants_for("s", "t")).unwrap().iter().map(|row| row.id).collect();
        let held = ids
            .iter()
            .copied()
            .filter(|id| store.read(|tx| tx.grant_holds(*id)).unwrap())
            .collect::<Vec<_>>();
        assert_eq!(live, held);
        live
    };
    assert_eq!(holding(), [ids[0], ids[2], ids[3]], "the second has expired");
    store.write(|tx| tx.revoke_session_grants(&session())).await.unwrap();
    assert_eq!(holding(), [ids[0], ids[3]]);
    let (first, expired) = (ids[0], ids[1]);
    assert!(store.write(move |tx| tx.revoke_grant(first)).await.unwrap());
    assert!(!store.write(move |tx| tx.revoke_grant(first)).await.unwrap(), "once");
    assert!(!store.write(move |tx| tx.revoke_grant(expired)).await.unwrap());
    assert_eq!(holding(), [ids[3]]);
    assert!(store.read(|tx| tx.grants_for("s", "other")).unwrap().is_empty());
}

/// The clock was ahead when the grant ended, and was put back since.
#[tokio::test]
async fn a_grant_that_ended_stays_ended_when_the_clock_is_put_back() {
    let rig = Rig::new();
    let store = rig.open();
    let grant = |expires_ms| NewGrant {
        effect: "allow".into(),
        principal: "p".into(),
        session: None,
        server: "s".into(),
        tool: "t".into(),
        shape: "{}".into(),
        origin: "owner".into(),
        says: "x".into(),
        expires_ms,
        approval: String::new(),
    };
    let (short, long) = (grant(Some(now_ms() + 60_000)), grant(None));
    store.write(move |tx| tx.add_grant(&short).and_then(|_| tx.add_grant(&long))).await.unwrap();
    let live = || store.read(|tx| tx.grants_for("s", "t")).unwrap().len();
    assert_eq!(live(), 2);
    let row = AuditEntry { kind: "told", call: String::new(), body: serde_json::json!({}) };
    let again = row.clone();
    store.write(move |tx| tx.audit(&row)).await.unwrap();
    // Two minutes from now by the clock of then.
    rig.tamper("DROP TRIGGER audit_no_update; UPDATE audit SET at_ms = at_ms + 120000;");
    assert_eq!(live(), 1);
    // A row by the clock of today: the newest one says nothing of then any more.
    store.write(move |tx| tx.audit(&again)).await.unwrap();
    assert_eq!(live(), 1);
}

/// The clock was an hour ahead when the grant was given, and was put right when half of its time
/// was over.
#[tokio::test]
async fn a_grant_that_had_not_ended_keeps_what_was_left_when_the_clock_is_put_back() {
    const MINUTE_MS: i64 = 60_000;
    let rig = Rig::new();
    let store = rig.open();
    let grant = NewGrant {
        effect: "allow".into(),
        principal: "p".into(),
        session: None,
        server: "s".into(),
        tool: "t".into(),
        shape: "{}".into(),
        origin: "owner".into(),
        says: "x".into(),
        expires_ms: Some(now_ms() + 10 * MINUTE_MS),
        approval: String::new(),
    };
    store.write(move |tx| tx.add_grant(&grant)).await.unwrap();
    let row = AuditEntry { kind: "told", call: String::new(), body: serde_json::json!({}) };
    let again = row.clone();
    store.write(move |tx| tx.audit(&row)).await.unwrap();
    rig.tamper(&format!(
        "DROP TRIGGER audit_no_update; UPDATE audit SET at_ms = at_ms + {}; UPDATE grants SET expires_ms = expires_ms + {};",
        65 * MINUTE_MS,
        60 * MINUTE_MS
    ));
    let left = || {
        store
            .read(|tx| tx.grants_for("s", "t"))
            .unwrap()
            .first()
            .map(|grant| grant.expires_ms.unwrap())
    };
    assert!(left().is_some());
    store.write(move |tx| tx.audit(&again)).await.unwrap();
    let left = left().unwrap() - now_ms();
    assert!((0..=5 * MINUTE_MS).contains(&left), "{left} ms are left of five minutes");
}

/// Set back behind the last row, where no row tells of the time between.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_grant_ends_by_the_time_the_system_is_up_whatever_the_clock_says() {
    let rig = Rig::new();
    let store = rig.open();
    let grant = |expires_ms| NewGrant {
        effect: "allow".into(),
        principal: "p".into(),
        session: None,
        server: "s".into(),
        tool: "t".into(),
        shape: "{}".into(),
        origin: "owner".into(),
        says: "x".into(),
        expires_ms,
        approval: String::new(),
    };
    let (short, endless) = (grant(Some(now_ms() + 600_000)), grant(None));
    store.write(move |tx| tx.add_grant(&short).and_then(|_| tx.add_grant(&endless))).await.unwrap();
    let live = || store.read(|tx| tx.grants_for("s", "t")).unwrap().len();
    assert_eq!(live(), 2);
    // Its ten minutes began eleven minutes ago; a clock that was put back by a day says something
    // else.
    rig.tamper("UPDATE grants SET boot_ends_ms = boot_ends_ms - 660000, expires_ms = expires_ms + 86400000");
    assert_eq!(live(), 1);
    // Of another run of the system this one knows nothing, and goes by the clock.
    rig.tamper("UPDATE grants SET boot = 'another run'");
    assert_eq!(live(), 2);
}
