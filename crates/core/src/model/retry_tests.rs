//! Tests of the retries, on a paused clock.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::super::{Delta, Model, ModelError, Reply, Request, Script, Scripted};
use super::{Retry, RetryPolicy};

async fn ask(script: Vec<Script>) -> (Result<Reply, ModelError>, Vec<Delta>, usize, Duration) {
    let scripted = Arc::new(Scripted::new(script));
    let model = Retry::new(scripted.clone());
    let mut deltas = Vec::new();
    let start = Instant::now();
    let reply = model.reply(&Request::default(), &mut |delta| deltas.push(delta)).await;
    (reply, deltas, scripted.requests().len(), start.elapsed())
}

fn rate_limit(wait_s: u64) -> Script {
    Script::Fail(ModelError::RateLimited {
        provider: "x".into(),
        retry_after: Some(Duration::from_secs(wait_s)),
    })
}

fn broken() -> ModelError {
    ModelError::transient("it broke")
}

#[tokio::test(start_paused = true)]
async fn a_broken_attempt_is_taken_back_and_the_text_comes_once() {
    let cut = Script::Break { deltas: vec![Delta::Text("hel".into())], error: broken() };
    let (reply, deltas, asked, _) = ask(vec![cut, Script::text("hello")]).await;
    assert_eq!(crate::domain::text_of(&reply.unwrap().blocks), "hello");
    assert_eq!(
        deltas,
        [
            Delta::Text("hel".into()),
            Delta::Restarted { why: "it broke".into() },
            Delta::Text("hello".into())
        ]
    );
    assert_eq!(asked, 2);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_taken_back_when_nothing_was_shown() {
    let (reply, deltas, _, _) = ask(vec![Script::Fail(broken()), Script::text("hello")]).await;
    assert!(reply.is_ok());
    assert_eq!(deltas, [Delta::Text("hello".into())]);
}

#[tokio::test(start_paused = true)]
async fn five_tries_and_no_more() {
    let (reply, _, asked, waited) = ask(vec![Script::Fail(broken()); 9]).await;
    assert_eq!(reply.unwrap_err(), broken());
    assert_eq!(asked, 5);
    // Ceilings 0.5 + 1 + 2 + 4 seconds.
    assert!(waited <= Duration::from_millis(7_500), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn the_last_broken_attempt_is_taken_back_too() {
    let cut = Script::Break {
        deltas: vec![Delta::Text("hel".into())],
        error: ModelError::permanent("no"),
    };
    let (reply, deltas, asked, _) = ask(vec![cut]).await;
    assert!(reply.is_err());
    assert_eq!(asked, 1);
    assert_eq!(deltas.last(), Some(&Delta::Restarted { why: "no".into() }));
}

#[tokio::test(start_paused = true)]
async fn retry_after_of_a_minute_is_honoured() {
    let (reply, _, asked, waited) = ask(vec![rate_limit(60), Script::text("late")]).await;
    assert!(reply.is_ok());
    assert_eq!(asked, 2);
    assert!(waited >= Duration::from_secs(60) && waited < Duration::from_secs(61), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn a_longer_one_is_told_at_once() {
    let (reply, _, asked, waited) = ask(vec![rate_limit(61), Script::text("never")]).await;
    assert!(
        matches!(reply, Err(ModelError::RateLimited { retry_after: Some(d), .. }) if d.as_secs() == 61)
    );
    assert_eq!(asked, 1);
    assert_eq!(waited, Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn permanent_errors_are_final() {
    let long = ModelError::ContextTooLong { model: "m".into(), detail: "d".into() };
    for error in [ModelError::permanent("set X"), long] {
        let (reply, _, asked, _) =
            ask(vec![Script::Fail(error.clone()), Script::text("never")]).await;
        assert_eq!(reply.unwrap_err(), error);
        assert_eq!(asked, 1);
    }
}

#[test]
fn backoff_doubles_up_to_its_ceiling() {
    let policy = RetryPolicy {
        backoff_first: Duration::from_secs(1),
        backoff_max: Duration::from_secs(4),
        ..RetryPolicy::default()
    };
    let retry = Retry::with_policy(Arc::new(Scripted::new(Vec::new())), policy);
    for (tries, ceiling_s) in [(1, 1), (2, 2), (3, 4), (4, 4), (40, 4)] {
        let most = (0..200).map(|_| retry.backoff(tries)).max().unwrap();
        assert!(most <= Duration::from_secs(ceiling_s), "try {tries}: {most:?}");
        assert!(most > Duration::from_secs(ceiling_s) / 2, "try {tries}: {most:?}");
    }
}
