//! The stories as a person reads them.

use insta::assert_snapshot;

use super::*;

/// 2026-11-21 18:00:00 UTC.
const NOON_MS: i64 = 1_795_284_000_000;

fn rows(call: &str, given: &[(&str, Value)]) -> Vec<AuditRow> {
    let row = |(index, (kind, body)): (usize, &(&str, Value))| AuditRow {
        id: index as i64 + 1,
        at_ms: NOON_MS + index as i64 * 1500,
        kind: (*kind).to_owned(),
        call: call.to_owned(),
        body: body.clone(),
        hash: String::new(),
    };
    given.iter().enumerate().map(row).collect()
}

fn told(call: &str, given: &[(&str, Value)]) -> String {
    let request = CallRequest {
        model: "demo".into(),
        said: Some("write  notes.txt:\nhello".into()),
        ..CallRequest::default()
    };
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    story("claw", &rows(call, given), &request, &zone)
}

fn received() -> (&'static str, Value) {
    let arguments = json!({"content": "hello\nyou\u{202e}", "path": "notes.txt"});
    (
        "received",
        json!({"session": "main", "server": "filesystem", "tool": "write_file", "arguments": arguments,
                        "origin": "owner", "principal": "console:uid:1000"}),
    )
}

fn asked(id: &str) -> [(&'static str, Value); 2] {
    [
        (
            "verdict",
            json!({"verdict": "ask", "rule": "class.mutating", "why": "it changes something"}),
        ),
        ("asked", json!({"approval": id, "digest": "0123456789abcdef"})),
    ]
}

fn started(rule: &str, why: &str) -> [(&'static str, Value); 2] {
    [
        ("verdict", json!({"verdict": "allow", "rule": rule, "why": why})),
        ("started", json!({"digest": "0123456789abcdef", "pin": "p"})),
    ]
}

#[test]
fn a_call_that_was_approved_and_ran() {
    let [verdict, question] = asked("k7");
    let [allowed, start] = started("approval.k7", "console:uid:1000 allowed it");
    let answer = json!({"kind": "allow", "term": "once", "scope": {"kind": "exact"}});
    let answered = (
        "answered",
        json!({"approval": "k7", "answer": answer, "by": "console:uid:1000", "digest": "0123456789abcdef"}),
    );
    let end = ("ended", json!({"outcome": "ended", "is_error": false, "result_bytes": 14}));
    assert_snapshot!(told(
        "main:4:0",
        &[received(), verdict, question, answered, allowed, start, end]
    ));
}

#[test]
fn a_call_that_was_denied_with_a_word_and_one_permanently() {
    let denied = |answer: Value| {
        let [verdict, question] = asked("k8");
        let answered = (
            "answered",
            json!({"approval": "k8", "answer": answer, "by": "telegram:42", "digest": "d",
            "grant": {"id": 3, "effect": "deny", "says": "filesystem/write_file with exactly these arguments"}}),
        );
        told("main:4:0", &[received(), verdict, question, answered])
    };
    assert_snapshot!(denied(json!({"kind": "deny", "word": "not there"})));
    assert_snapshot!(denied(json!({"kind": "never"})));
}

#[test]
fn a_call_that_still_waits_and_one_that_nobody_answered() {
    let [verdict, question] = asked("k9");
    let waits = [received(), verdict.clone(), question.clone()];
    assert_snapshot!(told("main:4:0", &waits));
    let closed = ("answered", json!({"approval": "k9", "answer": "expired"}));
    assert_snapshot!(told("main:4:0", &[received(), verdict, question, closed]));
}

#[test]
fn calls_by_a_class_a_grant_and_a_denied_one() {
    let [allowed, start] = started("class.safe", "it only reads");
    let failed = ("ended", json!({"outcome": "ended", "is_error": true, "result_bytes": 30}));
    assert_snapshot!(told("main:4:0", &[received(), allowed, start, failed]));
    let [allowed, start] = started("grant.5", "the owner has allowed it: everything below src");
    let lost = (
        "ended",
        json!({"outcome": "unknown", "reason": "claw was ended while it ran; nobody knows how far it got"}),
    );
    assert_snapshot!(told("main:4:0", &[received(), allowed, start, lost]));
    let deny = (
        "verdict",
        json!({"verdict": "deny", "rule": "builtin.disk", "why": "it would wipe a disk"}),
    );
    let end = ("ended", json!({"outcome": "denied", "reason": "it would wipe a disk"}));
    assert_snapshot!(told("main:4:0", &[received(), deny, end]));
}

#[test]
fn the_question_whether_a_turn_may_go_on() {
    let answer = json!({"kind": "allow", "term": "once", "scope": {"kind": "exact"}});
    let asked = ("asked", json!({"approval": "k1", "digest": "d"}));
    let answered = (
        "answered",
        json!({"approval": "k1", "answer": answer, "by": "telegram:42", "digest": "d"}),
    );
    let end = ("ended", json!({"outcome": "ended", "is_error": false, "result_bytes": 17}));
    assert_snapshot!(told("main:1:0", &[asked, answered, end]));
}

#[test]
fn rows_that_belong_to_no_call() {
    let all = [
        ("panic.on", json!({"by": "console:uid:0"})),
        ("revoked", json!({"grant": 3, "by": "telegram:42"})),
        ("quarantined", json!({"server": "git", "tool": "push", "pin": "p"})),
        ("accepted", json!({"server": "git", "tool": "push", "by": "console:uid:0"})),
        ("guest.in", json!({"bot": 1, "chat": -5, "name": "Family", "by": "telegram:42"})),
        ("something.new", json!({"a": 1})),
    ];
    assert_snapshot!(told("", &all));
}
