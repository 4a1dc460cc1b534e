//! What a person sees on the phone, as text: each screen is looked at by a human when it changes.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::eventually;
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use rustix::process::Signal;
use serde_json::json;

impl Rig {
    /// Nothing is left to be said or changed.
    fn rests(&self) {
        eventually("nothing is left to be sent", || {
            let left = "SELECT (SELECT count(*) FROM outbox WHERE state <> 'sent') + (SELECT count(*) FROM running)
                        + (SELECT count(*) FROM posted WHERE state = 'answered')";
            self.house.db().query_row(left, [], |row| row.get::<_, i64>(0)).unwrap() == 0
        });
    }

    fn screen(&self) -> String {
        let screen = self.telegram.screen(self.anna.id).replace(&self.anna.id.to_string(), "USER");
        let screen = regex::Regex::new(r"([A-Z][a-z]{2} \d{4}-\d\d-\d\d )?\b\d\d:\d\d\b")
            .unwrap()
            .replace_all(&screen, "HH:MM")
            .into_owned();
        // What a question says of the box depends on the kernel.
        let screen = regex::Regex::new(r"_?(It can change files in the workspace; no network|No box holds it: it can do what you can|The box holds no level here: it may use the network)_?")
            .unwrap()
            .replace_all(&screen, "(what the box lets it do)")
            .replace("⚠️ ", "");
        // So do the mode that it offers, and ten minutes, which stand where no mode does.
        let screen = screen.replace(" [ 10 min ]", "");
        let shown =
            screen.lines().filter(|line| !line.contains("This session: edits and commands"));
        let screen = shown.map(|line| format!("{line}\n")).collect::<String>();
        screen.replace(&self.house.workspace().display().to_string(), "WORKSPACE")
    }
}

fn runs(command: &str) -> Answer {
    let arguments = json!({"command": command, "needs": "write"}).to_string();
    let turn = Turn::calls(&[Call::new("1", "bash__run", &arguments)]);
    Answer::Turn(Turn { text: "I'll look at the tests first.".into(), ..turn })
}

#[test]
fn a_plain_answer() {
    let text = "Two things are left:\n\n1. **Rent**: due on *Monday*, see `rent.txt`\n2. The [report](https://example.org/r)\n\n\
                | what | when |\n|---|---|\n| rent | Monday |\n| report | Friday |\n\n> Better early than late.";
    let rig = Rig::new([Answer::text(text)]);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "what is left this week?");
    rig.telegram.wait_for_text(rig.anna.id, "Better early");
    rig.rests();
    insta::assert_snapshot!(rig.screen());
    drop(gateway);
}

#[test]
fn a_question() {
    let rig = Rig::new([runs("cargo test --all 2>&1 | tail -5\nrm -r ./target\u{202e}")]);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "are the tests green?");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.rests();
    insta::assert_snapshot!(rig.screen());
    drop(gateway);
}

#[test]
fn a_denied_call() {
    let rig = Rig::new([runs("rm -r build"), Answer::text("Then I leave `build` as it is.")]);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "clean up");
    rig.telegram.wait_for_button(rig.anna.id, "Deny");
    rig.rests();
    rig.anna.taps(rig.anna.private(), "Deny");
    rig.telegram.wait_for_text(rig.anna.id, "Then I leave");
    rig.rests();
    insta::assert_snapshot!(rig.screen());
    drop(gateway);
}

#[test]
fn a_long_answer_with_code() {
    let code: String =
        (1..=120).map(|n| format!("    println!(\"line number {n} of a program\");\n")).collect();
    let text = format!(
        "Here is the program:\n\n```rust\nfn main() {{\n{code}}}\n```\n\nRun it with `cargo run`."
    );
    let rig = Rig::new([Answer::text(&text)]);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "write it");
    rig.telegram.wait_for_text(rig.anna.id, "Run it with");
    rig.rests();
    // The middle of the code is left out of the picture.
    let screen = rig.screen();
    let lines: Vec<&str> = screen
        .lines()
        .filter(|line| !line.contains("line number") || line.contains("1 of"))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
    drop(gateway);
}

#[test]
fn an_error() {
    let refused =
        r#"{"error":{"message":"Incorrect API key provided","type":"invalid_request_error"}}"#;
    let rig = Rig::new([Answer::status(401, refused), Answer::text("Now it works.")]);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "hello");
    rig.telegram.wait_for_text(rig.anna.id, "key");
    rig.anna.says(rig.anna.private(), "hello again");
    rig.telegram.wait_for_text(rig.anna.id, "Now it works.");
    rig.rests();
    insta::assert_snapshot!(rig.screen());
    drop(gateway);
}

#[test]
fn a_restart() {
    let rig = Rig::new([runs("make"), Answer::text("Built.")]);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "build it");
    let old = rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.rests();
    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = rig.start();
    rig.telegram.wait_for("the old question has no buttons", |world| {
        world.message(rig.anna.private(), old.id)?.labels().is_empty().then_some(())
    });
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.rests();
    insta::assert_snapshot!(rig.screen());
    drop(gateway);
}

/// Which files, how many lines in each, and where there is no room the rest on demand.
#[test]
fn a_question_about_a_patch_of_several_files() {
    let part = |path: &str, new: &str| {
        format!("--- a/{path}\n+++ b/{path}\n@@ -3,2 +3,3 @@\n stays\n-old\n+{new}\n+more\n")
    };
    let files = ["src/turn/transcript.rs", "src/turn/next.rs", "docs/architecture.md", "README.md"];
    let patch: String = files.map(|path| part(path, "new")).concat();
    let patch = patch + "--- /dev/null\n+++ b/tests/patch.rs\n@@ -0,0 +1 @@\n+//! New.\n";
    let call = Call::new("1", "filesystem__apply_patch", &json!({"patch": patch}).to_string());
    let rig = Rig::new([Answer::Turn(Turn::calls(&[call]))]);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "rename it everywhere");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.rests();
    insta::assert_snapshot!(rig.screen());
    drop(gateway);
}
