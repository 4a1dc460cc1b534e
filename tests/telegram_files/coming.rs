//! What people send becomes files in the workspace, once and safely.

use rustix::process::Signal;
use serde_json::json;

use crate::botapi::Fault;
use crate::program::eventually;
use crate::telegram_files::rig::{JPEG, Rig, text};

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
    let expected =
        format!("What is this?\n[photo saved as {}, 1280×853, {} bytes]", inbox[0].0, JPEG.len());
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
        assert_eq!(request.body["messages"][0]["content"][2]["source"], image, "{}", request.body);
    }
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn an_album_is_one_message() {
    let rig = Rig::new();
    let album = rig
        .anna
        .writes(rig.anna.private())
        .photo(b"\xff\xd8\xff1")
        .photo(b"\xff\xd8\xff2")
        .text("Two");
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
    rig.telegram
        .wait_for_text(rig.anna.id, "I did not get your document: it is larger than 1000 bytes");
    assert!(
        text(&rig.wait_messages(1)[0])
            .contains("could not be fetched: it is larger than 1000 bytes")
    );
    assert_eq!(
        rig.telegram.calls_of("getFile").len(),
        0,
        "what is announced as too large is not asked for"
    );

    // What was not announced as so large is cut off on its way.
    rig.telegram
        .fault(Fault::Refuse { code: 400, description: "Bad Request: file is too big".into() })
        .on("getFile")
        .times(1);
    rig.anna.writes(rig.anna.private()).document("a.bin", b"x").send();
    rig.telegram.wait_for_text(rig.anna.id, "what Telegram hands to bots");
    rig.telegram
        .fault(Fault::Refuse { code: 400, description: "Bad Request: invalid file_id".into() })
        .on("getFile")
        .times(1);
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
    let names =
        ["../../../etc/passwd", "..\\..\\evil.exe", ".bashrc", "invoice\u{202e}fdp.sh", "a\nb"];
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
        assert!(
            last.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
                && !last.starts_with('.'),
            "{name}"
        );
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
    rig.anna.writes(rig.anna.private()).document("plan.txt", b"the plan").text("/help").send();
    let message = &rig.wait_messages(1)[0];
    assert!(
        text(message).starts_with("/help\n[document saved as inbox/"),
        "a caption is no command: {message}"
    );
    assert_eq!(rig.inbox()[0].1, b"the plan");
    drop(gateway);
}

#[test]
fn a_slow_file_holds_up_neither_a_tap_elsewhere_nor_a_stop() {
    let rig = Rig::new();
    let bert = rig.telegram.user("Bert");
    let house = rig.house.with("CLAW_ALLOWED_CHATS", &format!("{},{}", rig.anna.id, bert.id));
    let rig = Rig { house, ..rig };
    let gateway = rig.start();
    bert.says(bert.private(), "write a.txt: x");
    rig.telegram.wait_for_button(bert.id, "Allow once");
    rig.telegram.fault(Fault::Hang).on("download").always();
    rig.anna.writes(rig.anna.private()).document("slow.bin", b"x").send();
    rig.telegram.wait_for_calls("download", 1);
    rig.anna.says(rig.anna.private(), "and this comes after it");

    let tap = bert.taps(bert.private(), "Allow once");
    rig.telegram.wait_answered(&tap);
    eventually("the call has run", || !rig.house.in_workspace("a.txt").is_empty());
    rig.anna.says(rig.anna.private(), "/stop");
    rig.telegram.wait_for_text(rig.anna.id, "Nothing is running");
    assert_eq!(rig.messages_in(rig.anna.id).len(), 0, "order within a chat stays");
    drop(gateway);
}

#[test]
fn a_server_of_ones_own_hands_over_files_by_their_path() {
    let rig = Rig::new();
    rig.house.write("claw.toml", "[telegram]\nfile_bytes_max = 1000\n");
    let disk = tempfile::tempdir().unwrap();
    rig.telegram.keeps_files_in(disk.path());
    let at = |number: u32| {
        disk.path().join(rig.telegram.token()).join(format!("documents/file_{number}.bin"))
    };
    let gateway = rig.start();
    let sends =
        |bytes: &[u8]| rig.anna.writes(rig.anna.private()).document("plan.bin", bytes).send();
    sends(b"the plan");
    rig.wait_messages(1);
    let inbox = rig.inbox();
    assert_eq!((inbox.len(), inbox[0].1.as_slice()), (1, b"the plan".as_slice()), "{inbox:?}");
    assert_eq!(rig.telegram.calls_of("download").len(), 0);

    // A link could lead anywhere.
    let secret = disk.path().join("secret");
    std::fs::write(&secret, "a key").unwrap();
    std::os::unix::fs::symlink(&secret, at(1)).unwrap();
    sends(b"x");
    let shown = disk.path().join("BOT-TOKEN/documents/file_1.bin");
    let told = rig.telegram.wait_for_text(rig.anna.id, "I did not get your document");
    let wanted =
        format!("put it at {}, and claw cannot read it there (it is a link)", shown.display());
    assert!(told.text.contains(&wanted), "{}", told.text);
    std::fs::write(at(2), [7; 1_001]).unwrap();
    sends(b"x");
    rig.telegram.wait_for_text(rig.anna.id, "it is larger than 1000 bytes");
    assert_eq!(rig.inbox().len(), 1);
    drop(gateway);
    rig.house.is_whole();
}
