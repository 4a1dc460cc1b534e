//! A decision has one winner, whoever takes part; grants hold as long as they say.

use super::*;
use claw_domain::{Answer, ApprovalState, Approvers, GrantEffect, Origin, Scope, Term};

fn yes() -> Answer {
    Answer::Allow { term: Term::Once, scope: Scope::Exact }
}

fn grant(session: Option<SessionId>, expires_ms: Option<i64>) -> NewGrant {
    NewGrant {
        effect: GrantEffect::Allow,
        principal: "p".into(),
        session,
        server: "s".into(),
        tool: "t".into(),
        shape: "{}".into(),
        origin: Origin::Owner,
        says: "s/t".into(),
        expires_ms,
        approval: "q".into(),
    }
}

async fn asked(store: &Store, id: &str, expires_at_ms: i64) {
    let question = question(id, expires_at_ms);
    store
        .write(move |tx| tx.add_approval(&question, &Approvers::parse("p"), "digest"))
        .await
        .unwrap();
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
                    let (state, answer) = match n % 2 {
                        0 => (ApprovalState::Approved, yes()),
                        _ => (ApprovalState::Denied, Answer::Never),
                    };
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
        assert_eq!(row.state.as_str(), if winner % 2 == 0 { "approved" } else { "denied" });
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
        store.write(move |tx| tx.decide(&id, ApprovalState::Approved, Some(&yes()), "p"))
    };
    assert_eq!(decide("old").await.unwrap().unwrap_err(), DecideRefused::Expired);
    assert!(matches!(decide("none").await.unwrap().unwrap_err(), DecideRefused::NotFound(_)));
    let expire = store
        .write(|tx| tx.decide(&ApprovalId("old".into()), ApprovalState::Expired, None, "expired"))
        .await
        .unwrap();
    assert!(expire.is_ok());
    assert_eq!(decide("old").await.unwrap().unwrap_err(), DecideRefused::Expired);
}

/// The clock was an hour ahead at the first one, and was put right since.
#[tokio::test]
async fn the_newest_question_of_a_call_is_the_last_one_whatever_the_clock_said() {
    let rig = Rig::new();
    let store = rig.open();
    asked(&store, "first", i64::MAX).await;
    rig.tamper("UPDATE approvals SET asked_ms = asked_ms + 3600000");
    for id in ["second", "third"] {
        asked(&store, id, i64::MAX).await;
        let call = question(id, i64::MAX).call;
        let newest = store.read(|tx| tx.approval_of(&call)).unwrap().unwrap();
        assert_eq!(newest.id.0, id);
    }
}

#[tokio::test]
async fn a_grant_holds_until_it_ends_or_is_revoked() {
    let store = Rig::new().open();
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
    let (short, long) = (grant(None, Some(now_ms() + 60_000)), grant(None, None));
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
    let grant = grant(None, Some(now_ms() + 10 * MINUTE_MS));
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
    let (short, endless) = (grant(None, Some(now_ms() + 600_000)), grant(None, None));
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

/// Otherwise every verdict would read past all that the owner has ever given for ten minutes.
#[tokio::test]
async fn expired_grants_are_closed_and_stay_ended_when_the_clock_is_put_back() {
    const DAY_MS: i64 = 24 * 60 * 60 * 1000;
    let rig = Rig::new();
    let store = rig.open();
    let expired_ms = now_ms() - 60_000;
    store
        .write(move |tx| {
            tx.add_grant(&grant(None, None))?;
            tx.add_grant(&grant(None, Some(i64::MAX)))?;
            (0..2_000).try_for_each(|_| tx.add_grant(&grant(None, Some(expired_ms))).map(|_| ()))
        })
        .await
        .unwrap();
    let open = || {
        let sql = "SELECT count(*) FROM grants WHERE revoked_ms IS NULL";
        let conn = Connection::open(rig.path()).unwrap();
        conn.query_row(sql, [], |row| row.get::<_, u32>(0)).unwrap()
    };
    let close = || store.write(|tx| tx.close_expired_grants());
    assert_eq!(close().await.unwrap(), 0, "there is no row of the audit yet");
    let row = AuditEntry { kind: "told", call: String::new(), body: serde_json::json!({}) };
    store.write(move |tx| tx.audit(&row)).await.unwrap();
    let shift = |ms: i64| {
        rig.tamper(&format!(
            "DROP TRIGGER IF EXISTS audit_no_update; UPDATE audit SET at_ms = at_ms + {ms};"
        ))
    };
    shift(-DAY_MS);
    assert_eq!(close().await.unwrap(), 0, "the clock alone says so, which may be ahead");
    shift(DAY_MS);
    assert_eq!((close().await.unwrap(), open()), (2_000, 2));
    let said = store.read(|tx| tx.grant_said(3)).unwrap().unwrap();
    assert_eq!(said.revoked_ms, Some(expired_ms), "when it ended");
    // The clock is a day behind; neither it nor this run of the system says that they are over.
    shift(-DAY_MS);
    rig.tamper(&format!(
        "UPDATE grants SET boot = 'another run', expires_ms = expires_ms + {DAY_MS}
         WHERE expires_ms < {expired_ms} + 1"
    ));
    assert_eq!(store.read(|tx| tx.grants_for("s", "t")).unwrap().len(), 2);
}

/// The words that stand for states, effects and origins are closed sets: a row with another one is
/// damaged, and no answer and no call goes by it.
#[tokio::test]
async fn a_word_that_is_in_no_set_is_damage_that_the_doctor_finds() {
    let rig = Rig::new();
    let store = rig.open();
    asked(&store, "odd", i64::MAX).await;
    let grant = NewGrant { effect: GrantEffect::Deny, ..grant(None, None) };
    let granted = store.write(move |tx| tx.add_grant(&grant)).await.unwrap();
    assert_eq!(store.read(|tx| tx.grants()).unwrap()[0].effect, GrantEffect::Deny);
    rig.tamper("UPDATE approvals SET state = 'yes'; UPDATE grants SET effect = 'maybe'");
    let odd = ApprovalId("odd".into());
    assert!(store.read(|tx| tx.approval(&odd)).unwrap_err().to_string().contains("`yes`"));
    assert!(store.read(|tx| tx.grants_for("s", "t")).unwrap_err().to_string().contains("`maybe`"));
    let damaged = store.read(|tx| tx.damaged_rows()).unwrap();
    let at: Vec<_> = damaged.iter().map(|row| row.at.clone()).collect();
    assert_eq!(at, [RowAt::Approval("odd".into()), RowAt::Grant(granted)], "{damaged:?}");
    let put = move |tx: &Tx<'_>| {
        damaged.iter().try_fold(true, |all, row| Ok(all & tx.put_aside(row, "note", "p")?))
    };
    assert!(store.write(put).await.unwrap());
    assert!(store.read(|tx| tx.damaged_rows()).unwrap().is_empty());
    let row = store.read(|tx| tx.approval(&odd)).unwrap().unwrap();
    assert_eq!((row.state, row.expires_ms), (ApprovalState::Waiting, 0));
    assert!(store.read(|tx| tx.grants_for("s", "t")).unwrap().is_empty());
}
