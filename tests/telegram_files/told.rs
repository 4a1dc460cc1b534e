//! What the model is told in words: recordings, speech, places, and what a group said before.

use rustix::process::Signal;
use serde_json::json;

use crate::botapi::MediaKind;
use crate::program::eventually;
use crate::telegram_files::rig::{Rig, text};
use crate::wires::listening::Ears;

#[test]
fn a_kill_between_file_and_message_leaves_one_of_each() {
    let ears = Ears::start(&["", "pay the rent"]);
    let rig = Rig::new();
    rig.house.write(
        "claw.toml",
        &format!("[transcription]\nurl = \"{}\"\nmodel = \"whisper-x\"\n", ears.url),
    );
    let gateway = rig.start();
    rig.anna.writes(rig.anna.private()).voice(b"OggS speech").send();
    eventually("somebody listens", || ears.heard().len() == 1);
    rig.telegram.wait_all_confirmed();
    gateway.signal(Signal::KILL);
    drop(gateway);
    assert_eq!((rig.inbox().len(), rig.messages_in(rig.anna.id).len()), (1, 0));
    let gateway = rig.start();
    assert!(text(&rig.wait_messages(1)[0]).ends_with("pay the rent"));
    assert_eq!(
        (rig.inbox().len(), rig.telegram.calls_of("download").len()),
        (1, 1),
        "what is there is not fetched again"
    );
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
    rig.anna
        .writes(rig.anna.private())
        .holding("location", json!({"latitude": 52.5, "longitude": 13.4}))
        .send();
    let gateway = rig.start();
    let all: Vec<String> =
        rig.wait_messages(6).iter().map(|message| text(message).to_owned()).collect();
    for (said, expected) in
        all.iter().zip(["[audio file", "[video", "[video note", "[animation", "[voice message"])
    {
        assert!(said.contains(&format!("{expected} saved as inbox/")), "{said}");
    }
    assert!(all[4].contains(".ogg, 3 s, 11 bytes]"), "{}", all[4]);
    assert!(all[5].contains("[location: latitude 52.5, longitude 13.4]"), "{}", all[5]);
    assert_eq!(rig.inbox().len(), 5);
    drop(gateway);
}

#[test]
fn speech_becomes_text_where_it_is_configured() {
    let ears = Ears::start(&["pay the rent"]);
    let rig = Rig::new();
    rig.house.write(
        "claw.toml",
        &format!(
            "[transcription]\nurl = \"{}\"\nmodel = \"whisper-x\"\nkey = \"$EARS_KEY\"\n",
            ears.url
        ),
    );
    let house = rig.house.with("EARS_KEY", "ears-secret-4711");
    let rig = Rig { house, ..rig };
    let gateway = rig.start();
    rig.anna.writes(rig.anna.private()).voice(b"OggS speech").send();
    let message = &rig.wait_messages(1)[0];
    assert!(
        text(message).ends_with("[what was said, as a machine heard it]\npay the rent"),
        "{message}"
    );
    let heard = ears.heard();
    assert_eq!(heard[0].model, "whisper-x");
    assert_eq!(heard[0].authorization, "Bearer ears-secret-4711");
    assert!(heard[0].file_name.ends_with(".ogg"), "{:?}", heard[0]);
    assert_eq!(heard[0].bytes, b"OggS speech");

    // It has no second answer: that is said, and the message goes in.
    rig.anna.writes(rig.anna.private()).voice(b"OggS more").send();
    rig.telegram
        .wait_for_text(rig.anna.id, "no text of it: the transcription server said HTTP 500");
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
        assert_eq!(
            text(&messages[0]).matches("Bert: private matter").count(),
            quoted,
            "{}",
            text(&messages[0])
        );
        assert!(!text(&messages[0]).contains("private matter 1"), "of three the last two");
        assert!(
            text(&messages[0]).ends_with("Anna: @claw_test_bot what do you think?"),
            "{}",
            text(&messages[0])
        );
        assert_eq!(messages[0]["origin"], if quoted > 0 { "forwarded" } else { "owner" });
        assert!(
            !text(&messages[1]).contains("private matter"),
            "it was given once: {}",
            text(&messages[1])
        );
        assert_eq!(messages[1]["origin"], "owner");
        drop(gateway);
        let db = rig.house.db();
        let kept = "SELECT (SELECT count(*) FROM overheard) + (SELECT count(*) FROM updates WHERE body LIKE '%private%')";
        assert_eq!(
            db.query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap(),
            0,
            "nothing of it stays aside"
        );
    }
}
