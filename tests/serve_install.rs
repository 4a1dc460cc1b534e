//! `claw serve --install` and `--print-config`: what is written into a client's own file, what is
//! kept of it, and what is left alone.
#![expect(clippy::unwrap_used, reason = "a test's helpers may fail loudly")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::program::House;
use crate::pty::Pty;

/// Every client with its file below the home, on this system.
pub fn clients() -> Vec<(&'static str, &'static str)> {
    let settings =
        if cfg!(target_os = "macos") { "Library/Application Support" } else { ".config" };
    let below = |path: &'static str| -> &'static str { format!("{settings}/{path}").leak() };
    vec![
        ("claude-desktop", below("Claude/claude_desktop_config.json")),
        ("claude-code", ".claude.json"),
        ("vscode", below("Code/User/mcp.json")),
        ("cursor", ".cursor/mcp.json"),
        ("zed", ".config/zed/settings.json"),
        ("codex", ".codex/config.toml"),
    ]
}

pub fn file(house: &House, path: &str) -> PathBuf {
    let file = house.user_home().join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    file
}

fn cursor(text: &str) -> (House, PathBuf) {
    let house = House::new();
    let file = file(&house, ".cursor/mcp.json");
    fs::write(&file, text).unwrap();
    (house, file)
}

#[test]
fn each_client_gets_an_entry_that_starts_this_program() {
    for (client, path) in clients() {
        let house = House::new();
        let file = file(&house, path);
        let printed = house.claw(&["serve", "--print-config", client]).expect(0);
        assert!(printed.err.contains(file.to_str().unwrap()), "{printed:?}");
        assert!(!file.exists(), "printing has written");
        let told = house.claw(&["serve", "--install", client]).expect(3);
        assert!(told.out.contains("\"serve\"") && !file.exists(), "{told:?}");
        house.claw(&["serve", "--install", client, "--yes"]).expect(0);
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.trim(), printed.out.trim(), "{client}");
        let program = claw_test_kit::claw_exe();
        assert!(text.contains(program) && text.contains(client), "{text}");
        let again = house.claw(&["serve", "--install", client, "--yes"]).expect(0);
        assert!(again.out.contains("in exactly these words"), "{again:?}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
}

#[test]
fn what_else_stands_in_the_file_stays_and_lies_beside_it_as_it_was() {
    let before = "// my servers\n{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"o\"}, // kept\n  }\n}\n";
    let (house, file) = cursor(before);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let done = house.claw(&["serve", "--install", "cursor", "--yes"]).expect(0);
    let copy = file.with_file_name("mcp.json.before-claw");
    assert!(done.out.contains(copy.to_str().unwrap()), "{done:?}");
    assert_eq!(fs::read_to_string(&copy).unwrap(), before);
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    let after = fs::read_to_string(&file).unwrap();
    assert!(after.contains("// my servers") && after.contains("// kept"), "{after}");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
}

#[test]
fn an_entry_with_other_words_is_shown_and_overwritten_by_a_yes_at_a_terminal_alone() {
    let entry = json!({"mcpServers": {"claw": {"command": "/old", "env": {"KEY": "secret-1"}}}});
    let (house, file) = cursor(&entry.to_string());
    let told = house.claw(&["serve", "--install", "cursor", "--yes"]).expect(2);
    assert!(told.out.contains("/old") && told.err.contains("overwrites none"), "{told:?}");
    assert!(!told.out.contains("secret-1"), "{told:?}");
    house.claw(&["serve", "--install", "cursor"]).expect(3);
    assert_eq!(fs::read_to_string(&file).unwrap(), entry.to_string());
    let mut terminal = Pty::start(&house, &["serve", "--install", "cursor"]);
    terminal.shows("It would become:").shows("[y/N]").types("n");
    terminal.ends(3);
    assert_eq!(fs::read_to_string(&file).unwrap(), entry.to_string());
    let mut terminal = Pty::start(&house, &["serve", "--install", "cursor"]);
    terminal.shows("[y/N]").types("y").shows("Written:");
    terminal.ends(0);
    let now: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(now["mcpServers"]["claw"]["command"], claw_test_kit::claw_exe());
}

#[test]
fn a_broken_file_and_a_client_that_is_not_there_are_left_alone_with_a_sentence() {
    for broken in ["{\"mcpServers\": {", "[]", "{\"mcpServers\": 1}", "\u{feff}{{"] {
        let (house, file) = cursor(broken);
        let ran = house.claw(&["serve", "--install", "cursor", "--yes"]);
        ran.expect_mistake(&["is left as it is", "--print-config"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
        assert!(!file.with_file_name("mcp.json.before-claw").exists());
    }
    let (house, file) = cursor("");
    fs::write(&file, b"\xff\xfe{}").unwrap();
    house.claw(&["serve", "--install", "cursor", "--yes"]).expect_mistake(&["not UTF-8"]);
    let house = House::new();
    let ran = house.claw(&["serve", "--install", "cursor", "--yes"]);
    ran.expect_mistake(&["Cursor", "not to be installed", "--print-config"]);
    assert!(!house.user_home().join(".cursor").exists());
}

#[test]
fn a_link_stays_a_link_and_an_earlier_copy_stays_whole() {
    let (house, file) = cursor("{}");
    let real = house.user_home().join("dotfiles.json");
    fs::rename(&file, &real).unwrap();
    std::os::unix::fs::symlink(&real, &file).unwrap();
    let earlier = real.with_file_name("dotfiles.json.before-claw");
    fs::write(&earlier, "mine").unwrap();
    house.claw(&["serve", "--install", "cursor", "--yes"]).expect(0);
    assert!(file.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("\"claw\""));
    assert_eq!(fs::read_to_string(&earlier).unwrap(), "mine");
    let second = real.with_file_name("dotfiles.json.before-claw-2");
    assert_eq!(fs::read_to_string(&second).unwrap(), "{}");
}

#[test]
fn a_home_and_an_agent_that_a_client_cannot_know_stand_in_the_entry() {
    let house = House::new();
    let other = house.user_home().join("elsewhere");
    let house = house.with("CLAW_HOME", other.to_str().unwrap());
    let printed = house.claw(&["--agent", "main", "serve", "--print-config", "claude-code"]);
    let entry: Value = serde_json::from_str(&printed.expect(0).out).unwrap();
    let entry = &entry["mcpServers"]["claw"];
    assert_eq!(entry["env"]["CLAW_HOME"], json!(other));
    assert_eq!(entry["type"], "stdio");
    let args: Vec<&str> =
        entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(args[..3], ["--agent", "main", "serve"]);
}
