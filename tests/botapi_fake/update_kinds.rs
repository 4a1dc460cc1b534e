//! Everything that users do arrives as the kind of update that teloxide knows for it.

use serde_json::json;
use teloxide_core::prelude::*;
use teloxide_core::types::{
    AllowedUpdate, ChatMemberKind, MediaKind, MessageEntityKind, MessageKind, MessageOrigin,
    ReactionType,
};
use teloxide_core::types::{Message, UpdateKind, UserId};

use super::botapi::{Entity, InNameOf, MediaKind as Held};
use super::{start, updates};

async fn messages(bot: &Bot) -> Vec<Message> {
    let kinds = updates(bot).await.into_iter().map(|update| update.kind);
    kinds
        .map(
            |kind| {
                if let UpdateKind::Message(message) = kind { message } else { panic!("{kind:?}") }
            },
        )
        .collect()
}

async fn one(bot: &Bot) -> Message {
    messages(bot).await.pop().unwrap()
}

#[tokio::test]
async fn a_text_in_a_private_chat() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let said = anna.says(anna.private(), "hello");
    let message = one(&bot).await;
    assert_eq!(message.id.0, said.message);
    assert_eq!(message.text(), Some("hello"));
    assert!(message.chat.is_private());
    let from = message.from.unwrap();
    assert_eq!(
        (from.id, from.is_bot, from.username),
        (UserId(anna.id as u64), false, Some(anna.username.clone()))
    );
}

#[tokio::test]
async fn who_writes_in_the_name_of_a_group_or_of_a_channel_is_not_told_to_the_bot() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let group = api.supergroup("flat", &[&anna]);
    for whom in [InNameOf::Group, InNameOf::Channel] {
        anna.writes(group).in_name_of(whom).text("hello").send();
    }
    let messages = messages(&bot).await;
    let [anonymous, channel] = &messages[..] else { panic!("{messages:?}") };
    assert!(messages.iter().all(|message| message.from.as_ref().unwrap().is_bot));
    assert_eq!(anonymous.sender_chat.as_ref().unwrap().id, ChatId(group));
    assert!(channel.sender_chat.as_ref().unwrap().is_channel());
}

#[tokio::test]
async fn start_is_a_command_and_a_mention_is_a_mention() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    anna.starts();
    anna.writes(anna.private())
        .text("🦀 @claw_test_bot /new@claw_test_bot see https://a.example/b. ")
        .mention(&anna)
        .send();
    let messages = messages(&bot).await;
    assert_eq!(messages[0].parse_entities().unwrap()[0].kind(), &MessageEntityKind::BotCommand);
    let found = messages[1].parse_entities().unwrap();
    let texts: Vec<_> = found.iter().map(|entity| entity.text()).collect();
    assert_eq!(texts, ["@claw_test_bot", "/new@claw_test_bot", "https://a.example/b", "Anna"]);
    assert!(
        matches!(found[3].kind(), MessageEntityKind::TextMention { user } if user.first_name == "Anna")
    );
}

#[tokio::test]
async fn an_edit_a_reply_a_forward_and_formatting() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let first = anna.says(anna.private(), "one");
    anna.edits(&first, "two");
    anna.writes(anna.private())
        .text("bold")
        .entity(Entity::new("bold", 0, 4))
        .reply_to(first.message)
        .send();
    anna.writes(anna.private()).text("said long ago").forwarded_from("Bert").send();
    let updates = updates(&bot).await;
    let UpdateKind::EditedMessage(edited) = &updates[1].kind else { panic!("{updates:?}") };
    assert_eq!((edited.text(), edited.edit_date().is_some()), (Some("two"), true));
    let UpdateKind::Message(reply) = &updates[2].kind else { panic!("{updates:?}") };
    assert_eq!(reply.reply_to_message().unwrap().text(), Some("two"));
    assert_eq!(reply.entities().unwrap()[0].kind, MessageEntityKind::Bold);
    let UpdateKind::Message(forward) = &updates[3].kind else { panic!("{updates:?}") };
    let origin = forward.forward_origin().unwrap();
    assert!(
        matches!(origin, MessageOrigin::HiddenUser { sender_user_name, .. } if sender_user_name == "Bert")
    );
}

#[tokio::test]
async fn files_voice_and_albums() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    anna.writes(anna.private()).document("bill.pdf", b"%PDF").text("the bill").send();
    anna.writes(anna.private()).voice(b"OggS").send();
    let album = anna
        .writes(anna.private())
        .photo(b"\xff\xd8\xff1")
        .photo(b"\xff\xd8\xff2")
        .text("holiday")
        .send_album();
    assert_eq!(album.len(), 2);
    let messages = messages(&bot).await;
    let document = messages[0].document().unwrap();
    assert_eq!((document.file_name.as_deref(), document.file.size), (Some("bill.pdf"), 4));
    assert_eq!(messages[0].caption(), Some("the bill"));
    assert!(messages[1].voice().is_some());
    assert_eq!(messages[2].photo().unwrap().len(), 2);
    assert_eq!((messages[2].caption(), messages[3].caption()), (Some("holiday"), None));
    assert!(messages[2].media_group_id().is_some());
    assert_eq!(messages[2].media_group_id(), messages[3].media_group_id());
    let late = anna.writes(anna.private()).photo(b"\xff\xd8\xff3").in_album(&album[0]).send();
    let group = |id| api.message(anna.id, id).album;
    assert_eq!(group(late.message), group(album[0].message));
    let MessageKind::Common(common) = &messages[3].kind else { panic!() };
    assert!(matches!(common.media_kind, MediaKind::Photo(_)));
}

#[tokio::test]
async fn recordings_and_what_is_no_file() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    for kind in [Held::Audio, Held::Video, Held::VideoNote, Held::Animation] {
        anna.writes(anna.private()).recording(kind, "a.mp4", b"bytes").send();
    }
    let sticker = json!({"file_id": "s", "file_unique_id": "s", "file_size": 1, "type": "regular", "width": 512, "height": 512,
        "is_animated": false, "is_video": false, "emoji": "🦀"});
    let poll = json!({"id": "1", "question": "When?", "options": [{"text": "now", "voter_count": 0}],
        "total_voter_count": 0, "is_closed": false, "is_anonymous": true, "type": "regular",
        "allows_multiple_answers": false});
    for (field, content) in [
        ("sticker", sticker),
        ("location", json!({"latitude": 52.5, "longitude": 13.4})),
        ("contact", json!({"phone_number": "+49", "first_name": "Bo"})),
        ("poll", poll),
    ] {
        anna.writes(anna.private()).holding(field, content).send();
    }
    let kinds = messages(&bot).await.into_iter().map(|message| {
        let MessageKind::Common(common) = message.kind else { panic!("{message:?}") };
        common.media_kind
    });
    let names: Vec<String> =
        kinds.map(|kind| format!("{kind:?}").split('(').next().unwrap().to_owned()).collect();
    assert_eq!(
        names,
        ["Audio", "Video", "VideoNote", "Animation", "Sticker", "Location", "Contact", "Poll"]
    );
}

#[tokio::test]
async fn groups_topics_and_threads() {
    let (api, bot) = start();
    let (anna, bert) = (api.user("Anna"), api.user("Bert"));
    let group = api.group("Family", &[&anna, &bert]);
    let large = api.supergroup("Village", &[&anna, &bert]);
    let forum = api.forum("Work", &[&anna]);
    anna.says(group, "in a group");
    let first = anna.says(large, "in a supergroup");
    bert.writes(large).text("a reply").reply_to(first.message).send();
    let topic = anna.opens_topic(forum, "Bills");
    anna.says(topic, "in a topic");
    anna.says(forum, "in general");
    let messages = messages(&bot).await;
    assert!(messages[0].chat.is_group() && messages[1].chat.is_supergroup());
    assert_eq!(first.message, 1, "a supergroup counts by itself");
    assert_eq!(messages[2].thread_id.map(|id| id.0.0), Some(first.message), "a reply is a thread");
    assert!(!messages[2].is_topic_message);
    assert_eq!(messages[3].forum_topic_created().unwrap().name, "Bills");
    assert_eq!(messages[4].thread_id.map(|id| id.0.0), topic.topic);
    assert!(messages[4].is_topic_message);
    assert!(messages[4].reply_to_message().unwrap().forum_topic_created().is_some());
    assert_eq!(messages[5].thread_id, None);
}

#[tokio::test]
async fn privacy_mode_hides_what_is_not_meant_for_the_bot() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let group = api.group("Family", &[&anna]);
    api.privacy_mode(true);
    assert!(!bot.get_me().await.unwrap().can_read_all_group_messages);
    let own = bot.send_message(ChatId(group), "I am here").await.unwrap();
    assert_eq!(anna.says(group, "not for a bot").update, None);
    assert_eq!(anna.says(group, "/new@other_bot").update, None);
    assert!(anna.says(group, "/new").update.is_some());
    assert!(anna.says(group, "hey @claw_test_bot").update.is_some());
    assert!(anna.writes(group).text("yes").reply_to(own.id.0).send().update.is_some());
    assert!(anna.says(anna.private(), "in private").update.is_some());
}

#[tokio::test]
async fn blocking_and_kicking() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let group = api.supergroup("Village", &[&anna]);
    anna.starts();
    anna.blocks();
    api.kick(group, &anna);
    let updates = updates(&bot).await;
    for update in &updates[1..] {
        let UpdateKind::MyChatMember(changed) = &update.kind else { panic!("{update:?}") };
        assert!(matches!(changed.new_chat_member.kind, ChatMemberKind::Banned(_)));
    }
    assert_eq!(anna.says(group, "without the bot").update, None);
}

#[tokio::test]
async fn malformed_and_unknown_updates_keep_their_ids() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    let ids = [
        api.push_malformed_update().unwrap(),
        api.push_unknown_update(),
        anna.says(anna.private(), "after them").update.unwrap(),
    ];
    let updates = updates(&bot).await;
    assert_eq!(updates.iter().map(|update| update.id.0 as i32).collect::<Vec<_>>(), ids);
    assert!(
        matches!(&updates[0].kind, UpdateKind::Error(value) if value["message"]["text"] == "no chat, no date")
    );
    assert!(
        matches!(&updates[1].kind, UpdateKind::Error(value) if value.get("telepathic_message").is_some())
    );
    assert!(matches!(updates[2].kind, UpdateKind::Message(_)));
}

#[tokio::test]
async fn kinds_that_are_not_allowed_are_never_queued_and_the_choice_is_remembered() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    assert_eq!(api.push_update("message_reaction", json!({})), None, "only on request");
    bot.get_updates().allowed_updates([AllowedUpdate::Message]).await.unwrap();
    let said = anna.says(anna.private(), "one");
    assert_eq!(anna.edits(&said, "two"), None);
    bot.get_updates().await.unwrap();
    assert_eq!(anna.edits(&said, "three"), None, "remembered, though the last call did not say it");
    bot.get_updates().allowed_updates([]).await.unwrap();
    assert!(anna.edits(&said, "four").is_some(), "an empty list means the usual kinds");
    bot.get_updates().allowed_updates([AllowedUpdate::MessageReaction]).await.unwrap();
    assert!(api.push_update("message_reaction", json!({})).is_some());
    api.push_unknown_update();
}

/// Bot API, "Update", `message_reaction`: asked for by name, in groups told to administrators.
#[tokio::test]
async fn a_reaction_comes_to_who_asked_for_it_and_names_whoever_is_not_anonymous() {
    let (api, bot) = start();
    let anna = api.user("Anna");
    anna.starts();
    let group = api.supergroup("flat", &[&anna]);
    let said = anna.says(group, "hello");
    let sent = bot.send_message(ChatId(anna.id), "May I?").await.unwrap();
    assert_eq!(anna.reacts(anna.private(), sent.id.0, &["👍"]), None, "nobody asked for it");
    bot.get_updates()
        .offset(-1)
        .allowed_updates([AllowedUpdate::Message, AllowedUpdate::MessageReaction])
        .await
        .unwrap();
    let heard = anna.reacts(anna.private(), sent.id.0, &["👎", "🔥"]);
    assert!(heard.is_some());
    assert_eq!(anna.reacts(anna.private(), sent.id.0, &["👎", "🔥"]), None, "nothing has changed");
    assert_eq!(anna.reacts(group, said.message, &["👍"]), None, "the bot is no administrator");
    api.makes_admin(group);
    anna.reacts_anonymously(group, said.message, &["👎"]).unwrap();
    let mut kinds = updates(&bot).await.into_iter().rev().map(|update| update.kind);
    let mut next = || match kinds.next().unwrap() {
        UpdateKind::MessageReaction(reaction) => reaction,
        other => panic!("{other:?}"),
    };
    let (in_group, in_private) = (next(), next());
    let emoji = |all: &[ReactionType]| -> Vec<String> {
        all.iter().map(|one| one.emoji().unwrap().clone()).collect()
    };
    assert_eq!(in_private.user().unwrap().id, UserId(anna.id as u64));
    assert_eq!((in_private.message_id, in_private.chat.id), (sent.id, ChatId(anna.id)));
    assert_eq!(emoji(&in_private.old_reaction), ["👍"]);
    assert_eq!(emoji(&in_private.new_reaction), ["👎", "🔥"]);
    assert!(in_group.user().is_none() && in_group.chat.id == ChatId(group), "{in_group:?}");
}
