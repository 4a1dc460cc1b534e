//! Rows of the audit as lines for a person.

use serde_json::json;

use super::*;
use crate::domain::{PauseCause, SessionId};

fn row(id: i64, call: &str, kind: &str, body: Value) -> AuditRow {
    AuditRow { id, at_ms: id * 10, kind: kind.into(), call: call.into(), body, hash: String::new() }
}

#[test]
fn every_call_is_one_line_and_a_call_that_goes_on_gets_one_more() {
    let mut calls = CallTable::default();
    let received =
        json!({"server": "bash", "tool": "run", "arguments": {"command": "make\n0000  fake"}});
    let first = calls.lines(&[
        row(1, "main:3:0", "received", received),
        row(
            2,
            "main:3:0",
            "verdict",
            json!({"verdict": "ask", "rule": "class.mutating", "why": "w"}),
        ),
        row(3, "", "panic.on", json!({"by": "me"})),
        row(4, "main:3:0", "asked", json!({"approval": "q1"})),
    ]);
    assert_eq!(first.len(), 2, "{first:?}");
    assert!(
        first[0].ends_with(
            "main:3:0  bash/run  make\\n0000  fake  … waits for an answer to q1 (claw's default \
             for changes)"
        ),
        "{first:?}"
    );
    assert!(first[1].ends_with("turned the stop switch on: from then on no call ran."));
    let then = calls.lines(&[
        row(
            5,
            "main:3:0",
            "answered",
            json!({"answer": {"kind": "allow", "term": "once"}, "by": "me"}),
        ),
        row(6, "main:3:0", "started", json!({"digest": "d"})),
        row(
            9,
            "main:3:0",
            "ended",
            json!({"outcome": "ended", "is_error": false, "result_bytes": 2}),
        ),
    ]);
    assert_eq!(then.len(), 1);
    assert!(then[0].ends_with("✓ ran in 30 ms (`me` allowed this one call)"), "{then:?}");
}

#[test]
fn what_a_server_asks_in_the_middle_says_nothing_of_whether_its_call_may_run() {
    let mut calls = CallTable::default();
    let by = "console:uid:1000";
    let of_the_server = json!({"approval": "q2", "round": 1, "field": "name"});
    let mut given = of_the_server.clone();
    given["answer"] = json!({"kind": "give", "value": "Jo"});
    given["by"] = json!(by);
    let allowed = json!({"answer": {"kind": "allow", "term": "once"}, "by": by});
    let waits = calls.lines(&[
        row(1, "main:3:0", "received", json!({"server": "every", "tool": "ask"})),
        row(2, "main:3:0", "asked", json!({"approval": "q1"})),
        row(3, "main:3:0", "answered", allowed),
        row(4, "main:3:0", "started", json!({"digest": "d"})),
        row(5, "main:3:0", "asked", of_the_server),
    ]);
    let says = "… waits for what its server asks (q2) (the person at this machine allowed this \
                one call)";
    assert!(waits[0].ends_with(says), "{waits:?}");
    let runs = calls.lines(&[row(6, "main:3:0", "answered", given)]);
    let says = "… runs (the person at this machine allowed this one call)";
    assert!(runs[0].ends_with(says), "{runs:?}");
    let expired = json!({"approval": "q3", "answer": "expired"});
    let ended = json!({"outcome": "ended", "is_error": false, "result_bytes": 2});
    let ended = calls.lines(&[
        row(7, "main:3:0", "asked", json!({"approval": "q3", "round": 2, "field": "age"})),
        row(8, "main:3:0", "answered", expired),
        row(9, "main:3:0", "ended", ended),
    ]);
    let says = "✓ ran in 50 ms (the person at this machine allowed this one call)";
    assert!(ended[0].ends_with(says), "{ended:?}");
}

#[test]
fn why_a_call_was_not_run_is_said_once() {
    let mut calls = CallTable::default();
    let rule = json!({"verdict": "deny", "rule": "builtin.stop-switch", "why": "w"});
    let words = rule_words("builtin.stop-switch");
    let ended = json!({"outcome": "denied", "reason": format!("it is on ({words})")});
    let lines = calls.lines(&[
        row(1, "main:3:0", "received", json!({"server": "bash", "tool": "run"})),
        row(2, "main:3:0", "verdict", rule),
        row(3, "main:3:0", "ended", ended),
    ]);
    assert_eq!(lines[0].matches(&*words).count(), 1, "{lines:?}");
}

#[test]
fn a_command_with_an_exit_code_or_a_signal_is_no_success() {
    for (end, says) in [
        (json!({"exit_code": 3}), "✗ exit code 3"),
        (json!({"exit_code": 139}), "✗ exit code 139 (SIGSEGV?)"),
        (json!({"exit_code": null, "signal": "SIGKILL"}), "✗ ended by SIGKILL"),
        (json!({"exit_code": 0}), "✓ ran"),
        (json!({"is_error": true}), "✗ failed"),
    ] {
        let mut calls = CallTable::default();
        let mut body = json!({"outcome": "ended", "is_error": false, "result_bytes": 2});
        for (name, value) in end.as_object().unwrap() {
            body[name] = value.clone();
        }
        let lines = calls.lines(&[
            row(1, "main:3:0", "received", json!({"server": "bash", "tool": "run"})),
            row(2, "main:3:0", "ended", body),
        ]);
        assert!(lines[0].contains(says), "{lines:?}");
    }
}

#[test]
fn what_was_denied_or_not_answered_in_time_was_not_run() {
    let by = "console:uid:1000";
    for (body, says) in [
        (json!({"answer": {"kind": "deny"}, "by": by}), "the person at this machine denied it"),
        (json!({"answer": "expired"}), "nobody answered in time"),
    ] {
        let mut calls = CallTable::default();
        let lines = calls.lines(&[
            row(1, "main:3:0", "received", json!({"server": "bash", "tool": "run"})),
            row(2, "main:3:0", "verdict", json!({"verdict": "ask", "rule": "class"})),
            row(3, "main:3:0", "asked", json!({"approval": "q1"})),
            row(4, "main:3:0", "answered", body),
        ]);
        assert!(lines[0].ends_with(&format!("bash/run  ✗ not run: {says}")), "{lines:?}");
    }
}

#[test]
fn an_undo_is_told_in_words() {
    let told = |kind, body| CallTable::default().lines(&[row(1, "", kind, body)]).concat();
    let by = "console:uid:1000";
    let ended = told("undo.ended", json!({"by": by, "turn": "a:6", "changed": 1, "kept": 2}));
    assert!(ended.ends_with("put back the files of the turn a:6: 1 changed, 2 left as they are."));
    let body = json!({"by": by, "turn": "a:6", "redo": true, "workspace": "/w"});
    let started = told("undo.started", body);
    let redone = json!({"by": by, "turn": "a:6", "redo": true, "changed": 1, "kept": 0});
    let redone = told("undo.ended", redone);
    assert!(redone.contains("took back the undo of the turn a:6: 1 changed"), "{redone}");
    assert!(started.contains("began to take back the undo of the turn a:6, in /w."), "{started}");
    assert!(!format!("{started}{ended}").contains('{'));
}

#[test]
fn the_tools_of_a_server_that_is_new_are_one_line_and_nothing_is_told_as_json() {
    let pinned = |id, server: &str, tool: &str| {
        row(id, "", "pinned", json!({"pin": "abc", "server": server, "tool": tool}))
    };
    let rows = [
        pinned(1, "bash", "run"),
        pinned(2, "bash", "list"),
        pinned(3, "files", "read"),
        row(4, "", "revoked", json!({"by": "me", "grant": 3})),
        pinned(5, "files", "write"),
    ];
    let lines = CallTable::default().lines(&rows);
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].ends_with(
        "The tools of 2 servers were seen for the first time, and their descriptions were \
        pinned: bash 2, files 1"
    ));
    assert!(lines[2].contains("The tool files/write was seen for the first time"), "{lines:?}");
    assert!(!lines.concat().contains('{'), "{lines:?}");
    let one = CallTable::default().lines(&rows[..2]).concat();
    assert!(one.ends_with(
        "2 tools of the server bash were seen for the first time, and their descriptions were \
        pinned: run, list"
    ));
    let with_words = [pinned(1, "bash", "run"), pinned(2, "bash", "")];
    let with_words = CallTable::default().lines(&with_words).concat();
    assert!(
        with_words.ends_with(
            "1 tool of the server bash was seen for the first time, and its description was \
             pinned: run; also what it says about itself"
        ),
        "{with_words}"
    );
}

#[test]
fn what_claw_asks_git_at_each_turn_is_no_line() {
    let received = || json!({"server": "bash", "tool": "run", "arguments": {"command": "git"}});
    let lines = CallTable::default().lines(&[
        row(1, "main:3:git", "received", received()),
        row(2, "main:3:git", "ended", json!({"outcome": "ended"})),
        row(3, "main:4:0", "received", received()),
    ]);
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("main:4:0"), "{lines:?}");
}

#[test]
fn a_question_about_several_calls_has_no_line_and_one_about_the_turn_says_so() {
    let session = SessionId::new("main").unwrap();
    let pause =
        CallId::Pause { session: session.clone(), turn_seq: 3, cause: PauseCause::Budget, nth: 0 };
    let calls = [
        CallId::Together { session: session.clone(), parked_seq: 35 },
        CallId::List { session: session.clone(), result_seq: 31 },
        CallId::Buttons { session, result_seq: 31, group: 1 },
        pause.clone(),
    ];
    let asked =
        |(call, id): (&CallId, i64)| row(id, &call.to_string(), "asked", json!({"approval": "q1"}));
    let rows: Vec<AuditRow> = calls.iter().zip(1..).map(asked).collect();
    let mut table = CallTable::default();
    let lines = table.lines(&rows);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let what = "the question whether the turn may go on  ";
    assert!(lines[0].ends_with(&format!("{what}… waits for an answer to q1")), "{lines:?}");
    let yes = json!({"approval": "q1", "answer": {"kind": "allow", "term": "once"}, "by": "me"});
    let lines = table.lines(&[row(8, &pause.to_string(), "answered", yes)]);
    assert!(lines[0].contains(&format!("{what}✓ the turn went on (")), "{lines:?}");
}
