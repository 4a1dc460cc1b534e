//! A door of tests, `[chat]`, for whatever reads settings; and what every section of a door is
//! promised.

use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use super::*;
use crate::config::tests::Rig;
use crate::config::{Config, Overrides};

/// `[chat]`
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(in crate::config) struct Chat {
    pub(in crate::config) token: Option<String>,
    pub(in crate::config) token_from: Vec<String>,
    pub(in crate::config) allowed_chats: Vec<i64>,
    pub(in crate::config) owners: Vec<i64>,
    pub(in crate::config) notify_chat: Option<i64>,
    pub(in crate::config) stream: Option<bool>,
}

static CHAT: DoorSection = DoorSection {
    name: "chat",
    own_keys: &["token", "token_from", "allowed_chats", "owners", "notify_chat"],
    in_agent: true,
    secret_variables: &["token_from"],
    bot_help: Some(BotHelp { set_up: "set CHAT_TOKEN", tokens_from: "the post office" }),
    parse: |texts| texts.read::<Chat>("chat").map(drop),
    note: |texts| {
        let chat = Chat::of(texts);
        let Some(token) = chat.token(texts.env()) else {
            let none = format!("none of {} is set", chat.token_from.join(", "));
            let token = Err(none).map_err(|why| {
                if chat.token_from.is_empty() { "no token".to_owned() } else { why }
            });
            let meant = !(chat.token_from.is_empty() && chat.allowed_chats.is_empty());
            let bot = meant.then_some(BotNote { token, chat: None });
            return Ok(DoorNotes { bot, ..DoorNotes::default() });
        };
        if chat.allowed_chats.is_empty() {
            let key = texts.own_key(&CHAT, "allowed_chats");
            return Err(ConfigError::new(key, "nobody may talk", "Name somebody there"));
        }
        let token = SecretString::from(token);
        Ok(DoorNotes {
            secrets: vec![(texts.own_key(&CHAT, "token"), token.clone())],
            owners: chat.allowed_chats.iter().map(|id| format!("chat:{id}")).collect(),
            allowed_source: Some(texts.own_key(&CHAT, "allowed_chats")),
            bot: Some(BotNote { token: Ok(token), chat: chat.notify_chat }),
        })
    },
};

impl Chat {
    pub(in crate::config) fn of(texts: &DoorTexts) -> Self {
        texts.read("chat").unwrap()
    }

    fn token(&self, env: &Env) -> Option<String> {
        let listed = self.token_from.iter().find_map(|name| env.get(name));
        listed.map(str::to_owned).or_else(|| self.token.clone())
    }
}

/// The sections of a program with that door.
pub(in crate::config) fn with_chat() -> DoorSections {
    DoorSections(vec![&CHAT])
}

fn load(text: &str) -> Result<Config, ConfigError> {
    Rig::new(text).load_with(&[], Overrides { doors: with_chat(), ..Overrides::default() })
}

#[test]
fn a_door_reads_its_own_section_and_the_rest_of_claw_knows_what_it_notes() {
    let config =
        load("[chat]\ntoken = \"7:secret\"\nallowed_chats = [5]\nnotify_chat = 6\n").unwrap();
    assert_eq!(Chat::of(&config.doors).allowed_chats, [5]);
    assert_eq!(config.chat_owners, ["chat:5"]);
    assert_eq!(config.allowed_source.as_deref(), Some("chat.allowed_chats"));
    assert!(config.has_bot() && config.bots_missing().next().is_none());
    assert_eq!((config.bots[0].door.name, config.bots[0].note.chat), ("chat", Some(6)));
    let secrets: Vec<_> =
        config.secrets.iter().map(|(name, value)| (name.as_str(), value.expose_secret())).collect();
    assert!(secrets.contains(&("chat.token", "7:secret")), "{secrets:?}");
    assert!(!format!("{config:?}").contains("[chat]"), "a file with secrets is not printed");
    let none = load("").unwrap();
    assert!(none.bots.is_empty() && none.chat_owners.is_empty());
}

#[test]
fn a_mistake_in_the_section_of_a_door_names_its_line_and_a_next_step() {
    for (text, place, part) in [
        ("[chat]\n\ntokn = \"a\"\n", ", line 3", "did you mean `token`?"),
        ("[chat]\nallowed_chats = 5\n", ", line 2", "`allowed_chats` takes a list in brackets"),
        ("[chat]\ntoken = \"$NOT_SET\"\n", ", line 2", "NOT_SET, which is not set"),
        ("\n[chta]\n", ", line 2", "did you mean `chat`?"),
        ("[limits]\nchat = 1\n", ", line 2", "`chat` is not a key here"),
        ("chat = 5\n", ", line 1", ""),
        ("[chat]\ntoken = \"7:a\"\n", "chat.allowed_chats", "nobody may talk"),
    ] {
        let error = load(text).unwrap_err();
        assert!(error.place.ends_with(place), "{text}: {error}");
        assert!(error.message.contains(part), "{text}: {error}");
        assert!(
            !error.message.contains("did you mean `chat`?") || text.contains("chta"),
            "{error}"
        );
    }
}

#[test]
fn a_section_of_no_door_of_this_program_is_refused() {
    let error = Rig::new("[chat]\n").load_with(&[], Overrides::default()).unwrap_err();
    assert!(error.message.contains("`chat` is not a key here"), "{error}");
}
