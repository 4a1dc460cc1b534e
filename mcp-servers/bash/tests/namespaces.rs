//! What the namespaces add to the box, and that the server serves without them.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "a test starts real processes")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

use claw_test_kit::skipped;
use common::{FAMILY, House, Server, alive, box_or_skip, eventually, family_of};
use serde_json::json;

/// A server that has namespaces, or `None` with a word about it.
fn within_namespaces(house: &House) -> Option<Server> {
    if !box_or_skip(6) {
        return None;
    }
    if !claw_mcp_bash::probe().namespaces {
        skipped(&claw_mcp_bash::probe().to_string());
        return None;
    }
    let mut server = house.server();
    let level = server.run("true")["box"].as_str().unwrap().to_owned();
    assert!(level.contains("+namespaces"), "{level}");
    Some(server)
}

#[test]
fn a_command_sees_no_process_but_its_own() {
    let house = House::new();
    let Some(mut server) = within_namespaces(&house) else {
        return;
    };
    let seen =
        server.output("ls /proc | grep -c '^[0-9]'; cat /proc/[0-9]*/cmdline | tr '\\0' ' '");
    let own = format!("/proc/{}/cmdline", std::process::id());
    let test =
        String::from_utf8(fs::read(own).unwrap()).unwrap().split('\0').next().unwrap().to_owned();
    assert!(!seen.contains(&test), "{seen}");
    let count: usize = seen.lines().next().unwrap().parse().unwrap();
    // Server, supervisor, shell, and the two of the pipe.
    assert!(count <= 6, "{seen}");
    assert_eq!(server.output("sleep 300 & kill $! && wait $!; ps -o pid= -p $$ | wc -l"), "1\n");
    let user = rustix::process::getuid().as_raw();
    assert_eq!(server.output("id -u"), format!("{user}\n"), "it is still the same user");
}

#[test]
fn modes_times_and_attributes_of_files_outside_stay() {
    let house = House::new();
    let Some(mut server) = within_namespaces(&house) else {
        return;
    };
    let diary = house.home().join("diary");
    let way = format!(
        "chmod 777 {0}; touch -d 2001-01-01 {0}; chgrp $(id -g) {0}; setfattr -n user.x -v 1 {0}; chmod 777 {1}; true",
        diary.display(),
        house.home().display()
    );
    let facts = |path: &std::path::Path| {
        let meta = fs::metadata(path).unwrap();
        (meta.permissions().mode(), meta.mtime(), meta.ctime(), meta.ctime_nsec())
    };
    let before = (facts(&diary), facts(&house.home()));
    let output = server.output(&way);
    assert_eq!((facts(&diary), facts(&house.home())), before, "{output}");
    // What lies below /tmp is not even there.
    let refused = ["Read-only file system", "No such file"];
    assert!(refused.iter().any(|words| output.contains(words)), "{output}");
    assert_eq!(server.output("touch a && chmod 700 a && touch $TMPDIR/b && stat -c %a a"), "700\n");
    // The control: it is the namespace that holds this.
    house.server_with(&["--without-namespaces"]).run(&way);
    assert_ne!(facts(&diary), before.0);
}

#[test]
fn memory_and_queues_of_the_users_other_programs_are_out_of_reach() {
    let house = House::new();
    let Some(mut server) = within_namespaces(&house) else { return };
    if server.run("command -v ipcmk ipcs")["exit_code"] != 0 {
        skipped("no ipcmk on this machine");
        return;
    }
    let inside = server.output("readlink /proc/self/ns/ipc /proc/self/ns/pid /proc/self/ns/mnt");
    for (kind, link) in ["ipc", "pid", "mnt"].iter().zip(inside.lines()) {
        let own = fs::read_link(format!("/proc/self/ns/{kind}")).unwrap();
        assert_ne!(own.to_str(), Some(link), "{kind}");
    }
    assert_eq!(server.output("ipcs -mqs | grep -c ^0x"), "0\n");
}

#[test]
fn the_kill_of_either_process_of_the_server_ends_all_commands() {
    for inner in [false, true] {
        let house = House::new();
        let Some(mut server) = within_namespaces(&house) else { return };
        server.post_run(json!({"command": format!("{FAMILY} wait")}));
        let pids = family_of(&house);
        let outer = server.child.id();
        let children = fs::read_to_string(format!("/proc/{outer}/task/{outer}/children")).unwrap();
        let victim = if inner { children.trim().parse().unwrap() } else { outer.cast_signed() };
        let victim = rustix::process::Pid::from_raw(victim).unwrap();
        rustix::process::kill_process(victim, rustix::process::Signal::KILL).unwrap();
        eventually("all are gone", || !pids.iter().any(|pid| alive(*pid)));
        eventually("the server is gone", || server.child.try_wait().unwrap().is_some());
    }
}

#[test]
fn a_system_that_refuses_namespaces_is_served_without_and_told() {
    if !box_or_skip(6) {
        return;
    }
    let house = House::new();
    // As in a container: the call itself is refused, whatever the settings say.
    let command = house.command(&[]);
    let mut server = std::thread::spawn(move || {
        let filter = seccompiler::SeccompFilter::new(
            [(libc::SYS_unshare, Vec::new())].into(),
            seccompiler::SeccompAction::Allow,
            seccompiler::SeccompAction::Errno(libc::EPERM.unsigned_abs()),
            std::env::consts::ARCH.try_into().unwrap(),
        );
        let program: seccompiler::BpfProgram = filter.unwrap().try_into().unwrap();
        seccompiler::apply_filter(&program).unwrap();
        Server::start(command)
    })
    .join()
    .unwrap();
    let opening = server.open_legacy();
    let instructions = opening["result"]["instructions"].as_str().unwrap();
    assert!(instructions.contains("they see the list of processes"), "{instructions}");
    let facts = server.run("echo served");
    assert_eq!((&facts["output"], &facts["confined"]), (&json!("served\n"), &json!(true)));
    assert!(!facts["box"].as_str().unwrap().contains("namespaces"), "{facts:#}");
}

#[test]
fn the_flag_of_the_inner_process_changes_nothing_when_it_is_typed_by_hand() {
    let house = House::new();
    let output = house.command(&["--inside"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("not for you"), "{output:?}");
}
