//! Starting, ending, and that one server's trouble stays its own.

use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::rig::{Rig, eventually, runs, text};
use crate::{HubError, HubNotice, ServerState};

#[tokio::test]
async fn a_server_that_hangs_in_its_start_delays_nobody() {
    let rig = Rig::with(&["legacy", "mute"], |settings| {
        settings.startup_timeout = Duration::from_secs(60)
    });
    assert_eq!(rig.state("mute"), ServerState::Idle);
    let mute = rig.hub.tools("mute");
    let other = async {
        eventually("the mute one is being started", || rig.starts("mute") == 1).await;
        assert_eq!(text(rig.call("legacy", "echo", json!({"text": "quick"})).await), "quick");
        assert_eq!(rig.state("mute"), ServerState::Starting);
        rig.hub.shutdown().await;
    };
    let (mute, ()) = tokio::join!(mute, other);
    assert_eq!(mute.unwrap_err(), HubError::ShuttingDown);
    let pid: u32 = rig.record("mute")[0].trim_start_matches("pid ").parse().unwrap();
    assert!(!runs(pid), "a start that was given up leaves no process");
}

#[tokio::test]
async fn many_callers_start_a_server_once() {
    let rig = Rig::new(&["legacy"]);
    let tools = futures::future::join_all((0..20).map(|_| rig.hub.tools("legacy"))).await;
    assert!(tools.iter().all(Result::is_ok));
    assert_eq!(rig.starts("legacy"), 1);
}

#[tokio::test]
async fn a_broken_server_says_why_and_is_left_alone_for_a_while() {
    let rig = Rig::new(&["broken"]);
    let error = rig.hub.tools("broken").await.unwrap_err().to_string();
    assert!(error.contains("status 7") && error.contains("cannot find my module"), "{error}");
    rig.hub.tools("broken").await.unwrap_err();
    let starts = rig.starts("broken");
    let error = rig.hub.tools("broken").await.unwrap_err();
    assert!(matches!(&error, HubError::BackingOff { failures: 2, .. }), "{error:?}");
    assert!(error.to_string().contains("failed 2 times in a row"), "{error}");
    assert_eq!(rig.starts("broken"), starts, "it was not started again");
    assert!(matches!(rig.state("broken"), ServerState::Failed { .. }));
    assert_eq!(rig.notices.lock().unwrap().len(), 1, "told once");
    assert_eq!(rig.hub.take_notices().len(), 1);
    assert!(rig.hub.take_notices().is_empty());
}

#[tokio::test]
async fn a_missing_program_is_named() {
    let dir = TempDir::new().unwrap();
    let servers = json!({"a": {"command": "no-such-program-7"}, "b": {"command": "true", "cwd": "/no/such/dir"}});
    let rig = Rig::from_servers(servers, dir, |_| {});
    let error = rig.hub.tools("a").await.unwrap_err().to_string();
    assert!(error.contains("`no-such-program-7` was not found"), "{error}");
    let error = rig.hub.tools("b").await.unwrap_err().to_string();
    assert!(error.contains("/no/such/dir does not exist"), "{error}");
}

#[tokio::test]
async fn a_stubborn_group_is_killed_in_bounded_time_and_others_in_parallel() {
    let dir = TempDir::new().unwrap();
    // Ignored signals are inherited, so this one survives stdin's end and SIGTERM.
    let script = "trap '' TERM; exec \"$0\" ignores-eof";
    let stubborn = json!({"command": "sh", "args": ["-c", script, Rig::exe()]});
    let rig = Rig::from_servers(
        json!({"a": stubborn.clone(), "b": stubborn.clone(), "c": stubborn}),
        dir,
        |settings| settings.shutdown_grace = Duration::from_secs(3),
    );
    let mut pids = Vec::new();
    for server in ["a", "b", "c"] {
        let grandchild: u32 =
            text(rig.call(server, "grandchild", json!({})).await).parse().unwrap();
        pids.extend([rig.pid(server), grandchild]);
    }
    let begun = Instant::now();
    rig.hub.shutdown().await;
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    eventually("nothing is left", || pids.iter().all(|pid| !runs(*pid))).await;
    assert!(rig.notices.lock().unwrap().is_empty(), "an end that was asked for is no failure");
    assert_eq!(rig.hub.tools("a").await.unwrap_err(), HubError::ShuttingDown);
}

#[tokio::test]
async fn a_dropped_hub_leaves_no_process() {
    let rig = Rig::new(&["legacy"]);
    let grandchild: u32 = text(rig.call("legacy", "grandchild", json!({})).await).parse().unwrap();
    let child = rig.pid("legacy");
    drop(rig);
    eventually("the group is gone", || !runs(child) && !runs(grandchild)).await;
}

#[test]
fn a_runtime_that_ends_kills_the_groups() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let rig = Rig::new(&["ignores-eof"]);
    let (child, grandchild) = runtime.block_on(async {
        let grandchild: u32 =
            text(rig.call("ignores-eof", "grandchild", json!({})).await).parse().unwrap();
        (rig.pid("ignores-eof"), grandchild)
    });
    drop(runtime);
    let deadline = Instant::now() + super::rig::SOON;
    while runs(child) || runs(grandchild) {
        assert!(Instant::now() < deadline, "the group outlived the runtime");
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn an_idle_death_is_noticed_and_told() {
    let rig = Rig::new(&["legacy"]);
    rig.hub.tools("legacy").await.unwrap();
    let pid = rustix::process::Pid::from_raw(i32::try_from(rig.pid("legacy")).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    eventually(
        "it is told",
        || matches!(&rig.notices.lock().unwrap()[..], [HubNotice::Died { reason, .. }] if reason.contains("signal 9")),
    )
    .await;
    assert!(matches!(rig.state("legacy"), ServerState::Failed { .. }));
    rig.hub.tools("legacy").await.unwrap();
    assert_eq!(rig.starts("legacy"), 2);
}

#[tokio::test]
async fn a_death_is_told_when_whoever_saw_it_first_is_stopped() {
    let rig = Rig::new(&["legacy"]);
    let server = rig.hub.get("legacy").unwrap();
    let connection = server.connection().await.unwrap();
    connection.transport.closed().cancel();
    drop(connection);
    {
        // It waits for the reason: nothing has ended yet.
        let mut sees_it = std::pin::pin!(server.connection());
        assert!(futures::poll!(&mut sees_it).is_pending());
    }
    eventually("it is told", || {
        matches!(&rig.notices.lock().unwrap()[..], [HubNotice::Died { .. }])
    })
    .await;
    assert!(matches!(rig.state("legacy"), ServerState::Failed { .. }));
}
