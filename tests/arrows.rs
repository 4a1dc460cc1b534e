//! The arrows: which room may name which. Reads the sources; a new arrow is a line in the table
//! (`arrows/table.rs`) and a reason. `arrows/columns.rs` looks at their columns. Must not know what
//! the rooms do.

#![expect(clippy::unwrap_used, reason = "a test's helpers may fail loudly")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

#[path = "arrows/columns.rs"]
mod columns;
#[path = "arrows/sources.rs"]
mod sources;
#[path = "arrows/table.rs"]
mod table;
use sources::{
    Source, dependencies_of_ours, is_in_a_room, named_paths, paths_of, relative, root, rust_files,
    sources,
};
use table::{ARROWS, CRATE_ROOMS, CRATES, NARROW};

fn rooms() -> BTreeSet<&'static str> {
    ARROWS.iter().map(|(room, _)| *room).chain(CRATE_ROOMS.iter().copied()).collect()
}

#[test]
fn rooms_name_only_whom_the_table_allows() {
    let mut wrong = Vec::new();
    for source in sources().into_iter().filter(|source| is_in_a_room(&source.path)) {
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
        // The kit of the tests reads the plans of queries.
        ("rusqlite", &["crates/store/", "crates/tool-search/", "crates/test-kit/src/plans.rs"]),
        ("genai", &["crates/core/src/model/genai/"]),
        ("rmcp", &["crates/hub/", "crates/server-kit/", "doors/mcp/"]),
        ("hyper", &["doors/mcp/src/http/"]),
        ("rustyline", &["doors/console/"]),
        ("teloxide_core", &["crates/bot-api/", "doors/telegram/"]),
        // A property of Telegram's painter compares with what the parser calls text.
        (
            "pulldown_cmark",
            &["crates/doors/src/markdown/", "doors/telegram/render/src/markdown/tests/"],
        ),
        ("process_wrap", &["crates/hub/"]),
        ("cap_std", &["crates/core/src/workspace/", "crates/snapshot/"]),
        ("cap_fs_ext", &["crates/core/src/workspace/", "crates/snapshot/"]),
        ("ignore", &["crates/snapshot/"]),
        ("clap", &["crates/cli/src/"]),
        ("toml_edit", &["crates/core/src/config/", "crates/cli/src/serve/edit.rs"]),
        ("semver", &["crates/cli/src/update/"]),
        ("claw_mcp_filesystem", &["crates/cli/src/server.rs"]),
        // `claw memory` is the owner's own hand on the notes, and the doctor looks at their index.
        // A backup holds what the server calls a note.
        (
            "claw_mcp_memory",
            &[
                "crates/cli/src/server.rs",
                "crates/cli/src/memory/",
                "crates/cli/src/doctor",
                "crates/cli/src/backup/contents.rs",
            ],
        ),
        // `app` asks the scheduler's when a job would fire that is not made yet; a
        // backup holds jobs.
        (
            "claw_mcp_scheduler",
            &[
                "crates/cli/src/server.rs",
                "crates/cli/src/schedule/",
                "crates/cli/src/backup/schedule.rs",
                "crates/core/src/app/jobs.rs",
            ],
        ),
        // `app` asks the library of the bash server whether this system can hold its box, and which
        // variables it finds programs by, and which folders can be opened; it starts nothing.
        (
            "claw_mcp_bash",
            &[
                "crates/cli/src/server.rs",
                "crates/core/src/app.rs",
                "crates/core/src/app/gate.rs",
                "crates/core/src/app/openings.rs",
                "crates/core/src/app/servers.rs",
                "crates/cli/src/doctor",
                "crates/cli/src/open.rs",
                "crates/cli/src/service/mod.rs",
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
        _ => is_in_a_room(&source.path) && source.text.contains("EventBody::"),
    };
    let found: BTreeSet<_> = sources().into_iter().filter(decides).map(|one| one.path).collect();
    let known = [
        "crates/core/src/chat_commands/conversation.rs",
        "crates/cli/src/explain.rs",
        "crates/cli/src/sessions.rs",
        "crates/core/src/session/drive.rs",
    ];
    assert_eq!(found, known.map(str::to_owned).into());
}

#[test]
fn only_the_command_line_and_the_doors_print() {
    let printing = ["println!", "print!", "eprintln!", "eprint!", "io::stdout()", "dbg!"];
    let may = |source: &Source| {
        matches!(source.room.as_str(), "cli" | "doors")
            // The first line of the servers' test build over HTTP is its address.
            || source.path == "crates/server-kit/src/http.rs"
            // What a test does not try here.
            || source.path == "crates/test-kit/src/skipped.rs"
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
    // The kill points are compiled in for tests only, and the kit of the tests takes cargo's
    // variables from what it builds. `current_exe` and `consts` are no part of the environment.
    let may = |source: &Source| matches!(source.room.as_str(), "config" | "kit" | "test-kit");
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

#[test]
fn crates_depend_only_on_whom_the_table_allows() {
    let below = |parent: PathBuf| fs::read_dir(parent).unwrap().map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = ["crates", "doors", "mcp-servers"]
        .iter()
        .flat_map(|name| below(root().join(name)))
        .collect();
    // A crate may lie in the folder of its door.
    let inner = folders.iter().flat_map(|folder| below(folder.clone()));
    folders.extend(inner.filter(|folder| folder.join("Cargo.toml").exists()).collect::<Vec<_>>());
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

/// A task's code is compiled for each type of future that is spawned, unless it is behind a box.
#[test]
fn tasks_are_started_by_the_kit() {
    let starts_one = |source: &&Source| source.text.contains("tokio::spawn(");
    let wrong: Vec<String> =
        sources().iter().filter(starts_one).map(|it| it.path.clone()).collect();
    assert_eq!(wrong, ["crates/kit/src/task.rs"], "use claw_kit::task::spawn");
}

/// What a person reads is in the zone that is configured, which may be another one than the
/// machine's. What is there from before claw's settings are read is the command line's.
#[test]
fn the_core_tells_times_in_the_configured_zone() {
    let of_machine = |source: &&Source| {
        source.path.starts_with("crates/core/") && source.text.contains("TimeZone::system")
    };
    let wrong: Vec<String> =
        sources().iter().filter(of_machine).map(|it| it.path.clone()).collect();
    assert!(wrong.is_empty(), "takes the machine's zone: {wrong:?}");
}

/// A door knows no row and no error of the store by another name: `mail` and the router have types
/// of their own. What `calls` gives holds rows and errors of the store.
#[test]
fn mail_and_the_router_hand_on_no_type_of_the_store() {
    for (room, files_min) in [("mail", 6), ("router", 3)] {
        let found: Vec<Source> =
            sources().into_iter().filter(|source| source.room == room).collect();
        assert!(found.len() >= files_min, "only {} files of {room}", found.len());
        for source in found {
            let mut handed = source.text.split("pub use ").skip(1);
            let is_of_store = |use_: &str| {
                let named = use_.split(';').next().unwrap_or_default();
                named.contains("store") || named.contains("calls")
            };
            assert!(!handed.any(is_of_store), "{} hands on a type of the store", source.path);
        }
    }
}

/// A hub and the mint of its permits are made in one place, and the gate alone is given the mint.
/// That nobody can make a mint or a permit otherwise is tried in `crates/hub/src/permit.rs`.
#[test]
fn only_the_gate_holds_the_mint_of_permits() {
    let of_src = |source: &Source| is_in_a_room(&source.path);
    let naming = |word: &str| -> Vec<String> {
        let named = |source: &Source| of_src(source) && source.text.contains(word);
        sources().into_iter().filter(named).map(|source| source.path).collect()
    };
    assert_eq!(naming("Hub::new("), ["crates/core/src/app/gate.rs"]);
    assert_eq!(naming("PermitMint"), ["crates/core/src/gate/mod.rs"]);
    assert_eq!(naming("PermitParts"), ["crates/core/src/gate/start.rs"]);
    assert_eq!(naming("mint.permit("), ["crates/core/src/gate/start.rs"]);
}

#[test]
fn every_file_says_what_it_owns() {
    let mut files = Vec::new();
    for folder in ["src", "crates", "doors", "tests", "examples", "mcp-servers"] {
        rust_files(&root().join(folder), &mut files);
    }
    let silent = |file: &PathBuf| !fs::read_to_string(file).unwrap().starts_with("//! ");
    let wrong: Vec<String> =
        files.iter().filter(|file| silent(file)).map(|file| relative(file)).collect();
    assert!(wrong.is_empty(), "no `//!` at the top of: {wrong:?}");
    let long = |file: &&PathBuf| fs::read_to_string(file).unwrap().lines().count() > 450;
    let wrong: Vec<String> = files.iter().filter(long).map(|file| relative(file)).collect();
    assert!(wrong.is_empty(), "longer than 450 lines: {wrong:?}");
}

/// A test of the whole program that nobody names would be compiled by nobody.
#[test]
fn every_file_of_tests_is_run() {
    let of = |file: &str| fs::read_to_string(root().join("tests").join(file)).unwrap();
    let main = of("main.rs") + &of("with_crate.rs");
    let cargo = fs::read_to_string(root().join("Cargo.toml")).unwrap() + &of("Cargo.toml");
    let mut forgotten = Vec::new();
    for entry in fs::read_dir(root().join("tests")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let is_a_test = path.extension().is_some() || path.join("mod.rs").exists();
        let is_named = main.contains(&format!("\nmod {name};"))
            || cargo.contains(&format!("[[test]]\nname = \"{name}\""))
            || cargo.contains(&format!("\npath = \"tests/{name}.rs\""));
        // The parts of the two kill rigs are named by those.
        if is_a_test
            && !is_named
            && !["main", "with_crate", "killing", "Cargo"].contains(&name.as_str())
        {
            forgotten.push(name);
        }
    }
    assert!(forgotten.is_empty(), "neither in tests/main.rs nor in Cargo.toml: {forgotten:?}");
}
