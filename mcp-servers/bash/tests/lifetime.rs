//! Nothing that a job started outlives it: not its end, its timeout, a cancel, the end of the
//! server or its SIGKILL.

mod common;

use std::fs;
use std::path::Path;

use common::{FAMILY, House, alive, eventually, family_of, pid_in};
use serde_json::json;

fn all_gone(pids: &[i32]) {
    eventually(&format!("{pids:?} are gone"), || !pids.iter().any(|pid| alive(*pid)));
}

#[test]
fn the_end_of_the_command_ends_what_runs_in_the_background() {
    let house = House::new();
    let mut server = house.server();
    let id = server.post_run(
        json!({"command": format!("{FAMILY} until [ -e seen ]; do sleep 0.01; done; echo done")}),
    );
    let pids = family_of(&house);
    fs::write(house.workspace().join("seen"), "").unwrap();
    let facts = server.answer(id)["result"]["structuredContent"].take();
    assert_eq!((&facts["exit_code"], &facts["output"]), (&json!(0), &json!("done\n")));
    // Not eventually: when the result is there, they are dead.
    assert!(!pids.iter().any(|pid| alive(*pid)), "{pids:?}");
}

#[test]
fn what_ends_by_itself_right_after_the_command_may_finish() {
    let house = House::new();
    let mut server = house.server();
    assert_eq!(
        server.output("exec > >(cat > copy; cat copy); echo through the pipe"),
        "through the pipe\n"
    );
}

#[test]
fn a_timeout_kills_the_whole_family_also_those_that_ignore_signals() {
    let house = House::new();
    let mut server = house.server();
    let command = format!("trap '' TERM INT HUP; echo before; {FAMILY} wait");
    let id = server.post_run(json!({"command": command, "timeout_s": 10}));
    let pids = family_of(&house);
    let result = server.answer(id)["result"].take();
    assert_eq!(
        (&result["isError"], &result["structuredContent"]["timed_out"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(result["structuredContent"]["output"], "before\n");
    assert!(!pids.iter().any(|pid| alive(*pid)), "{pids:?}");
    assert_eq!(server.output("echo next"), "next\n");
}

#[test]
fn a_cancel_kills_the_whole_family() {
    let house = House::new();
    let mut server = house.server();
    let id = server.post_run(json!({"command": format!("{FAMILY} wait")}));
    let pids = family_of(&house);
    assert!(pids.iter().all(|pid| alive(*pid)));
    server.notify("notifications/cancelled", json!({"requestId": id, "reason": "test"}));
    all_gone(&pids);
    assert_eq!(server.output("echo next"), "next\n");
}

#[test]
fn closing_stdin_kills_the_whole_family_at_once_and_ends_the_server() {
    let house = House::new();
    let mut server = house.server();
    server.post_run(json!({"command": format!("{FAMILY} wait")}));
    let pids = family_of(&house);
    let closed = std::time::Instant::now();
    server.close_stdin();
    assert_eq!(server.exit_code(), Some(0));
    // The MCP library alone would let a running call go on for five seconds.
    assert!(closed.elapsed().as_secs() < 4, "{:?}", closed.elapsed());
    // The server leaves last.
    assert!(!pids.iter().any(|pid| alive(*pid)), "{pids:?}");
}

#[test]
fn the_death_of_the_server_kills_the_whole_family() {
    let house = House::new();
    let mut server = house.server();
    server.post_run(json!({"command": format!("{FAMILY} wait")}));
    let pids = family_of(&house);
    assert!(pids.iter().all(|pid| alive(*pid)));
    server.child.kill().unwrap();
    all_gone(&pids);
}

#[cfg(target_os = "linux")]
#[test]
fn the_death_of_a_supervisor_kills_the_family_and_is_told() {
    let house = House::new();
    let mut server = house.server();
    let bystander =
        server.post_run(json!({"command": "echo $$ > b; mv b bystander; exec sleep 300"}));
    let spared = pid_in(&house.workspace().join("bystander"));
    let id = server
        .post_run(json!({"command": format!("echo $PPID > n; mv n supervisor; {FAMILY} wait")}));
    let supervisor = pid_in(&house.workspace().join("supervisor"));
    let pids = family_of(&house);
    let supervisor = rustix::process::Pid::from_raw(supervisor).unwrap();
    rustix::process::kill_process(supervisor, rustix::process::Signal::KILL).unwrap();
    // The output stays open in the family's hands: only who looks for the supervisor's end can
    // notice.
    let result = server.answer(id);
    assert!(!pids.iter().any(|pid| alive(*pid)), "{pids:?}");
    let text = result["result"]["content"][0]["text"].as_str().unwrap();
    assert!(
        result["result"]["isError"] == true && text.contains("check before trying again"),
        "{text}"
    );
    // What is swept up is the dead supervisor's family, not the other job.
    assert!(alive(spared));
    server.notify("notifications/cancelled", json!({"requestId": bystander}));
    all_gone(&[spared]);
    assert_eq!(server.output("echo next"), "next\n");
}

#[test]
fn another_job_is_spared_when_one_is_killed() {
    let house = House::new();
    let mut server = house.server();
    let one = server.post_run(json!({"command": "echo $$ > n; mv n one; exec sleep 300"}));
    let pid = pid_in(&house.workspace().join("one"));
    let other = server.call(json!({"command": format!("{FAMILY} wait"), "timeout_s": 1}));
    assert_eq!(other["structuredContent"]["timed_out"], true);
    assert!(alive(pid));
    server.notify("notifications/cancelled", json!({"requestId": one}));
    all_gone(&[pid]);
}

#[test]
fn nothing_stays_in_the_temporary_directory_but_an_empty_one() {
    let house = House::new();
    let mut server = house.server();
    assert_eq!(server.output("mkdir -p $TMPDIR/a/b; echo x > $TMPDIR/a/b/c; echo ok"), "ok\n");
    server.close_stdin();
    assert_eq!(server.exit_code(), Some(0));
    let shelf =
        fs::read_dir(house.tmp()).unwrap().map(|e| e.unwrap().path()).find(|p| p.is_dir()).unwrap();
    // The folder of HOME is a mount in the server's namespaces, which it cannot remove from inside.
    let found = |path: &Path| -> Vec<_> {
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    for left in found(&shelf).iter().flat_map(|left| found(left)) {
        assert!(left.ends_with("home") && found(&left).is_empty(), "{}", left.display());
    }
}
