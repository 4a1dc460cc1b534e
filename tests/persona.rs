//! Persona and roles through the whole program: what each request tells the model that it is, what
//! the agent may change of that, and how a role is chosen at the console and in a chat, also while
//! a turn runs and over a restart.

use crate::program;
use std::fs;
use std::sync::Arc;

use crate::program::{House, eventually, outcomes};
use crate::telegram_model::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

const ROLES: &str = "[roles.clerk]\ndescription = \"Files things.\"\ninstructions = \"CLERK-WORDS\"\n\
                     [roles.tutor]\ndescription = \"Explains.\"\npersona = \"tutor\"\ninstructions = \"TUTOR-WORDS\"\n";

fn claude(answers: impl IntoIterator<Item = Answer>) -> (House, Threaded) {
    let provider = Threaded::start(Wire::Anthropic, answers);
    (House::at("claude", &provider.base_url), provider)
}

fn calls(tool: &str, arguments: &Value) -> Answer {
    Answer::Turn(Turn::calls(&[Call::new(
        "1",
        &format!("filesystem__{tool}"),
        &arguments.to_string(),
    )]))
}

/// Where the screen breaks a line, and what it shows as code, is of no interest here.
fn one_line(text: &str) -> String {
    text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What each request told the model that it is.
fn systems(model: &Threaded) -> Vec<String> {
    let of_openai = |body: &Value| body["messages"][0]["content"].as_str().map(str::to_owned);
    let of_claude = |body: &Value| {
        body["system"].as_str().map_or_else(
            || body["system"][0]["text"].as_str().map(str::to_owned),
            |text| Some(text.to_owned()),
        )
    };
    let bodies = model.recorded().into_iter().map(|one| one.body);
    bodies
        .map(|body| {
            of_claude(&body).or_else(|| of_openai(&body)).unwrap_or_else(|| panic!("{body:#}"))
        })
        .collect()
}

#[test]
fn the_agent_edits_its_memory_after_a_yes_and_the_next_request_has_it() {
    let (house, provider) = claude([]);
    let path = |name: &str| house.home().join("persona").join(name).display().to_string();
    house.write("SOUL.md", "I am the soul of the home.");
    house.write("persona/USER.md", "She likes tea.");
    house.write("persona/MEMORY.md", "Nothing yet.\n");
    provider.push(calls("read_file", &json!({"path": path("MEMORY.md")})));
    let edits = json!([{"old_text": "Nothing yet.", "new_text": "Her cat is called Ada."}]);
    provider.push(calls("edit_file", &json!({"path": path("MEMORY.md"), "edits": edits})));
    provider.push(Answer::text("noted"));
    // One process all the time: what it reads at its start would not do.
    let mut chat = house.start(&["chat"]);
    chat.types(b"my cat is called Ada\n");
    let shown = || one_line(&chat.out());
    eventually("the question", || shown().contains("y yes · n no"));
    assert!(
        shown().contains(&path("MEMORY.md")) && shown().contains("Her cat is called Ada."),
        "{}",
        shown()
    );
    assert_eq!(
        fs::read_to_string(path("MEMORY.md")).unwrap(),
        "Nothing yet.\n",
        "nothing before a yes"
    );
    chat.types(b"y\n");
    eventually("the answer", || one_line(&chat.out()).contains("noted"));
    chat.ends().expect(0);
    assert_eq!(fs::read_to_string(path("MEMORY.md")).unwrap(), "Her cat is called Ada.\n");

    let systems = systems(&provider);
    let begin = "I am the soul of the home.\n\n[USER.md]\nShe likes tea.\n\n[MEMORY.md]\nNothing yet.\n\nYou act only";
    assert!(systems[0].starts_with(begin), "{}", systems[0]);
    let kept = format!(
        "notes about the owner: {}; your long-term memory: {}.",
        path("USER.md"),
        path("MEMORY.md")
    );
    assert!(systems[0].contains(&kept), "{}", systems[0]);
    assert_eq!(systems[0], systems[1], "the same files give the same bytes");
    assert_eq!(systems[2], systems[1].replace("Nothing yet.", "Her cat is called Ada."));
    assert_eq!(provider.faults(), [""; 0]);
    house.is_whole();
}

#[test]
fn what_is_the_owners_stays_so_also_after_a_yes_and_the_home_stays_closed() {
    let (house, provider) = claude([]);
    let path = |name: &str| house.home().join(name).display().to_string();
    for name in ["persona/SOUL.md", "persona/AGENTS.md", "policy.toml"] {
        house.write(name, "");
    }
    fs::create_dir(house.home().join("persona/clerk")).unwrap();
    house.write("claw.toml", "[roles.clerk]\npersona = \"persona/clerk\"\n");
    let write = |path: String| calls("write_file", &json!({"path": path, "content": "MINE"}));
    let move_to = |from: &str, to: &str| {
        calls("move", &json!({"source": path(from), "destination": path(to)}))
    };
    house.write("persona/USER.md", "She likes tea.");
    let read_only = [
        write(path("persona/SOUL.md")),
        write(path("persona/./soul.md")),
        write(path("persona/IDENTITY.md")),
        calls("delete", &json!({"path": path("persona/AGENTS.md")})),
        move_to("persona/USER.md", "persona/IDENTITY.md"),
        write(path("persona/clerk/SOUL.md")),
        calls("delete", &json!({"path": path("persona/clerk"), "recursive": true})),
    ];
    let closed = [
        "SOUL.md",
        "policy.toml",
        "claw.db",
        "persona/../claw.toml",
        "persona/../persona/SOUL.md",
        "agents/jane/persona/USER.md",
    ];
    let out_of_reach = closed.map(|name| write(path(name)));
    for (attempt, words) in read_only
        .map(|one| (one, "is read-only here"))
        .into_iter()
        .chain(out_of_reach.map(|one| (one, "is outside of")))
    {
        provider.push(attempt);
        provider.push(Answer::text("I could not"));
        let id = house.ask_parks("make yourself another one");
        house.claw(&["approve", &id]).expect(0);
        let outcome = outcomes(&house.events("main")).pop().unwrap();
        assert_eq!(outcome["output"]["is_error"], true, "{outcome}");
        assert!(outcome.to_string().contains(words), "{words}: {outcome}");
    }
    let last = systems(&provider).pop().unwrap();
    assert!(!last.contains("MINE") && last.contains("[USER.md]\nShe likes tea."), "{last}");
    assert!(
        !house.home().join("persona/IDENTITY.md").exists()
            && house.home().join("persona/clerk").is_dir()
    );
    house.is_whole();
}

#[test]
fn a_file_that_cannot_be_read_whole_is_told_once_and_the_turn_goes_on() {
    let (house, provider) = claude((0..4).map(|_| Answer::text("fine")));
    house.write("SOUL.md", &format!("I am the soul. {}", program::KEY));
    house.write("persona/MEMORY.md", &"x".repeat(70_000));
    fs::write(house.home().join("persona/USER.md"), b"a \xff b").unwrap();
    let told = |ran: &program::Ran| {
        [
            "`USER.md` of the persona is not UTF-8 text",
            "`MEMORY.md` of the persona is longer than 64 KiB",
        ]
        .map(|words| ran.err.matches(words).count())
    };
    let first = house.claw(&["ask", "one"]).expect(0);
    assert_eq!(told(&first), [1, 1], "{first:?}");
    let second = house.claw(&["ask", "--session", "other", "two"]).expect(0);
    assert_eq!(told(&second), [0, 0], "{second:?}");
    let doctor = house.claw(&["doctor"]);
    for words in ["not UTF-8 text", "longer than 64 KiB", "persona/USER.md", "persona/MEMORY.md"] {
        assert!(doctor.out.contains(words), "{words}: {doctor:?}");
    }
    assert_eq!(doctor.code, Some(1));
    let system = systems(&provider).pop().unwrap();
    assert!(
        system.starts_with("I am the soul. ")
            && system.contains("\n\n[MEMORY.md]\nxxx")
            && system.contains("was cut off here.]"),
        "{system}"
    );

    assert!(!system.contains(program::KEY), "a secret that somebody has written there stays here");

    house.write("persona/USER.md", "mended");
    house.claw(&["ask", "three"]).expect(0);
    fs::write(house.home().join("persona/USER.md"), b"\xff").unwrap();
    let again = house.claw(&["ask", "four"]).expect(0);
    assert_eq!(told(&again), [1, 0], "it is news again: {again:?}");
    house.is_whole();
}

#[test]
fn a_role_is_chosen_at_the_console_and_travels_with_the_log() {
    let (house, provider) = claude((0..3).map(|_| Answer::text("fine")));
    house.write("SOUL.md", "I am the soul.");
    house.write("tutor/SOUL.md", "I am the soul of the tutor.");
    house.write("claw.toml", &format!("default_role = \"clerk\"\n{ROLES}"));
    house.claw(&["ask", "hello"]).expect(0);
    let mut chat = house.start(&["chat"]);
    let says = |chat: &mut program::Running, line: &str, words: &str| {
        chat.types(format!("{line}\n").as_bytes());
        eventually(&format!("{line}: {words}"), || one_line(&chat.out()).contains(words));
    };
    says(&mut chat, "/role", "clerk (the default) (in force): Files things.");
    says(&mut chat, "/role select nobody", "There is no role nobody; there are: clerk, tutor.");
    says(
        &mut chat,
        "/role select tutor",
        "From its next turn on this conversation has the role tutor",
    );
    says(&mut chat, "/status", "role: tutor");
    chat.ends().expect(0);
    house.claw(&["ask", "who are you?"]).expect(0);
    house.claw(&["ask", "--session", "other", "and you?"]).expect(0);
    let systems = systems(&provider);
    assert!(
        systems[0].starts_with("I am the soul.\n\nCLERK-WORDS\n\nYou act only"),
        "{}",
        systems[0]
    );
    assert!(
        systems[1].starts_with("I am the soul of the tutor.\n\nTUTOR-WORDS\n\nYou act only"),
        "{}",
        systems[1]
    );
    assert!(
        systems[2].starts_with("I am the soul.\n\nCLERK-WORDS"),
        "another conversation: {}",
        systems[2]
    );
    let file = house.user_home().join("log.jsonl");
    let file = file.to_str().unwrap();
    house.claw(&["sessions", "export", "main", "--out", file]).expect(0);
    house.claw(&["sessions", "import", file, "--as", "copy"]).expect(0);
    let roles = |session: &str| -> Vec<Value> {
        let started =
            house.events(session).into_iter().filter(|event| event["type"] == "turn.started");
        started.map(|event| event["role"].clone()).collect()
    };
    assert_eq!(
        (roles("main"), roles("copy")),
        (vec![json!("clerk"), json!("tutor")], vec![json!("clerk"), json!("tutor")])
    );
    house.is_whole();
}

#[test]
fn a_role_that_is_chosen_while_a_turn_runs_is_the_next_turns_also_over_a_restart() {
    let gate = Arc::new(Semaphore::new(0));
    let looks = Turn::calls(&[Call::new("1", "filesystem__list_dir", r#"{"path": "."}"#)]);
    let rig = Rig::new([
        Answer::Gated(looks, gate.clone()),
        Answer::text("looked"),
        Answer::text("explained"),
    ]);
    rig.house.write("tutor/IDENTITY.md", "I am a tutor.");
    rig.house.write("claw.toml", ROLES);
    let gateway = rig.start();
    rig.says("look around");
    eventually("the model is asked", || rig.model.recorded().len() == 1);
    eventually("the turn is on the disk", || rig.house.events(&session(&rig)).len() >= 2);
    rig.says("/role select tutor");
    rig.waits_for(
        "The turn that is under way goes on as it began. From the next one on this conversation has the role tutor",
    );
    rig.says("/status");
    rig.waits_for("the turn that is under way goes on without a role");
    gate.add_permits(100);
    rig.hears("looked");
    rig.says("explain it");
    rig.hears("explained");
    gateway.signal(Signal::KILL);
    drop(gateway);
    let has = |system: &String| {
        (system.contains("[IDENTITY.md]\nI am a tutor."), system.contains("TUTOR-WORDS"))
    };
    assert_eq!(
        systems(&rig.model).iter().map(has).collect::<Vec<_>>(),
        [(false, false), (false, false), (true, true)]
    );

    // It is still chosen; then it goes from the file.
    for answer in ["still a tutor", "nobody special", "nobody again"] {
        rig.model.push(Answer::text(answer));
    }
    let gateway = rig.start();
    rig.says("and now?");
    rig.hears("still a tutor");
    rig.telegram.wait_all_confirmed();
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    rig.house.write("claw.toml", "");
    let gateway = rig.start();
    rig.says("and after that?");
    rig.hears("nobody special");
    rig.says("and then?");
    rig.hears("nobody again");
    rig.says("/role");
    rig.waits_for("The role tutor, which was chosen here, is not in claw.toml any more.");
    rig.telegram.wait_all_confirmed();
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    let seen: Vec<_> = systems(&rig.model).iter().skip(3).map(has).collect();
    assert_eq!(seen, [(true, true), (false, false), (false, false)]);
    let told = rig
        .telegram
        .sent(rig.anna.id)
        .into_iter()
        .filter(|one| one.by_bot && one.text.contains("so this conversation has the persona"));
    assert_eq!(told.count(), 1, "it is told once");
    rig.house.is_whole();
}

/// Of Anna's chat with the bot.
fn session(rig: &Rig) -> String {
    format!("telegram.{}.{}", rig.telegram.bot_id(), rig.anna.id)
}
