//! `getUpdates`: offsets, long polls, conflicts, age.

use std::time::{Duration, Instant};

use teloxide_core::prelude::*;
use teloxide_core::types::Update;
use teloxide_core::{ApiError, RequestError};

use super::botapi::{BotApi, Outcome, UpdateRecord, User};
use super::{bot, raw_call, start, until};

fn ids(updates: &[Update]) -> Vec<i32> {
    updates.iter().map(|update| update.id.0 as i32).collect()
}

fn three(anna: &User) -> Vec<i32> {
    ["one", "two", "three"]
        .iter()
        .map(|text| anna.says(anna.private(), text).update.unwrap())
        .collect()
}

fn is(api: &BotApi, outcome: impl Fn(&Outcome) -> bool) -> bool {
    api.calls_of("getUpdates").iter().any(|call| outcome(&call.outcome))
}

#[tokio::test]
async fn an_offset_confirms_and_forgets_everything_below() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let all = three(&anna);
    assert_eq!(ids(&bot.get_updates().await.unwrap()), all);
    assert_eq!(
        ids(&bot.get_updates().await.unwrap()),
        all,
        "without an offset nothing is confirmed"
    );
    assert_eq!(ids(&bot.get_updates().limit(2).await.unwrap()), all[..2]);
    assert_eq!(ids(&bot.get_updates().offset(all[1]).await.unwrap()), all[1..]);
    assert_eq!(
        ids(&bot.get_updates().offset(all[0]).await.unwrap()),
        all[1..],
        "what is confirmed is gone"
    );
    assert_eq!(ids(&bot.get_updates().offset(0).await.unwrap()), all[1..]);
    let confirmed: Vec<_> =
        api.updates().iter().map(|update| (update.delivered, update.confirmed)).collect();
    assert_eq!(confirmed, [(3, true), (6, false), (5, false)]);
    assert!(bot.get_updates().offset(all[2] + 1).await.unwrap().is_empty());
    api.wait_all_confirmed();
    api.wait_confirmed(all[2]);
}

#[tokio::test]
async fn a_negative_offset_keeps_the_last_ones() {
    let (api, bot) = start();
    let all = three(&api.user("Anna"));
    assert_eq!(ids(&bot.get_updates().offset(-1).await.unwrap()), all[2..]);
    assert_eq!(ids(&bot.get_updates().await.unwrap()), all[2..], "the others are forgotten");
}

#[tokio::test]
async fn an_offset_from_another_life_confirms_nothing() {
    let (api, bot) = start();
    let all = three(&api.user("Anna"));
    assert_eq!(ids(&bot.get_updates().offset(all[2] + 1_000).await.unwrap()), all);
}

#[tokio::test]
async fn ids_may_jump() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let said = anna.says(anna.private(), "one").update.unwrap();
    bot.get_updates().offset(said + 1).await.unwrap();
    api.next_update_id(42);
    assert_eq!(anna.says(anna.private(), "a week later").update, Some(42));
    // The old offset is far above: it must not hide what is new.
    assert_eq!(ids(&bot.get_updates().offset(said + 1).await.unwrap()), [42]);
}

#[tokio::test]
async fn a_long_poll_returns_as_soon_as_something_comes() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let poll = tokio::spawn(bot.get_updates().timeout(50).into_future());
    until("a poll waits", || is(&api, |outcome| matches!(outcome, Outcome::Running))).await;
    let began = Instant::now();
    let update = anna.says(anna.private(), "now").update.unwrap();
    assert_eq!(ids(&poll.await.unwrap().unwrap()), [update]);
    assert!(began.elapsed() < Duration::from_secs(40));
    let empty = Instant::now();
    assert!(bot.get_updates().offset(update + 1).timeout(1).await.unwrap().is_empty());
    assert!(empty.elapsed() >= Duration::from_secs(1), "it waits its whole time");
}

#[tokio::test]
async fn a_second_poller_ends_the_first_one() {
    let (api, first) = start();
    let poll = tokio::spawn(first.get_updates().timeout(50).into_future());
    until("a poll waits", || is(&api, |outcome| matches!(outcome, Outcome::Running))).await;
    let second = tokio::spawn(bot(&api).get_updates().timeout(50).into_future());
    let ended = poll.await.unwrap().unwrap_err();
    assert!(matches!(ended, RequestError::Api(ApiError::TerminatedByOtherGetUpdates)), "{ended:?}");
    let anna = api.user("Anna");
    anna.says(anna.private(), "for the second");
    assert_eq!(second.await.unwrap().unwrap().len(), 1);
}

#[tokio::test]
async fn a_poller_that_went_away_is_no_conflict() {
    let (api, bot) = start();
    let poll = tokio::spawn(bot.get_updates().timeout(50).into_future());
    until("a poll waits", || is(&api, |outcome| matches!(outcome, Outcome::Running))).await;
    poll.abort();
    until("it is abandoned", || is(&api, |outcome| matches!(outcome, Outcome::Abandoned))).await;
    let anna = api.user("Anna");
    anna.says(anna.private(), "still here");
    assert_eq!(bot.get_updates().timeout(50).await.unwrap().len(), 1);
}

#[tokio::test]
async fn taps_die_in_the_queue_before_messages_do() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    anna.starts();
    let sent = bot
        .send_message(ChatId(anna.id), "well?")
        .reply_markup(super::keyboard(&["Yes"]))
        .await
        .unwrap();
    let tap = anna.taps_on(anna.private(), sent.id.0, "Yes").update.unwrap();
    api.let_pass(Duration::from_secs(149));
    assert_eq!(bot.get_updates().await.unwrap().len(), 2);
    api.let_pass(Duration::from_secs(2));
    assert_eq!(bot.get_updates().await.unwrap().len(), 1);
    let expired = |record: &UpdateRecord| record.id == tap && record.expired && !record.confirmed;
    assert!(api.updates().iter().any(expired));
    api.let_pass(Duration::from_secs(24 * 60 * 60));
    assert!(bot.get_updates().await.unwrap().is_empty());
}

#[test]
fn paths_and_case() {
    let (api, _) = start();
    assert!(raw_call(&api, "getupdates", "{}").1.contains(r#""ok":true"#));
    assert!(raw_call(&api, "GETUPDATES", "").1.contains(r#""ok":true"#));
}
