//! What updates are read as: messages with all that they hold, thumbs, and what is nothing.

use serde_json::{Value, json};

use super::*;

fn me() -> Me {
    Me { id: 77, username: "clawbot".into() }
}

fn message(more: Value) -> Value {
    let mut message = json!({
        "message_id": 5, "date": 1_700_000_000, "text": "hello",
        "from": {"id": 7, "is_bot": false, "first_name": "Ann", "last_name": "Lee"},
        "chat": {"id": 7, "type": "private", "first_name": "Ann"}
    });
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"update_id": 1, "message": message})
}

fn said(update: &Value) -> ChatMessage {
    match read(&update.to_string(), &me()) {
        Incoming::Message(said) => *said,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_private_message_is_read() {
    let said = said(&message(json!({})));
    assert_eq!(
        (said.user, said.name.as_str(), said.text.as_str(), said.private),
        (7, "Ann Lee", "hello", true)
    );
    assert_eq!(said.place, Place { bot: 77, chat: 7, thread: None });
}

#[test]
fn a_reply_brings_what_it_replies_to() {
    let to = json!({"message_id": 3, "date": 1, "text": "earlier", "chat": {"id": 7, "type": "private", "first_name": "A"},
                    "from": {"id": 77, "is_bot": true, "first_name": "claw", "username": "clawbot"}});
    let said = said(&message(json!({"reply_to_message": to})));
    assert_eq!(
        said.reply,
        Some(Replied {
            id: 3,
            by: Author::Bot,
            text: "earlier".into(),
            is_marked: false,
            file: None,
            words: None
        })
    );
    assert!(said.addressed, "a reply to the bot is for the bot");
}

#[test]
fn whoever_passes_a_message_on_has_not_written_it() {
    let chat = json!({"id": -5, "type": "supergroup", "title": "g"});
    let by = |user: i64, more: Value| {
        let mut to = json!({"message_id": 3, "date": 1, "text": "earlier", "chat": chat,
            "from": {"id": user, "is_bot": false, "first_name": "A"}});
        to.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        said(&message(json!({"chat": chat, "reply_to_message": to}))).reply.unwrap().by
    };
    assert_eq!((by(7, json!({})), by(8, json!({}))), (Author::Writer, Author::Another));
    let from = json!({"type": "hidden_user", "date": 1, "sender_user_name": "Bo"});
    assert_eq!(by(7, json!({"forward_origin": from})), Author::Another);
}

#[test]
fn a_group_message_is_for_the_bot_when_it_names_it() {
    let group = json!({"id": -5, "type": "supergroup", "title": "g"});
    for (text, addressed) in
        [("@ClawBot, hi", true), ("hi @clawbot", true), ("@clawbot2 hi", false), ("hi", false)]
    {
        assert_eq!(
            said(&message(json!({"chat": group, "text": text}))).addressed,
            addressed,
            "{text}"
        );
    }
    let topic =
        said(&message(json!({"chat": group, "message_thread_id": 9, "is_topic_message": true})));
    assert_eq!(topic.place.thread, Some(9));
    assert_eq!(said(&message(json!({"chat": group, "message_thread_id": 9}))).place.thread, None);
}

#[test]
fn a_photo_is_its_largest_size_and_an_album_is_joined() {
    let size = |id: &str, width: u32| json!({"file_id": id, "file_unique_id": id, "file_size": 10, "width": width, "height": 10});
    let part = |caption: &str, id: &str| {
        let photo = json!([size("small", 90), size(id, 1280), size("middle", 320)]);
        let mut update =
            message(json!({"photo": photo, "caption": caption, "media_group_id": "9"}));
        update["message"].as_object_mut().unwrap().remove("text");
        said(&update)
    };
    let (mut first, second) = (part("two of them", "a"), part("", "b"));
    assert_eq!((first.files[0].id.as_str(), first.files[0].pixels), ("a", Some((1280, 10))));
    assert_eq!(first.album.as_deref(), Some("9"));
    first.join(second);
    assert_eq!((first.text.as_str(), first.files.len()), ("two of them", 2));
}

#[test]
fn what_is_no_file_is_told_in_words() {
    let place = json!({"latitude": 52.5, "longitude": 13.4});
    for (more, words) in [
        (json!({"location": place}), "[location: latitude 52.5, longitude 13.4]"),
        (
            json!({"location": place, "venue": {"location": place, "title": "Cafe", "address": "Street 1"}}),
            "[place: Cafe, Street 1, latitude 52.5, longitude 13.4]",
        ),
        (json!({"contact": {"phone_number": "+49", "first_name": "Bo"}}), "[contact: Bo, +49]"),
    ] {
        let mut update = message(more);
        update["message"].as_object_mut().unwrap().remove("text");
        assert_eq!(said(&update).words.as_deref(), Some(words));
    }
}

#[test]
fn a_thumb_counts_when_it_comes_and_under_a_name() {
    let emoji = |all: &[&str]| -> Vec<Value> {
        all.iter().map(|one| json!({"type": "emoji", "emoji": one})).collect()
    };
    let read_of = |old: &[&str], new: &[&str], actor: (&str, Value)| {
        let mut reaction = json!({
            "chat": {"id": -5, "type": "supergroup", "title": "g"}, "message_id": 9,
            "date": 1_700_000_000, "old_reaction": emoji(old), "new_reaction": emoji(new),
        });
        reaction[actor.0] = actor.1;
        read(&json!({"update_id": 1, "message_reaction": reaction}).to_string(), &me())
    };
    let ann = || ("user", json!({"id": 7, "is_bot": false, "first_name": "Ann"}));
    let thumb = |nod| Incoming::Reaction(Reacted { user: 7, chat: -5, message: 9, nod });
    assert_eq!(read_of(&[], &["👍"], ann()), thumb(Nod::Yes));
    assert_eq!(read_of(&["👍"], &["👎"], ann()), thumb(Nod::No));
    assert_eq!(read_of(&["👍", "👎"], &["👍"], ann()), Incoming::Nothing("reaction"));
    for (old, new) in
        [(&["👍"][..], &[][..]), (&["👍"], &["👍", "🔥"]), (&[], &["👍", "👎"]), (&[], &["👌"])]
    {
        assert_eq!(read_of(old, new, ann()), Incoming::Nothing("reaction"), "{old:?} {new:?}");
    }
    let group = ("actor_chat", json!({"id": -5, "type": "supergroup", "title": "g"}));
    assert_eq!(read_of(&[], &["👍"], group), Incoming::Nothing("reaction of nobody"));
}

#[test]
fn what_nobody_knows_is_nothing() {
    assert_eq!(
        read(&json!({"update_id": 1, "telepathic_message": {}}).to_string(), &me()),
        Incoming::Nothing("unknown")
    );
    assert_eq!(read(&json!({"nothing": 1}).to_string(), &me()), Incoming::Nothing("unreadable"));
    assert_eq!(
        read(&json!({"update_id": 2, "message": {"text": 5}}).to_string(), &me()),
        Incoming::Nothing("unknown")
    );
}

/// What `teloxide-core` does not read, and claw makes no use of.
fn unknown_parts() -> [(&'static str, Value); 4] {
    let date = json!([{"type": "date_time", "offset": 0, "length": 2, "unix_time": 5}]);
    let link =
        json!([{"type": "text_link", "offset": 0, "length": 2, "url": "http://1.2.3.256/x"}]);
    let by = json!({"type": "hidden_user", "date": 1, "sender_user_name": "Bo"});
    let button = json!({"inline_keyboard": [[{"text": "x", "url": "http://1.2.3.256/x"}]]});
    [
        ("entities", date),
        ("entities", link),
        ("external_reply", json!({"origin": by})),
        ("reply_markup", button),
    ]
}

#[test]
fn a_message_is_read_whatever_its_formatting_is_and_wherever_it_replies_to() {
    let group = json!({"id": -5, "type": "supergroup", "title": "g"});
    let bots = json!({"message_id": 3, "date": 1, "text": "earlier", "chat": group,
        "entities": [{"type": "date_time", "offset": 0, "length": 2}],
        "from": {"id": 77, "is_bot": true, "first_name": "claw", "username": "clawbot"}});
    let whole = json!({"chat": group, "message_thread_id": 9, "is_topic_message": true,
        "text": "hello @clawbot", "forward_origin":
        {"type": "hidden_user", "date": 1, "sender_user_name": "Bo"}});
    let plain = said(&message(whole.clone()));
    assert!(plain.addressed && plain.forwarded && plain.place.thread == Some(9));
    for (field, content) in unknown_parts() {
        let mut update = message(whole.clone());
        update["message"][field] = content;
        let elsewhere = (field == "external_reply").then(String::new);
        assert_eq!(said(&update), ChatMessage { elsewhere, ..plain.clone() }, "{update}");
        let edited = json!({"update_id": 1, "edited_message": update["message"]});
        assert_eq!((said(&edited).edited, said(&edited).text), (true, plain.text.clone()));
        // As before, whoever names nobody speaks to others, and a reply to the bot is for it.
        update["message"]["text"] = "hello".into();
        assert!(!said(&update).addressed, "{update}");
        update["message"]["reply_to_message"] = bots.clone();
        let reply = said(&update);
        assert!(reply.addressed, "{update}");
        assert_eq!(reply.reply.map(|to| (to.id, to.text)), Some((3, "earlier".into())));
    }
    // Alone, the message that is replied to is no reason to lose its text.
    let reply = said(&message(json!({"chat": group, "reply_to_message": bots})));
    assert_eq!(reply.reply.map(|to| to.text).as_deref(), Some("earlier"));
}

#[test]
fn a_caption_that_cannot_be_read_loses_neither_file_nor_album() {
    let size =
        json!({"file_id": "a", "file_unique_id": "b", "file_size": 10, "width": 9, "height": 9});
    let mut update = message(json!({"photo": [size], "media_group_id": "9", "caption": "at nine",
        "caption_entities": [{"type": "date_time", "offset": 3, "length": 4}]}));
    update["message"].as_object_mut().unwrap().remove("text");
    let photo = said(&update);
    assert_eq!((photo.text.as_str(), photo.album.as_deref()), ("at nine", Some("9")));
    assert_eq!((photo.files[0].id.as_str(), photo.files[0].message), ("a", 5));
}

#[test]
fn a_notice_of_the_service_stays_one() {
    let by = json!({"id": 7, "is_bot": false, "first_name": "Ann"});
    let pinned = json!({"message_id": 3, "date": 1, "text": "at nine",
        "entities": [{"type": "date_time", "offset": 3, "length": 4}],
        "chat": {"id": 7, "type": "private", "first_name": "Ann"}, "from": by});
    for notice in [json!({"pinned_message": pinned}), json!({"of_a_later_year": {"entities": []}})]
    {
        let mut update = message(notice);
        update["message"].as_object_mut().unwrap().remove("text");
        assert_eq!(read(&update.to_string(), &me()), Incoming::Nothing("service"), "{update}");
    }
    // Who wrote a forwarded message decides what it may do, so an origin that cannot be read stays.
    let origin = json!({"forward_origin": {"type": "of_a_later_year"}, "entities": []});
    assert_eq!(read(&message(origin).to_string(), &me()), Incoming::Nothing("service"));
}

#[test]
fn a_quote_is_the_part_that_was_marked_or_all_that_is_known() {
    let to = json!({"message_id": 3, "date": 1, "text": "long, with the tail",
        "chat": {"id": 7, "type": "private", "first_name": "A"}});
    let of = |more: Value| {
        let msg = said(&message(more));
        (msg.reply.map(|to| (to.text, to.is_marked)), msg.elsewhere)
    };
    let marked = json!({"text": "the tail", "position": 11, "is_manual": true});
    let whole = Some(("long, with the tail".to_owned(), false));
    assert_eq!(
        of(json!({"reply_to_message": to, "quote": marked})),
        (Some(("the tail".into(), true)), None)
    );
    let by_server = json!({"text": "long", "position": 0});
    assert_eq!(of(json!({"reply_to_message": to, "quote": by_server})), (whole.clone(), None));
    let origin = json!({"type": "hidden_user", "date": 1, "sender_user_name": "Bo"});
    let elsewhere = json!({"origin": origin, "message_id": 4,
        "photo": [{"file_id": "a", "file_unique_id": "b", "width": 9, "height": 9}]});
    for quote in [&marked, &by_server] {
        let (reply, quoted) = of(json!({"external_reply": elsewhere, "quote": quote}));
        assert_eq!((reply, quoted.as_deref()), (None, quote["text"].as_str()));
    }
    // In a topic everything replies to the topic's beginning, too.
    assert_eq!(
        of(json!({"reply_to_message": to, "external_reply": elsewhere, "quote": marked})),
        (whole, Some("the tail".into()))
    );
}
