//! `claw serve --install` on files as each client has them, as other systems and editors write
//! them: nothing but claw's entry is new, and what was written starts claw.
#![expect(clippy::unwrap_used, reason = "a test's helpers may fail loudly")]
#![expect(clippy::disallowed_methods, reason = "a test of the whole program starts it")]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::House;
use crate::pty::Pty;
use crate::serve_install::{clients, file};

/// The file of each client as somebody has it.
const FILES: [(&str, &str); 6] = [
    ("claude-desktop", include_str!("client_files/claude_desktop_config.json")),
    ("claude-code", include_str!("client_files/claude.json")),
    ("vscode", include_str!("client_files/vscode_mcp.json")),
    ("cursor", include_str!("client_files/cursor_mcp.json")),
    ("zed", include_str!("client_files/zed_settings.json")),
    ("codex", include_str!("client_files/codex_config.toml")),
];

/// Installs into this text; what it has become.
fn installed(client: &str, before: &str) -> String {
    let house = House::new();
    let (_, path) = clients().into_iter().find(|(name, _)| *name == client).unwrap();
    let file = file(&house, path);
    fs::write(&file, before).unwrap();
    house.claw(&["serve", "--install", client, "--yes"]).expect(0);
    let name = format!("{}.before-claw", file.file_name().unwrap().to_str().unwrap());
    assert_eq!(fs::read_to_string(file.with_file_name(name)).unwrap(), before);
    let after = fs::read_to_string(&file).unwrap();
    let again = house.claw(&["serve", "--install", client, "--yes"]).expect(0);
    assert!(again.out.contains("in exactly these words"), "{again:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), after);
    after
}

/// What was put into a text. Fails if a byte of `before` is gone or stands in another order.
#[track_caller]
fn new_in(before: &str, after: &str) -> String {
    let mut rest = after.chars();
    let mut new = String::new();
    for kept in before.chars() {
        loop {
            let Some(next) = rest.next() else {
                panic!("{kept:?} is gone, behind {new:?}:\n{before}\n{after}")
            };
            if next == kept {
                break;
            }
            new.push(next);
        }
    }
    new.extend(rest);
    new
}

/// The characters that say something, in an order of their own.
fn letters(text: &str) -> Vec<char> {
    let mut all: Vec<char> = text.chars().filter(|c| !c.is_whitespace() && *c != ',').collect();
    all.sort_unstable();
    all
}

#[test]
fn every_byte_of_others_stays_where_it_was_in_each_clients_file() {
    for (client, text) in FILES {
        for before in [
            text.to_owned(),
            text.replace('\n', "\r\n"),
            format!("\u{feff}{text}"),
            format!("\u{feff}{}", text.replace('\n', "\r\n")),
            text.trim_end().to_owned(),
        ] {
            let after = installed(client, &before);
            let new = new_in(&before, &after);
            let (program, words) =
                (claw_test_kit::claw_exe(), format!("[\"serve\"\"--client\"\"{client}\"]"));
            let entry = match client {
                "codex" => format!("[mcp_servers.claw]command=\"{program}\"args={words}"),
                _ => format!("\"claw\":{{\"command\":\"{program}\"\"args\":{words}}}"),
            };
            let around = match client {
                "zed" => "\"context_servers\":{}",
                "vscode" | "claude-code" => "\"type\":\"stdio\"",
                _ => "",
            };
            assert_eq!(letters(&new), letters(&(entry + around)), "{client}: {after}");
            // A comma behind the last one of others, one in the list of words, one or two between.
            assert!(new.matches(',').count() <= 6, "{client}: {after}");
            // New lines end as the others do.
            if before.contains("\r\n") {
                assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
            }
        }
    }
}

#[test]
fn what_was_strict_json_stays_so_and_what_else_it_says_stays() {
    for (client, text) in FILES {
        let Ok(mut before) = serde_json::from_str::<Value>(text) else { continue };
        let after: Value = serde_json::from_str(&installed(client, text)).unwrap();
        let entry = &after["mcpServers"]["claw"];
        assert_eq!(entry["command"], claw_test_kit::claw_exe(), "{client}");
        before["mcpServers"]["claw"] = entry.clone();
        assert_eq!(before, after, "{client}");
    }
}

#[test]
fn a_file_of_comments_alone_gets_its_first_entry_below_them() {
    let after = installed("zed", "// Zed settings\n// Nothing yet.\n");
    assert!(after.starts_with("// Zed settings\n// Nothing yet.\n"), "{after}");
    assert!(after.contains("\"context_servers\""), "{after}");
}

#[test]
fn what_no_client_would_read_is_not_changed() {
    for broken in ["{'mcpServers': {}}", "{mcpServers: {}}", "{\"a\": 1 \"b\": 2}", "{\"a\": +1}"] {
        let house = House::new();
        let file = file(&house, ".cursor/mcp.json");
        fs::write(&file, broken).unwrap();
        let ran = house.claw(&["serve", "--install", "cursor", "--yes"]);
        ran.expect_mistake(&["is left as it is", "not JSON"]);
        assert_eq!(fs::read_to_string(&file).unwrap(), broken);
    }
}

/// What a desktop gives a program that it starts.
fn starts(entry: &Value, home: &Path) -> Value {
    let words = entry["args"].as_array().unwrap().iter().map(|word| word.as_str().unwrap());
    let mut command = Command::new(entry["command"].as_str().unwrap());
    command.args(words).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin");
    for (name, value) in entry["env"].as_object().into_iter().flatten() {
        command.env(name, value.as_str().unwrap());
    }
    command.current_dir("/").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "a client", "version": "1"},
    }});
    writeln!(child.stdin.as_ref().unwrap(), "{hello}").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    drop(child.stdin.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    serde_json::from_str(&line).unwrap()
}

#[test]
fn what_was_written_starts_claw_from_a_folder_with_blanks_for_a_home_with_blanks() {
    let house = House::bare();
    let folder = house.user_home().join("My \"own\" programs \u{e4}");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("claw");
    let original = claw_test_kit::claw_exe();
    if fs::hard_link(original, &program).is_err() {
        // Another file system. By another process: what this one writes, a program that another
        // test starts meanwhile may hold open, and it cannot run then (execve(2), `ETXTBSY`).
        assert!(Command::new("cp").arg(original).arg(&program).status().unwrap().success());
    }
    let home = house.user_home().join("a home");
    for (client, path) in clients() {
        let file = file(&house, path);
        let mut command = Command::new(&program);
        command.args(["serve", "--install", client, "--yes"]).env_clear();
        command.env("HOME", house.user_home()).env("CLAW_HOME", &home);
        assert!(command.output().unwrap().status.success(), "{client}");
        let text = fs::read_to_string(&file).unwrap();
        let whole: Value = match client {
            "codex" => toml::from_str(&text).unwrap(),
            _ => serde_json::from_str(&text).unwrap(),
        };
        let entry = &whole[match client {
            "codex" => "mcp_servers",
            "zed" => "context_servers",
            "vscode" => "servers",
            _ => "mcpServers",
        }]["claw"];
        assert_eq!(entry["command"], json!(program), "{client}");
        let said = starts(entry, &house.user_home());
        assert_eq!(said["result"]["serverInfo"]["name"], "claw", "{client}: {said}");
    }
    assert!(home.join("claw.db").exists());
    let none: [PathBuf; 0] = [];
    let found: Vec<_> = [house.home()].into_iter().filter(|home| home.exists()).collect();
    assert_eq!(found, none, "the client has made another home");
}

#[test]
fn a_file_that_is_to_stay_as_it_is_stays() {
    use std::os::unix::fs::PermissionsExt as _;
    let tried = |house: &House| house.claw(&["serve", "--install", "cursor", "--yes"]);
    let house = House::new();
    let mcp = file(&house, ".cursor/mcp.json");
    fs::write(&mcp, "{}").unwrap();
    fs::set_permissions(&mcp, fs::Permissions::from_mode(0o444)).unwrap();
    tried(&house).expect_mistake(&["is left as it is", "read-only"]);
    assert_eq!(fs::read_to_string(&mcp).unwrap(), "{}");
    fs::set_permissions(&mcp, fs::Permissions::from_mode(0o644)).unwrap();
    // Only root can give a file away.
    if std::os::unix::fs::chown(&mcp, Some(65_534), None).is_ok() {
        tried(&house).expect_mistake(&["is left as it is", "another user"]);
    }
    fs::remove_file(&mcp).unwrap();
    std::os::unix::fs::symlink("nowhere.json", &mcp).unwrap();
    tried(&house).expect_mistake(&["is left as it is", "a link to a file that is not there"]);
    fs::remove_file(&mcp).unwrap();
    fs::create_dir(&mcp).unwrap();
    tried(&house).expect_mistake(&["is left as it is", "no plain file"]);
    fs::remove_dir(&mcp).unwrap();
    // A pipe that nobody writes to would be waited for.
    assert!(Command::new("mkfifo").arg(&mcp).status().unwrap().success());
    tried(&house).expect_mistake(&["is left as it is", "no plain file"]);
    let names = fs::read_dir(mcp.parent().unwrap()).unwrap().count();
    assert_eq!(names, 1, "a copy was made of a file that was not changed");
}

#[test]
fn what_chooses_the_model_and_a_client_does_not_have_is_named() {
    let house = House::at("claude", "http://127.0.0.1:9");
    file(&house, ".cursor/mcp.json");
    let done = house.claw(&["serve", "--install", "cursor", "--yes"]).expect(0);
    let says = "Cursor does not have the variables of this shell";
    assert!(done.out.contains(says) && done.out.contains("ANTHROPIC_API_KEY"), "{done:?}");
    assert!(!done.out.contains(crate::program::KEY), "{done:?}");
    let house = House::bare();
    house.write("claw.toml", "[model]\nagent = \"demo\"\n");
    file(&house, ".cursor/mcp.json");
    let done = house.claw(&["serve", "--install", "cursor", "--yes"]).expect(0);
    assert!(!done.out.contains(says) && !done.out.contains("claw init"), "{done:?}");
    let house = House::bare();
    file(&house, ".cursor/mcp.json");
    let done = house.claw(&["serve", "--install", "cursor", "--yes"]).expect(0);
    assert!(done.out.contains("built-in demo answers: `claw init`"), "{done:?}");
}

#[test]
fn what_is_printed_can_be_copied_from_a_narrow_terminal() {
    let house = House::new();
    let home = house.user_home().join("a home with so many blanks that it is wrapped");
    let house = house.with("CLAW_HOME", home.to_str().unwrap());
    let whole = House::new().claw(&["serve", "--print-config", "cursor"]).expect(0).out;
    let shown = Pty::sized(&house, &["serve", "--print-config", "cursor"], 40, 40).ends(0);
    let lines: Vec<&str> = shown.lines().map(|line| line.trim_end_matches('\r')).collect();
    assert!(lines.iter().any(|line| line.contains("many blanks that it is wrapped\"")), "{shown}");
    for line in whole.lines() {
        assert!(lines.iter().any(|shown| shown.starts_with(line)), "{line}:\n{shown}");
    }
}

#[test]
fn what_the_client_writes_while_its_owner_is_asked_stays() {
    let house = House::new();
    let file = file(&house, ".cursor/mcp.json");
    for before in [Some("{}"), None] {
        match before {
            Some(text) => fs::write(&file, text).unwrap(),
            None => fs::remove_file(&file).unwrap(),
        }
        let mut terminal = Pty::start(&house, &["serve", "--install", "cursor"]);
        terminal.shows("[y/N]");
        fs::write(&file, "{\"new\": 1}").unwrap();
        terminal.types("y").shows("was changed while you were asked");
        terminal.ends(2);
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"new\": 1}");
    }
}
