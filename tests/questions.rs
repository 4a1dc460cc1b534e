//! What a question says, for twenty calls through the whole program, at 40 and at 80 columns. And
//! that a yes counts for what was shown alone.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::Path;

use crate::program::{House, SERVER_WAIT, example};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};
use claw_core::domain::{Choice, Question};
use claw_terminal::question::{Clock, question_lines, whole_lines};
use claw_terminal::style::Look;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// What is open in these houses, so that its questions can be seen.
const OPEN: &str = "[limits]\nserver_wait_ms = 60000\n[box]\nopen = [\"ssh-agent\", \"docker\"]\n";
/// With the row of answers.
const ROWS_MAX: usize = 12;

fn numbered(lines: usize) -> String {
    (1..=lines).map(|n| format!("line {n} of the letter\n")).collect()
}

/// What the calls below find.
fn furnish(workspace: &Path) {
    for folder in ["notes", "photos/2024", "src", "empty"] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    fs::write(workspace.join("notes/letter.txt"), numbered(40)).unwrap();
    fs::write(workspace.join("notes/list.txt"), "milk\n").unwrap();
    fs::write(workspace.join("src/main.rs"), "fn main() {\n    println!(\"hi\");\n}\n").unwrap();
    fs::write(workspace.join("image.png"), [0xff, 0xd8, 0x00]).unwrap();
    for n in 0..212 {
        fs::write(workspace.join(format!("photos/2024/{n}.jpg")), "x").unwrap();
    }
}

/// Twenty calls as models make them.
fn calls() -> Vec<(&'static str, Value)> {
    let changed =
        numbered(40).replace("line 3 ", "LINE 3 ").replace("line 20 of", "line twenty of");
    let long_path = "documents/taxes/2026/letters to the office/answer to the second notice.txt";
    vec![
        (
            "filesystem__write_file",
            json!({"path": "notes/shopping.txt", "content": "milk\nbread\n"}),
        ),
        ("filesystem__write_file", json!({"path": "notes/letter.txt", "content": changed})),
        ("filesystem__write_file", json!({"path": "notes/list.txt", "content": numbered(60)})),
        ("filesystem__write_file", json!({"path": "image.png", "content": "no image\n"})),
        ("filesystem__write_file", json!({"path": long_path, "content": numbered(50)})),
        (
            "filesystem__edit_file",
            json!({"path": "src/main.rs", "edits": [{"old_text": "    println!(\"hi\");\n",
                "new_text": "    let name = std::env::args().nth(1).unwrap_or_default();\n    println!(\"Good evening, {name}!\");  \n"}]}),
        ),
        (
            "filesystem__edit_file",
            json!({"path": "src/main.rs", "edits": [{"old_text": "main", "new_text": "start"},
                {"old_text": "hi", "new_text": "hello"}]}),
        ),
        (
            "filesystem__move",
            json!({"source": "notes/list.txt", "destination": "notes/old list.txt"}),
        ),
        ("filesystem__move", json!({"source": "notes/list.txt", "destination": "photos/list.txt"})),
        (
            "filesystem__move",
            json!({"source": "notes/list.txt", "destination": "notes/letter.txt", "overwrite": true}),
        ),
        ("filesystem__delete", json!({"path": "photos", "recursive": true})),
        ("filesystem__delete", json!({"path": "notes/list.txt"})),
        ("filesystem__delete", json!({"path": "empty"})),
        (
            "bash__run",
            json!({"command": "cargo publish", "needs": "network", "hosts": ["crates.io"]}),
        ),
        (
            "bash__run",
            json!({"command": "grep -rn --include='*.rs' 'a needle' . | sort | uniq -c | sort -rn | head -n 40 > report.txt && cat report.txt  ",
                "timeout_s": 60, "needs": "write"}),
        ),
        (
            "bash__run",
            json!({"command": format!("cat > script.py <<'EOF'\n{}EOF\npython3 script.py", numbered(30)), "needs": "write"}),
        ),
        ("bash__run", json!({"command": "echo \u{202e}txt.exe", "cwd": "src", "needs": "write"})),
        (
            "bash__start",
            json!({"command": "python3 -m http.server 8000 > log.txt", "needs": "write"}),
        ),
        ("greeter__greet", json!({"name": "Ada Lovelace"})),
        ("greeter__greet", json!({"name": "x".repeat(500)})),
    ]
}

/// Calls that name what is open to them.
fn opened_calls() -> Vec<(&'static str, Value)> {
    let call = |tool, command: &str, hosts: &[&str], opens: &[&str]| {
        let mut arguments = json!({"command": command, "needs": "network", "opens": opens});
        if !hosts.is_empty() {
            arguments["hosts"] = json!(hosts);
        }
        (tool, arguments)
    };
    vec![
        call("bash__run", "git push origin main", &["github.com:22"], &["ssh-agent"]),
        call("bash__run", "git push origin main", &[], &["ssh-agent"]),
        call("bash__run", "docker ps --all", &[], &["docker"]),
        call(
            "bash__run",
            "docker build --tag app . && docker push registry.example.com/app",
            &["registry.example.com"],
            &["docker"],
        ),
        call("bash__start", "docker compose up", &[], &["docker"]),
        call(
            "bash__run",
            "ssh deploy@app.example.com sudo systemctl restart app",
            &["app.example.com:22"],
            &["docker", "ssh-agent"],
        ),
    ]
}

fn house(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    fs::create_dir_all(house.workspace()).unwrap();
    furnish(&house.workspace());
    house.write("claw.toml", SERVER_WAIT);
    let server = |name: &str| json!({"command": "claw", "args": ["server", name]});
    let greeter = json!({"command": example("greeter_server")});
    house.write(
        "mcp.json",
        &json!({"mcpServers": {"bash": server("bash"), "filesystem": server("filesystem"), "greeter": greeter}})
            .to_string(),
    );
    (house, model)
}

/// The open questions in the order of their calls: of each call, also of those that a list asks.
fn questions(house: &House) -> Vec<Question> {
    let db = house.db();
    let each = "SELECT question FROM approvals
        WHERE state = 'waiting' AND json_extract(question, '$.list') IS NULL";
    let mut query = db.prepare(each).unwrap();
    let rows = query.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let mut questions: Vec<Question> =
        rows.map(|row| serde_json::from_str(&row.unwrap()).unwrap()).collect();
    let block = |question: &Question| {
        let id = question.call.to_string();
        id.rsplit_once(':').unwrap().1.parse::<usize>().unwrap()
    };
    questions.sort_by_key(block);
    questions
}

fn at(question: &Question, columns: usize) -> Vec<String> {
    question_lines(question, None, Look::new(columns, false))
}

/// What the question said before it had an effect: every argument and every answer.
fn rows_before(question: &Question, columns: usize) -> usize {
    let clock = Clock { now_ms: question.expires_at_ms - 14_400_000, zone: TimeZone::UTC };
    let before = Question { effect: None, ..question.clone() };
    whole_lines(&before, None, Look::new(columns, false), &clock).len()
}

#[test]
fn twenty_questions_are_understood_at_a_glance() {
    let calls = calls();
    let (house, _model) = house([Answer::calls(&calls)]);
    if !house.holds_every_level() {
        return;
    }
    house.claw(&["ask", "do all of it"]).expect(3);
    let questions = questions(&house);
    assert_eq!(questions.len(), calls.len());
    for columns in [40, 80] {
        let mut dump = String::new();
        for (question, (name, _)) in questions.iter().zip(&calls) {
            let rows = at(question, columns);
            assert!(rows.len() <= ROWS_MAX, "{name} at {columns}: {rows:#?}");
            let before = rows_before(question, columns);
            dump.push_str(&format!("==== {name}: {} rows, {before} before\n", rows.len()));
            dump.push_str(&format!("{}\n", rows.join("\n")));
        }
        insta::assert_snapshot!(format!("at_{columns}_columns"), dump);
    }
    // All of every argument is one key away.
    let clock = Clock { now_ms: 0, zone: TimeZone::UTC };
    for (question, (name, arguments)) in questions.iter().zip(&calls) {
        let whole = whole_lines(question, None, Look::new(100_000, false), &clock).join("\n");
        for value in arguments.as_object().unwrap().values().filter_map(Value::as_str) {
            for line in value.lines().filter(|line| line.is_ascii() && !line.ends_with(' ')) {
                assert!(whole.contains(&line.replace('\\', "\\\\")), "{name}: {line}");
            }
        }
        let keys = question.choices.iter().map(|choice: &Choice| choice.label.as_str());
        assert!(keys.into_iter().all(|label| whole.contains(label)), "{name}");
    }
}

#[test]
fn a_question_with_an_opening_says_what_the_command_is_to_the_world() {
    let calls = opened_calls();
    let (house, _model) = house([Answer::calls(&calls)]);
    house.write("claw.toml", OPEN);
    if !house.holds_every_level() {
        return;
    }
    house.claw(&["ask", "do all of it"]).expect(3);
    let questions = questions(&house);
    assert_eq!(questions.len(), calls.len());
    for columns in [40, 80] {
        let mut dump = String::new();
        for (question, (name, arguments)) in questions.iter().zip(&calls) {
            let rows = at(question, columns);
            assert!(rows.len() <= ROWS_MAX, "{name} at {columns}: {rows:#?}");
            let all = rows.join(" ");
            for opening in arguments["opens"].as_array().unwrap() {
                let warned = format!("{}: ", opening.as_str().unwrap());
                assert!(all.contains(&warned), "{arguments} at {columns}: {rows:#?}");
            }
            dump.push_str(&format!("==== {name} {}: {} rows\n", arguments["opens"], rows.len()));
            dump.push_str(&format!("{}\n", rows.join("\n")));
        }
        insta::assert_snapshot!(format!("opened_at_{columns}_columns"), dump);
    }
}

/// Calls with variables, given or kept.
fn calls_with_variables() -> Vec<(&'static str, Value)> {
    let call = |variables: Value| {
        ("bash__run", json!({"command": "cargo test", "needs": "write", "variables": variables}))
    };
    let many: serde_json::Map<String, Value> =
        (0..9).map(|n| (format!("APP_SETTING_{n}"), json!(format!("value {n}")))).collect();
    vec![
        call(json!({"RUSTC_WRAPPER": "/tmp/x"})),
        call(json!({"A": "1", "VIRTUAL_ENV": "/home/ann/projects/web/.venv", "Z": ""})),
        call(json!({"PATH": format!("{}:/usr/bin", "/home/ann/a long folder/bin:".repeat(20))})),
        call(json!({"GREETING": "two\nlines \u{202e}and `a trick`", "B": "1"})),
        call(Value::Object(many)),
    ]
}

#[test]
fn a_question_shows_the_variables_of_a_command() {
    let calls = calls_with_variables();
    let (house, _model) = house([Answer::calls(&calls)]);
    if !house.holds_every_level() {
        return;
    }
    house.claw(&["ask", "do all of it"]).expect(3);
    let questions = questions(&house);
    assert_eq!(questions.len(), calls.len());
    for columns in [40, 80] {
        let mut dump = String::new();
        for question in &questions {
            let rows = at(question, columns);
            assert!(rows.len() <= ROWS_MAX, "at {columns}: {rows:#?}");
            dump.push_str(&format!("==== {} rows\n{}\n", rows.len(), rows.join("\n")));
        }
        insta::assert_snapshot!(format!("variables_at_{columns}_columns"), dump);
    }
    let clock = Clock { now_ms: 0, zone: TimeZone::UTC };
    for (question, (_, arguments)) in questions.iter().zip(&calls) {
        let whole = whole_lines(question, None, Look::new(100_000, false), &clock).join("\n");
        for (name, value) in arguments["variables"].as_object().unwrap() {
            let value = value.as_str().unwrap();
            assert!(whole.contains(name), "{whole}");
            assert!(!value.is_ascii() || whole.contains(value), "{name}: {whole}");
        }
        assert!(!whole.contains('\u{202e}'));
    }
}

#[test]
fn the_list_is_short_and_one_question_can_be_seen_whole() {
    let letter =
        json!({"path": "notes/letter.txt", "content": numbered(40).replace("line 3 ", "LINE 3 ")});
    let (house, _model) =
        house([Answer::calls(&[("filesystem__write_file", letter)]), Answer::text("As you like.")]);
    let asked = house.claw(&["ask", "change the letter"]).expect(3).err;
    let id = house.waiting();
    let list = house.claw(&["approvals"]).expect(0).out;
    for text in [&asked, &list] {
        assert!(text.contains("Replace notes/letter.txt (1 of 40 lines changes)"), "{text}");
        assert!(text.contains(&format!("claw approvals {id}")), "{text}");
        assert!(text.contains("+LINE 3 of the letter") && !text.contains("line 30 of"), "{text}");
    }
    let whole = house.claw(&["approvals", &id]).expect(0).out;
    assert!(whole.contains("line 30 of the letter") && whole.contains("Asked because"), "{whole}");
    house.claw(&["approvals", "nothing"]).expect_mistake(&["no question", "claw approvals"]);
    house.claw(&["deny", &id]).expect(0);
    house.is_whole();
}

/// The difference that was shown is the one that is made, or it is asked again.
#[test]
fn a_yes_to_a_difference_from_a_file_that_has_changed_since_is_asked_again() {
    let write = json!({"path": "notes/list.txt", "content": "milk\nbread\n"});
    let (house, model) = house([
        Answer::calls(&[("filesystem__write_file", write)]),
        Answer::text("It is written."),
    ]);
    let list = house.workspace().join("notes/list.txt");
    let first = house.ask_parks("add bread");
    fs::write(&list, "milk\nhoney\n").unwrap();
    let asked = house.claw(&["approve", &first]).expect(3).err;
    assert_eq!(fs::read_to_string(&list).unwrap(), "milk\nhoney\n", "it ran all the same");
    let second = house.waiting();
    assert_ne!(first, second);
    assert!(asked.contains("Asked again") && asked.contains("-honey"), "{asked}");
    let done = house.claw(&["approve", &second]).expect(0);
    assert!(done.out.contains("It is written."), "{done:?}");
    assert_eq!(fs::read_to_string(&list).unwrap(), "milk\nbread\n");
    assert_eq!(model.recorded().len(), 2, "the model had nothing to do with it");
    house.is_whole();
}

/// Nobody can put other words into the store for what a person has said yes to.
#[test]
fn other_words_in_the_store_do_not_count_as_what_was_shown() {
    let delete = json!({"path": "notes/list.txt"});
    let (house, _model) =
        house([Answer::calls(&[("filesystem__delete", delete)]), Answer::text("It is gone.")]);
    let first = house.ask_parks("delete the list");
    let other =
        "UPDATE approvals SET question = json_set(question, '$.effect.says', 'Look at the list')";
    assert_eq!(house.db().execute(other, []).unwrap(), 1);
    house.claw(&["approve", &first]).expect(3);
    assert!(house.workspace().join("notes/list.txt").exists());
    let asked = house.claw(&["approvals"]).expect(0).out;
    assert!(asked.contains("Delete notes/list.txt (1 line)"), "{asked}");
}
