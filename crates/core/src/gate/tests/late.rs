//! Servers that are late, fail, come back and die: what a model is offered meanwhile, and what the
//! person hears, once.

use std::fs;
use std::time::Duration;

use super::rig::{Rig, echo};
use claw_test_kit::{SOON, eventually};

/// Longer than any test waits, so that a wait would be seen.
const FOR_EVER: Duration = Duration::from_secs(3600);

async fn offered(rig: &Rig) -> (Vec<String>, Vec<String>) {
    let offered = tokio::time::timeout(SOON, rig.gate.catalog().offered())
        .await
        .expect("a model would wait for a slow server");
    // What is told at first sight is another test's.
    let told = offered.notices.into_iter().filter(|notice| !notice.starts_with("New server"));
    (offered.specs.iter().map(|spec| spec.name.clone()).collect(), told.collect())
}

/// Asks again and again, as the steps of a turn do, until tools are offered; gives all that was
/// told meanwhile.
async fn until_offered(rig: &Rig) -> Vec<String> {
    let mut told = Vec::new();
    let deadline = std::time::Instant::now() + SOON;
    loop {
        let (tools, notices) = offered(rig).await;
        told.extend(notices);
        if !tools.is_empty() {
            return told;
        }
        assert!(std::time::Instant::now() < deadline, "its tools never joined: {told:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn starts(rig: &Rig, server: &str) -> usize {
    let record = fs::read_to_string(rig.home().join(server)).unwrap_or_default();
    record.lines().filter(|line| line.starts_with("pid ")).count()
}

#[tokio::test]
async fn a_late_server_is_waited_for_once_and_joins_later() {
    let rig = Rig::with(&["late"], "", |settings| {
        settings.catalog.server_wait = Duration::from_millis(50)
    });
    let (tools, told) = offered(&rig).await;
    assert!(tools.is_empty());
    assert!(told.len() == 1 && told[0].contains("`late` is still starting"), "{told:?}");
    assert_eq!(offered(&rig).await, (vec![], vec![]), "told once");

    rig.store.write(|_| Ok(())).await.unwrap();
    // Another process knows that it is slow, and does not wait at all.
    let again = rig.again_with("", |settings| settings.catalog.server_wait = FOR_EVER);
    assert!(offered(&again).await.1[0].contains("still starting"));

    eventually("both have begun", || starts(&rig, "late") == 2).await;
    fs::write(rig.home().join("late.go"), "").unwrap();
    let told = until_offered(&rig).await;
    assert!(told.len() == 1 && told[0].contains("`late` is up"), "{told:?}");
    assert_eq!(starts(&rig, "late"), 2, "one start a process");

    // From now on its tools are known, and nobody has to start it for them.
    let third = rig.again("");
    let (tools, told) = offered(&third).await;
    assert!(tools.contains(&"late__echo".to_owned()) && told.is_empty(), "{tools:?} {told:?}");
    assert_eq!(starts(&rig, "late"), 2);
}

#[tokio::test]
async fn a_server_that_failed_is_tried_again_at_later_steps_and_told_of_once() {
    let rig = Rig::new(&["sulks"], "");
    let (tools, told) = offered(&rig).await;
    assert!(tools.is_empty());
    assert!(
        told.len() == 1 && told[0].contains("not in the mood") && told[0].contains("not offered"),
        "{told:?}"
    );
    fs::write(rig.home().join("sulks.go"), "").unwrap();
    let told = until_offered(&rig).await;
    assert!(told.len() == 1 && told[0].contains("`sulks` is up"), "{told:?}");
}

#[tokio::test]
async fn a_broken_server_is_left_alone_between_tries() {
    let rig = Rig::new(&["sulks"], "");
    offered(&rig).await;
    // The second failure starts the pauses; the steps until then are not waited for.
    let failed = || match rig.gate.hub().servers().remove(0).state {
        crate::hub::ServerState::Failed { retry_in, .. } => retry_in,
        _ => Duration::ZERO,
    };
    let deadline = std::time::Instant::now() + SOON;
    while failed().is_zero() {
        assert!(std::time::Instant::now() < deadline, "it is not left alone");
        assert_eq!(offered(&rig).await.1, Vec::<String>::new());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let before = starts(&rig, "sulks");
    for _ in 0..20 {
        offered(&rig).await;
    }
    assert!(failed().is_zero() || starts(&rig, "sulks") == before, "a pause that is none");
}

#[tokio::test]
async fn a_death_is_told_once_and_the_call_says_when_it_starts_again() {
    let rule = super::rig::ALLOW.replace("legacy", "dies");
    let rig = Rig::new(&["dies"], &rule);
    let die = |n| {
        let mut call = echo(n, "x");
        call.server = "dies".into();
        call
    };
    rig.unknown(die(1)).await;
    eventually("the hub has heard of it", || {
        matches!(rig.gate.hub().servers()[0].state, crate::hub::ServerState::Failed { .. })
    })
    .await;
    let (_, told) = offered(&rig).await;
    assert!(
        told.iter()
            .any(|text| text.contains("`dies` has ended (it exited with status 3; it said: boom)")),
        "{told:?}"
    );
    rig.unknown(die(2)).await;
    eventually("it is left alone", || {
        let state = rig.gate.hub().servers().remove(0).state;
        matches!(state, crate::hub::ServerState::Failed { retry_in, .. } if !retry_in.is_zero())
    })
    .await;
    let reason = rig.denied(die(3)).await;
    assert!(
        reason.contains("failed 2 times in a row and is left alone for another 1 s"),
        "{reason}"
    );
    assert_eq!(offered(&rig).await.1, Vec::<String>::new(), "told once");
}

#[tokio::test]
async fn what_is_left_out_of_a_list_is_told() {
    let rig = Rig::new(&["twins"], "");
    let (tools, told) = offered(&rig).await;
    assert!(tools.contains(&"twins__bare".to_owned()), "{tools:?}");
    assert_eq!(
        told,
        ["The server `twins`: it lists the tool `bare` twice; only the first one counts."]
    );
}
