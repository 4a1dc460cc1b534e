//! `/here` at Telegram: conversations of one gateway with a folder each. What runs, is remembered,
//! granted and undone goes by that folder; what is refused is said with a next step.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::botapi::{BotApi, Message, User};
use crate::program::{House, eventually};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use rustix::process::Signal;
use serde_json::json;

/// What is tried here needs no questions, but where one is asked for.
const ALLOW: &str = "[[rule]]\nserver = \"filesystem\"\ndecision = \"allow\"\nwhy = \"a test\"\n";
const DENY: &str = "[[rule]]\ntool = \"*\"\ndecision = \"deny\"\nwhy = \"nothing runs today\"\n";

/// Three owners with a private chat each.
struct Chats {
    rig: Rig,
    people: [User; 3],
}

fn chats(toml: &str) -> Chats {
    chats_at(House::new(), toml)
}

fn chats_at(house: House, toml: &str) -> Chats {
    let telegram = BotApi::start();
    let people = ["Anna", "Bob", "Carl"].map(|name| telegram.user(name));
    for one in &people {
        one.starts();
    }
    house.write("policy.toml", ALLOW);
    house.write("claw.toml", toml);
    let allowed = people.iter().map(|one| one.id.to_string()).collect::<Vec<_>>().join(",");
    let house = house.with_bot(&telegram.token(), telegram.url(), &allowed);
    Chats { rig: Rig { telegram, anna: people[0].clone(), house }, people }
}

fn folder(rig: &Rig, name: &str) -> PathBuf {
    let folder = rig.house.user_home().join("src").join(name);
    fs::create_dir_all(&folder).unwrap();
    folder
}

impl Chats {
    fn says(&self, who: usize, text: &str) {
        let who = &self.people[who];
        who.says(who.private(), text);
    }

    /// The newest message of the bot that a chat shows with this text.
    #[track_caller]
    fn shows(&self, who: usize, text: &str) -> Message {
        let chat = self.people[who].id;
        self.rig.telegram.wait_for(&format!("{who} reads `{text}`"), |world| {
            let said = world.messages(chat).filter(|message| message.by_bot && !message.deleted);
            said.filter(|message| message.text.contains(text)).last().cloned()
        })
    }

    #[track_caller]
    fn taps(&self, who: usize, message: &Message, label: &str) {
        let tap = self.people[who].taps_on(message.chat, message.id, label);
        self.rig.telegram.wait_answered(&tap);
    }

    fn sets(&self, who: usize, folder: &Path) {
        self.says(who, &format!("/here {}", folder.display()));
        self.shows(who, "From now on this conversation works in");
    }

    fn turns_ended(&self, who: usize) -> i64 {
        let session = self.rig.session(&self.people[who]);
        self.rig.number(&format!(
            "SELECT count(*) FROM events WHERE session = '{session}' AND type = 'turn.ended'"
        ))
    }
}

#[test]
fn each_conversation_works_in_its_folder_and_its_undo_goes_by_that() {
    let at = chats("");
    let gateway = at.rig.start();
    let (one, two) = (folder(&at.rig, "one"), folder(&at.rig, "two"));
    at.sets(0, &one);
    at.sets(1, &two);
    // Side by side.
    (0..3).for_each(|who| at.says(who, "write `here` to a.txt"));
    for who in 0..3 {
        eventually("the turn is over", || at.turns_ended(who) == 1);
    }
    let workspace = at.rig.house.workspace();
    for folder in [&one, &two, &workspace] {
        assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "here", "{folder:?}");
    }
    // The button of one chat puts back the files of its folder alone.
    let answer = at.rig.telegram.wait_for_button(at.people[0].id, "Undo 1 file");
    at.taps(0, &answer, "Undo 1 file");
    let list = at.shows(0, "Undoing the turn");
    assert!(list.text.contains(&one.display().to_string()), "{}", list.text);
    at.taps(0, &list, "Undo");
    eventually("the file is gone", || !one.join("a.txt").exists());
    assert!(two.join("a.txt").exists() && workspace.join("a.txt").exists());
    at.says(0, "/status");
    at.shows(0, &format!("workspace: {}", one.display()));
    at.says(0, "/here");
    at.shows(0, "set for this conversation");
    let audited = at.rig.house.audit();
    assert_eq!(audited.iter().filter(|row| row["kind"] == "here").count(), 2, "{audited:?}");
    at.rig.stop(gateway);
}

/// What is told to be in force is so in each folder at once, for its next call and for what waits.
#[test]
fn a_rule_that_changes_counts_in_every_folder() {
    let at = chats("");
    let gateway = at.rig.start();
    let (one, two) = (folder(&at.rig, "one"), folder(&at.rig, "two"));
    at.sets(0, &one);
    at.sets(1, &two);
    at.says(0, "write `before` to a.txt");
    eventually("the turn is over", || at.turns_ended(0) == 1);
    assert!(one.join("a.txt").exists());
    at.says(1, "run `touch made`");
    let asked = at.rig.telegram.wait_for_button(at.people[1].id, "Allow once");
    at.rig.house.write("policy.toml", DENY);
    at.rig.telegram.wait_for("the change is told", |world| {
        let told = |message: &&Message| message.text.contains("in force from now on");
        world.messages(at.people[0].id).find(told).map(drop)
    });
    at.says(0, "write `after` to b.txt");
    at.taps(1, &asked, "Allow once");
    for (who, turns) in [(0, 2), (1, 1)] {
        eventually("the turn is over", || at.turns_ended(who) == turns);
    }
    assert!(!one.join("b.txt").exists(), "the rule did not count for a new call");
    assert!(!two.join("made").exists(), "the rule did not count for what waited");
    at.rig.stop(gateway);
}

/// What `/status` counts runs where the conversation works.
#[test]
fn a_status_is_that_of_the_conversations_folder() {
    let waits = json!({"command": "mkfifo go; cat go", "needs": "write"}).to_string();
    let starts = Turn::calls(&[Call::new("a", "bash__start", &waits)]);
    let answers = [Answer::Turn(starts), Answer::text("It runs.")];
    let provider = Threaded::start(Wire::OpenAi, answers);
    let at = chats_at(House::at("openai-compatible", &provider.base_url), "");
    at.rig.house.write("policy.toml", &ALLOW.replace("filesystem", "*"));
    let gateway = at.rig.start();
    let one = folder(&at.rig, "one");
    at.sets(0, &one);
    at.says(0, "/status");
    at.shows(0, "background jobs: 0");
    at.says(0, "begin");
    eventually("the turn is over", || at.turns_ended(0) == 1);
    eventually("the job is counted", || {
        at.says(0, "/status");
        let newest = at.shows(0, "background jobs: ").text;
        newest.contains("background jobs: 1") && newest.contains("bash: up")
    });
    // In the configured workspace none runs.
    at.says(1, "/status");
    let elsewhere = at.shows(1, "background jobs: ").text;
    assert!(
        elsewhere.contains("background jobs: 0") && elsewhere.contains("bash: starts on"),
        "{elsewhere}"
    );
    at.rig.stop(gateway);
}

#[test]
fn a_grant_in_one_folder_holds_in_no_other_and_the_folder_survives_a_kill() {
    let at = chats("");
    let gateway = at.rig.start();
    let (one, two) = (folder(&at.rig, "one"), folder(&at.rig, "two"));
    at.sets(0, &one);
    at.sets(1, &two);
    at.rig.wait_handled();
    at.rig.kill(gateway);
    let gateway = at.rig.house.start(&["gateway"]);
    let asks = "run `touch made`";
    at.says(0, asks);
    let asked = at.rig.telegram.wait_for_button(at.people[0].id, "Always…");
    at.taps(0, &asked, "Always…");
    let always = at.rig.telegram.wait_for("the menu", |world| {
        let labels = world.message(asked.chat, asked.id)?.labels().concat();
        labels.into_iter().find(|label| label.starts_with("Always: exactly"))
    });
    at.taps(0, &asked, &always);
    eventually("it has run", || one.join("made").exists());
    eventually("the turn is over", || at.turns_ended(0) == 1);
    fs::remove_file(one.join("made")).unwrap();
    at.says(0, asks);
    eventually("the grant covers it", || one.join("made").exists());
    eventually("the turn is over", || at.turns_ended(0) == 2);
    // The same folder's grant is nothing to a conversation elsewhere, whoever has given it.
    at.says(0, &format!("/here {}", two.display()));
    eventually("it has moved", || {
        at.rig.number("SELECT count(*) FROM audit WHERE kind = 'here'") == 3
    });
    at.says(0, asks);
    let again = at.rig.telegram.wait_for_button(at.people[0].id, "Allow once");
    assert!(again.id > asked.id && !two.join("made").exists());
    at.rig.stop(gateway);
}

/// A topic of a group has a folder of its own, and the topic beside it does not.
#[test]
fn a_topic_has_a_folder_of_its_own() {
    let telegram = BotApi::start();
    let anna = telegram.user("Anna");
    anna.starts();
    let forum = telegram.forum("work", &[&anna]);
    let arguments = json!({"path": "a.txt", "content": "here"}).to_string();
    let turn = || {
        let call = Call::new("1", "filesystem__write_file", &arguments);
        [Answer::Turn(Turn::calls(&[call])), Answer::text("Written.")]
    };
    let model = Threaded::start(Wire::OpenAi, turn().into_iter().chain(turn()));
    let house = House::at("openai-compatible", &model.base_url);
    house.write("policy.toml", ALLOW);
    let house = house.with_bot(&telegram.token(), telegram.url(), &format!("{},{forum}", anna.id));
    let rig = Rig { telegram, anna, house };
    let gateway = rig.start();
    let one = folder(&rig, "one");
    let topics = ["one", "two"].map(|name| rig.anna.opens_topic(forum, name));
    rig.anna.says(topics[0], &format!("/here@claw_test_bot {}", one.display()));
    rig.telegram.wait_for_text(forum, "From now on this conversation works in");
    let ended = "SELECT count(*) FROM events WHERE type = 'turn.ended'";
    for (index, topic) in topics.into_iter().enumerate() {
        rig.anna.says(topic, "@claw_test_bot write it");
        eventually("the turn is over", || rig.number(ended) == index as i64 + 1);
    }
    assert_eq!(fs::read_to_string(one.join("a.txt")).unwrap(), "here");
    assert_eq!(rig.house.in_workspace("a.txt"), "here");
    // The way back below an answer is that of its topic.
    for label in ["Undo 1 file", "Undo"] {
        let of_topic = |message: &&Message| message.topic == topics[0].topic;
        let found = rig.telegram.wait_for(label, |world| {
            let mut asked = world.messages(forum).filter(of_topic);
            asked.find(|message| message.button(label).is_some()).cloned()
        });
        let tap = rig.anna.taps_on(found.chat, found.id, label);
        rig.telegram.wait_answered(&tap);
    }
    eventually("it is undone", || !one.join("a.txt").exists());
    assert_eq!(rig.house.in_workspace("a.txt"), "here");
    rig.stop(gateway);
}

#[test]
fn what_may_not_be_a_folder_is_refused_with_the_next_step() {
    let at = chats("");
    let gateway = at.rig.start();
    let home = at.rig.house.user_home();
    fs::create_dir_all(home.join(".ssh")).unwrap();
    fs::write(home.join("file"), "").unwrap();
    let claw = at.rig.house.home();
    let refused = [
        ("/", "below your home alone"),
        ("~", "below your home alone"),
        ("~/.ssh", "no hidden folder"),
        ("~/file", "no folder"),
        ("~/nowhere", "There is no such folder"),
        ("src", "the whole path"),
        (claw.to_str().unwrap(), "Name another folder"),
    ];
    for (folder, why) in refused {
        at.says(0, &format!("/here {folder}"));
        at.shows(0, why);
    }
    assert_eq!(at.rig.number("SELECT count(*) FROM audit WHERE kind = 'here'"), 0);
    at.rig.stop(gateway);
}

#[test]
fn a_running_turn_keeps_its_folder_and_a_folder_that_is_gone_is_said() {
    let at = chats("");
    let gateway = at.rig.start();
    let one = folder(&at.rig, "one");
    at.sets(0, &one);
    at.says(0, "run `touch made`");
    let asked = at.rig.telegram.wait_for_button(at.people[0].id, "Allow once");
    at.says(0, "/here off");
    at.shows(0, "it keeps the folder that it began in");
    at.taps(0, &asked, "Allow once");
    eventually("it has run there", || one.join("made").exists());
    eventually("the turn is over", || at.turns_ended(0) == 1);
    at.rig.wait_delivered();
    fs::remove_dir_all(&one).unwrap();
    // As what a command of another conversation can leave there, whose folder holds this one.
    std::os::unix::fs::symlink(folder(&at.rig, "two"), &one).unwrap();
    at.says(0, "list");
    at.shows(0, "has been replaced by a link. Make it again");
    assert_eq!(at.turns_ended(0), 1);
    at.says(0, "/here off");
    at.shows(0, "has no folder, role or mode of its own any more");
    eventually("the message that waited goes on", || at.turns_ended(0) == 2);
    at.rig.stop(gateway);
}

#[test]
fn a_file_for_a_folder_that_is_away_is_not_put_elsewhere() {
    let at = chats("");
    let gateway = at.rig.start();
    let one = folder(&at.rig, "one");
    at.sets(0, &one);
    at.rig.wait_handled();
    let away = one.with_file_name("away");
    fs::rename(&one, &away).unwrap();
    let anna = &at.people[0];
    let sends = || anna.writes(anna.private()).document("bill.txt", b"12 euros").text("pay").send();
    sends();
    let told = "I did not get your document: it cannot be stored (the folder of this conversation \
                is not there any more); send it again later.";
    at.shows(0, told);
    at.shows(0, "What you wrote waits.");
    fs::rename(&away, &one).unwrap();
    sends();
    eventually("it is in the folder", || one.join("inbox").is_dir());
    at.rig.wait_handled();
    assert!(!at.rig.house.workspace().join("inbox").exists());
    at.rig.kill(gateway);
}

/// With room for one folder, the second waits for the first to be idle, and nothing is lost.
#[test]
fn more_folders_than_may_be_open_take_turns() {
    let at = chats("[limits]\nfolders_at_once_max = 1\n");
    let gateway = at.rig.start();
    let folders = ["one", "two", "three"].map(|name| folder(&at.rig, name));
    (0..3).for_each(|who| at.sets(who, &folders[who]));
    (0..3).for_each(|who| at.says(who, "write `here` to a.txt"));
    for (who, folder) in folders.iter().enumerate() {
        eventually("each has its turn", || at.turns_ended(who) == 1);
        assert_eq!(fs::read_to_string(folder.join("a.txt")).unwrap(), "here");
    }
    at.rig.stop(gateway);
}

/// What does not fit beside a folder at work waits, is told the limit, and goes on when there is
/// room.
#[test]
fn a_folder_too_many_at_once_waits_and_says_so() {
    let at = chats("[limits]\nfolders_at_once_max = 1\n");
    let gateway = at.rig.start();
    let folders = ["one", "two"].map(|name| folder(&at.rig, name));
    (0..2).for_each(|who| at.sets(who, &folders[who]));
    at.says(0, "run `touch begun; while [ ! -e go ]; do sleep 0.05; done`");
    let asked = at.rig.telegram.wait_for_button(at.people[0].id, "Allow once");
    at.taps(0, &asked, "Allow once");
    eventually("the first is at work", || folders[0].join("begun").exists());
    at.says(1, "write `here` to a.txt");
    at.shows(1, "(1, limits.folders_at_once_max)");
    assert!(!folders[1].join("a.txt").exists());
    fs::write(folders[0].join("go"), "").unwrap();
    eventually("the first is done", || at.turns_ended(0) == 1);
    eventually("the second has its turn", || at.turns_ended(1) == 1);
    assert_eq!(fs::read_to_string(folders[1].join("a.txt")).unwrap(), "here");
    at.rig.stop(gateway);
}

#[test]
fn off_ends_the_mode_and_the_role_of_a_conversation_too() {
    let at = chats("[roles.careful]\ndescription = \"Asks.\"\ninstructions = \"Be careful.\"\n");
    let gateway = at.rig.start();
    at.sets(0, &folder(&at.rig, "one"));
    at.says(0, "/here mode edits");
    at.says(0, "/here role careful");
    let held = "SELECT count(*) FROM grants WHERE tool = 'mode' AND revoked_ms IS NULL";
    let role = "SELECT count(*) FROM session_roles WHERE role = 'careful'";
    eventually("both are set", || at.rig.number(held) == 1 && at.rig.number(role) == 1);
    at.says(0, "/here off");
    at.shows(0, "has no folder, role or mode of its own any more");
    assert_eq!((at.rig.number(held), at.rig.number(role)), (0, 0));
    at.rig.stop(gateway);
}

/// A folder in which nobody works gives back its servers, and takes them again with the
/// next message.
#[test]
fn a_folder_in_which_nobody_works_is_closed_after_its_time_and_opens_again() {
    let at = chats("[limits]\nfolder_idle_time_s = 1\n");
    let mut command = at.rig.house.command(&["gateway"]);
    command.env("CLAW_LOG", "claw=info");
    let gateway = at.rig.house.begin(command);
    at.rig.telegram.wait_for_text(at.people[0].id, "I am claw");
    let one = folder(&at.rig, "one");
    at.sets(0, &one);
    let closed = || gateway.err().matches("nobody works there any more").count();
    for (turn, name) in ["a.txt", "b.txt"].into_iter().enumerate() {
        at.says(0, &format!("write `here` to {name}"));
        eventually("its turn is over", || at.turns_ended(0) == turn as i64 + 1);
        assert_eq!(fs::read_to_string(one.join(name)).unwrap(), "here");
        eventually("it is closed", || closed() == turn + 1);
    }
    at.rig.stop(gateway);
}

/// `claw ask` has begun it there, and its question and a message wait for whoever works there.
#[test]
fn a_gateway_does_not_wait_at_its_end_for_a_session_of_another_folder() {
    let rig = Rig::new();
    let repository = folder(&rig, "project");
    fs::create_dir_all(repository.join(".git")).unwrap();
    fs::write(repository.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    for text in ["write a.txt: 1", "and now?"] {
        let mut ask = rig.house.command(&["ask", "--session", "elsewhere", text]);
        ask.current_dir(&repository);
        rig.house.begin(ask).ends().expect(3);
    }
    // A gateway leaves to others what has just come.
    rig.house.db().execute("UPDATE inbox SET at_ms = at_ms - 60000", []).unwrap();
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "/status");
    rig.telegram.wait_for_text(rig.anna.id, "stop switch: off");
    rig.wait_handled();
    gateway.signal(Signal::TERM);
    let ran = gateway.ends().expect(0);
    for untrue in ["are cut", "turns are still running"] {
        assert!(!ran.err.contains(untrue), "{untrue}: {ran:?}");
    }
    assert!(!repository.join("a.txt").exists());
    rig.house.is_whole();
}
