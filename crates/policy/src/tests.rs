//! Verdicts in their order, and the ways in which a policy file may fail to load.

mod notes;
mod several_paths;

use claw_domain::{OwnServer, OwnServerName};
use std::path::Path;

use serde_json::{Value, json};

use super::*;

/// A call of the owner, in the box. The servers `bash` and `filesystem` are ours.
pub(crate) fn facts<'a>(server: &'a str, tool: &'a str, arguments: &'a Value) -> Facts<'a> {
    Facts {
        client: None,
        server,
        builtin: OwnServer::named(server)
            .map(|own| own.name)
            .filter(|own| matches!(own, OwnServerName::Bash | OwnServerName::Filesystem)),
        tool,
        arguments,
        origin: Origin::Owner,
        destructive_hint: None,
        held: HeldLevels::ALL,
        harmless_variables: &[],
        workspace: Path::new("/home/ann/work"),
        home: Path::new("/home/ann/.claw"),
        user_home: Path::new("/home/ann"),
    }
}

fn policy(text: &str) -> Policy {
    Policy::load(Some(text)).unwrap_or_else(|error| panic!("{error}"))
}

fn said(text: &str) -> String {
    Policy::load(Some(text)).unwrap_err().to_string()
}

fn kind(verdict: &Verdict) -> (&'static str, &str) {
    match verdict {
        Verdict::Allow { rule, .. } => ("allow", rule),
        Verdict::Ask { rule, .. } => ("ask", rule),
        Verdict::Deny { rule, .. } => ("deny", rule),
    }
}

const ALLOW_ALL: &str = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"all\"\n\
    origin = [\"owner\", \"button\", \"schedule\", \"mcp_client\", \"sub_agent\", \"forwarded\"]\n";

#[test]
fn what_is_the_owners_alone_is_shown_to_a_client_only_after_a_question() {
    let policy = policy("");
    let judged = |origin, server, tool, arguments: Value| {
        let builtin = OwnServer::named(server).map(|own| own.name);
        let verdict = policy.judge(&Facts { builtin, origin, ..facts(server, tool, &arguments) });
        kind(&verdict).0
    };
    let out = json!({"path": "/home/ann/.claw/MEMORY.md"});
    let several = json!({"paths": ["a", "../x"]});
    for (server, tool, arguments) in [
        ("filesystem", "read_file", out),
        ("filesystem", "read_file", several.clone()),
        ("filesystem", "read_files", several),
        ("scheduler", "list", json!({})),
        ("bash", "output", json!({"id": "1"})),
    ] {
        assert_eq!(judged(Origin::McpClient, server, tool, arguments.clone()), "ask", "{tool}");
        assert_eq!(judged(Origin::Owner, server, tool, arguments), "allow", "{tool}");
    }
    for inside in [json!({"path": "notes/a.md"}), json!({"path": "/home/ann/work/a"}), json!({})] {
        assert_eq!(judged(Origin::McpClient, "filesystem", "read_file", inside), "allow");
    }
}

#[test]
fn a_rule_may_name_clients_and_speaks_about_no_other() {
    let none = json!({});
    let judged = |policy: &Policy, origin, client| {
        let verdict = policy.judge(&Facts { origin, client, ..facts("db", "x", &none) });
        kind(&verdict).0
    };
    let rule = |rest: &str| format!("[[rule]]\nserver = \"db\"\nwhy = \"w\"\n{rest}\n");
    let one = policy(&rule("client = \"laptop\"\ndecision = \"allow\""));
    assert_eq!(judged(&one, Origin::McpClient, Some("laptop")), "allow");
    for client in [Some("laptop-2"), Some("lap"), Some("phone"), None] {
        assert_eq!(judged(&one, Origin::McpClient, client), "ask", "{client:?}");
    }
    assert_eq!(judged(&one, Origin::Owner, None), "ask", "it is for that client alone");
    let several = policy(&rule("client = [\"desk*\", \"phone\"]\ndecision = \"deny\""));
    assert_eq!(judged(&several, Origin::McpClient, Some("desktop")), "deny");
    assert_eq!(judged(&several, Origin::McpClient, Some("laptop")), "ask");
    // A rule that allows and names no client is for no client, unless it names the origin.
    let owners = policy(&rule("decision = \"allow\""));
    assert_eq!(judged(&owners, Origin::McpClient, Some("laptop")), "ask");
    // Who is meant decides, so a call that was frozen under another name is judged again.
    let other = policy(&rule("client = \"phone\"\ndecision = \"allow\""));
    assert_ne!(one.version(), other.version());
    assert_ne!(one.version(), owners.version());
}

#[test]
fn examples_of_a_rule_that_names_a_client_are_tried() {
    let rule = |rest: &str| {
        format!(
            "[[rule]]\nserver = \"db\"\ntool = \"x\"\nwhy = \"w\"\ndecision = \"allow\"\n{rest}\n"
        )
    };
    policy(&rule(
        "client = \"laptop\"\nmatch = [{}, { client = \"laptop\" }]\n\
         not_match = [{ client = \"phone\" }, { origin = \"owner\" }]",
    ));
    let wrong = said(&rule("client = \"laptop\"\nmatch = [{ client = \"phone\" }]"));
    assert!(wrong.contains("does not match its example"), "{wrong}");
    let wrong = said(&rule("client = \"desk*\"\nmatch = [{}]"));
    assert!(wrong.contains("needs a `client`"), "{wrong}");
    let wrong = said(&rule("client = \"laptop\"\norigin = \"owner\""));
    assert!(wrong.contains("speaks about nothing"), "{wrong}");
    let wrong = said(&rule("client = []"));
    assert!(wrong.contains("`client` is an empty list"), "{wrong}");
}

#[test]
fn without_rules_the_class_decides() {
    let policy = policy("[classes]\n\"time/*\" = \"safe\"\n\"db/drop\" = \"dangerous\"");
    let none = json!({});
    assert_eq!(
        kind(&policy.judge(&facts("filesystem", "read_file", &none))),
        ("allow", "class.safe")
    );
    assert_eq!(
        kind(&policy.judge(&facts("filesystem", "write_file", &none))),
        ("ask", "class.mutating")
    );
    assert_eq!(
        kind(&policy.judge(&facts("bash", "run", &json!({"command": "ls", "needs": "write"})))),
        ("ask", "class.mutating")
    );
    assert_eq!(kind(&policy.judge(&facts("time", "now", &none))), ("allow", "class.safe"));
    assert_eq!(kind(&policy.judge(&facts("db", "drop", &none))), ("deny", "class.dangerous"));
    assert_eq!(
        kind(&policy.judge(&facts("unknown", "read_file", &none))),
        ("ask", "class.mutating")
    );
    let stranger = Facts { builtin: None, ..facts("filesystem", "read_file", &none) };
    assert_eq!(kind(&policy.judge(&stranger)), ("ask", "class.mutating"));
}

#[test]
fn a_hint_only_raises() {
    let policy = policy("[classes]\n\"db/drop\" = \"dangerous\"");
    let none = json!({});
    let hinted = |server, tool, hint| {
        kind(&policy.judge(&Facts { destructive_hint: hint, ..facts(server, tool, &none) })).0
    };
    assert_eq!(hinted("filesystem", "read_file", Some(true)), "ask");
    assert_eq!(hinted("filesystem", "read_file", Some(false)), "allow");
    assert_eq!(hinted("filesystem", "write_file", Some(false)), "ask");
    assert_eq!(hinted("filesystem", "write_file", Some(true)), "ask");
    assert_eq!(hinted("db", "drop", Some(false)), "deny");
}

#[test]
fn the_strictest_rule_wins_whatever_the_order() {
    let rule = |decision: &str, why: &str| {
        format!(
            "[[rule]]\nserver = \"bash\"\nargs.command = \"ls.*\"\ndecision = \"{decision}\"\nwhy = \"{why}\"\n"
        )
    };
    let call = json!({"command": "ls -l"});
    for (order, wanted) in [
        (&["allow", "ask", "deny"][..], "deny"),
        (&["deny", "allow"], "deny"),
        (&["allow", "ask"], "ask"),
        (&["ask", "allow"], "ask"),
        (&["allow", "allow"], "allow"),
    ] {
        let text: String = order.iter().map(|decision| rule(decision, decision)).collect();
        assert_eq!(kind(&policy(&text).judge(&facts("bash", "run", &call))).0, wanted, "{order:?}");
    }
    let text = rule("ask", "first") + &rule("ask", "second");
    let Verdict::Ask { rule, why } = policy(&text).judge(&facts("bash", "run", &call)) else {
        panic!()
    };
    assert_eq!((rule.as_str(), why.as_str()), ("policy.toml:1", "first"));
}

#[test]
fn nothing_unlocks_a_hard_deny() {
    let policy = policy(ALLOW_ALL);
    let call = json!({"command": "curl x | sh"});
    let facts = facts("bash", "run", &call);
    assert_eq!(kind(&policy.judge(&facts)), ("deny", "builtin.pipe-to-shell"));
    assert_eq!(policy.hard_deny(&facts).unwrap().rule, "builtin.pipe-to-shell");
}

#[test]
fn an_allowed_command_is_still_asked_where_it_cannot_be_read_or_boxed() {
    let policy = policy(ALLOW_ALL);
    let (ls, cut) = (json!({"command": "ls"}), json!({"command": "echo 'ls"}));
    assert_eq!(kind(&policy.judge(&facts("bash", "run", &ls))).0, "allow");
    assert_eq!(
        kind(&policy.judge(&facts("bash", "run", &cut))),
        ("ask", "builtin.unreadable-shell")
    );
    assert_eq!(policy.hard_deny(&facts("bash", "run", &cut)), None);
    let open = Facts { held: HeldLevels::NONE, ..facts("bash", "run", &ls) };
    assert_eq!(kind(&policy.judge(&open)), ("ask", "builtin.no-box"));
    let read = Facts { held: HeldLevels::NONE, ..facts("filesystem", "read_file", &ls) };
    assert_eq!(kind(&policy.judge(&read)).0, "allow");
    let look = Facts { held: HeldLevels::NONE, ..facts("bash", "output", &ls) };
    assert_eq!(kind(&policy.judge(&look)).0, "allow");
}

#[test]
fn lower_origins_gain_scope_only_by_name() {
    let text = "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"owner\"\n\
        [[rule]]\nserver = \"notes\"\norigin = \"schedule\"\ndecision = \"allow\"\nwhy = \"nightly\"\n\
        [[rule]]\nserver = \"mail\"\ndecision = \"deny\"\nwhy = \"never\"\n";
    let policy = policy(text);
    let call = json!({"command": "ls"});
    let from =
        |server, origin| kind(&policy.judge(&Facts { origin, ..facts(server, "run", &call) })).0;
    assert_eq!(from("bash", Origin::Owner), "allow");
    assert_eq!(from("bash", Origin::Button), "allow");
    for lower in [Origin::Schedule, Origin::McpClient, Origin::SubAgent, Origin::Forwarded] {
        assert_eq!(from("bash", lower), "ask");
        assert_eq!(from("mail", lower), "deny");
    }
    assert_eq!(from("notes", Origin::Schedule), "allow");
    assert_eq!(from("notes", Origin::Owner), "ask");
    assert_eq!(from("notes", Origin::Forwarded), "ask");
}

#[test]
fn the_version_follows_what_decides_and_nothing_else() {
    let base = "[[rule]]\nserver = \"a\"\ndecision = \"ask\"\nwhy = \"x\"\n";
    let version = |text: &str| policy(text).version();
    assert_eq!(
        version(base),
        version(&format!("# a comment\n\n{}", base.replace("\"x\"", "\"other words\"")))
    );
    for other in [
        base.replace("\"a\"", "\"b\""),
        base.replace("ask", "deny"),
        format!("{base}origin = \"owner\"\n"),
        format!("{base}args.x = \"1\"\n"),
        format!("idempotent = [\"t/*\"]\n{base}"),
        format!("{base}[classes]\n\"a/b\" = \"safe\"\n"),
        String::new(),
    ] {
        assert_ne!(version(base), version(&other), "{other}");
    }
    assert_eq!(Policy::load(None).unwrap().version(), version(""));
}

#[test]
fn examples_are_checked_when_the_file_is_loaded() {
    let rule = "\n[[rule]]\nserver = \"bash\"\ntool = \"run\"\nargs.command = \"ls( -[a-z]+)*\"\ndecision = \"allow\"\nwhy = \"looking\"\n";
    policy(&format!(
        "{rule}match = [{{ args = {{ command = \"ls -la\" }} }}]\nnot_match = [{{ args = {{ command = \"ls; rm x\" }} }}]"
    ));
    assert_eq!(
        said(&format!(
            "{rule}match = [{{ server = \"bash\", tool = \"run\", args = {{ command = \"ls /\" }}, origin = \"owner\" }}]"
        )),
        "policy.toml, line 2: this rule does not match its example bash/run {\"command\":\"ls /\"} from owner (in `match`). \
         Correct the rule or the example."
    );
    assert!(
        said(&format!("{rule}not_match = [{{ args = {{ command = \"ls -l\" }} }}]"))
            .contains("matches what it must not")
    );
    assert!(
        said(&format!(
            "{rule}match = [{{ args = {{ command = \"ls\" }}, origin = \"schedule\" }}]"
        ))
        .contains("does not match")
    );
    let pattern = rule.replace("\"run\"", "\"r*\"");
    assert!(
        said(&format!("{pattern}match = [{{ args = {{ command = \"ls\" }} }}]"))
            .contains("needs a `tool`")
    );
}

#[test]
fn a_file_that_does_not_load_says_why_and_where() {
    let why = "decision = \"ask\"\nwhy = \"x\"\n";
    for (text, line, part) in [
        ("[[rule]]\nserver = ".to_owned(), Some(2), ""),
        ("[[rules]]\n".to_owned(), Some(1), "did you mean `rule`?"),
        (format!("[[rule]]\nservr = \"a\"\n{why}"), Some(2), "did you mean `server`?"),
        ("[[rule]]\ndecision = \"ask\"\n".to_owned(), Some(1), "`why` is missing"),
        ("[[rule]]\nwhy = \"x\"\n".to_owned(), Some(1), "`decision` is missing"),
        (
            "[[rule]]\ndecision = \"alow\"\nwhy = \"x\"\n".to_owned(),
            Some(2),
            "did you mean `allow`?",
        ),
        ("[[rule]]\ndecision = \"ask\"\nwhy = \" \"\n".to_owned(), Some(1), "empty `why`"),
        (format!("\n\n[[rule]]\norigin = \"ower\"\n{why}"), Some(3), "did you mean `owner`?"),
        (format!("[[rule]]\norigin = []\n{why}"), Some(1), "empty list"),
        (
            format!("[[rule]]\nargs.command = \"(\"\n{why}"),
            Some(1),
            "`args.command` cannot be read",
        ),
        (format!("[[rule]]\nargs.command = \"(a{{1000}}){{1000}}\"\n{why}"), Some(1), "too large"),
        (format!("[[rule]]\nserver = \"[\"\n{why}"), Some(1), "is not a pattern"),
        ("[classes]\n\"a\" = \"safe\"\n".to_owned(), Some(2), "server/tool"),
        ("[classes]\n\"a/b\" = \"save\"\n".to_owned(), Some(2), "did you mean `safe`?"),
        ("idempotent = [\"x\"]\n".to_owned(), Some(1), "server/tool"),
    ] {
        let error = Policy::load(Some(&text)).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
        assert!(!error.to_string().contains('\n') && error.next.len() > 5, "{error}");
    }
    assert!(said(&"#".repeat(2_000_000)).contains("larger than"));
}

#[test]
fn a_command_that_looks_runs_where_no_rule_speaks_and_its_level_is_held() {
    let looks =
        json!({"command": "cat a | grep b > /dev/null; for f in *; do wc -l \"$f\"; done 2>&1"});
    let boxed = facts("bash", "run", &looks);
    let runs = |policy: &Policy, facts: &Facts<'_>| matches!(policy.judge(facts), Verdict::Allow { rule, .. } if rule == "builtin.level-read");
    assert!(runs(&policy(""), &boxed));
    assert!(runs(&policy(""), &Facts { tool: "start", ..boxed }));
    assert!(runs(&policy("bash_reads = \"allow\"\n"), &boxed));
    assert!(!runs(&policy("bash_reads = \"ask\"\n"), &boxed));
    assert_ne!(policy("bash_reads = \"ask\"\n").version(), policy("").version());
    assert!(!runs(&policy(""), &Facts { held: HeldLevels::NONE, ..boxed }));
    assert!(!runs(
        &policy(""),
        &Facts { held: HeldLevels { levels: false, ..HeldLevels::ALL }, ..boxed }
    ));
    assert!(!runs(&policy(""), &Facts { builtin: None, ..boxed }), "a stranger's shell");
    for origin in [Origin::Forwarded, Origin::McpClient, Origin::Schedule, Origin::SubAgent] {
        assert!(!runs(&policy(""), &Facts { origin, ..boxed }), "{origin:?}");
    }
    let rule = "[[rule]]\nserver = \"bash\"\ndecision = \"ask\"\nwhy = \"x\"\n";
    assert!(!runs(&policy(rule), &boxed), "the owner has a rule for it");
    assert!(runs(&policy(&rule.replace("bash", "b")), &boxed));
    // The tool's schema offers null, and its server takes it for the default.
    for needs in [json!("read"), json!(null)] {
        let looks = json!({"command": "ls", "needs": needs});
        assert!(runs(&policy(""), &facts("bash", "run", &looks)), "{looks}");
    }
    for needs in [json!("write"), json!("network"), json!("Read"), json!([]), json!(["read"])] {
        let more = json!({"command": "ls", "needs": needs});
        assert!(!runs(&policy(""), &facts("bash", "run", &more)), "{more}");
    }
    let wipes = json!({"command": "rm -rf /"});
    assert!(!runs(&policy(""), &facts("bash", "run", &wipes)));
    assert!(said("bash_reads = \"alow\"\n").contains("did you mean `allow`?"));
}

#[test]
fn a_question_about_a_command_says_what_its_level_can_do() {
    let why = |needs: &str, held: HeldLevels| {
        let arguments = json!({"command": "make", "needs": needs});
        match policy("").judge(&Facts { held, ..facts("bash", "run", &arguments) }) {
            Verdict::Ask { why, .. } => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        why("write", HeldLevels::ALL),
        "it can change files in the workspace; it has no network"
    );
    assert!(why("network", HeldLevels::ALL).contains("reach all of the network"));
    assert_eq!(why("write", HeldLevels::NONE), "bash/run can change something");
}

#[test]
fn the_example_in_the_repository_loads() {
    let policy = policy(include_str!("../../../examples/policy.toml"));
    assert_eq!(policy.rules_count(), 4);
}

#[test]
fn only_what_certainly_changes_nothing_needs_no_snapshot() {
    let policy = policy("[classes]\n\"time/*\" = \"safe\"");
    let none = json!({"needs": "write"});
    let may = |server, tool| policy.may_change_workspace(&facts(server, tool, &none));
    for (server, tool) in [
        ("filesystem", "read_file"),
        ("filesystem", "search"),
        ("bash", "output"),
        ("bash", "list"),
        ("bash", "stop"),
        ("time", "now"),
    ] {
        assert!(!may(server, tool), "{server}/{tool}");
    }
    for (server, tool) in [
        ("filesystem", "write_file"),
        ("filesystem", "delete"),
        ("filesystem", "invented"),
        ("bash", "run"),
        ("bash", "start"),
        ("mail", "send"),
    ] {
        assert!(may(server, tool), "{server}/{tool}");
    }
    let destructive = Facts { destructive_hint: Some(true), ..facts("time", "now", &none) };
    assert!(policy.may_change_workspace(&destructive));
    for (needs, held, may) in [
        ("read", HeldLevels::ALL, false),
        ("read", HeldLevels::NONE, true),
        ("network", HeldLevels::ALL, true),
        ("everything", HeldLevels::ALL, true),
    ] {
        let arguments = json!({"command": "ls", "needs": needs});
        let command = Facts { held, ..facts("bash", "run", &arguments) };
        assert_eq!(policy.may_change_workspace(&command), may, "{needs}");
    }
}
