//! Modes of a session through the whole program: what runs without a question, for whom, what asks
//! all the same, and what ends a mode.

mod telegram;

use crate::program;
use crate::telegram_model;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use crate::program::{House, eventually, outcomes};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use claw_test_kit::skipped;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

const WRITE: &str = "write a.txt: hello";
/// It goes on when `go` is there.
const WAITS: &str = "touch began; until [ -e go ]; do sleep 0.02; done; echo 3 passed";

/// A house whose model makes the calls that it is told to.
struct Told {
    house: House,
    provider: Threaded,
}

impl Told {
    fn new() -> Self {
        let provider = Threaded::start(Wire::Anthropic, []);
        let house = House::at("claude", &provider.base_url);
        house.write("claw.toml", program::SERVER_WAIT);
        Self { house, provider }
    }

    /// The model makes this call, and says something when it has ended.
    fn push(&self, tool: &str, arguments: &Value) {
        let call = Call::new("1", &format!("filesystem__{tool}"), &arguments.to_string());
        self.provider.push(Answer::Turn(Turn::calls(&[call])));
        self.provider.push(Answer::text("done"));
    }

    #[track_caller]
    fn runs(&self, tool: &str, arguments: &Value) -> Value {
        self.push(tool, arguments);
        self.house.claw(&["ask", "go"]).expect(0);
        let outcome = outcomes(&self.house.events("main")).pop().unwrap_or_default();
        assert_eq!(outcome["kind"], "ended", "{tool} {arguments}: {outcome}");
        outcome["output"].clone()
    }

    #[track_caller]
    fn asks(&self, tool: &str, arguments: &Value) {
        self.push(tool, arguments);
        let id = self.house.ask_parks("go");
        self.house.claw(&["deny", &id]).expect(0);
    }
}

/// Types a line at the console; what is shown, without its line breaks.
#[track_caller]
fn typed(house: &House, lines: &str) -> String {
    let ran = house.claw_with_stdin(&["chat"], format!("{lines}\n").as_bytes());
    // 3: a question of the session is open.
    let (Some(0 | 3), said) = (ran.code, &ran.out) else { panic!("{ran:?}") };
    said.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn live_grants(house: &House) -> Vec<Value> {
    house.claw(&["grants", "--json"]).expect(0).rows()
}

fn whys(house: &House) -> Vec<String> {
    let verdicts = house.audit().into_iter().filter(|row| row["kind"] == "verdict");
    verdicts.map(|row| row["body"]["why"].to_string()).collect()
}

/// In mode `work` nobody looks at a command, and the owner goes on with their own work.
#[test]
fn what_the_owner_saves_while_a_command_runs_is_kept_and_told() {
    let told = Told::new();
    let house = &told.house;
    if !house.holds_every_level() {
        return;
    }
    let (before, saved) = ("[remote \"origin\"]\n", "[remote \"origin\"]\n[branch \"topic\"]\n");
    let lock = house.workspace().join(".git/config.lock");
    house.write("workspace/.git/config", before);
    let call =
        Call::new("1", "bash__run", &json!({"command": WAITS, "needs": "write"}).to_string());
    told.provider.push(Answer::Turn(Turn::calls(&[call])));
    told.provider.push(Answer::text("All tests pass."));
    let asking = house.start(&["ask", "--mode", "work", "go"]);
    eventually("the command runs", || house.workspace().join("began").exists());
    fs::write(&lock, saved).unwrap();
    fs::rename(&lock, lock.with_extension("")).unwrap();
    house.write("workspace/go", "");
    let ran = asking.ends().expect(0);
    let said = ".git/config (the new one is .git/config.set-aside)";
    assert!(ran.err.contains(said), "{ran:?}");
    assert_eq!(house.in_workspace(".git/config"), before);
    assert_eq!(house.in_workspace(".git/config.set-aside"), saved);
    house.is_whole();
}

#[test]
fn edits_lets_files_be_changed_and_nothing_else() {
    let told = Told::new();
    let house = &told.house;
    let write = json!({"path": "a.txt", "content": "hello"});
    told.asks("write_file", &write);
    let said = typed(house, "/mode edits");
    assert!(said.contains("Mode edits:") && said.contains("deleting asks"), "{said}");
    told.runs("write_file", &write);
    told.runs("move", &json!({"source": "a.txt", "destination": "b/c.txt"}));
    let edits = json!([{"old_text": "hello", "new_text": "bye"}]);
    let whole = house.workspace().join("b/c.txt").display().to_string();
    told.runs("edit_file", &json!({"path": whole, "edits": edits}));
    assert_eq!(house.in_workspace("b/c.txt"), "bye");
    let patch =
        "--- a/b/c.txt\n+++ b/b/c.txt\n@@ -1 +1 @@\n-bye\n\\ No newline at end of file\n+ciao\n";
    told.runs("apply_patch", &json!({ "patch": patch }));
    assert_eq!(house.in_workspace("b/c.txt"), "ciao\n");
    let hook = "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n";
    told.asks("apply_patch", &json!({"patch": patch.to_owned() + hook}));
    told.asks("delete", &json!({"path": "b/c.txt"}));
    // What a move replaces is gone like what is deleted.
    house.write("workspace/other", "kept");
    let over = json!({"source": "b/c.txt", "destination": "other", "overwrite": true});
    told.asks("move", &over);
    let memory = house.home().join("persona/MEMORY.md").display().to_string();
    told.asks("write_file", &json!({"path": memory, "content": "x"}));
    assert_eq!(house.in_workspace("other"), "kept");
    let ran = whys(house).into_iter().filter(|why| why.contains("mode edits, given ")).count();
    assert_eq!(ran, 4, "{:?}", whys(house));
    assert_eq!(told.provider.faults(), [""; 0]);
    house.is_whole();
}

/// The question has the files and every line; the yes does just that, and it can be taken back.
#[test]
fn a_patch_is_shown_whole_runs_as_it_was_shown_and_is_undone() {
    let told = Told::new();
    let house = &told.house;
    house.write("workspace/a.txt", "one\ntwo\n");
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-two\n+2\n\
                 --- /dev/null\n+++ b/n/b.txt\n@@ -0,0 +1 @@\n+new\n";
    told.push("apply_patch", &json!({ "patch": patch }));
    let id = house.ask_parks("go");
    let shown = house.claw(&["approvals", &id]).expect(0).out;
    for line in [
        "Patch a.txt, n/b.txt (2 lines added, 1 removed)",
        "@ a.txt (+1 -1)",
        "@ n/b.txt (new, +1)",
        "-two",
        "+2",
        "+new",
    ] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    house.claw(&["approve", &id]).expect(0);
    assert_eq!(
        (house.in_workspace("a.txt"), house.in_workspace("n/b.txt")),
        ("one\n2\n".into(), "new\n".into())
    );
    house.claw(&["undo", "--yes"]).expect(0);
    assert_eq!(house.in_workspace("a.txt"), "one\ntwo\n");
    assert!(!house.workspace().join("n").exists());
    house.is_whole();
}

#[test]
fn what_other_programs_obey_asks_also_through_a_link() {
    let told = Told::new();
    let house = &told.house;
    for folder in ["workspace/.git/hooks", "workspace/.github/workflows", "workspace/src"] {
        fs::create_dir_all(house.home().join(folder)).expect("a folder");
    }
    typed(house, "/mode work");
    let write = |path: &str| json!({"path": path, "content": "#!/bin/sh\n"});
    for path in [
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/config",
        "src/../.git/config",
        ".envrc",
        "AGENTS.md",
        "src/claude.md",
        ".vscode/tasks.json",
        ".github/workflows/ci.yml",
    ] {
        told.asks("write_file", &write(path));
    }
    house.write("workspace/hook", "#!/bin/sh\n");
    told.asks("move", &json!({"source": "hook", "destination": ".git/hooks/post-merge"}));
    told.asks("move", &json!({"source": ".git/hooks", "destination": "hooks"}));
    // The name says nothing, but the link leads there.
    let git = house.workspace().join(".git");
    symlink(git.join("hooks"), house.workspace().join("plain")).expect("a link");
    symlink("../.git", house.workspace().join("src/also")).expect("a link");
    house.write("workspace/.envrc", "safe\n");
    symlink(".envrc", house.workspace().join("notes.txt")).expect("a link");
    for path in ["plain/pre-commit", "src/also/hooks/pre-commit", "notes.txt"] {
        let output = told.runs("write_file", &write(path));
        let text = output["text"].as_str().unwrap_or_default();
        assert!(output["is_error"] == true && text.contains("nobody was asked"), "{output}");
    }
    let go = json!({"source": "hook", "destination": "plain/pre-commit"});
    assert_eq!(told.runs("move", &go)["is_error"], true);
    assert_eq!(house.in_workspace(".envrc"), "safe\n");
    let hooks: Vec<_> = fs::read_dir(git.join("hooks")).expect("a folder").collect();
    assert!(hooks.is_empty(), "{hooks:?}");
    // After a yes the same server does it.
    told.push("write_file", &write(".git/hooks/pre-commit"));
    let id = house.ask_parks("go");
    house.claw(&["approve", &id]).expect(0);
    assert_eq!(house.in_workspace(".git/hooks/pre-commit"), "#!/bin/sh\n");
    house.is_whole();
}

/// Whether this machine holds commands to the level `write`.
fn holds_levels(house: &House) -> bool {
    let said = typed(house, "/mode");
    let holds = !said.contains("cannot hold commands");
    if !holds {
        skipped("this kernel holds no levels, so commands ask in every mode");
    }
    holds
}

#[test]
fn work_lets_commands_change_the_workspace_where_the_machine_holds_them_to_it() {
    let house = House::new();
    let (write, network) = ("run `echo x >> effects`", "run `echo y >> effects` with the network");
    let holds = holds_levels(&house);
    typed(&house, "/mode edits");
    let id = house.ask_parks(write);
    house.claw(&["deny", &id]).expect(0);
    let said = typed(&house, "/mode work");
    assert_eq!(said.contains("claw doctor says why"), !holds, "{said}");
    if holds {
        house.claw(&["ask", write]).expect(0);
        assert_eq!(house.in_workspace("effects"), "x\n");
        assert!(whys(&house).iter().any(|why| why.contains("mode work, given ")));
    } else {
        house.ask_parks(write);
        house.claw(&["deny", &house.waiting()]).expect(0);
    }
    house.ask_parks(network);
    house.is_whole();
}

#[test]
fn a_mode_ends_with_new_by_the_stop_switch_and_when_it_is_taken_back() {
    type End = fn(&House);
    let ends: [(&str, End); 5] = [
        ("new", |house| drop(typed(house, "/new"))),
        ("ask", |house| drop(typed(house, "/mode ask"))),
        ("stop switch", |house| {
            house.claw(&["panic", "on"]).expect(0);
            house.claw(&["panic", "off"]).expect(0);
        }),
        ("revoked", |house| {
            let id = live_grants(house)[0]["id"].to_string();
            house.claw(&["grants", "revoke", &id]).expect(0);
        }),
        // The clock of the machine cannot be turned; the mode is made older instead.
        ("idle", |house| {
            let older = "UPDATE grants SET expires_ms = created_ms, boot_ends_ms = 0";
            house.db().execute(older, []).expect("an update");
        }),
    ];
    for (name, end) in ends {
        let house = House::new();
        typed(&house, "/mode edits");
        house.claw(&["ask", WRITE]).expect(0);
        let listed = live_grants(&house);
        assert!(
            listed.len() == 1 && listed[0]["says"].to_string().contains("mode edits in "),
            "{listed:?}"
        );
        assert!(typed(&house, "/status").contains("mode: edits, until "), "{name}");
        end(&house);
        assert!(live_grants(&house).is_empty(), "{name}");
        house.ask_parks(WRITE);
        assert!(typed(&house, "/status").contains("mode: ask"), "{name}");
        house.is_whole();
    }
}

#[test]
fn a_message_of_the_owner_prolongs_a_mode_and_revives_none() {
    let house = House::new();
    typed(&house, "/mode edits");
    let until = |house: &House| live_grants(house)[0]["expires_ms"].as_i64().unwrap_or_default();
    // As if it had been given an hour ago.
    house
        .db()
        .execute("UPDATE grants SET expires_ms = expires_ms - 3600000", [])
        .expect("an update");
    let before = until(&house);
    house.claw(&["ask", "list ."]).expect(0);
    assert!(until(&house) > before + 3_500_000, "{} and {before}", until(&house));
    house.db().execute("UPDATE grants SET expires_ms = created_ms", []).expect("an update");
    house.claw(&["ask", "list ."]).expect(0);
    assert!(live_grants(&house).is_empty());
    house.ask_parks(WRITE);
}

#[test]
fn a_mode_is_one_sessions_and_one_commands_where_it_is_given_so() {
    let house = House::new();
    // For one command.
    house.claw(&["ask", "--mode", "edits", WRITE]).expect(0);
    assert!(live_grants(&house).is_empty());
    let id = house.ask_parks(WRITE);
    // As an answer, for the session.
    let shown = house.claw(&["approvals"]).expect(0).out;
    assert!(shown.contains(&format!("claw approve {id} --mode edits")), "{shown}");
    house.claw(&["approve", &id, "--mode", "work"]).expect_mistake(&["not offered"]);
    house.claw(&["approve", &id, "--mode", "edits"]).expect(0);
    assert_eq!(live_grants(&house).len(), 1);
    house.claw(&["ask", "write b.txt: 1"]).expect(0);
    house.claw(&["ask", "--session", "other", WRITE]).expect(3);
    // One command does not take away what the session had before.
    house.claw(&["ask", "--mode", "ask", WRITE]).expect(3);
    assert_eq!(live_grants(&house).len(), 1);
    let chat = house.claw_with_stdin(&["chat", "--mode", "ask"], b"/status\n").expect(3);
    assert!(chat.out.replace('`', "").contains("mode: ask"), "{}", chat.out);
    assert!(live_grants(&house).is_empty());
    let words = house.claw(&["audit", "--rows"]).expect(0).out;
    assert!(words.contains("mode"), "{words}");
    house.is_whole();
}

/// Whatever ends a command, what it was given ends with it.
#[test]
fn the_mode_of_a_command_is_kept_nowhere_and_ends_with_a_command_that_is_killed() {
    let told = Told::new();
    let gate = Arc::new(Semaphore::new(0));
    told.provider.push(Answer::Gated(Turn::text("never"), gate));
    let asking = told.house.start(&["ask", "--mode", "edits", "go"]);
    eventually("the model is asked", || told.provider.recorded().len() == 1);
    let read = told.provider.recorded().remove(0).body.to_string();
    assert!(read.contains("[mode: edits"), "{read}");
    assert!(live_grants(&told.house).is_empty(), "it is a grant of everybody's");
    asking.signal(Signal::KILL);
    drop(asking);
    assert!(live_grants(&told.house).is_empty());
    told.push("write_file", &json!({"path": "a.txt", "content": "hello"}));
    told.house.claw(&["ask", "and now?"]).expect(3);
    assert_eq!(told.house.in_workspace("a.txt"), "");
}

/// Several people may write in one session.
#[test]
fn a_mode_is_its_givers_alone() {
    let house = House::new();
    typed(&house, "/mode edits");
    house.claw(&["ask", WRITE]).expect(0);
    house.db().execute("UPDATE grants SET principal = 'telegram:7'", []).expect("an update");
    house.ask_parks(WRITE);
}

#[test]
fn a_rule_that_asks_asks_in_every_mode() {
    let house = House::new();
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"filesystem\"\ntool = \"write_file\"\ndecision = \"ask\"\nwhy = \"I want to see it\"\n",
    );
    typed(&house, "/mode work");
    house.ask_parks(WRITE);
}

/// What somebody else wrote and the owner passes on asks in every mode.
#[test]
fn forwarded_words_ask_in_every_mode() {
    let call = Call::new("1", "filesystem__write_file", r#"{"path": "b.txt", "content": "2"}"#);
    let rig = telegram_model::Rig::new([Answer::Turn(Turn::calls(&[call]))]);
    rig.house.write("claw.toml", program::SERVER_WAIT);
    let gateway = rig.start();
    rig.anna.starts();
    rig.waits_for("I am claw");
    let home = rig.anna.private();
    rig.says("/mode work");
    rig.waits_for("Mode work:");
    rig.anna.writes(home).forwarded_from("Bob").text("write b.txt").send();
    rig.telegram.wait_for("a question about what was forwarded", |world| {
        let asked = world.messages(home).find(|one| one.button("Allow once").is_some())?;
        assert!(asked.button("This session: all edits").is_none(), "{asked:?}");
        asked.text.contains("b.txt").then(|| asked.clone())
    });
    assert_eq!(rig.house.in_workspace("b.txt"), "");
    drop(gateway);
}
