//! That a day is told once, in the owner's zone, whatever is restarted and however the clock goes.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::*;
use crate::chat_commands::tests::Rig;
use crate::domain::{ApprovalId, Approvers, CallId, Effect};
use crate::gate::tests::rig::{echo, session};

const AT: Time = Time::constant(18, 0, 0, 0);

fn proposal(number: u32) -> Question {
    let session = session("main");
    Question {
        approval: ApprovalId(format!("q{number}")),
        call: CallId::Action { session: session.clone(), result_seq: 3, index: number },
        session: Some(session),
        server: "memory".into(),
        tool: "promote".into(),
        arguments: Vec::new(),
        why: String::new(),
        effect: Some(Effect { says: "Remember".into(), ..Effect::default() }),
        expires_at_ms: i64::MAX,
        choices: Vec::new(),
        staged: Some(Staged::Item {
            summary: format!("Remember “Anna {number}”: Lives in *Graz*"),
            group: None,
            number: 1,
            of: 1,
        }),
        list: None,
        input: None,
    }
}

async fn waits(rig: &Rig, proposals: u32) {
    let ask = move |tx: &Tx<'_>| {
        (0..proposals)
            .try_for_each(|number| tx.add_approval(&proposal(number), &Approvers::default(), ""))
    };
    rig.gate.store.write(ask).await.unwrap();
}

fn of(at: Timestamp, zone: &TimeZone) -> WordOfDay {
    let now = at.to_zoned(zone.clone());
    let to = Address("telegram/1/7".into());
    WordOfDay { now, at: AT, session: session("main"), to, is_private: true }
}

/// A look every 30 seconds for three weeks, over the end of summer time. Nothing but the store
/// knows between two looks what was told.
#[tokio::test]
async fn each_day_is_told_once_at_its_time_where_the_owner_lives() {
    let zone = TimeZone::get("Europe/Vienna").unwrap();
    let rig = Rig::new();
    waits(&rig, 2).await;
    let begin: Timestamp = "2026-10-12T00:00:00Z".parse().unwrap();
    let mut days = Vec::new();
    for look in 0..21 * 24 * 120 {
        let at = begin + (look * 30).seconds();
        if rig.commands.word_of_day(of(at, &zone)).await.unwrap() {
            days.push(at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string());
        }
    }
    let wanted: Vec<String> = (0..21)
        .map(|day| format!("{} 18:00", jiff::civil::date(2026, 10, 12) + day.days()))
        .collect();
    assert_eq!(days, wanted);
}

#[tokio::test]
async fn a_clock_that_is_set_tells_no_day_twice_and_nothing_waits_is_not_told() {
    let rig = Rig::new();
    let zone = TimeZone::UTC;
    let tells = async |at: &str| {
        let at: Timestamp = at.parse().unwrap();
        rig.commands.word_of_day(of(at, &zone)).await.unwrap()
    };
    assert!(!tells("2026-11-01T18:00:00Z").await, "nothing waits");
    waits(&rig, 1).await;
    assert!(!tells("2026-11-01T19:00:00Z").await, "this day was looked at");
    assert!(!tells("2026-11-02T17:59:59Z").await);
    assert!(tells("2026-11-02T18:00:00Z").await);
    // Put ahead, and back.
    assert!(tells("2027-01-01T18:00:00Z").await);
    assert!(!tells("2026-11-02T18:00:00Z").await, "it was told");
    assert!(tells("2026-11-03T18:00:00Z").await);
}

#[tokio::test]
async fn it_names_what_would_be_remembered_to_the_owner_alone() {
    let rig = Rig::new();
    waits(&rig, 7).await;
    // Another question that waits is none.
    rig.gate.parked(echo(3, "x")).await;
    let at: Timestamp = "2026-11-01T18:00:00Z".parse().unwrap();
    assert!(rig.commands.word_of_day(of(at, &TimeZone::UTC)).await.unwrap());
    let rows = rig.gate.store.read(|tx| tx.open_questions(None)).unwrap();
    let rows: Vec<_> = rows.into_iter().filter(|row| row.question.is_to_remember()).collect();
    let named = text(&rows, true);
    let lines: Vec<&str> = named.lines().collect();
    assert_eq!(lines[0], "**To remember: 7 proposals wait for your tap.**");
    assert_eq!(lines[2], "- `“Anna 0”: Lives in *Graz*`");
    assert_eq!(lines[7], "- and 2 more");
    assert!(lines[9].starts_with("Nothing of it is remembered yet. Tap where it was asked;"));
    let counted = text(&rows[..1], false);
    assert!(counted.starts_with("**To remember: 1 proposal waits for your tap.**\n\nNothing"));
}
