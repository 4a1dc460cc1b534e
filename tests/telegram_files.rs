//! Files through the whole program: `claw gateway` as a process, a strict stand-in for the Bot API, and one for a model that can
//! see.

mod botapi;
mod program;
mod wires;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use botapi::{BotApi, Fault, MediaKind, User};
use program::{House, Running, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};
use wires::threaded::Threaded;
use wires::{Answer, Wire};

const JPEG: &[u8] = b"\xff\xd8\xff\xe0 a small picture";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n a chart";

/// A bot, its owner, and a home that lets the owner in.
struct Rig {
    telegram: BotApi,
    anna: User,
    house: House,
    model: Option<Threaded>,
}

impl Rig {
    /// With the demo model, which sees nothing.
    fn new() -> Self {
        Self::with(House::new(), None)
    }

    /// With a model that can see and gives these answers.
    fn seeing(answers: &[&str]) -> Self {
        let model = Threaded::start(Wire::Anthropic, answers.iter().map(|answer| Answer::text(answer)));
        Self::with(House::at("claude", &model.base_url), Some(model))
    }

    fn with(house: House, model: Option<Threaded>) -> Self {
        let telegram = BotApi::start();
        let anna = telegram.user("Anna");
        let house = house
            .with("TELEGRAM_BOT_TOKEN", &telegram.token())
            .with("CLAW_TELEGRAM_API", telegram.url())
            .with("CLAW_ALLOWED_CHATS", &anna.id.to_string());
        Self { telegram, anna, house, model }
    }

    fn start(&self) -> Running {
        self.house.start(&["gateway"])
    }

    fn messages_in(&self, chat: i64) -> Vec<Value> {
        let session = format!("telegram.{}.{chat}", self.telegram.bot_id());
        let db = self.house.home().join("claw.db");
        let known = db.exists() && self.house.claw(&["sessions", "--json"]).out.contains(&session);
        let events = if known { self.house.events(&session) } else { Vec::new() };
        events.into_iter().filter(|event| event["type"] == "user.message").collect()
    }

    /// Waits for so many messages in the owner's session, and returns them as the model gets them.
    #[track_caller]
    fn wait_messages(&self, count: usize) -> Vec<Value> {
        self.wait_messages_in(self.anna.id, count)
    }

    #[track_caller]
    fn wait_messages_in(&self, chat: i64, count: usize) -> Vec<Value> {
        let mut found = Vec::new();
        eventually(&format!("{count} messages in the log"), || {
            found = self.messages_in(chat);
            found.len() >= count
        });
        assert_eq!(found.len(), count, "{found:#?}");
        found
    }

    /// All files below the inbox of the workspace, with their bytes.
    fn inbox(&self) -> Vec<(String, Vec<u8>)> {
        let mut found = Vec::new();
        for day in fs::read_dir(self.house.workspace().join("inbox")).into_iter().flatten() {
            for file in fs::read_dir(day.unwrap().path()).unwrap() {
                let path = file.unwrap().path();
                let name = path.strip_prefix(self.house.workspace()).unwrap().to_str().unwrap().to_owned();
                found.push((name, fs::read(&path).unwrap()));
            }
        }
        found.sort();
        found
    }

    fn workspace_file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.house.workspace().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The files that the bot has sent to the owner.
    fn sent_files(&self) -> Vec<(MediaKind, String, Vec<u8>)> {
        let media = self.telegram.sent(self.anna.id).into_iter().filter_map(|message| message.media);
        media.map(|media| (media.kind, media.name.clone(), self.telegram.file(&media.file_id))).collect()
    }
}

fn text(message: &Value) -> &str {
    message["blocks"][0]["text"].as_str().unwrap()
}

#[test]
fn a_photo_is_a_file_in_the_workspace_and_the_model_sees_it() {
    let rig = Rig::seeing(&["A crab.", "Still a crab."]);
    let gateway = rig.start();
    let said = rig.anna.writes(rig.anna.private()).photo(JPEG).text("What is this?").send();
    rig.telegram.wait_for_text(rig.anna.id, "A crab.");
    let inbox = rig.inbox();
    assert_eq!(inbox.len(), 1, "{inbox:?}");
    assert_eq!(inbox[0].1, JPEG);
    let message = &rig.wait_messages(1)[0];
    let expected = format!("What is this?\n[photo saved as {}, 1280×853, {} bytes]", inbox[0].0, JPEG.len());
    assert_eq!(text(message), expected);
    assert_eq!(message["blocks"][1]["type"], "image_ref", "no bytes in the log: {message}");

    // A reply to the photo names its file, and the photo is still seen.
    rig.anna.writes(rig.anna.private()).text("Sure?").reply_to(said.message).send();
    rig.telegram.wait_for_text(rig.anna.id, "Still a crab.");
    assert!(text(&rig.wait_messages(2)[1]).contains(&format!("> [photo saved as {}]", inbox[0].0)));
    // An edit of the caption fetches nothing again.
    rig.anna.edits(&said, "What is that?");
    assert!(text(&rig.wait_messages(3)[2]).contains(&inbox[0].0));
    assert_eq!((rig.inbox().len(), rig.telegram.calls_of("download").len()), (1, 1));
    let requests = rig.model.as_ref().unwrap().recorded();
    let image = json!({"type": "base64", "media_type": "image/jpeg", "data": "/9j/4CBhIHNtYWxsIHBpY3R1cmU="});
    for request in &requests[..2] {
        assert_eq!(request.body["messages"][0]["content"][1]["source"], image, "{}", request.body);
    }
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn an_album_is_one_message() {
    let rig = Rig::new();
    let album = rig.anna.writes(rig.anna.private()).photo(b"\xff\xd8\xff1").photo(b"\xff\xd8\xff2").text("Two");
    album.send_album();
    let gateway = rig.start();
    let message = &rig.wait_messages(1)[0];
    assert_eq!(text(message).matches("[photo saved as inbox/").count(), 2, "{message}");
    assert!(text(message).contains("Two\n["), "{message}");
    assert_eq!(message["blocks"].as_array().unwrap().len(), 1, "the demo sees nothing: {message}");
    assert_eq!(rig.inbox().len(), 2);
    rig.telegram.wait_all_confirmed();
    let db = rig.house.db();
    let states = "SELECT count(*) FROM updates WHERE state = 'accepted'";
    assert_eq!(db.query_row(states, [], |row| row.get::<_, i64>(0)).unwrap(), 2);
    drop(gateway);
}

#[test]
fn what_cannot_be_fetched_is_said_to_the_person_and_to_the_model() {
    let rig = Rig::new();
    rig.house.write("claw.toml", "[telegram]\nfile_bytes_max = 1000\n");
    let gateway = rig.start();
    rig.anna.writes(rig.anna.private()).document_of_size("film.mp4", 1001).text("Look").send();
    rig.telegram.wait_for_text(rig.anna.id, "I did not get your document: it is larger than 1000 bytes");
    assert!(text(&rig.wait_messages(1)[0]).contains("could not be fetched: it is larger than 1000 bytes"));
    assert_eq!(rig.telegram.calls_of("getFile").len(), 0, "what is announced as too large is not asked for");

    // What was not announced as so large is cut off on its way.
    rig.telegram.fault(Fault::Refuse { code: 400, description: "Bad Request: file is too big".into() })
        .on("getFile").times(1);
    rig.anna.writes(rig.anna.private()).document("a.bin", b"x").send();
    rig.telegram.wait_for_text(rig.anna.id, "what Telegram hands to bots");
    rig.telegram.fault(Fault::Refuse { code: 400, description: "Bad Request: invalid file_id".into() })
        .on("getFile").times(1);
    rig.anna.writes(rig.anna.private()).document("b.bin", b"x").send();
    rig.telegram.wait_for_text(rig.anna.id, "does not hand it out any more");
    assert_eq!(rig.inbox(), []);
    drop(gateway);
}

#[test]
fn a_file_that_is_larger_than_it_said_is_cut_off() {
    let rig = Rig::new();
    rig.house.write("claw.toml", "[telegram]\nfile_bytes_max = 1000\n");
    let gateway = rig.start();
    rig.anna.writes(rig.anna.private()).document_that_says("liar.bin", &[7; 5000], 10).send();
    rig.telegram.wait_for_text(rig.anna.id, "it is larger than 1000 bytes");
    assert_eq!(rig.inbox(), [], "no half of it stays");
    drop(gateway);
}

#[test]
fn a_name_cannot_lead_out_of_the_inbox() {
    let rig = Rig::new();
    let names = ["../../../etc/passwd", "..\\..\\evil.exe", ".bashrc", "invoice\u{202e}fdp.sh", "a\nb"];
    for name in names {
        rig.anna.writes(rig.anna.private()).document(name, name.as_bytes()).send();
    }
    let gateway = rig.start();
    rig.wait_messages(names.len());
    let inbox = rig.inbox();
    assert_eq!(inbox.len(), names.len(), "{inbox:?}");
    for (name, bytes) in &inbox {
        assert!(names.contains(&std::str::from_utf8(bytes).unwrap()));
        let last = name.rsplit('/').next().unwrap();
        assert!(name.starts_with("inbox/") && name.split('/').count() == 3, "{name}");
        assert!(last.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) && !last.starts_with('.'), "{name}");
    }
    drop(gateway);
    assert!(!rig.house.home().join("etc").exists());
}

#[test]
fn a_kill_while_fetching_leaves_one_message_and_one_file() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.telegram.wait_for_calls("getUpdates", 1);
    rig.telegram.fault(Fault::Hang).on("download").times(1);
    rig.anna.writes(rig.anna.private()).document("plan.txt", b"the plan").text("Read this").send();
    rig.telegram.wait_for_calls("download", 1);
    rig.telegram.wait_all_confirmed();
    gateway.signal(Signal::KILL);
    drop(gateway);
    let gateway = rig.start();
    let message = &rig.wait_messages(1)[0];
    let inbox = rig.inbox();
    assert_eq!(inbox.len(), 1, "{inbox:?}");
    assert_eq!(inbox[0].1, b"the plan");
    assert!(text(message).contains(&inbox[0].0), "{message}");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_fault_of_the_network_is_tried_again() {
    let rig = Rig::new();
    let gateway = rig.start();
    rig.telegram.wait_for_calls("getUpdates", 1);
    rig.telegram.fault(Fault::CutBefore).on("download").times(1);
    rig.anna.writes(rig.anna.private()).document("plan.txt", b"the plan").send();
    assert!(text(&rig.wait_messages(1)[0]).contains("[document saved as inbox/"));
    assert_eq!(rig.inbox()[0].1, b"the plan");
    drop(gateway);
}

#[test]
fn a_slow_file_holds_up_neither_a_tap_elsewhere_nor_a_stop() {
    let rig = Rig::new();
    let group = rig.telegram.group("Family", &[&rig.anna]);
    let house = rig.house.with("CLAW_ALLOWED_CHATS", &format!("{},{group}", rig.anna.id));
    let rig = Rig { house, ..rig };
    let gateway = rig.start();
    rig.anna.says(group, "@claw_test_bot write a.txt: x");
    let asked = rig.telegram.wait_for_button(group, "Allow once");
    rig.telegram.fault(Fault::Hang).on("download").always();
    rig.anna.writes(rig.anna.private()).document("slow.bin", b"x").send();
    rig.telegram.wait_for_calls("download", 1);
    rig.anna.says(rig.anna.private(), "and this comes after it");

    let tap = rig.anna.taps_on(group, asked.id, "Allow once");
    rig.telegram.wait_answered(&tap);
    eventually("the call has run", || !rig.house.in_workspace("a.txt").is_empty());
    rig.anna.says(rig.anna.private(), "/stop");
    rig.telegram.wait_for_text(rig.anna.id, "Nothing is running");
    assert_eq!(rig.messages_in(rig.anna.id).len(), 0, "order within a chat stays");
    drop(gateway);
}

#[test]
fn recordings_are_kept_and_what_is_no_file_is_told_in_words() {
    let rig = Rig::new();
    let kinds = [MediaKind::Audio, MediaKind::Video, MediaKind::VideoNote, MediaKind::Animation];
    for kind in kinds {
        rig.anna.writes(rig.anna.private()).recording(kind, "a.mp4", b"bytes").send();
    }
    rig.anna.writes(rig.anna.private()).voice(b"OggS speech").send();
    rig.anna.writes(rig.anna.private()).holding("location", json!({"latitude": 52.5, "longitude": 13.4})).send();
    let gateway = rig.start();
    let all: Vec<String> = rig.wait_messages(6).iter().map(|message| text(message).to_owned()).collect();
    for (said, expected) in all.iter().zip(["[audio file", "[video", "[video note", "[animation", "[voice message"]) {
        assert!(said.contains(&format!("{expected} saved as inbox/")), "{said}");
    }
    assert!(all[4].contains(".ogg, 3 s, 11 bytes]"), "{}", all[4]);
    assert!(all[5].contains("[location: latitude 52.5, longitude 13.4]"), "{}", all[5]);
    assert_eq!(rig.inbox().len(), 5);
    drop(gateway);
}

#[test]
fn speech_becomes_text_where_it_is_configured() {
    let ears = wires::listening::Ears::start(&["pay the rent"]);
    let rig = Rig::new();
    rig.house.write(
        "claw.toml",
        &format!("[transcription]\nurl = \"{}\"\nmodel = \"whisper-x\"\nkey = \"$EARS_KEY\"\n", ears.url),
    );
    let house = rig.house.with("EARS_KEY", "ears-secret-4711");
    let rig = Rig { house, ..rig };
    let gateway = rig.start();
    rig.anna.writes(rig.anna.private()).voice(b"OggS speech").send();
    let message = &rig.wait_messages(1)[0];
    assert!(text(message).ends_with("[what was said, as a machine heard it]\npay the rent"), "{message}");
    let heard = ears.heard();
    assert_eq!(heard[0].model, "whisper-x");
    assert_eq!(heard[0].authorization, "Bearer ears-secret-4711");
    assert!(heard[0].file_name.ends_with(".ogg"), "{:?}", heard[0]);
    assert_eq!(heard[0].bytes, b"OggS speech");

    // It has no second answer: that is said, and the message goes in.
    rig.anna.writes(rig.anna.private()).voice(b"OggS more").send();
    rig.telegram.wait_for_text(rig.anna.id, "no text of it: the transcription server said HTTP 500");
    assert!(text(&rig.wait_messages(2)[1]).contains("[it could not be transcribed"));
    assert!(!gateway.err().contains("ears-secret"), "{}", gateway.err());
    drop(gateway);
}

#[test]
fn a_group_is_overheard_only_where_that_is_configured() {
    for (context, quoted) in [(0, 0), (2, 2)] {
        let rig = Rig::new();
        let bert = rig.telegram.user("Bert");
        let group = rig.telegram.group("Family", &[&rig.anna, &bert]);
        rig.house.write("claw.toml", &format!("[telegram]\ngroup_context_messages = {context}\n"));
        let house = rig.house.with("CLAW_ALLOWED_CHATS", &format!("{},{group}", rig.anna.id));
        let rig = Rig { house, ..rig };
        for number in 1..=3 {
            bert.says(group, &format!("private matter {number}"));
        }
        rig.anna.says(group, "@claw_test_bot what do you think?");
        rig.anna.says(group, "@claw_test_bot and now?");
        let gateway = rig.start();
        let messages = rig.wait_messages_in(group, 2);
        assert_eq!(text(&messages[0]).matches("Bert: private matter").count(), quoted, "{}", text(&messages[0]));
        assert_eq!(text(&messages[0]).contains("private matter 1"), false);
        assert!(text(&messages[0]).ends_with("Anna: @claw_test_bot what do you think?"), "{}", text(&messages[0]));
        assert_eq!(messages[0]["origin"], if quoted > 0 { "forwarded" } else { "owner" });
        assert!(!text(&messages[1]).contains("private matter"), "it was given once: {}", text(&messages[1]));
        assert_eq!(messages[1]["origin"], "owner");
        drop(gateway);
        let dump: Vec<u8> = fs::read(rig.house.home().join("claw.db")).unwrap();
        let _ = dump;
        let db = rig.house.db();
        let kept = "SELECT (SELECT count(*) FROM overheard) + (SELECT count(*) FROM updates WHERE body LIKE '%private%')";
        assert_eq!(db.query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap(), 0, "nothing of it stays aside");
    }
}

#[test]
fn a_reply_hands_over_photos_and_documents() {
    let rig = Rig::seeing(&["Here: ![chart](chart.png), [report](out/my%20report.txt) and ![wide](wide.png)"]);
    let gateway = rig.start();
    rig.telegram.wait_for_calls("getUpdates", 1);
    rig.workspace_file("chart.png", PNG);
    rig.workspace_file("out/my report.txt", format!("the key is {}", program::KEY).as_bytes());
    rig.workspace_file("wide.png", PNG);
    rig.telegram.fault(Fault::Refuse { code: 400, description: "Bad Request: PHOTO_INVALID_DIMENSIONS".into() })
        .on("sendPhoto").times(1);
    rig.anna.says(rig.anna.private(), "Show me");
    rig.telegram.wait_for("three files", |world| {
        (world.messages(rig.anna.id).filter(|message| message.by_bot && message.media.is_some()).count() == 3).then_some(())
    });
    let sent = rig.sent_files();
    assert_eq!((sent[0].0, sent[0].1.as_str(), sent[0].2.as_slice()), (MediaKind::Document, "chart.png", PNG), "refused as a photo");
    assert_eq!((sent[1].0, sent[1].1.as_str()), (MediaKind::Document, "my report.txt"));
    let report = String::from_utf8(sent[1].2.clone()).unwrap();
    assert!(report.starts_with("the key is ") && !report.contains(program::KEY), "{report}");
    assert_eq!((sent[2].0, sent[2].2.as_slice()), (MediaKind::Photo, PNG));
    assert!(rig.telegram.sent(rig.anna.id)[0].text.starts_with("Here: "), "the text comes first");
    drop(gateway);
}

#[test]
fn nothing_outside_of_the_workspace_is_handed_over() {
    let answer = "[a](../claw.toml) [b](/etc/passwd) [c](link.txt) [d](folder/secret.txt) [e](.hidden) [f](none.txt) \
                  [g](https://example.org/x)";
    let rig = Rig::seeing(&[answer]);
    rig.house.write("claw.toml", "# secret");
    let gateway = rig.start();
    rig.telegram.wait_for_calls("getUpdates", 1);
    let outside = rig.house.user_home().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret.txt"), "secret").unwrap();
    symlink(outside.join("secret.txt"), rig.house.workspace().join("link.txt")).unwrap();
    symlink(&outside, rig.house.workspace().join("folder")).unwrap();
    rig.workspace_file(".hidden", b"secret");
    rig.anna.says(rig.anna.private(), "Show me");
    rig.telegram.wait_for_text(rig.anna.id, "none.txt was not sent: there is no such file in the workspace.");
    for path in ["../claw.toml", "/etc/passwd", "link.txt", "folder/secret.txt"] {
        rig.telegram.wait_for_text(rig.anna.id, &format!("{path} was not sent: it lies outside of the workspace."));
    }
    rig.telegram.wait_for_text(rig.anna.id, ".hidden was not sent: hidden files are not sent.");
    assert_eq!(rig.sent_files(), []);
    assert_eq!(rig.telegram.sent(rig.anna.id).len(), 7, "one answer and six sentences");
    drop(gateway);
}

#[test]
fn after_a_restart_only_what_is_missing_is_sent() {
    let rig = Rig::seeing(&["One [a](a.txt) [b](b.txt)"]);
    let gateway = rig.start();
    rig.telegram.wait_for_calls("getUpdates", 1);
    rig.workspace_file("a.txt", b"file a");
    rig.workspace_file("b.txt", b"file b");
    // The first document goes out, the second one hangs.
    rig.anna.says(rig.anna.private(), "Go");
    rig.telegram.fault(Fault::Delay(std::time::Duration::ZERO)).on("sendDocument").times(1);
    rig.telegram.fault(Fault::Hang).on("sendDocument").times(1);
    rig.telegram.wait_for_calls("sendDocument", 2);
    gateway.signal(Signal::KILL);
    drop(gateway);
    rig.telegram.heal();
    let gateway = rig.start();
    rig.telegram.wait_for("the second file", |world| {
        let named = |message: &&botapi::Message| message.media.as_ref().is_some_and(|media| media.name == "b.txt");
        world.messages(rig.anna.id).find(named).map(|_| ())
    });
    let names: Vec<String> = rig.sent_files().into_iter().map(|(_, name, _)| name).collect();
    assert_eq!(names, ["a.txt", "b.txt"]);
    let answers = rig.telegram.sent(rig.anna.id).into_iter().filter(|message| message.text.contains("One"));
    assert_eq!(answers.count(), 1, "what was sent is not sent again");
    drop(gateway);
}

#[test]
fn a_very_long_answer_is_its_beginning_and_a_file() {
    let long = "All of it. ".repeat(3000);
    let rig = Rig::seeing(&[&long]);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "Tell me everything");
    rig.telegram.wait_for("a file", |world| {
        world.messages(rig.anna.id).find(|message| message.by_bot && message.media.is_some()).map(|_| ())
    });
    let sent = rig.telegram.sent(rig.anna.id);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[0].text.starts_with("All of it."));
    assert_eq!(rig.sent_files(), [(MediaKind::Document, "answer.md".to_owned(), long.trim().as_bytes().to_vec())]);
    drop(gateway);
}
