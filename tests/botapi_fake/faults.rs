//! Faults strike where and as often as they are told, and the effect is there or not as they say.

use std::time::{Duration, Instant};

use serde_json::json;
use teloxide_core::prelude::*;
use teloxide_core::{ApiError, RequestError};

use super::botapi::{Call, Fault, Outcome, User};
use super::{raw_call, until, with_user};

#[tokio::test]
async fn too_many_requests_for_one_method_in_one_chat() {
    let (api, bot, anna) = with_user();
    let bert = api.user("Bert");
    bert.starts();
    let say = |user: &User| bot.send_message(ChatId(user.id), "x").into_future();
    api.fault(Fault::TooMany(7)).on("sendMessage").in_chat(anna.id).times(2);
    for _ in 0..2 {
        assert!(
            matches!(say(&anna).await, Err(RequestError::RetryAfter(wait)) if wait.seconds() == 7)
        );
        bot.get_me().await.unwrap();
        say(&bert).await.unwrap();
    }
    say(&anna).await.unwrap();
    assert_eq!(api.sent(anna.id).len(), 1);
    let refused = api
        .calls()
        .into_iter()
        .filter(|call| matches!(call.outcome, Outcome::Failed(Fault::TooMany(7))));
    assert_eq!(refused.count(), 2);
}

#[test]
fn a_proxy_answers_in_html() {
    let (api, _, anna) = with_user();
    for code in [500, 502] {
        api.fault(Fault::Status(code)).on("sendMessage").times(1);
        let (head, body) =
            raw_call(&api, "sendMessage", &json!({"chat_id": anna.id, "text": "x"}).to_string());
        assert!(
            head.starts_with(&format!("HTTP/1.1 {code}")) && body.starts_with("<html>"),
            "{head} {body}"
        );
    }
    assert!(api.sent(anna.id).is_empty());
}

#[tokio::test]
async fn a_connection_is_closed_before_or_after_the_effect() {
    let (api, bot, anna) = with_user();
    let say = |text: &'static str| bot.send_message(ChatId(anna.id), text).into_future();
    say("a connection that lives").await.unwrap();
    api.fault(Fault::CutBefore).on("sendMessage").times(1);
    assert!(matches!(say("before").await, Err(RequestError::Network(_))));
    api.fault(Fault::CutAfter).on("SENDMESSAGE").times(1);
    assert!(matches!(say("after").await, Err(RequestError::Network(_))));
    say("healed").await.unwrap();
    let texts: Vec<_> = api.sent(anna.id).into_iter().map(|message| message.text).collect();
    assert_eq!(texts, ["a connection that lives", "after", "healed"]);
    let effects: Vec<_> =
        api.calls_of("sendMessage").iter().map(|call| call.took_effect()).collect();
    assert_eq!(
        effects,
        [true, false, true, true],
        "nothing was sent twice by the client's library"
    );
    assert!(matches!(api.calls_of("sendMessage")[2].outcome, Outcome::CutAfter(_)));
    api.fault(Fault::CutBefore).after(1).times(1);
    assert_ne!(raw_call(&api, "getMe", "").0, "");
    assert_eq!(raw_call(&api, "getMe", "").0, "", "not a byte comes back");
}

#[tokio::test]
async fn updates_that_are_lost_on_the_way_are_confirmed_nevertheless() {
    let (api, bot, anna) = with_user();
    let said = anna.says(anna.private(), "one").update.unwrap();
    api.fault(Fault::CutAfter).on("getUpdates").times(1);
    assert!(bot.get_updates().offset(said).await.is_err());
    assert!(api.updates()[0].confirmed && !api.updates()[1].confirmed);
    assert_eq!(bot.get_updates().await.unwrap().len(), 1);
}

#[tokio::test]
async fn refusals_garbage_and_delays() {
    let (api, bot, anna) = with_user();
    let say = || bot.send_message(ChatId(anna.id), "x").into_future();
    let description = "Bad Request: chat not found".to_owned();
    api.fault(Fault::Refuse { code: 400, description }).times(1);
    assert!(matches!(say().await, Err(RequestError::Api(ApiError::ChatNotFound))));
    api.fault(Fault::Garbage).times(1);
    assert!(matches!(say().await, Err(RequestError::InvalidJson { .. })));
    assert_eq!(api.sent(anna.id).len(), 1);
    api.fault(Fault::Delay(Duration::from_millis(300))).times(1);
    let began = Instant::now();
    say().await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(300));
    assert_eq!(api.sent(anna.id).len(), 2);
}

#[tokio::test]
async fn a_hang_lasts_until_the_client_goes_away() {
    let (api, bot, anna) = with_user();
    api.fault(Fault::Hang).on("sendMessage").times(1);
    api.fault(Fault::HangAfter).on("sendMessage").times(1);
    for sent in [0, 1] {
        let hanging = tokio::spawn(bot.send_message(ChatId(anna.id), "x").into_future());
        until("it hangs", || {
            api.calls_of("sendMessage").len() > sent && api.sent(anna.id).len() == sent
        })
        .await;
        assert!(!hanging.is_finished());
        hanging.abort();
        assert!(hanging.await.unwrap_err().is_cancelled());
        assert_eq!(api.sent(anna.id).len(), sent);
    }
    let abandoned = |call: &Call| matches!(call.outcome, Outcome::Abandoned);
    // The server hears of a client that has left a moment after the client has.
    until("each hang is over, one of them behind its effect", || {
        let calls = api.calls_of("sendMessage");
        calls.iter().any(abandoned) && calls.iter().filter(|call| call.took_effect()).count() == 1
    })
    .await;
}

#[tokio::test]
async fn chance_is_the_same_for_the_same_seed() {
    let mut rounds = Vec::new();
    for seed in [1, 1, 2] {
        let (api, bot, _) = with_user();
        api.fault(Fault::TooMany(1)).on("getMe").sometimes(0.3, seed);
        let mut struck = Vec::new();
        for _ in 0..60 {
            struck.push(bot.get_me().await.is_err());
        }
        api.heal();
        bot.get_me().await.unwrap();
        rounds.push(struck);
    }
    assert_eq!(rounds[0], rounds[1]);
    assert_ne!(rounds[0], rounds[2]);
    let struck = rounds[0].iter().filter(|one| **one).count();
    assert!((5..35).contains(&struck), "{struck} of 60");
}

#[tokio::test]
async fn always_is_always() {
    let (api, bot, _) = with_user();
    api.fault(Fault::CutBefore).always();
    for _ in 0..3 {
        assert!(bot.get_me().await.is_err());
    }
    api.heal();
    bot.get_me().await.unwrap();
}
