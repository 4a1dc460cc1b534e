//! Tables of commands, each way, and the bounds of the reader.

mod dangerous;
mod ordinary;

use dangerous::DENIED;
use ordinary::CLEAR;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::tests::facts;

fn find(command: &str) -> Finding {
    judge(&facts("bash", "run", &json!({"command": command})))
}

fn rule_of(command: &str) -> Option<String> {
    match find(command) {
        Finding::Denied(denial) => Some(denial.rule),
        Finding::Clear | Finding::Unreadable => None,
    }
}

#[test]
fn every_dangerous_command_is_denied_by_its_rule() {
    let mut wrong = Vec::new();
    for (rule, commands) in DENIED {
        for command in *commands {
            let found = rule_of(command);
            if found.as_deref() != Some(format!("builtin.{rule}").as_str()) {
                wrong.push(format!("{rule}: {command:?} gave {found:?} ({:?})", find(command)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let count = DENIED.iter().map(|(_, commands)| commands.len()).sum::<usize>();
    assert!(count >= 60 && CLEAR.len() >= 60, "{count} {}", CLEAR.len());
}

#[test]
fn ordinary_commands_are_clear() {
    let wrong: Vec<String> = CLEAR
        .iter()
        .filter(|command| find(command) != Finding::Clear)
        .map(|command| format!("{command:?} gave {:?}", find(command)))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_cannot_be_read_is_said_to_be_unreadable() {
    for command in [
        "echo 'a",
        "echo \"a",
        "echo $(ls",
        "if true",
        "ls )",
        "fi",
        "cat <<EOF",
        "a b ( c",
        "echo ${x",
        "| ls",
    ] {
        assert_eq!(find(command), Finding::Unreadable, "{command}");
    }
    // A danger that was read still counts beside a part that was not.
    assert_eq!(rule_of("sh -c 'echo (' ; reboot").as_deref(), Some("builtin.shutdown"));
}

#[test]
fn depth_length_and_effort_are_bounded() {
    for open in [
        "(",
        "$(",
        "{ ",
        "$((",
        "((",
        "\"$(",
        "<(",
        "if ",
        "${x:-",
        "f() { ",
        "case x in a) ",
        "(((",
    ] {
        for count in [30, 500, 5000] {
            assert_ne!(find(&open.repeat(count)), Finding::Clear, "{open} × {count}");
        }
        let started = std::time::Instant::now();
        let _ = find(&format!("echo {}", open.repeat(60_000 / open.len())));
        assert!(started.elapsed().as_secs() < 20, "{open}");
    }
    assert_eq!(find(&"a ".repeat(40_000)), Finding::Unreadable);
    let mut nested = "ls".to_owned();
    for _ in 0..12 {
        nested = format!("eval '{}'", nested.replace('\'', "'\\''"));
    }
    assert_eq!(find(&nested), Finding::Unreadable);
}

#[test]
fn every_denial_says_what_would_work() {
    for (_, commands) in DENIED {
        let Finding::Denied(denial) = find(commands[0]) else { panic!("{}", commands[0]) };
        assert!(denial.why.len() > 10 && denial.instead.len() > 10);
    }
}

#[test]
fn strangers_that_look_like_a_shell_are_read_too() {
    for (server, arguments) in [
        ("my-shell", json!({"command": "rm -rf /"})),
        ("terminal", json!({"cmd": "curl x | sh"})),
        ("Desktop-Commander", json!({"command": ["sudo", "rm", "-rf", "/"]})),
        ("exec", json!({"command": "rm", "args": ["-rf", "/"]})),
        ("exec", json!({"command": "bash", "args": ["-c", "reboot"]})),
        ("bash", json!({"script": "set -e\nmkfs /dev/sda"})),
    ] {
        let stranger = Facts { builtin: None, ..facts(server, "run", &arguments) };
        assert!(matches!(judge(&stranger), Finding::Denied(_)), "{server} {arguments}");
    }
    let arguments = json!({"command": "rm -rf /"});
    for (server, tool) in [("notes", "add"), ("filesystem", "write_file")] {
        assert_eq!(judge(&facts(server, tool, &arguments)), Finding::Clear, "{server}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in any::<String>()) {
        let _ = find(&text);
    }

    #[test]
    fn any_shell_like_text_is_read_without_a_panic(
        parts in proptest::collection::vec(
            proptest::sample::select(vec![
                "ls", " ", "\n", ";", "|", "&", "(", ")", "{ ", " }", "$(", "$((", "))", "`", "'", "\"", "\\", "<<E", "\nE\n",
                "<(", "${", "}", "if ", "then ", "fi", "for x in ", "do ", "done", "case ", " in ", "esac", ";;", "f()", ">", "<",
                "[[ ", " ]]", "$'", "\\x41", "=(", "a=", "*", "?(", "#", "!", "time ", "function ", "rm -rf /", "ä",
            ]),
            0..40,
        )
    ) {
        let _ = find(&parts.concat());
    }

    #[test]
    fn quoted_text_is_never_a_command(words in "[a-z/~*;|&<>(){} $]{0,40}") {
        prop_assert_eq!(find(&format!("echo '{words} rm -rf /; curl x | sh'")), Finding::Clear);
    }
}
