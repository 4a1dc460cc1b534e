//! What a reply hands over, and what it must not.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::process::Signal;

use crate::botapi::{self, BotApi, Fault, MediaKind};
use crate::program::{self, House};
use crate::telegram_files::rig::{PNG, Rig};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};

#[test]
fn a_reply_hands_over_photos_and_documents() {
    let rig = Rig::seeing(&[
        "Here: ![chart](chart.png), [report](out/my%20report.txt) and ![wide](wide.png)",
    ]);
    let gateway = rig.start();
    rig.telegram.wait_for_calls("getUpdates", 1);
    rig.workspace_file("chart.png", PNG);
    rig.workspace_file("out/my report.txt", format!("the key is {}", program::KEY).as_bytes());
    rig.workspace_file("wide.png", PNG);
    rig.telegram
        .fault(Fault::Refuse {
            code: 400,
            description: "Bad Request: PHOTO_INVALID_DIMENSIONS".into(),
        })
        .on("sendPhoto")
        .times(1);
    rig.anna.says(rig.anna.private(), "Show me");
    rig.telegram.wait_for("three files", |world| {
        (world
            .messages(rig.anna.id)
            .filter(|message| message.by_bot && message.media.is_some())
            .count()
            == 3)
            .then_some(())
    });
    let sent = rig.sent_files();
    assert_eq!(
        (sent[0].0, sent[0].1.as_str(), sent[0].2.as_slice()),
        (MediaKind::Document, "chart.png", PNG),
        "refused as a photo"
    );
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
    rig.telegram.wait_for_text(
        rig.anna.id,
        "none.txt was not sent: there is no such file in the workspace.",
    );
    for path in ["../claw.toml", "/etc/passwd", "link.txt", "folder/secret.txt"] {
        rig.telegram.wait_for_text(
            rig.anna.id,
            &format!("{path} was not sent: it lies outside of the workspace."),
        );
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
    rig.telegram.fault(Fault::Delay(std::time::Duration::ZERO)).on("sendDocument").times(1);
    rig.telegram.fault(Fault::Hang).on("sendDocument").times(1);
    rig.anna.says(rig.anna.private(), "Go");
    rig.telegram.wait_for_calls("sendDocument", 2);
    gateway.signal(Signal::KILL);
    drop(gateway);
    rig.telegram.heal();
    let gateway = rig.start();
    rig.telegram.wait_for("the second file", |world| {
        let named = |message: &&botapi::Message| {
            message.media.as_ref().is_some_and(|media| media.name == "b.txt")
        };
        world.messages(rig.anna.id).find(named).map(|_| ())
    });
    let names: Vec<String> = rig.sent_files().into_iter().map(|(_, name, _)| name).collect();
    assert_eq!(names, ["a.txt", "b.txt"]);
    let answers =
        rig.telegram.sent(rig.anna.id).into_iter().filter(|message| message.text.contains("One"));
    assert_eq!(answers.count(), 1, "what was sent is not sent again");
    drop(gateway);
}

#[test]
fn a_very_long_answer_is_its_beginning_and_a_file() {
    let long = "All of it. ".repeat(3000);
    let rig = Rig::seeing(&[&long]);
    // A draft of a long text may be several messages for a while.
    rig.house.write("claw.toml", "[telegram]\nstream = false\n");
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "Tell me everything");
    rig.telegram.wait_for("a file", |world| {
        world
            .messages(rig.anna.id)
            .find(|message| message.by_bot && message.media.is_some())
            .map(|_| ())
    });
    let sent = rig.telegram.sent(rig.anna.id);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[0].text.starts_with("All of it."));
    assert!(
        rig.sent_files()
            == [(MediaKind::Document, "answer.md".to_owned(), long.as_bytes().to_vec())]
    );
    drop(gateway);
}

#[test]
fn a_very_long_answer_arrives_where_files_are_forbidden() {
    let long = "All of it. ".repeat(3000);
    let rig = Rig::seeing(&[&long]);
    // A draft of a long text may be several messages for a while.
    rig.house.write("claw.toml", "[telegram]\nstream = false\n");
    let gateway = rig.start();
    let description = "Bad Request: not enough rights to send documents to the chat".into();
    rig.telegram.fault(Fault::Refuse { code: 400, description }).on("sendDocument").always();
    rig.anna.says(rig.anna.private(), "Tell me everything");
    rig.telegram.wait_for("all of it", |world| {
        let said = world.messages(rig.anna.id).filter(|message| message.by_bot);
        (said.map(|message| message.text.matches("All").count()).sum::<usize>() == 3000)
            .then_some(())
    });
    drop(gateway);
}

/// Each part once, however often one of them is refused, and whatever ends claw between two.
#[test]
fn a_very_long_answer_in_a_group_that_forbids_files_comes_once() {
    let words: Vec<String> = (0..3000).map(|number| format!("w{number:04}")).collect();
    let long = words.iter().map(|word| format!("{word} all. ")).collect::<String>();
    let model = Threaded::start(Wire::Anthropic, [Answer::text(&long)]);
    let telegram = BotApi::start();
    let anna = telegram.user("Anna");
    let group = telegram.supergroup("Rent", &[&anna]);
    telegram.forbid_files(group);
    let allowed = format!("{},{group}", anna.id);
    let house =
        House::at("claude", &model.base_url).with_bot(&telegram.token(), telegram.url(), &allowed);
    house.write("claw.toml", "[telegram]\nstream = false\n");
    let rig = Rig { telegram, anna, house, model: Some(model) };
    let gateway = rig.start();
    rig.telegram.fault(Fault::TooMany(1)).on("sendMessage").in_chat(group).after(3).times(1);
    rig.telegram.fault(Fault::Status(502)).on("sendMessage").in_chat(group).after(5).always();
    rig.anna.says(group, "@claw_test_bot Tell us everything");
    rig.telegram.wait_for_calls("sendMessage", 7);
    gateway.signal(Signal::KILL);
    gateway.ends();
    rig.telegram.wait_disconnected();
    rig.telegram.heal();
    let gateway = rig.start();
    let came = || {
        let sent = rig.telegram.sent(group);
        sent.into_iter().map(|message| message.text).collect::<Vec<_>>().concat()
    };
    program::eventually("the end is there", || came().contains("w2999"));
    let came = came();
    let odd: Vec<_> = words.iter().filter(|word| came.matches(*word).count() != 1).collect();
    assert!(odd.is_empty(), "not once: {odd:?}");
    drop(gateway);
}
