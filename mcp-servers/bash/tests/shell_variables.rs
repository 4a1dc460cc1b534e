//! With which exported variables a command has left its shell, as the real server tells it, and
//! what a call can give.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod common;

use common::{House, Server};
use serde_json::{Value, json};

fn left(server: &mut Server, arguments: Value) -> (Value, String) {
    let result = server.call(arguments);
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    (result["structuredContent"]["variables_left"].clone(), text)
}

fn set(server: &mut Server, command: &str) -> (Value, String) {
    let (left, text) = left(server, json!({ "command": command }));
    (left["set"].clone(), text)
}

#[test]
fn what_a_shell_has_exported_is_told_however_the_command_is_written() {
    let house = House::new();
    let mut server = house.server();
    for (command, told) in [
        ("export A=1 B='x\"y$z`w\\b!'; C=3", json!({"A": "1", "B": "x\"y$z`w\\b!"})),
        (
            "export A=$'l1\\nl2\\t\\x01' B=\u{e4}\u{1f600} E=",
            json!({"A": "l1\nl2\t\u{1}", "B": "\u{e4}\u{1f600}", "E": ""}),
        ),
        ("set -eux; IFS=1A; declare -rx A=1; declare -ix N=5; false", json!({"A": "1", "N": "5"})),
        ("set -o posix; export A=1; exit 3", json!({"A": "1"})),
        ("export A=1; f() { kill -TERM $$; }; f", json!({"A": "1"})),
        (
            "export PATH=/x:/usr/bin:/bin LANG=C; declare -ax AR=(1 2); export NONE",
            json!({"PATH": "/x:/usr/bin:/bin", "LANG": "C"}),
        ),
        // What makes an environment sets a prompt, too, which nobody reads here.
        ("export PS1='(e) ' VIRTUAL_ENV_PROMPT=e VIRTUAL_ENV=/e", json!({"VIRTUAL_ENV": "/e"})),
        // A function of this name does not come in between.
        ("declare() { echo no; }; printf() { echo no; }; export A=1", json!({"A": "1"})),
        ("LC_ALL=C; export A=\u{e4}", json!({"A": "\u{e4}"})),
        // Nothing of these is the shell's own.
        ("A=1 true; (export A=1); export A=1 | cat; bash -c 'export A=1'", Value::Null),
        ("export A=1; unset A; export LANG=$LANG; cd /", Value::Null),
        // There is no end of a shell.
        ("export A=1; exec true", Value::Null),
        ("export A=1; kill -KILL $$", Value::Null),
        ("trap true EXIT; export A=1", Value::Null),
    ] {
        let (found, text) = set(&mut server, command);
        assert_eq!(found, told, "{command}: {text}");
        assert!(!text.contains("1000") && !text.contains("declare -px"), "{command}: {text}");
    }
    let timed_out = json!({"command": "export A=1; sleep 60", "timeout_s": 1});
    assert_eq!(left(&mut server, timed_out).0, Value::Null);
}

#[test]
fn what_a_call_gives_is_there_and_is_told_only_where_the_shell_changes_it() {
    let house = House::new();
    let mut server = house.server();
    let mut with = |command: &str| {
        let variables = json!({"A": "a b\n\"c\"", "B": "", "LANG": "C"});
        left(&mut server, json!({"command": command, "variables": variables}))
    };
    let (nothing, text) =
        with("printf '%s|%s|%s' \"$A\" \"${B-none}\" \"$LANG\"; env | grep -c ^B=");
    assert_eq!(nothing, Value::Null);
    assert!(text.contains("a b\n\"c\"||C1"), "{text}");
    let (changed, text) = with("export A=2 C=3; unset B");
    assert_eq!((&changed["set"], &changed["unset"]), (&json!({"A": "2", "C": "3"}), &json!(["B"])));
    let said = "The shell has exported `A`, `C`. The shell does not export `B` any more.";
    assert!(text.contains(said), "{text}");
    let (ended, output) = server.ended_job(json!({"command": "echo $A.", "variables": {"A": "1"}}));
    assert_eq!(output, "1.\n", "{ended}");
}

#[test]
fn what_no_call_can_give_is_refused_or_named() {
    let house = House::new();
    let mut server = house.server();
    for (variables, why) in [
        (json!({"a-b": "1"}), "\"a-b\" is no name of a variable"),
        (json!({"BASH_ENV": "x"}), "`BASH_ENV` is set by the shell or by its box."),
        (json!({"HOME": "/"}), "`HOME` is set by the shell or by its box."),
        (json!({"A": "x\u{0}y"}), "NUL"),
        (json!({"A": "x".repeat(4097)}), "4096 bytes"),
        (json!({"A": 1}), "do not fit"),
        (json!({"A": null}), "do not fit"),
    ] {
        for tool in ["run", "start"] {
            let call = json!({"command": "echo ran", "variables": variables});
            let said = server.request("tools/call", json!({"name": tool, "arguments": call}));
            let text = said["result"]["content"][0]["text"].as_str().unwrap();
            assert!(said["result"]["isError"] == true && text.contains(why), "{tool}: {text}");
        }
    }
    let long = "export HOME=/x BASH_X=1 LONG=$(printf '%5000s' x) ODD=$'\\xff' A=1";
    let (told, text) = left(&mut server, json!({ "command": long }));
    assert_eq!(told["set"], json!({"A": "1"}));
    assert_eq!(told["withheld"], json!(["BASH_X", "HOME", "LONG", "ODD"]));
    assert!(text.contains("No next command can be given `BASH_X`, `HOME`"), "{text}");
    let most = "for i in {1..40}; do export \"V$i=$(printf '%4000s' x)\"; done";
    let (told, _) = left(&mut server, json!({ "command": most }));
    assert_eq!(told["unreadable"], true);
}

/// What another program writes on the line is at most taken for the shell's words, never for more,
/// and a shell that ends by itself has the last one.
#[test]
fn a_program_that_speaks_in_the_shells_place_says_variables_and_nothing_else() {
    const LIE: &str = r#"printf "declare -x LD_PRELOAD=\"/evil\"\n\0" >&1000"#;
    let house = House::new();
    let mut server = house.server();
    // It takes its own answer: one that comes late, on a busy machine, the shell takes for its own,
    // and ends before it was looked at.
    let answered = format!("bash -c '{LIE}; read -r -N 1 -t 5 -u 1000'; export A=1");
    let (truth, text) = set(&mut server, &answered);
    assert_eq!(truth, json!({"A": "1"}), "{text}");
    let lied = format!("({LIE}; sleep 0.2; kill -KILL $$)");
    let result = server.call(json!({ "command": lied }));
    let facts = &result["structuredContent"];
    assert_eq!(facts["variables_left"]["set"], json!({"LD_PRELOAD": "/evil"}), "{facts}");
    assert_eq!(facts["moved_to"], Value::Null);
    // Half a word before the shell's own makes both unreadable, and a flood holds nothing up.
    let (half, text) = left(&mut server, json!({"command": "printf x >&1000; export A=1"}));
    assert_eq!(half["unreadable"], true, "{text}");
    assert!(text.contains("Which variables the shell has exported cannot be read."), "{text}");
    let flood = "(while :; do printf '\\0' >&1000; done) & sleep 0.3; true";
    let result = server.call(json!({"command": flood, "timeout_s": 20}));
    assert_eq!(result["structuredContent"]["exit_code"], 0, "{result}");
}
