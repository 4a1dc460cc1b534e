//! Every command of the program that prints says with its exit code that it could not: the list is
//! the program's own, and who is not in it is named here with the reason.
#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]
#![expect(clippy::disallowed_methods, reason = "a shell reads what is typed")]

use clap::CommandFactory as _;
use claw_cli::args::Cli;

use crate::outputs::{closed, full, into, no_panic};
use crate::program::{House, Ran};

/// Commands that only look, as they are typed. What stands in capitals is found out in the home.
const LOOKS: [&str; 39] = [
    "approvals",
    "approvals ASKED",
    "artifacts list",
    "artifacts show PUT_ASIDE",
    "audit explain CALL",
    "audit head",
    "audit list",
    "audit list --json",
    "audit --rows",
    "audit verify",
    "clients list",
    "completions bash",
    "digest",
    "doctor",
    "grants list",
    "help",
    "help box",
    "man",
    "mcp list",
    "mcp test filesystem",
    "memory check",
    "memory graph",
    "memory list",
    "memory show NOTE",
    "open",
    "panic status",
    "persona history",
    "persona show VERSION",
    "schedule history",
    "schedule list",
    "schedule show 1",
    "serve --print-config zed",
    "sessions export main",
    "sessions list",
    "sessions replay",
    "sessions show main",
    "sessions show main --prompt 1",
    "tools list",
    "undo --list",
];

/// Commands that change something, once, in this order. They have done it when they fail.
const CHANGES: [&str; 29] = [
    "approve ASKED",
    "deny ASKED_TOO",
    "undo --yes",
    "audit anchor",
    "artifacts alias PUT_ASIDE long",
    "artifacts rm PUT_ASIDE",
    "clients add tablet",
    "clients revoke tablet",
    "close FOLDER",
    "open FOLDER",
    "grants revoke 1",
    "mcp add other -- true",
    "mcp trust other nothing",
    "mcp remove other",
    "mcp import",
    "memory add fact more",
    "memory forget NOTE",
    "memory restore NOTE",
    "panic on",
    "panic off",
    "persona restore VERSION",
    "schedule add --in 20m --say more",
    "schedule pause 1",
    "schedule resume 1",
    "schedule run 1",
    "schedule cancel 1",
    "schedule import-heartbeats HEARTBEATS --yes",
    "sessions import EXPORTED --as copy",
    "backup BACKUP",
];

/// Commands of the program that are in neither list, and why.
const OTHERS: [(&str, &str); 18] = [
    ("acp", "its standard output is the editor's protocol"),
    ("ask", "see `shown::a_reply_that_did_not_leave_comes_again`"),
    ("chat", "see `shown::a_reply_that_did_not_leave_comes_again`"),
    ("gateway", "prints nothing to standard output, and goes on"),
    ("init", "asks at a terminal"),
    ("mcp login", "waits for a browser"),
    ("mcp logout", "needs a login"),
    ("memory edit", "opens an editor"),
    ("memory import", "asks at a terminal"),
    ("restore", "needs a home that is not there yet"),
    ("server", "its standard output is MCP"),
    ("service install", "needs the user's service manager"),
    ("service logs", "the journal prints"),
    ("service status", "needs the user's service manager"),
    ("service uninstall", "needs the user's service manager"),
    ("tools accept", "needs a tool that has changed"),
    ("tools diff", "needs a tool that has changed"),
    ("update", "asks where a release is published"),
];

/// Every command of the program that has none below it.
fn all(command: &clap::Command, path: &str, found: &mut Vec<String>) {
    let below: Vec<&clap::Command> =
        command.get_subcommands().filter(|one| one.get_name() != "help").collect();
    if below.is_empty() {
        found.push(path.trim().to_owned());
    }
    for one in below {
        all(one, &format!("{path} {}", one.get_name()), found);
    }
}

fn is_of(typed: &str, command: &str) -> bool {
    typed == command || typed.starts_with(&format!("{command} "))
}

#[test]
fn every_command_is_tried_or_left_out_for_a_reason() {
    let mut commands = Vec::new();
    all(&Cli::command(), "", &mut commands);
    assert!(commands.len() > 60, "{commands:?}");
    let tried = |command: &str| LOOKS.iter().chain(&CHANGES).any(|typed| is_of(typed, command));
    let left_out = |command: &str| OTHERS.iter().any(|(name, _)| *name == command);
    let wrong: Vec<&String> =
        commands.iter().filter(|command| tried(command) == left_out(command)).collect();
    assert!(wrong.is_empty(), "in no list, or in two: {wrong:?}");
    for (name, why) in OTHERS {
        assert!(commands.iter().any(|command| command == name), "there is no `{name}` ({why})");
    }
}

/// A home in which each of them has something to print.
struct Lived {
    house: House,
    names: Vec<(&'static str, String)>,
}

impl Lived {
    fn new() -> Self {
        let house = House::new();
        house.write("claw.toml", "[limits]\ntool_result_bytes = 1024\n");
        house.write("workspace/large.txt", &"x".repeat(5000));
        let always = house.ask_parks("write a: b");
        house.claw(&["approve", &always, "--for", "always"]).expect(0);
        house.claw(&["ask", "show large.txt"]).expect(0);
        let put_aside = house.home().join("artifacts").read_dir().unwrap().next().unwrap().unwrap();
        // What a grant decides is in the digest.
        house.claw(&["ask", "write a: b"]).expect(0);
        let folder = house.user_home().join("my letters");
        std::fs::create_dir(&folder).unwrap();
        let folder = folder.display().to_string();
        for words in [
            &["memory", "add", "fact", "Bread is made of [[flour]]"][..],
            &["schedule", "add", "--in", "20m", "--say", "call", "mum"],
            &["clients", "add", "laptop"],
            &["open", &folder],
            &["persona", "history"],
        ] {
            house.claw(words).expect(0);
        }
        let exported = house.claw(&["sessions", "export", "main"]).expect(0).out;
        house.write("exported.jsonl", &exported);
        let beats = r#"[{"name": "morning", "cron": "0 7 * * *", "prompt": "Look."}]"#;
        house.write("beats.json", beats);
        let asked = house.ask_parks("write c: d");
        house.claw(&["ask", "--session", "other", "write e: f"]).expect(3);
        let rows = house.claw(&["approvals", "--json"]).expect(0).rows();
        let ids = rows.iter().map(|row| row["id"].as_str().unwrap());
        let asked_too = ids.into_iter().find(|id| **id != *asked).unwrap().to_owned();
        let first_word = |words: &[&str], line: usize, word: usize| {
            let out = house.claw(words).expect(0).out;
            out.lines().nth(line).unwrap().split_whitespace().nth(word).unwrap().to_owned()
        };
        let version = first_word(&["persona", "history"], 1, 1);
        house.write("SOUL.md", "Be brief.\n");
        let call = "SELECT id FROM calls ORDER BY received_ms LIMIT 1";
        let at = |name: &str| house.home().join(name).display().to_string();
        let names = vec![
            ("ASKED_TOO", asked_too),
            ("ASKED", asked),
            ("PUT_ASIDE", put_aside.file_name().into_string().unwrap()),
            ("CALL", house.db().query_row(call, [], |row| row.get(0)).unwrap()),
            ("NOTE", first_word(&["memory", "list"], 0, 0)),
            ("VERSION", version),
            ("FOLDER", folder),
            ("EXPORTED", at("exported.jsonl")),
            ("HEARTBEATS", at("beats.json")),
            ("BACKUP", house.user_home().join("backup.tar").display().to_string()),
        ];
        Self { house, names }
    }

    fn words(&self, typed: &str) -> Vec<String> {
        let filled = |word: &str| {
            let name = self.names.iter().find(|(name, _)| *name == word);
            name.map_or(word, |(_, value)| value).to_owned()
        };
        typed.split(' ').map(filled).collect()
    }

    fn cannot_print(&self, typed: &str) {
        let words = self.words(typed);
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = into(&self.house, &args, full(), b"");
        no_panic(&ran);
        assert!(
            ran.code == Some(1) && ran.err.contains("standard output cannot be written"),
            "{typed}: {ran:?}"
        );
    }
}

#[test]
fn a_full_standard_output_is_a_failure_of_every_command_that_prints() {
    let lived = Lived::new();
    for typed in LOOKS {
        lived.cannot_print(typed);
        let words = lived.words(typed);
        let args: Vec<&str> = words.iter().map(String::as_str).collect();
        let ran = into(&lived.house, &args, closed(), b"");
        assert_eq!(ran.code, Some(141), "{typed}: {ran:?}");
        // What a command says beside its output it says to standard error all the same.
        assert!(
            !ran.err.contains("claw: "),
            "a reader that has gone is no fault: {typed}: {ran:?}"
        );
    }
    for typed in CHANGES {
        lived.cannot_print(typed);
    }
}

/// The command that is named in a text, with what this is behind `claw`.
fn named(text: &str, what: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = text.split('`').find(|it| it.starts_with("claw ") && it.contains(what));
    found.unwrap_or_else(|| panic!("no `{what}` in {text}")).to_owned()
}

/// Runs a command as a person types it who stands in the home of the user: a shell reads it.
fn as_typed(house: &House, typed: &str) -> Ran {
    let script = format!("printf '%s\\n' {}", typed.strip_prefix("claw ").unwrap());
    let shell = std::process::Command::new("sh")
        .args(["-c", &script])
        .env("HOME", house.user_home())
        .output()
        .unwrap();
    let words = String::from_utf8(shell.stdout).unwrap();
    house.claw(&words.lines().collect::<Vec<_>>())
}

/// What the agent has that a command could take back.
fn things(house: &House, agent: &str) -> Vec<String> {
    let lists = ["schedule list", "open", "clients list", "memory list", "grants list"];
    let listed = |list: &&str| {
        let words: Vec<&str> = ["--agent", agent].into_iter().chain(list.split(' ')).collect();
        house.claw(&[&words[..], &["--json"]].concat()).expect(0).out
    };
    lists.iter().map(listed).collect()
}

#[test]
fn what_an_agent_prints_is_typed_as_it_stands_and_acts_on_that_agent() {
    let house = House::new();
    house.write("claw.toml", "[agents.work]\n");
    let folder = house.user_home().join("My Docs");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.display().to_string();
    let of = |agent: &str, words: &[&str]| house.claw(&[&["--agent", agent], words].concat());
    let give: [(&[&str], &str); 4] = [
        (&["schedule", "add", "--in", "2h", "--say", "pills"], "schedule cancel"),
        (&["open", &folder], "close"),
        (&["clients", "add", "laptop"], "clients revoke"),
        (&["ask", "--mode", "edits", "write a.txt: one"], "undo"),
    ];
    give.iter().for_each(|(words, _)| drop(of("main", words).expect(0)));
    let always = house.ask_parks("write g.txt: 1");
    house.claw(&["approve", &always, "--for", "always"]).expect(0);
    let (of_main, none) = (things(&house, "main"), things(&house, "work"));
    for (words, what) in give {
        let ran = of("work", words).expect(0);
        let back = named(&format!("{} {}", ran.out, ran.err), what);
        let yes = if what == "undo" { " --yes" } else { "" };
        as_typed(&house, &format!("{back}{yes}")).expect(0);
    }
    assert!(house.workspace().join("a.txt").is_file(), "a file of another agent is gone");
    assert!(!house.home().join("agents/work/workspace/a.txt").exists());
    // A question is found by its id, and what its answer has made by the agent.
    let asked = of("work", &["ask", "write g.txt: 1"]).expect(3).err;
    let shows = |part: &&str| part.trim().starts_with("claw --agent work approvals ");
    let show = asked.split(['·', '\n']).find(shows).unwrap().trim();
    as_typed(&house, show).expect(0);
    let left = house.claw_with_stdin(&["--agent", "work", "chat"], b"/quit\n").out;
    named(&left, "--agent work chat --session main");
    let id = show.split(' ').next_back().unwrap();
    let allowed = house.claw(&["approve", id, "--for", "always"]).expect(0).err;
    as_typed(&house, &named(&allowed, "grants revoke")).expect(0);
    // A client that was revoked is listed as that.
    let but_clients = |things: Vec<String>| -> Vec<String> {
        things.into_iter().filter(|list| !list.contains("laptop")).collect()
    };
    assert_eq!(things(&house, "main"), of_main);
    let work = things(&house, "work");
    assert!(work[2].contains("\"has_token\":false"), "{work:?}");
    assert_eq!(but_clients(work).concat(), none.concat());
}

#[test]
fn a_folder_with_a_blank_in_its_path_is_closed_by_what_opening_it_prints() {
    let house = House::new();
    let folder = house.user_home().join("My Docs");
    std::fs::create_dir(&folder).unwrap();
    let opened = house.claw(&["open", folder.to_str().unwrap()]).expect(0);
    as_typed(&house, &named(&opened.out, "close")).expect(0);
    assert!(house.claw(&["open", "--json"]).expect(0).out.is_empty());
}

#[test]
fn what_takes_an_undo_back_names_the_folder_of_that_undo() {
    let house = House::new();
    let shop = house.user_home().join("my shop");
    std::fs::create_dir_all(shop.join(".git")).unwrap();
    std::fs::write(shop.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    house.claw(&["ask", "--mode", "edits", "write mine.txt: one"]).expect(0);
    let mut ask = house.command(&["ask", "--mode", "edits", "write prices.txt: one"]);
    ask.current_dir(&shop);
    let asked = house.begin(ask).ends().expect(0);
    house.claw(&["undo", "--yes"]).expect(0);
    let undone = as_typed(&house, &format!("{} --yes", named(&asked.err, "undo"))).expect(0);
    assert!(!shop.join("prices.txt").exists());
    as_typed(&house, &format!("{} --yes", named(&undone.err, "undo --redo"))).expect(0);
    assert!(shop.join("prices.txt").is_file() && !house.workspace().join("mine.txt").exists());
}
