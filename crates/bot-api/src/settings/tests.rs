//! What `[telegram]` and the environment mean together, and what `claw init` makes of them.

use std::path::Path;

use secrecy::ExposeSecret as _;

use claw_core::config::{self, Config, ConfigDraft, DoorSections, Overrides};

use super::*;

/// What is set in a home of this folder.
fn seen(dir: &Path, toml: Option<&str>, variables: &[(&str, &str)]) -> config::ExistingSettings {
    if let Some(toml) = toml {
        std::fs::write(dir.join("claw.toml"), toml).unwrap();
    }
    let home = [("CLAW_HOME", dir.to_str().unwrap())];
    let env = variables.iter().copied().chain(home).collect();
    config::ExistingSettings::load_from(env, &DoorSections(vec![&SECTION])).unwrap()
}

#[test]
fn claw_knows_of_a_bot_its_token_its_owners_and_where_its_chats_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let load = |variables: &[(&str, &str)]| {
        let home = [("CLAW_HOME", dir.path().to_str().unwrap())];
        let doors = DoorSections(vec![&SECTION]);
        let overrides = Overrides { doors, ..Overrides::default() };
        Config::load_from(variables.iter().copied().chain(home).collect(), overrides).unwrap()
    };
    let config = load(&[("TELEGRAM_BOT_TOKEN", "1:a-token"), ("CLAW_ALLOWED_CHATS", "7,-5")]);
    assert_eq!(config.chat_owners, ["telegram:7"]);
    assert_eq!(config.allowed_source.as_deref(), Some("CLAW_ALLOWED_CHATS"));
    assert!(config.has_bot() && config.bots[0].note.chat == Some(7));
    assert!(config.secrets.iter().any(|(_, value)| value.expose_secret() == "1:a-token"));
    let none = load(&[]);
    assert!(!none.has_bot() && none.bots.is_empty());
    assert_eq!(none.allowed_source.as_deref(), Some("claw.toml, telegram.allowed_chats"));
}

fn resolve(variables: &[(&str, &str)]) -> Result<Option<Telegram>, ConfigError> {
    TelegramSection::default().resolve(&variables.iter().copied().collect(), MAIN)
}

#[test]
fn without_a_token_there_is_no_door() {
    assert!(resolve(&[("CLAW_ALLOWED_CHATS", "1")]).unwrap().is_none());
}

#[test]
fn a_bot_that_nobody_may_talk_to_is_refused() {
    for chats in ["", " , ", "0"] {
        let error =
            resolve(&[("TELEGRAM_BOT_TOKEN", "1:a"), ("CLAW_ALLOWED_CHATS", chats)]).unwrap_err();
        assert!(error.to_string().contains("nobody may talk"), "{error}");
    }
    let error =
        resolve(&[("TELEGRAM_BOT_TOKEN", "1:a"), ("CLAW_ALLOWED_CHATS", "@me")]).unwrap_err();
    assert!(error.to_string().contains("`@me` is no numeric chat id"), "{error}");
}

#[test]
fn a_private_chat_is_an_owner_and_a_group_is_not() {
    let env = [
        ("TELEGRAM_BOT_TOKEN", "1:a"),
        ("CLAW_ALLOWED_CHATS", "7, -100123"),
        ("CLAW_TELEGRAM_API", "http://x/"),
    ];
    let telegram = resolve(&env).unwrap().unwrap();
    assert_eq!(telegram.owners.iter().copied().collect::<Vec<_>>(), [7]);
    assert_eq!(telegram.allowed_chats.len(), 2);
    assert_eq!(telegram.api, "http://x");
    let error = resolve(&[env[0], env[1], ("CLAW_TELEGRAM_API", "x")]).unwrap_err();
    assert!(error.to_string().contains("CLAW_TELEGRAM_API"), "{error}");
}

#[test]
fn the_first_owner_as_written_gets_what_needs_a_human() {
    let section = |text: &str| toml::from_str::<TelegramSection>(text);
    let telegram = |text: &str, chats: &str| {
        let env = [("TELEGRAM_BOT_TOKEN", "1:a"), ("CLAW_ALLOWED_CHATS", chats)];
        section(text).unwrap().resolve(&env.iter().copied().collect(), MAIN).map(Option::unwrap)
    };
    assert_eq!(telegram("", "-5, 9, 7").unwrap().notify_chat, Some(9));
    assert_eq!(telegram("owners = [3]", "-5").unwrap().notify_chat, Some(3));
    assert_eq!(telegram("", "-5").unwrap().notify_chat, None);
    assert_eq!(telegram("notify_chat = -5", "-5, 9").unwrap().notify_chat, Some(-5));
    assert!(
        telegram("notify_chat = 0", "9").unwrap_err().to_string().contains("telegram.notify_chat")
    );
    assert_eq!(telegram("pairing = \"off\"", "9").unwrap().pairing, Pairing::Off);
    assert!(!telegram("", "9").unwrap().console_questions);
    assert!(section("pairing = \"maybe\"").is_err() && section("pairings = \"off\"").is_err());
}

#[test]
fn a_sentence_names_what_the_setting_of_this_bot_comes_from() {
    let usual = [("TELEGRAM_BOT_TOKEN", "1:a"), ("CLAW_ALLOWED_CHATS", "1"), ("OWN", "2:b")];
    let of = |text: &str, agent: &str| {
        let section = toml::from_str::<TelegramSection>(text).unwrap();
        section.resolve(&usual.iter().copied().collect(), agent)
    };
    let main = of("", MAIN).unwrap().unwrap();
    assert_eq!(main.token_source, "TELEGRAM_BOT_TOKEN");
    assert_eq!(main.allowed_source, "CLAW_ALLOWED_CHATS");
    // Another agent reads neither of them.
    let other = of("token_from = ['OWN']\nallowed_chats = [7]", "mail").unwrap().unwrap();
    assert_eq!(other.token_source, "OWN");
    assert_eq!(other.allowed_source, "claw.toml, agents.mail.allowed_chats");
    let written = of("token = '3:c'\nallowed_chats = [7]", "mail").unwrap().unwrap();
    assert_eq!(written.token_source, "agents.mail.token in claw.toml");
    let error = of("token = '3:c'", "mail").unwrap_err().to_string();
    assert!(!error.contains("CLAW_ALLOWED_CHATS"), "{error}");
    let error = of("api = 'x'", MAIN).unwrap_err().to_string();
    assert!(error.contains("telegram.api") && !error.contains("CLAW_"), "{error}");
}

#[test]
fn a_number_outside_of_its_range_is_named() {
    let env: Env =
        [("TELEGRAM_BOT_TOKEN", "1:a"), ("CLAW_ALLOWED_CHATS", "1")].into_iter().collect();
    let resolve = |text: &str| toml::from_str::<TelegramSection>(text).unwrap().resolve(&env, MAIN);
    let usual = resolve("").unwrap().unwrap();
    assert_eq!((usual.file_bytes_max, usual.group_context_messages), (20 << 20, 0));
    for (text, key) in
        [("file_bytes_max = 0", "file_bytes_max"), ("group_context_messages = 51", "group_context")]
    {
        let error = resolve(text).unwrap_err().to_string();
        assert!(error.contains(key), "{error}");
    }
}

#[test]
fn with_those_who_may_talk_go_those_who_decide_and_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let before = "[telegram]\ntoken = \"1:a\"\nallowed_chats = [1]\nowners = [2]\nnotify_chat = 3\npairing = \"off\"\n";
    let seen_before = seen(dir.path(), Some(before), &[]);
    let bot = ExistingBot::of(&seen_before.doors).unwrap();
    assert_eq!((bot.further_owners(), bot.notify_chat()), ([2].as_slice(), Some(3)));
    let mut draft = ConfigDraft::of(&seen_before).unwrap();
    set_allowed_chats(&mut draft, &[42]).unwrap();
    draft.write(seen_before).unwrap();
    let text = std::fs::read_to_string(dir.path().join("claw.toml")).unwrap();
    assert_eq!(text, "[telegram]\ntoken = \"1:a\"\nallowed_chats = [42]\npairing = \"off\"\n");
}

#[test]
fn a_token_is_found_where_the_gateway_finds_it() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(
        dir.path().join("claw.toml"),
        "[telegram]\ntoken = \"1:c\"\ntoken_from = [\"OLD\", \"NEW\"]\n",
    )
    .unwrap();
    let found = |variables: &[(&str, &str)]| {
        let seen = seen(dir.path(), None, variables);
        let found = ExistingBot::of(&seen.doors).unwrap().bot_token().unwrap();
        (found.value.expose_secret().to_owned(), found.place.into_owned(), found.is_variable)
    };
    let told =
        |token: &str, place: &str, is_variable| (token.to_owned(), place.to_owned(), is_variable);
    assert_eq!(found(&[]), told("1:c", "`token` in claw.toml", false));
    assert_eq!(found(&[("NEW", "1:b\n")]), told("1:b", "NEW", true));
    assert_eq!(found(&[("NEW", "1:b"), ("OLD", "1:o")]), told("1:o", "OLD", true));
    assert_eq!(
        found(&[("NEW", "1:b"), ("TELEGRAM_BOT_TOKEN", "1:a")]),
        told("1:a", "TELEGRAM_BOT_TOKEN", true)
    );
}
