//! The table of arrows: which room may name which. Reads the sources; a new arrow is a line in the
//! table and a reason. Must not know what the rooms do.

#![expect(clippy::unwrap_used, reason = "a test's helpers may fail loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Room → the rooms that it may name. Every room may name `domain` and itself.
///
/// A room that is a crate of its own (`CRATES`) can name no room of `src/`: Cargo holds that.
///
/// Beside the plan: `killpoint` is nothing in a release, so whoever commits or sends may name it;
/// `durable` is how every room writes a file; the command line reads the rooms' own types
/// (`config`, `store`, `model`, …) to show them, behind `app`, which builds them; `logging` masks
/// secrets and keeps the lines that the hub's servers write.
const ARROWS: &[(&str, &[&str])] = &[
    ("main", &["cli", "config", "logging"]),
    ("lib", &[]),
    (
        "cli",
        &[
            "app",
            "calls",
            "catalog",
            "chat_commands",
            "config",
            "doors",
            "durable",
            "gate",
            "hub",
            "mail",
            "model",
            "policy",
            "redact",
            "router",
            "session",
            "store",
            "snapshot",
            "turn",
            "undo",
            "workspace",
        ],
    ),
    (
        "app",
        &[
            "calls",
            "catalog",
            "config",
            "chat_commands",
            "doors",
            "gate",
            "hub",
            "logging",
            "mail",
            "model",
            "policy",
            "redact",
            "router",
            "serve",
            "session",
            "snapshot",
            "store",
            "turn",
            "undo",
        ],
    ),
    ("config", &["durable"]),
    ("doors", &["chat_commands", "config", "killpoint", "mail", "router", "session", "workspace"]),
    ("mail", &["killpoint", "store"]),
    ("router", &["calls", "catalog", "gate", "killpoint", "mail", "redact", "session", "store"]),
    (
        "chat_commands",
        &["calls", "config", "gate", "hub", "redact", "router", "session", "store", "turn", "undo"],
    ),
    ("session", &["calls", "config", "gate", "killpoint", "mail", "store", "turn"]),
    ("turn", &["gate", "model", "redact"]),
    ("model", &["config"]),
    ("redact", &[]),
    ("catalog", &["config", "hub", "redact", "store"]),
    ("calls", &["catalog", "hub", "killpoint", "policy", "redact", "store", "workspace"]),
    ("gate", &["calls", "catalog", "hub", "killpoint", "policy", "redact", "store", "undo"]),
    ("logging", &["hub", "redact"]),
    ("workspace", &[]),
    ("undo", &["durable", "killpoint", "snapshot", "store"]),
];

/// Arrows of which only these paths are allowed.
const NARROW: &[(&str, &str, &str)] = &[
    // A door drives the sessions that it shows, and knows nothing of how.
    ("doors", "session", "session::Worker"),
    ("doors", "session", "session::Ran"),
    ("doors", "config", "config::Telegram"),
    ("doors", "config", "config::Pairing"),
    ("doors", "config", "config::MAIN"),
    ("app", "doors", "doors::context"),
    ("chat_commands", "calls", "calls::modes"),
    ("chat_commands", "calls", "calls::openings"),
    ("chat_commands", "config", "config::Prices"),
    ("chat_commands", "session", "session::TURN_IS_OPEN"),
    ("session", "config", "config::Prices"),
    ("catalog", "config", "config::Tools"),
];

/// Crate of ours → the crates of ours that it may depend on. What stands in `src/` may name all.
const CRATES: &[(&str, &[&str])] = &[
    ("crates/domain", &[]),
    ("crates/hub", &["domain", "kit"]),
    ("crates/kit", &[]),
    ("crates/policy", &["domain", "kit", "toml-fault"]),
    ("crates/snapshot", &["domain", "kit"]),
    ("crates/store", &["domain", "kit"]),
    ("crates/test-kit", &[]),
    ("crates/toml-fault", &[]),
    // The servers run behind any host, and know nothing else of claw.
    ("mcp-servers/bash", &["kit"]),
    ("mcp-servers/filesystem", &["kit"]),
    ("mcp-servers/memory", &["kit"]),
];

/// The crates of ours that `src/` names as modules, `use crate::policy`.
const CRATE_ROOMS: &[&str] =
    &["domain", "durable", "hub", "killpoint", "policy", "snapshot", "store"];

struct Source {
    /// Relative to the package, with `/`.
    path: String,
    room: String,
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != "target") {
                rust_files(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap().to_str().unwrap().replace('\\', "/")
}

/// The product's sources in `src`, without tests: a test may build what its room must not know.
fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    rust_files(&root().join("src"), &mut files);
    rust_files(&root().join("crates"), &mut files);
    let is_test = |path: &str| path.ends_with("tests.rs") || path.contains("/tests/");
    let source = |file: PathBuf| {
        let path = relative(&file);
        let room = room_of(&path).to_owned();
        let text = product_text(&fs::read_to_string(&file).unwrap());
        (!is_test(&path)).then_some(Source { path, room, text })
    };
    let found: Vec<Source> = files.into_iter().filter_map(source).collect();
    assert!(found.len() > 80, "only {} sources were found", found.len());
    found
}

/// A folder of `crates` is a room; what its files may name is in its `Cargo.toml`.
fn room_of(path: &str) -> &str {
    let inside = path.trim_start_matches("src/").trim_start_matches("crates/");
    inside.split('/').next().unwrap().trim_end_matches(".rs")
}

/// Without comments, and without the unit tests at the end of a file.
fn product_text(text: &str) -> String {
    let product = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap();
    let code = product.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    code.collect::<Vec<_>>().join("\n")
}

/// Every path behind `crate::`, with grouped imports taken apart: `crate::{a, b::c}` gives `a` and
/// `b::c`.
fn named_paths(text: &str, root: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices(root) {
        if text[..at]
            .ends_with(|before: char| before.is_alphanumeric() || before == '_' || before == ':')
        {
            continue;
        }
        expand("", &text[at + root.len()..], &mut found);
    }
    found
}

fn expand(prefix: &str, text: &str, found: &mut Vec<String>) {
    let text = text.trim_start();
    if let Some(inner) = text.strip_prefix('{') {
        let (mut depth, mut start) = (0_usize, 0);
        for (at, c) in inner.char_indices() {
            match c {
                '{' => depth += 1,
                ',' if depth == 0 => {
                    expand(prefix, &inner[start..at], found);
                    start = at + 1;
                }
                '}' if depth == 0 => return expand(prefix, &inner[start..at], found),
                '}' => depth -= 1,
                _ => {}
            }
        }
        return;
    }
    let word: String = text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    if word.is_empty() {
        return;
    }
    let path = if prefix.is_empty() { word.clone() } else { format!("{prefix}::{word}") };
    match text[word.len()..].strip_prefix("::") {
        Some(rest) => expand(&path, rest, found),
        None => found.push(path),
    }
}

fn paths_of(source: &Source) -> Vec<String> {
    let mut paths = named_paths(&source.text, "crate::");
    if source.room == "main" {
        paths.extend(named_paths(&source.text, "claw::"));
    }
    paths
}

fn rooms() -> BTreeSet<&'static str> {
    ARROWS.iter().map(|(room, _)| *room).chain(CRATE_ROOMS.iter().copied()).collect()
}

#[test]
fn rooms_name_only_whom_the_table_allows() {
    let mut wrong = Vec::new();
    for source in sources().into_iter().filter(|source| source.path.starts_with("src/")) {
        let Some((_, allowed)) = ARROWS.iter().find(|(room, _)| *room == source.room) else {
            wrong.push(format!(
                "{}: `{}` is a room that the table does not know",
                source.path, source.room
            ));
            continue;
        };
        for path in paths_of(&source) {
            let target = path.split("::").next().unwrap();
            let known = rooms().contains(target);
            if known && target != source.room && target != "domain" && !allowed.contains(&target) {
                wrong.push(format!("{}: {} → {path}", source.path, source.room));
            }
            let narrow =
                NARROW.iter().filter(|(from, to, _)| *from == source.room && *to == target);
            let only: Vec<_> = narrow.map(|(_, _, only)| *only).collect();
            if !only.is_empty() && !only.iter().any(|only| path.starts_with(only)) {
                let only = only.join(" and ");
                wrong.push(format!(
                    "{}: {} → {path}, but only {only} is allowed",
                    source.path, source.room
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "forbidden arrows:\n{}", wrong.join("\n"));
}

/// A library belongs to the rooms that are listed with it.
#[test]
fn each_library_stays_in_its_room() {
    const HOMES: &[(&str, &[&str])] = &[
        ("rusqlite", &["crates/store/"]),
        ("genai", &["src/model/genai/"]),
        // The servers' test build over HTTP, which no release has.
        ("rmcp", &["crates/hub/", "crates/kit/src/http.rs"]),
        ("rustyline", &["src/doors/console/"]),
        ("teloxide_core", &["src/doors/telegram/"]),
        // A property of Telegram's painter compares with what the parser calls text.
        ("pulldown_cmark", &["src/doors/markdown/", "src/doors/telegram/render/markdown/tests/"]),
        ("process_wrap", &["crates/hub/"]),
        ("cap_std", &["src/workspace/", "crates/snapshot/"]),
        ("cap_fs_ext", &["src/workspace/", "crates/snapshot/"]),
        ("ignore", &["crates/snapshot/"]),
        ("clap", &["src/cli/", "src/main.rs"]),
        ("toml_edit", &["src/config/"]),
        ("semver", &["src/cli/update/"]),
        ("claw_mcp_filesystem", &["src/cli/server.rs"]),
        ("claw_mcp_memory", &["src/cli/server.rs"]),
        // `app` asks the library of the bash server whether this system can hold its box, and which
        // variables it finds programs by, and which folders can be opened; it starts nothing.
        (
            "claw_mcp_bash",
            &[
                "src/cli/server.rs",
                "src/app.rs",
                "src/app/openings.rs",
                "src/app/servers.rs",
                "src/cli/doctor",
                "src/cli/service/mod.rs",
            ],
        ),
    ];
    let mut wrong = Vec::new();
    for source in sources() {
        for (library, homes) in HOMES {
            let at_home = homes.iter().any(|home| source.path.starts_with(home));
            if !at_home && !named_paths(&source.text, &format!("{library}::")).is_empty() {
                wrong.push(format!("{} names `{library}`", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What happened in a turn is read from `turn/state.rs`. What a session writes it has to name.
#[test]
fn what_an_event_means_is_not_decided_anew_in_each_room() {
    let is_pattern = |kind: &str| kind.split('}').next().is_some_and(|it| it.contains(".."));
    let decides = |source: &Source| match source.room.as_str() {
        "turn" => false,
        "session" => source.text.split("EventBody::").skip(1).any(is_pattern),
        _ => source.path.starts_with("src/") && source.text.contains("EventBody::"),
    };
    let found: BTreeSet<_> = sources().into_iter().filter(decides).map(|one| one.path).collect();
    let known = ["src/cli/explain.rs", "src/cli/sessions.rs", "src/session/drive.rs"];
    assert_eq!(found, known.map(str::to_owned).into());
}

#[test]
fn only_the_command_line_and_the_doors_print() {
    let printing = ["println!", "print!", "eprintln!", "eprint!", "io::stdout()", "dbg!"];
    let may = |source: &Source| {
        matches!(source.room.as_str(), "cli" | "doors")
            // The first line of the servers' test build over HTTP is its address.
            || source.path == "crates/kit/src/http.rs"
            || source.path.contains("/benches/")
    };
    let mut wrong = Vec::new();
    for source in sources().iter().filter(|source| !may(source)) {
        for word in printing {
            if source.text.contains(word) {
                wrong.push(format!("{}: {word}", source.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_config_reads_the_environment() {
    // The kill points are compiled in for tests only. `current_exe` and `consts` are no part of the
    // environment.
    let may = |source: &Source| matches!(source.room.as_str(), "config" | "kit");
    let reads = |text: &str| text.contains("env::var") || text.contains("env::vars");
    let wrong: Vec<String> = sources()
        .into_iter()
        .filter(|source| !may(source) && reads(&source.text))
        .map(|source| source.path)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// `policy` says what the rules say of a call, and nothing else decides what it says: neither the
/// disk nor the clock. The same holds for the nouns and for what masks secrets.
#[test]
fn the_pure_rooms_see_neither_disk_nor_clock() {
    const IMPURE: &[&str] = &[
        "std::fs",
        "std::io",
        "std::net",
        "std::process",
        "tokio",
        "SystemTime",
        "Instant",
        "Timestamp::now",
        ".exists()",
        ".is_file()",
        ".is_dir()",
        ".metadata()",
        ".canonicalize()",
    ];
    let mut wrong = Vec::new();
    let pure = |source: &Source| matches!(source.room.as_str(), "domain" | "policy" | "redact");
    for source in sources().iter().filter(|source| pure(source)) {
        let named = IMPURE.iter().filter(|word| source.text.contains(**word));
        wrong.extend(named.map(|word| format!("{}: {word}", source.path)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The names of the dependencies of ours in a `Cargo.toml`, without those of its tests.
fn dependencies_of_ours(manifest: &str) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line;
        } else if section.ends_with("dependencies]") && !section.contains("dev-dependencies") {
            let name = line.split(['=', '.', ' ']).next().unwrap();
            if line.contains("path =") || name.starts_with("claw") {
                found.insert(name.trim_start_matches("claw-").to_owned());
            }
        }
    }
    found
}

#[test]
fn crates_depend_only_on_whom_the_table_allows() {
    let mut folders: Vec<PathBuf> = ["crates", "mcp-servers"]
        .iter()
        .flat_map(|parent| fs::read_dir(root().join(parent)).unwrap())
        .map(|entry| entry.unwrap().path())
        .collect();
    folders.sort();
    let listed: Vec<String> = folders.iter().map(|folder| relative(folder)).collect();
    assert_eq!(listed, CRATES.iter().map(|(folder, _)| *folder).collect::<Vec<_>>());
    for (folder, allowed) in CRATES {
        let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
        let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(dependencies_of_ours(&manifest), allowed, "{folder}");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{folder} has lints of its own");
    }
}

/// A hub and the mint of its permits are made in one place, and the gate alone is given the mint.
/// That nobody can make a mint or a permit otherwise is tried in `crates/hub/src/permit.rs`.
#[test]
fn only_the_gate_holds_the_mint_of_permits() {
    let of_src = |source: &Source| source.path.starts_with("src/");
    let naming = |word: &str| -> Vec<String> {
        let named = |source: &Source| of_src(source) && source.text.contains(word);
        sources().into_iter().filter(named).map(|source| source.path).collect()
    };
    assert_eq!(naming("Hub::new("), ["src/app.rs"]);
    assert_eq!(naming("PermitMint"), ["src/gate/mod.rs"]);
    assert_eq!(naming("PermitParts"), ["src/gate/start.rs"]);
    assert_eq!(naming("mint.permit("), ["src/gate/start.rs"]);
}

#[test]
fn every_file_says_what_it_owns() {
    let mut files = Vec::new();
    for folder in ["src", "crates", "tests", "examples", "mcp-servers"] {
        rust_files(&root().join(folder), &mut files);
    }
    let silent = |file: &PathBuf| !fs::read_to_string(file).unwrap().starts_with("//! ");
    let wrong: Vec<String> =
        files.iter().filter(|file| silent(file)).map(|file| relative(file)).collect();
    assert!(wrong.is_empty(), "no `//!` at the top of: {wrong:?}");
    let long = |file: &&PathBuf| fs::read_to_string(file).unwrap().lines().count() > 500;
    let wrong: Vec<String> = files.iter().filter(long).map(|file| relative(file)).collect();
    assert!(wrong.is_empty(), "longer than 500 lines: {wrong:?}");
}

/// The reader of the arrows is itself held by an example of each form.
#[test]
fn the_reader_sees_every_form() {
    let text = "use crate::{a, b::{c, d::e}};\nlet x = crate::f::g();\nuse not_crate::h;\nuse crate::i::{self, J};";
    assert_eq!(named_paths(text, "crate::"), ["a", "b::c", "b::d::e", "f::g", "i::self", "i::J"]);
    let manifest = "[dependencies]\nclaw-a = { path = \"../a\" }\nclaw-b.workspace = true\nc = \"1\"\n\
        [dev-dependencies]\nclaw-d = { path = \"../d\" }\n[target.'cfg(unix)'.dependencies]\nclaw-e.workspace = true\n";
    assert_eq!(dependencies_of_ours(manifest).into_iter().collect::<Vec<_>>(), ["a", "b", "e"]);
    assert_eq!(product_text("a // crate::b\nc\n#[cfg(test)]\nmod tests {\n d"), "a \nc");
}
