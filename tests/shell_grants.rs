//! Shell commands that need no question, through the whole program: by a grant for a program and
//! its subcommand, and because they can only look. And that claw reads a command as bash does,
//! tried against bash itself in the box.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;

use crate::program::{House, Ran, eventually, outcomes};
use crate::shell_texts::{DRIVER, FOUND, STUB, STUBS, aimed, expected, recorded, texts};
use claw_core::policy::shell::{Joint, ShellStep, grants, read};
use claw_test_kit::write_program;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// Writes down how it was called, in the folder that it runs in.
const RECORDS: &str = "#!/bin/sh\nprintf '%s|' \"$@\" >> ran\necho >> ran\n";

/// A house with a `cargo` of its own, which commands may execute.
fn house() -> House {
    let house = House::new();
    let tools = house.user_home().join("tools");
    fs::create_dir(&tools).unwrap();
    write_program(&tools.join("cargo"), RECORDS);
    let tools = tools.display();
    let bash = json!({
        "command": "claw", "args": ["server", "bash", "--read-only", tools.to_string()],
        "env": {"PATH": format!("{tools}:/usr/local/bin:/usr/bin:/bin")},
    });
    let filesystem = json!({"command": "claw", "args": ["server", "filesystem"]});
    house.write(
        "mcp.json",
        &json!({"mcpServers": {"bash": bash, "filesystem": filesystem}}).to_string(),
    );
    house
}

/// `None` where this kernel has no box, which was said then.
fn boxed_house() -> Option<House> {
    let house = house();
    house.is_boxed().then_some(house)
}

/// Runs this where the kernel has no Landlock: a filter that every child inherits answers as such a
/// kernel does.
fn without_a_box<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};
    let in_there = || {
        let rules = BTreeMap::from([(nix::libc::SYS_landlock_create_ruleset, Vec::new())]);
        let refuse = SeccompAction::Errno(nix::libc::EOPNOTSUPP as u32);
        let arch = std::env::consts::ARCH.try_into().unwrap();
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, arch).unwrap();
        apply_filter(&BpfProgram::try_from(filter).unwrap()).unwrap();
        run()
    };
    std::thread::scope(|scope| scope.spawn(in_there).join().unwrap())
}

fn ask(house: &House, command: &str) -> Ran {
    house.claw(&["ask", &format!("run `{command}`")])
}

#[track_caller]
fn runs(house: &House, command: &str) -> String {
    ask(house, command).expect(0);
    let outcome = outcomes(&house.events("main")).pop().unwrap();
    assert_eq!(outcome["kind"], "ended", "{command}: {outcome}");
    outcome["output"]["text"].as_str().unwrap().to_owned()
}

/// The result of a command at level `read`, which asks nobody.
#[track_caller]
fn looks(house: &House, command: &str) -> String {
    house.claw(&["ask", &format!("run `{command}` to look")]).expect(0);
    let outcome = outcomes(&house.events("main")).pop().unwrap();
    assert_eq!(outcome["kind"], "ended", "{command}: {outcome}");
    outcome["output"]["text"].as_str().unwrap().to_owned()
}

#[track_caller]
fn asks(house: &House, command: &str) {
    let ran = ask(house, command);
    assert_eq!(ran.code, Some(3), "`{command}` did not ask: {ran:?}");
    // An open question holds up what is said next.
    let id = house.waiting();
    house.claw(&["deny", &id]).expect(0);
}

/// The last verdict of the audit.
fn verdict(house: &House) -> Value {
    house.audit().into_iter().rfind(|row| row["kind"] == "verdict").unwrap()
}

#[test]
fn a_program_and_its_subcommand_are_granted_and_nothing_beside_them() {
    let Some(house) = boxed_house() else { return };
    let id = house.ask_parks("run `cargo test one`");
    let shown = house.claw(&["approvals"]).expect(0).out;
    assert!(
        shown.contains(&format!("claw approve {id} --for always --command 'cargo test'")),
        "{shown}"
    );
    for other in ["cargo", "cargo build", "cargo test one", "git status"] {
        house
            .claw(&["approve", &id, "--for", "always", "--command", other])
            .expect_mistake(&["not offered"]);
    }
    house.claw(&["approve", &id, "--command", "cargo test"]).expect(2);
    house.claw(&["approve", &id, "--for", "always", "--command", "cargo test"]).expect(0);
    let listed = house.claw(&["grants"]).expect(0).out;
    assert!(
        listed.contains(
            "bash/run for any `cargo test` with known options and plain words, in the box and without a network"
        ),
        "{listed}"
    );

    runs(&house, "cargo test 'two words' --lib -- --nocapture");
    assert!(
        verdict(&house)["body"]["why"].as_str().unwrap().contains("any `cargo test`"),
        "{}",
        verdict(&house)
    );
    runs(&house, "cargo test");
    let ran = house.in_workspace("ran");
    assert_eq!(ran, "test|one|\ntest|two words|--lib|--|--nocapture|\ntest|\n");
    for other in [
        "cargo test; rm x",
        "cargo test && rm x",
        "cargo test | sh",
        "cargo test & rm x",
        "cargo test $(rm x)",
        "cargo test $X",
        "cargo test > x",
        "cargo test *",
        "cargo --config a=b test",
        "cargo test --config a=b",
        "cargo build",
        "cargo test a b",
        "CARGO_HOME=. cargo test",
        "env cargo test",
        "./cargo test",
        "cargo test \\\nx",
        "cargo test #",
        "cargo 'te'st\u{a0}x",
    ] {
        asks(&house, other);
    }
    assert_eq!(house.in_workspace("ran"), ran, "something ran without a yes");

    let grant = house.claw(&["grants", "--json"]).expect(0).rows().remove(0);
    house.claw(&["grants", "revoke", &grant["id"].to_string()]).expect(0);
    asks(&house, "cargo test");
    assert_eq!(house.in_workspace("ran"), ran);
    house.is_whole();
}

#[test]
fn the_console_offers_it_and_takes_it() {
    let Some(house) = boxed_house() else { return };
    let mut chat = house.start(&["chat"]);
    chat.types(b"run `cargo test one`\n");
    eventually("it is asked", || chat.out().contains("y yes"));
    chat.types(b"?\n");
    eventually("it is offered", || {
        let words: Vec<String> = chat.out().split_whitespace().map(str::to_owned).collect();
        words
            .join(" ")
            .contains("sc allow bash/run for any `cargo test` with known options and plain words, in the box and without a network, until")
    });
    chat.types(b"sc\n");
    eventually("it ran", || house.in_workspace("ran").lines().count() == 1);
    chat.types(b"run `cargo test two`\n");
    eventually("it ran again", || house.in_workspace("ran").lines().count() == 2);
    chat.types(b"/new\nrun `cargo test three`\n");
    eventually("its session is over", || house.claw(&["approvals", "--json"]).rows().len() == 1);
    chat.ends().expect(3);
    assert_eq!(house.in_workspace("ran").lines().count(), 2);
    house.is_whole();
}

#[test]
fn a_command_that_can_only_look_runs_whatever_its_words_and_says_so() {
    let Some(house) = boxed_house() else { return };
    house.write("workspace/notes", "one\ntwo\nthree\n");
    house.write("claw.toml", "");
    assert!(looks(&house, "cat notes | head -n 2 | wc -l").contains("\n2\n"));
    let body = verdict(&house)["body"].clone();
    assert_eq!(
        (&body["verdict"], &body["rule"]),
        (&json!("allow"), &json!("builtin.level-read")),
        "{body}"
    );
    assert_eq!(body["why"], "level read: it looks at the workspace and can change nothing");
    for (command, printed) in [
        ("for f in *; do wc -l < \"$f\"; done 2>&1", "\n3\n"),
        ("awk 'END { print NR * 2 }' notes", "\n6\n"),
        ("x=$(head -n 1 notes); echo \"$x$x\"", "oneone"),
        ("diff <(sort notes) notes", "three"),
    ] {
        assert!(looks(&house, command).contains(printed), "{command}");
    }
    for change in [
        "rm notes",
        "echo x > notes",
        "sed -i 1d notes",
        "mv notes other",
        "chmod 0 notes",
        "python3 -c 'open(\"notes\", \"w\")' || echo Permission denied",
    ] {
        let said = looks(&house, &format!("{change}; false"));
        assert!(said.contains("needs: \"write\""), "{change}: {said}");
    }
    assert_eq!(house.in_workspace("notes"), "one\ntwo\nthree\n");
    std::os::unix::fs::symlink("../claw.toml", house.workspace().join("link")).unwrap();
    for secret in ["cat ../claw.toml", "cat link", "cat /etc/shadow", "ls ~/..", "ls /root /home"] {
        let said = looks(&house, &format!("{secret}; false"));
        // What lies below /tmp is not even there for a command with a /tmp of its own.
        let refused = ["Permission denied", "No such file"];
        assert!(refused.iter().any(|words| said.contains(words)), "{secret}: {said}");
    }
    let network = looks(&house, "exec 3<>/dev/tcp/127.0.0.1/9");
    let refused = ["not permitted", "Connection refused"];
    assert!(refused.iter().any(|words| network.contains(words)), "{network}");
    asks(&house, "cat notes");
    house.is_whole();
}

#[test]
fn looking_can_be_switched_off_and_a_rule_overrides_it() {
    let Some(house) = boxed_house() else { return };
    looks(&house, "pwd");
    for policy in [
        "bash_reads = \"ask\"\n",
        "[[rule]]\nserver = \"bash\"\nargs.command = 'pwd.*'\ndecision = \"ask\"\nwhy = \"x\"\n",
    ] {
        house.write("policy.toml", policy);
        let ran = house.claw(&["ask", "run `pwd` to look"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        let id = house.waiting();
        house.claw(&["deny", &id]).expect(0);
    }
    looks(&house, "true");
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ndecision = \"deny\"\nwhy = \"no shell in this house\"\n",
    );
    house.claw(&["ask", "run `pwd` to look"]).expect(0);
    assert_eq!(outcomes(&house.events("main")).pop().unwrap()["kind"], "denied");
}

#[test]
fn a_question_names_the_hosts_and_a_grant_covers_these_alone() {
    let Some(house) = boxed_house() else { return };
    if !house.keeps_to_hosts() {
        return;
    }
    let id = house.ask_parks("run `cargo test one` with the network to crates.io, *.crates.io");
    let shown = house.claw(&["approvals"]).expect(0).out;
    assert!(shown.contains("crates.io, *.crates.io"), "{shown}");
    house.claw(&["approve", &id, "--for", "always", "--command", "cargo test"]).expect(0);
    let listed = house.claw(&["grants"]).expect(0).out;
    assert!(listed.contains("with the network to crates.io, *.crates.io"), "{listed}");
    house.claw(&["ask", "run `cargo test two` with the network to crates.io"]).expect(0);
    house.claw(&["ask", "run `cargo test three`"]).expect(0);
    for other in ["with the network to crates.io, evil.com", "with the network"] {
        let id = house.ask_parks(&format!("run `cargo test four` {other}"));
        house.claw(&["deny", &id]).expect(0);
    }
    let ran = house.in_workspace("ran");
    assert_eq!(ran.lines().count(), 3, "{ran}");
    house.is_whole();
}

#[test]
fn without_a_box_every_command_asks() {
    let Some(house) = boxed_house() else { return };
    looks(&house, "pwd");
    let id = house.ask_parks("run `cargo test one`");
    house.claw(&["approve", &id, "--for", "always", "--command", "cargo test"]).expect(0);
    let shown = without_a_box(|| {
        let doctor = house.claw(&["doctor", "--json"]).rows();
        assert!(
            doctor.iter().any(|row| row["id"] == "box" && row["ok"] == false),
            "there is a box: {doctor:?}"
        );
        asks(&house, "pwd");
        let id = house.ask_parks("run `cargo test two`");
        let refused = house.claw(&["approve", &id, "--for", "always", "--command", "cargo test"]);
        refused.expect_mistake(&["not offered"]);
        let shown = house.claw(&["approvals"]).expect(0).out;
        house.claw(&["deny", &id]).expect(0);
        shown
    });
    assert!(!shown.contains("--command"), "{shown}");
    assert_eq!(house.in_workspace("ran").lines().count(), 1);
    runs(&house, "cargo test two");
    house.is_whole();
}

/// A command that is accepted does nothing else in a real bash than to start exactly these programs
/// with exactly these words.
#[test]
fn what_claw_understands_is_what_bash_does() {
    let house = House::new();
    if !house.is_boxed() {
        return;
    }
    house.write(
        "policy.toml",
        "[[rule]]\nserver = \"bash\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n",
    );
    let wanted: usize =
        std::env::var("CLAW_SHELL_TEXTS").ok().and_then(|count| count.parse().ok()).unwrap_or(300);
    let (mut runner, strategy) = (TestRunner::default(), texts());
    // Every attack at every place of a word, and then what comes of chance.
    let mut accepted: Vec<(String, Vec<ShellStep>)> =
        aimed().into_iter().filter_map(|text| read(&text).map(|steps| (text, steps))).collect();
    let wanted = accepted.len() + wanted;
    let mut refused = 0;
    while accepted.len() < wanted {
        let text = strategy.new_tree(&mut runner).unwrap().current();
        match read(&text) {
            Some(steps) => accepted.push((text, steps)),
            None => refused += 1,
        }
    }
    assert!(refused > wanted / 10, "the generator attacks too little: {refused} of {wanted}");
    let stubs = house.workspace().join("stubs");
    fs::create_dir_all(&stubs).unwrap();
    STUBS.iter().for_each(|name| write_program(&stubs.join(name), STUB));
    house.write("workspace/drive.sh", DRIVER);
    FOUND.iter().for_each(|name| house.write(&format!("workspace/cwd/{name}"), ""));
    for batch in accepted.chunks(2000) {
        for old in ["log", "said"] {
            let _none_yet = fs::remove_dir_all(house.workspace().join(old));
        }
        house.write(
            "workspace/texts",
            &batch.iter().map(|(text, _)| format!("{text}\0")).collect::<String>(),
        );
        let said = runs(&house, "bash drive.sh");
        for (index, (text, steps)) in batch.iter().enumerate() {
            let log = house.workspace().join(format!("log/{index}"));
            assert_eq!(recorded(&log), expected(steps), "{text:?} was read as {steps:?}");
            assert_eq!(
                house.in_workspace(&format!("said/{index}")),
                "",
                "{text:?} was read as {steps:?}"
            );
        }
        assert!(
            said.contains(&format!("{} texts, traces: {} \n", batch.len(), FOUND.join(" "))),
            "{said}"
        );
    }
}

/// What bash does by itself never reaches the search path, so no grant names it.
#[test]
fn no_builtin_of_bash_is_taken_for_a_program() {
    let house = House::new();
    if !house.is_boxed() {
        return;
    }
    let said = looks(&house, "compgen -b; compgen -k; compgen -a; compgen -A function");
    for name in said.lines() {
        let words = vec![name.to_owned(), "test".to_owned()];
        let steps = [ShellStep { joint: Joint::Start, words }];
        assert_eq!(grants::words_of(&steps), None, "{name}");
    }
    assert!(said.lines().any(|name| name == "cd"), "{said}");
}
