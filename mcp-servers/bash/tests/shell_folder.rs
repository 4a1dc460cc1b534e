//! In which folder a command has left its shell, as the real server tells it: what the kernel says,
//! and nothing that a program of the command could say.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use std::fs;

use common::{House, Server};
use serde_json::{Value, json};

fn moved_to(server: &mut Server, arguments: Value) -> (Value, String) {
    let result = server.call(arguments);
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (result["structuredContent"]["moved_to"].clone(), text)
}

#[test]
fn a_shell_that_has_moved_says_where_and_another_one_says_nothing() {
    let house = House::new();
    fs::create_dir_all(house.workspace().join("sub/deep")).unwrap();
    std::os::unix::fs::symlink("sub/deep", house.workspace().join("in")).unwrap();
    let mut server = house.server();
    for (command, cwd, folder, sentence) in [
        ("cd sub", "", Some("sub"), "The shell has ended in `sub`."),
        (
            "cd in && pushd / >/dev/null && popd >/dev/null; exit 3",
            "",
            Some("sub/deep"),
            "`sub/deep`",
        ),
        ("cd deep", "sub", Some("sub/deep"), "`sub/deep`"),
        ("cd ..", "sub", Some("."), "The shell has ended in the workspace itself."),
        ("set -eux; cd sub; false", "", Some("sub"), "`sub`"),
        ("f() { cd sub; kill -TERM $$; }; f", "", Some("sub"), "`sub`"),
        ("cd /", "", Some("."), "`/`, outside of the workspace, so the next command begins in"),
        ("mkdir -p $TMPDIR/x; cd $TMPDIR/x", "", Some("."), "outside of the workspace"),
        // It has stood elsewhere, and has come back.
        ("cd sub; cd deep; cd ../..", "", None, "exit code 0"),
        ("ls", "sub", None, "It ran in `sub`."),
        ("ls", "in", None, "it leads to, \"sub/deep\""),
        ("(cd sub); cd sub | cat; bash -c 'cd sub'", "", None, "exit code 0"),
        ("env -C sub true; git -C sub status", "", None, "exit code"),
        // There is no end of a shell.
        ("cd sub; exec true", "", None, "exit code 0"),
        ("cd sub; kill -KILL $$", "", None, "ended by signal 9 (SIGKILL)"),
        ("trap true EXIT; cd sub", "", None, "exit code 0"),
    ] {
        let (moved, text) = moved_to(&mut server, json!({"command": command, "cwd": cwd}));
        assert_eq!(moved, json!(folder), "{command}: {text}");
        assert!(text.contains(sentence), "{command}: {text}");
        // What tells it is not seen, also where each step is shown.
        assert!(!text.contains("1000") && !text.contains("printf"), "{command}: {text}");
    }
    let timed_out = json!({"command": "cd sub; sleep 60", "timeout_s": 1});
    assert_eq!(moved_to(&mut server, timed_out).0, Value::Null);
}

#[test]
fn a_folder_that_is_gone_when_the_shell_ends_is_said_to_be() {
    let house = House::new();
    let mut server = house.server();
    let command = "mkdir x; cd x; rmdir ../x; mkdir '../x (deleted)'";
    let (moved, text) = moved_to(&mut server, json!({"command": command, "needs": "write"}));
    assert_eq!(moved, json!("."), "{text}");
    assert!(text.contains("is gone, so the next command begins in the workspace."), "{text}");
}

#[test]
fn a_program_of_the_command_cannot_say_where_its_shell_stands() {
    let house = House::new();
    fs::create_dir_all(house.workspace().join("evil")).unwrap();
    let mut server = house.server();
    for command in [
        // Each has the line, and writes on it what it likes.
        "bash -c 'cd evil; echo evil >&1000'; true",
        "bash -c 'cd evil; printf \"$PWD\" >&1000; sleep 0.1'; true",
        "(cd evil; while :; do printf . >&1000; done) & true",
        // Another program in the place of the shell.
        "exec env -C evil env printf . >&1000",
        "exec python3 -c 'import os, time; os.chdir(\"evil\"); os.write(1000, b\".\"); time.sleep(.2)'",
    ] {
        let (moved, text) = moved_to(&mut server, json!({"command": command}));
        assert_eq!(moved, Value::Null, "{command}: {text}");
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_told_apart_from_all_other_failures() {
    let house = House::new();
    let mut server = house.server();
    let refused = server.call(json!({"command": "echo ran", "cwd": "none"}));
    let text = refused["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("Nothing was run: cwd \"none\" cannot be used"), "{text}");
    assert!(refused["isError"] == true && !text.contains("ran\n"), "{refused}");
    let facts = &refused["structuredContent"];
    assert_eq!(
        (&facts["cwd_refused"], &facts["moved_to"], &facts["exit_code"], &facts["signal"]),
        (&json!(true), &Value::Null, &Value::Null, &Value::Null)
    );
    assert_eq!(server.run("false")["cwd_refused"], false);
}

#[test]
fn a_background_job_has_no_shell_to_go_on_with() {
    let house = House::new();
    let mut server = house.server();
    let (ended, output) = server.ended_job(json!({"command": "trap -p EXIT; echo $BASH_ENV."}));
    assert_eq!(output, ".\n", "{ended}");
}
