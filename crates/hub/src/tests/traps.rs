//! The traps of a host, one server each.

use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use super::rig::{Rig, SOON, context, eventually, not_forwarded, runs, text, unknown};
use crate::{CallEnd, HubNotice, ServerState};

/// Trap 3: the pipe is full, and still the call ends in time, the next one is served by a new
/// process.
#[tokio::test]
async fn a_server_that_stops_reading_is_ended() {
    let rig = Rig::new(&["deaf"]);
    let big = json!({"text": "x".repeat(300 * 1024)});
    let permit = rig.permit_for("deaf", "echo", big, Duration::from_millis(300)).await;
    let pid = rig.pid("deaf");
    let begun = Instant::now();
    let reason = unknown(rig.hub.call(permit, context()).await);
    assert!(reason.contains("stopped reading"), "{reason}");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    eventually("the deaf server is gone", || !runs(pid)).await;
    rig.hub.tools("deaf").await.unwrap();
    assert_eq!(rig.starts("deaf"), 2);
}

/// Trap 4: what a server started dies with it, whichever way it ends.
#[tokio::test]
async fn the_whole_group_ends() {
    let rig = Rig::new(&["legacy"]);
    let grandchild: u32 = text(rig.call("legacy", "grandchild", json!({})).await).parse().unwrap();
    let child = rig.pid("legacy");
    assert!(runs(child) && runs(grandchild));
    rig.hub.shutdown().await;
    eventually("the group is gone", || !runs(child) && !runs(grandchild)).await;

    let rig = Rig::new(&["legacy"]);
    let grandchild: u32 = text(rig.call("legacy", "grandchild", json!({})).await).parse().unwrap();
    let child = rustix::process::Pid::from_raw(i32::try_from(rig.pid("legacy")).unwrap()).unwrap();
    rustix::process::kill_process(child, rustix::process::Signal::KILL).unwrap();
    eventually("the grandchild follows", || !runs(grandchild)).await;
}

/// Trap 4, to its end: what has left its parent, its group and its session dies with the server all
/// the same.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_grandchild_that_calls_setsid_ends_too() {
    for ends_by_itself in [false, true] {
        let rig = Rig::new(&["legacy"]);
        let daemon: u32 = text(rig.call("legacy", "daemon", json!({})).await).parse().unwrap();
        let pid = rustix::process::Pid::from_raw(i32::try_from(daemon).unwrap());
        assert_eq!(
            rustix::process::getsid(pid).unwrap(),
            pid.unwrap(),
            "it is in a session of its own"
        );
        if ends_by_itself {
            let server =
                rustix::process::Pid::from_raw(i32::try_from(rig.pid("legacy")).unwrap()).unwrap();
            rustix::process::kill_process(server, rustix::process::Signal::KILL).unwrap();
            eventually("it went with its server", || !runs(daemon)).await;
        } else {
            rig.hub.shutdown().await;
            assert!(!runs(daemon), "an end means that nothing is left");
        }
    }
}

/// The process between claw and a server is killed, stopped, or robbed of its threads and files by
/// the server that it watches.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_supervisor_that_is_killed_or_broken_leaves_nothing_behind() {
    use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};
    type Harm = fn(Pid);
    let killed: Harm = |pid| kill_process(pid, Signal::KILL).unwrap();
    let stopped: Harm = |pid| kill_process(pid, Signal::STOP).unwrap();
    let robbed: Harm = |pid| {
        for resource in [Resource::As, Resource::Nofile] {
            prlimit(Some(pid), resource, Rlimit { current: Some(0), maximum: Some(0) }).unwrap();
        }
    };
    for (harm, asked) in [(killed, false), (stopped, true), (robbed, true)] {
        let rig = Rig::new(&["legacy", "second"]);
        text(rig.call("second", "echo", json!({"text": "x"})).await);
        let daemon: u32 = text(rig.call("legacy", "daemon", json!({})).await).parse().unwrap();
        let (server, other) = (rig.pid("legacy"), rig.pid("second"));
        let stat = std::fs::read_to_string(format!("/proc/{server}/stat")).unwrap();
        let parent =
            stat.rsplit(')').next().unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
        harm(Pid::from_raw(parent).unwrap());
        if asked {
            rig.hub.end_all().await;
        }
        eventually("nothing is left", || {
            !runs(server) && !runs(daemon) && !runs(parent.unsigned_abs())
        })
        .await;
        assert_eq!(runs(other), !asked, "the other server is in good hands");
    }
}

/// A server that works on a call forever, whatever it is told, is ended and starts anew; one that
/// only forgets a call goes on.
#[tokio::test]
async fn a_server_that_ignores_a_cancel_and_everything_else_is_ended() {
    let rig =
        Rig::with(&["busy", "never"], |settings| settings.busy_grace = Duration::from_millis(300));
    for server in ["busy", "never"] {
        let permit = rig.permit_for(server, "echo", json!({}), Duration::from_millis(200)).await;
        assert!(unknown(rig.hub.call(permit, context()).await).contains("no answer within"));
    }
    let told = || rig.notices.lock().unwrap().clone();
    eventually("the busy one is ended", || !told().is_empty()).await;
    let reason =
        "it was told to give up a call, answered nothing for 0.3 s, and was ended".to_owned();
    assert_eq!(told(), [HubNotice::Died { server: "busy".into(), reason }]);
    assert_eq!(text(rig.call("busy", "bare", json!({"text": "anew"})).await), "anew");
    assert_eq!((rig.starts("busy"), rig.starts("never")), (2, 1));
}

/// Trap 5: an answer that is too long ends its call at once, and the server goes on.
#[tokio::test]
async fn an_answer_of_20_mib_is_unknown_at_once() {
    let rig = Rig::new(&["huge"]);
    let permit = rig.permit_for("huge", "echo", json!({}), Duration::from_secs(60)).await;
    let begun = Instant::now();
    let reason = unknown(rig.hub.call(permit, context()).await);
    assert!(reason.contains("16777216 bytes"), "{reason}");
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert_eq!(text(rig.call("huge", "bare", json!({"text": "still here"})).await), "still here");
    assert_eq!(rig.starts("huge"), 1);
}

/// Traps 6 and 7: one tool without a schema spoils nothing, and what `rmcp` does not know is part
/// of the pin.
#[tokio::test]
async fn a_tool_without_a_schema_and_one_with_unknown_fields() {
    let rig = Rig::new(&["legacy"]);
    let tools = rig.hub.tools("legacy").await.unwrap();
    let bare = tools.tool("bare").unwrap();
    assert_eq!(bare.input_schema, json!({"type": "object"}));
    assert_eq!(bare.raw, json!({"name": "bare"}));
    assert_eq!(tools.tool("echo").unwrap().raw["x-unknown"], 1);
    assert_eq!(text(rig.call("legacy", "bare", json!({"text": "x"})).await), "x");
}

/// Trap 8: a list that claims to be good for a day is read again in the server's next life.
#[tokio::test]
async fn no_cache_stands_between_a_server_and_its_pins() {
    let rig = Rig::new(&["modern"]);
    rig.hub.tools("modern").await.unwrap();
    rig.hub.tools("modern").await.unwrap();
    let lists =
        |rig: &Rig| rig.record("modern").iter().filter(|line| *line == "tools/list").count();
    assert_eq!(lists(&rig), 2, "two pages, once");
    rig.hub.end_all().await;
    rig.hub.tools("modern").await.unwrap();
    assert_eq!(lists(&rig), 4);
}

/// Trap 9.
#[tokio::test]
async fn the_environment_is_cleared() {
    let rig = Rig::with(&["legacy"], |settings| {
        settings.base_env.insert("ANTHROPIC_API_KEY".into(), "sk-secret".into());
        settings.base_env.insert("LD_PRELOAD".into(), "/tmp/evil.so".into());
        settings.base_env.insert("TERM".into(), "dumb".into());
        settings.base_env.retain(|name, _| {
            !crate::INHERITED_VARIABLES.contains(&name.as_str()) && !name.starts_with("LC_")
        });
    });
    let env = text(rig.call("legacy", "env", json!({})).await);
    let mut names: Vec<&str> = env.lines().filter_map(|line| line.split('=').next()).collect();
    names.retain(|name| !crate::BASIC_VARIABLES.contains(name));
    assert_eq!(names, ["OWN"], "{env}");
    assert!(env.contains("TERM=dumb") && env.contains("PATH="));
    // Otherwise the test would prove nothing.
    assert!(std::env::vars().any(|(name, _)| !crate::BASIC_VARIABLES.contains(&name.as_str())));
}

/// Trap 10: 4 MiB of stderr for each message block nobody, and the log takes only its share.
#[tokio::test]
async fn a_flood_on_stderr_is_drained_and_capped() {
    let rig = Rig::with(&["flood"], |settings| settings.stderr_bytes_max = 10_240);
    assert_eq!(text(rig.call("flood", "echo", json!({"text": "dry"})).await), "dry");
    rig.hub.shutdown().await;
    let log = rig.log.lock().unwrap();
    assert_eq!(log.len(), 11, "10 lines and the note");
    assert!(log[10].contains("more than 10240 bytes"), "{}", log[10]);
}

/// Trap 11: the start has a limit of its own.
#[tokio::test]
async fn a_server_that_never_answers_does_not_start() {
    let rig = Rig::with(&["mute"], |settings| settings.startup_timeout = Duration::from_secs(4));
    let error = rig.hub.tools("mute").await.unwrap_err().to_string();
    assert!(error.contains("did not answer within 4 s"), "{error}");
    assert!(matches!(&rig.notices.lock().unwrap()[..], [HubNotice::Failed { .. }]));
}

/// Trap 12: a round of a modern server is seen, not answered.
#[tokio::test]
async fn a_request_for_input_surfaces() {
    let rig = Rig::new(&["rounds"]);
    let CallEnd::InputRequired { requests, state } = rig.call("rounds", "echo", json!({})).await
    else {
        panic!()
    };
    assert_eq!(requests["a"]["method"], "elicitation/create");
    assert_eq!(state.as_deref(), Some("opaque"));
    assert_eq!(rig.record("rounds").iter().filter(|line| *line == "tools/call").count(), 1);
}

#[tokio::test]
async fn garbage_on_stdout_is_logged_and_passed_over() {
    let rig = Rig::new(&["garbage"]);
    assert_eq!(text(rig.call("garbage", "echo", json!({"text": "clear"})).await), "clear");
    assert!(rig.log.lock().unwrap().iter().any(|line| line.contains("friendly server")));
}

#[tokio::test]
async fn endless_garbage_in_place_of_an_answer_ends_with_the_start() {
    // Long enough for the other one on a busy machine.
    let rig = Rig::with(&["babble", "legacy"], |settings| {
        settings.startup_timeout = Duration::from_secs(8)
    });
    let (babble, other) = tokio::join!(
        rig.hub.tools("babble"),
        rig.call("legacy", "echo", json!({"text": "all the same"}))
    );
    let error = babble.unwrap_err().to_string();
    assert!(error.contains("did not answer within 8 s"), "{error}");
    assert_eq!(text(other), "all the same");
}

#[tokio::test]
async fn more_than_the_queue_holds_is_not_forwarded() {
    let rig = Rig::with(&["legacy"], |settings| settings.queue_bytes_max = 100_000);
    let reason =
        not_forwarded(rig.call("legacy", "echo", json!({"text": "x".repeat(100_000)})).await);
    assert!(reason.contains("100000 bytes"), "{reason}");
    assert!(!rig.record("legacy").contains(&"tools/call".to_owned()));
    assert_eq!(text(rig.call("legacy", "echo", json!({"text": "small"})).await), "small");
}

#[tokio::test]
async fn batches_and_missing_members_are_read() {
    let rig = Rig::new(&["odd-json"]);
    assert_eq!(text(rig.call("odd-json", "echo", json!({"text": "odd"})).await), "odd");
}

#[tokio::test]
async fn an_answer_to_an_id_as_text_is_no_answer_to_the_number() {
    let rig = Rig::new(&["text-ids", "text-ids-early"]);
    let permit =
        rig.permit_for("text-ids", "echo", json!({"text": "x"}), Duration::from_millis(300)).await;
    let reason = unknown(rig.hub.call(permit, context()).await);
    assert!(reason.contains("no answer"), "{reason}");
    let is_told = || rig.log.lock().unwrap().iter().any(|it| it.contains("an answer to the id \""));
    eventually("the odd answer is told", is_told).await;
    let refused = rig.hub.tools("text-ids-early").await.unwrap_err().to_string();
    assert!(refused.contains("2000000002") && refused.contains("a text"), "{refused}");
}

/// A splice(2) out of an idle socket, or into a full one, holds the lock of a server's pipe, and
/// whoever touches that pipe waits in the kernel, also with `O_NONBLOCK`. So this looks on from
/// another thread, and ends the servers if it has to.
#[test]
fn a_server_that_keeps_the_lock_of_its_pipe_holds_up_nobody() {
    let (tell, told) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for mode in ["holds-stdin", "holds-stdout"] {
                let rig = Rig::new(&[mode, "legacy"]);
                for _ in 0..4 {
                    let limit = Duration::from_millis(300);
                    let permit = rig.permit_for(mode, "echo", json!({}), limit).await;
                    if let ServerState::Up { pid, .. } = rig.state(mode) {
                        tell.send(pid).unwrap();
                    }
                    rig.hub.call(permit, context()).await;
                }
                assert_eq!(text(rig.call("legacy", "echo", json!({"text": "hi"})).await), "hi");
                rig.hub.shutdown().await;
            }
        });
        tell.send(None).unwrap();
    });
    let mut pids = Vec::new();
    loop {
        match told.recv_timeout(SOON) {
            Ok(Some(pid)) => pids.push(pid),
            Ok(None) => return,
            Err(why) => {
                for pid in
                    pids.into_iter().filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
                {
                    let _ = kill_process(pid, Signal::KILL);
                }
                panic!("claw waits for a server: {why}");
            }
        }
    }
}

/// Wrappers of shell open their standard streams by name, which works with pipes and not with
/// sockets.
#[tokio::test]
async fn a_wrapper_can_open_its_standard_streams_by_name() {
    let dir = TempDir::new().unwrap();
    let script = "echo wrapped > /dev/stderr; cat /dev/stdin | \"$0\" legacy \"$1\" > /dev/stdout";
    let args = json!(["-c", script, Rig::exe(), dir.path().join("wrapped")]);
    let servers = json!({"wrapped": {"command": "sh", "args": args}});
    let rig = Rig::from_servers(servers, dir, |_| {});
    assert_eq!(text(rig.call("wrapped", "echo", json!({"text": "hi"})).await), "hi");
    eventually("its log", || rig.log.lock().unwrap().iter().any(|line| line == "wrapped")).await;
}

/// A server that has closed its stdin hears nothing more: it is ended, and the call does not wait
/// for its time.
#[tokio::test]
async fn a_server_that_closes_its_stdin_is_ended() {
    let dir = TempDir::new().unwrap();
    let args = json!(["closes-stdin", dir.path().join("closes-stdin")]);
    let servers = json!({"closes-stdin": {"command": Rig::exe(), "args": args}});
    let rig = Rig::from_servers(servers, dir, |_| {});
    let permit = rig.permit("closes-stdin", "echo", json!({})).await;
    let again = rig.permit("closes-stdin", "echo", json!({})).await;
    let pid = rig.pid("closes-stdin");
    assert_eq!(text(rig.hub.call(permit, context()).await), "said");
    // What is said before that lies in the pipe unread, and its call waits for its time.
    let stdin = format!("/proc/{pid}/fd/0");
    eventually("its stdin is closed", || {
        std::fs::read_link(&stdin).is_ok_and(|to| to.as_os_str() == "/dev/null")
    })
    .await;
    match rig.hub.call(again, context()).await {
        CallEnd::Unknown { reason } | CallEnd::NotForwarded { reason } => {
            assert!(!reason.contains("no answer within"), "{reason}");
        }
        // It was gone before the call came, so another one was started, which has answered.
        end => assert_eq!(text(end), "said"),
    }
    eventually("it is gone", || !runs(pid)).await;
}
