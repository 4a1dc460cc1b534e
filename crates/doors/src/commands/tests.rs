//! How lines are read, and what the table of commands keeps to.

use super::*;

fn command(command: ChatCommand, words: &str) -> Parsed {
    Parsed::Command(command, words.to_owned())
}

fn typed(line: &str) -> Parsed {
    parse(line, DoorKind::Console)
}

#[test]
fn names_and_aliases_are_commands() {
    assert_eq!(typed("/new"), command(ChatCommand::New, ""));
    assert_eq!(typed("/RESET "), command(ChatCommand::New, ""));
    for known in COMMANDS {
        let door = known.only_at.unwrap_or(DoorKind::Console);
        assert_eq!(parse(known.name, door), command(known.command, ""));
    }
}

#[test]
fn a_command_of_another_door_is_named_with_what_does_the_same_here() {
    let said = |parsed| if let Parsed::Unknown(text) = parsed { text } else { String::new() };
    let here = said(typed("/here off"));
    assert!(here.contains("Telegram") && here.contains("-C FOLDER"), "{here}");
    let quit = said(parse_for_bot("/quit", "b"));
    assert!(quit.contains("for the console"), "{quit}");
}

#[test]
fn some_take_words_and_some_do_not() {
    assert_eq!(typed("/panic  off "), command(ChatCommand::Panic, "off"));
    assert_eq!(typed("/undo files 12 yes"), command(ChatCommand::UndoFiles, "12 yes"));
    assert_eq!(typed("/undo FILES"), command(ChatCommand::UndoFiles, ""));
    assert!(matches!(typed("/undo it"), Parsed::Unknown(_)));
    assert_eq!(typed("/grants revoke 3"), command(ChatCommand::Grants, "revoke 3"));
    assert_eq!(typed("/stop JOBS"), command(ChatCommand::StopJobs, ""));
    for odd in ["/stop it", "/stop jobs 3"] {
        assert!(
            matches!(typed(odd), Parsed::Unknown(text) if text.contains("/stop jobs")),
            "{odd}"
        );
    }
    assert!(
        matches!(typed("/usage it"), Parsed::Unknown(text) if text.contains("start it with a space"))
    );
    assert!(
        matches!(parse_for_bot("/usage it", "b"), Parsed::Unknown(text) if text.contains("Send /usage alone"))
    );
}

#[test]
fn a_path_or_an_indented_slash_is_a_message() {
    for message in ["/etc/hosts is wrong", " /new", "see /new", "", "/new\nand more"] {
        assert_eq!(typed(message), Parsed::Message, "{message:?}");
    }
}

#[test]
fn a_slip_names_the_closest() {
    let Parsed::Foreign(text) = typed("/stpo") else { panic!() };
    assert_eq!(text, "There is no command /stpo. Did you mean /stop?");
    assert!(matches!(typed("/frobnicate"), Parsed::Foreign(text) if text.contains("/help")));
}

#[test]
fn a_command_may_name_its_bot() {
    let here = |text| parse_for_bot(text, "@My_bot");
    assert_eq!(here("/status"), command(ChatCommand::Status, ""));
    assert_eq!(here("/status@my_Bot"), command(ChatCommand::Status, ""));
    assert_eq!(here("/panic@my_bot off"), command(ChatCommand::Panic, "off"));
    assert_eq!(here("/status@other_bot"), Parsed::NotForUs);
    assert_eq!(here("/whatever@other_bot you like"), Parsed::NotForUs);
    assert_eq!(here("write to me@other_bot"), Parsed::Message);
    assert!(
        matches!(here("/sttaus@my_bot"), Parsed::Foreign(text) if text.ends_with("Did you mean /status?"))
    );
}

#[test]
fn only_the_console_can_be_left() {
    assert_eq!(typed("/quit"), command(ChatCommand::Quit, ""));
    assert!(matches!(parse_for_bot("/quit", "b"), Parsed::Unknown(_)));
    assert!(
        help_markdown(DoorKind::Console).contains("/quit")
            && !help_markdown(DoorKind::Chat).contains("/quit")
    );
}

/// What `setMyCommands` of the Bot API takes: 1 to 32 of a-z, 0-9 and `_`, and a text of 1 to
/// 256 characters.
#[test]
fn every_name_fits_a_messengers_menu() {
    for known in at(DoorKind::Chat) {
        let name = known.name.strip_prefix('/').unwrap();
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase()) && (1..=32).contains(&name.len()),
            "{name}"
        );
        assert!((1..=256).contains(&known.help.chars().count()), "{name}");
    }
}

#[test]
fn completion_knows_every_name() {
    assert_eq!(completions("/sto"), ["/stop"]);
    assert_eq!(completions("/st"), ["/stop", "/status", "/staged"]);
    assert_eq!(completions("/u"), ["/usage", "/undo"]);
    assert!(completions("st").is_empty());
    assert_eq!(completions("/").len(), 29);
}

#[test]
fn what_is_nearly_a_command_of_any_door_is_known_as_a_slip() {
    for (line, command) in
        [("/stopp", "/stop"), ("/panik", "/panic"), (" /STOPP@bot x".trim(), "/stop")]
    {
        assert_eq!(near(line), Some(command), "{line}");
    }
    assert_eq!(near("/code_review x"), None);
    assert_eq!(near("/docs:stopp"), None);
}
