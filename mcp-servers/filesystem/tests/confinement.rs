//! Nothing leaves the root and nothing protected is touched. The oracle is a canary outside and the
//! files themselves.

#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use support::{CANARY, Room, Server};

/// Every tool, aimed at one path.
fn all_calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({"path": path})),
        ("write_file", json!({"path": path, "content": "x"})),
        ("edit_file", json!({"path": path, "edits": [{"old_text": "canary", "new_text": "cat"}]})),
        ("list_dir", json!({"path": path})),
        ("find", json!({"path": path, "pattern": "*"})),
        ("search", json!({"path": path, "pattern": "sings"})),
        ("move", json!({"source": path, "destination": "stolen"})),
        ("move", json!({"source": "own", "destination": path, "overwrite": true})),
        ("delete", json!({"path": path, "recursive": true})),
    ]
}

fn assert_all_refused(room: &Room, server: &mut Server, path: &str, why: &str) {
    for (tool, arguments) in all_calls(path) {
        let message = server.err(tool, arguments);
        assert!(message.contains(why), "{tool} {path}: {message}");
        assert!(!message.contains(CANARY.trim()), "{tool} {path}: {message}");
    }
    room.assert_outside_untouched();
    assert_eq!(room.read("own"), "mine");
    assert!(!room.root.join("stolen").exists());
}

#[test]
fn paths_that_lead_out_are_refused_by_every_tool() {
    let room = Room::new();
    room.write("own", "mine");
    room.write("sub/x", "");
    let mut server = room.start(&[]);
    let absolute = room.outside.join("canary");
    let through_root = room.root.join("../outside/canary");
    let proc_root = format!("/proc/self/root{}", absolute.display());
    let mut paths =
        vec!["../outside/canary", "sub/../../outside/canary", "..", "sub/../..", "~/x", "~"];
    paths.extend([
        absolute.to_str().unwrap(),
        through_root.to_str().unwrap(),
        &proc_root,
        "/",
        "/etc/passwd",
    ]);
    let double = format!("//{}", absolute.display());
    paths.push(&double);
    for path in paths {
        assert_all_refused(&room, &mut server, path, "outside of the workspace");
    }
}

#[test]
fn links_that_lead_out_are_refused_by_every_tool_that_follows_them() {
    let room = Room::new();
    room.write("own", "mine");
    room.write("sub/x", "");
    room.link(room.outside.join("canary"), "file");
    room.link("../outside", "dir");
    room.link("dir", "chain1");
    room.link("chain1", "chain2");
    room.link("../../outside", "sub/up");
    room.link("/proc/self/root", "magic");
    room.link("circle", "circle");
    let mut server = room.start(&[]);
    let in_magic = format!("magic{}", room.outside.join("canary").display());
    for path in
        ["dir/canary", "chain2/canary", "sub/up/canary", "sub/../chain1/../dir/canary", &in_magic]
    {
        assert_all_refused(&room, &mut server, path, "outside of the workspace");
    }
    for path in ["file", "chain2", "sub/up"] {
        for (tool, arguments) in all_calls(path).into_iter().take(6) {
            let message = server.err(tool, arguments);
            assert!(
                message.contains("outside of the workspace: the symbolic link")
                    || message.contains("`..`"),
                "{message}"
            );
        }
    }
    assert!(server.err("read_file", json!({"path": "circle"})).contains("symbolic links"));
    // A walk sees links and does not follow them.
    assert_eq!(server.ok("search", json!({"pattern": "sings"})).0["matches"], json!([]));
    let (output, _) = server.ok("find", json!({"pattern": "canary"}));
    assert_eq!(output["paths"], json!([]));
    // Moving or deleting a link is about the link.
    server.ok("move", json!({"source": "file", "destination": "moved"}));
    server.ok("delete", json!({"path": "moved"}));
    server.ok("delete", json!({"path": "dir", "recursive": true}));
    room.assert_outside_untouched();
}

#[test]
fn odd_names_get_an_answer() {
    let room = Room::new();
    let mut server = room.start(&[]);
    assert!(server.err("read_file", json!({"path": "a\u{0}b"})).contains("NUL"));
    let long = "x".repeat(300);
    for tool in ["read_file", "write_file"] {
        let mut arguments = json!({"path": long});
        if tool == "write_file" {
            arguments["content"] = json!("");
        }
        assert!(server.err(tool, arguments).contains("too long"));
    }
    let deep = "d/".repeat(250) + "x";
    assert!(server.err("write_file", json!({"path": deep, "content": ""})).contains("levels deep"));
    assert!(server.err("read_file", json!({"path": "y".repeat(5000)})).contains("5000 bytes"));
    for name in ["-rf", " ", "a\nb", "…", "c:\\x", "%2e%2e"] {
        server.ok("write_file", json!({"path": name, "content": name}));
        assert_eq!(room.read(name), name);
    }
}

#[test]
fn a_protected_directory_is_out_of_reach_by_every_name() {
    let room = Room::new();
    room.write("own", "mine");
    room.write("home/secret", CANARY);
    room.write("a/x", "");
    room.link("home", "alias");
    room.link("../home/secret", "a/direct");
    let mut server = room.start(&["--protect", "home"]);
    let absolute = room.root.join("home/secret");
    let paths = [
        "home",
        "home/secret",
        "a/../home",
        "./home//secret",
        "alias/secret",
        "HOME/secret",
        "home/new",
        "home/../own",
    ];
    for path in paths.into_iter().chain([absolute.to_str().unwrap()]) {
        assert_all_refused(&room, &mut server, path, "is protected");
    }
    for (tool, arguments) in all_calls("a/direct").into_iter().take(6) {
        assert!(server.err(tool, arguments).contains("is protected"));
    }
    let (output, _) = server.ok("list_dir", json!({"depth": 5}));
    let listed: Vec<&str> = output["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    assert_eq!(listed, ["a", "a/direct", "a/x", "alias", "own"]);
    assert_eq!(
        server.ok("search", json!({"pattern": "sings", "include_ignored": true})).0["matches"],
        json!([])
    );
    assert_eq!(server.ok("find", json!({"pattern": "secret"})).0["paths"], json!([]));
    assert!(!server.err("read_file", json!({"path": "hom"})).contains("`home`"));
    assert_eq!(room.read("home/secret"), CANARY);
}

#[test]
fn a_directory_that_does_not_exist_yet_is_protected_too() {
    let room = Room::new();
    room.write("own", "mine");
    room.write("tree/inner", "x");
    room.write("real/inner", CANARY);
    let mut server = room.start(&["--protect", room.root.join("later/home").to_str().unwrap()]);
    assert_all_refused(&room, &mut server, "later/home/mcp.json", "is protected");
    assert_all_refused(&room, &mut server, "later/home", "is protected");
    // Nothing may be put where it will be, in one piece or as something else.
    assert!(
        server.err("write_file", json!({"path": "later", "content": ""})).contains("is protected")
    );
    assert!(
        server
            .err("move", json!({"source": "tree", "destination": "later"}))
            .contains("is protected")
    );
    server.ok("write_file", json!({"path": "later/other", "content": ""}));
    assert!(
        server.err("delete", json!({"path": "later", "recursive": true})).contains("is protected")
    );
    assert!(
        server
            .err("move", json!({"source": "later", "destination": "gone"}))
            .contains("is protected")
    );
    // It comes into being behind a link, under another name.
    room.link("../real", "later/home");
    assert_all_refused(&room, &mut server, "real/inner", "is protected");
    assert!(
        server.err("delete", json!({"path": "real", "recursive": true})).contains("is protected")
    );
    assert!(!server.ok("list_dir", json!({})).1.contains("real/"));
    assert_eq!(room.read("real/inner"), CANARY);
}

#[test]
fn a_second_name_of_something_protected_is_known_by_its_identity() {
    let room = Room::new();
    room.write("secret", CANARY);
    std::fs::hard_link(room.root.join("secret"), room.root.join("alias")).unwrap();
    let mut server = room.start(&["--protect", "secret"]);
    assert!(server.err("read_file", json!({"path": "alias"})).contains("is protected"));
    assert_eq!(server.ok("search", json!({"pattern": "sings"})).0["matches"], json!([]));
    assert!(!server.ok("list_dir", json!({})).1.contains("alias"));
}

#[test]
fn nothing_above_a_protected_directory_can_be_moved_or_deleted() {
    let room = Room::new();
    room.write("deep/tree/home/secret", CANARY);
    let mut server = room.start(&["--protect", "deep/tree/home"]);
    for path in ["deep", "deep/tree"] {
        assert!(
            server.err("delete", json!({"path": path, "recursive": true})).contains("is protected")
        );
        assert!(
            server
                .err("move", json!({"source": path, "destination": "elsewhere"}))
                .contains("is protected")
        );
    }
    assert_eq!(room.read("deep/tree/home/secret"), CANARY);
}

/// Flips `sub` and `file` between something inside and a link out of the root as fast as it can.
struct Flipper {
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<u64>>,
}

impl Flipper {
    fn start(room: &Room) -> Self {
        room.write("spare/canary", "inside");
        room.write("file-in", "inside");
        room.link(&room.outside, "dir-link");
        room.link(room.outside.join("canary"), "file-link");
        let (root, stop) = (room.root.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut flips = 0;
            while !stopped.load(Ordering::Relaxed) {
                // Whatever a call did to the pieces, put them back, so that the race goes on.
                let _ = std::fs::create_dir(root.join("spare"));
                let _ = std::fs::write(root.join("spare/canary"), "inside");
                let _ = std::fs::rename(root.join("spare"), root.join("sub"));
                let _ = std::fs::rename(root.join("sub"), root.join("spare"));
                let _ = std::os::unix::fs::symlink("../outside", root.join("sub"));
                let _ = std::fs::remove_file(root.join("sub"));
                let _ = std::fs::write(root.join("file-in"), "inside");
                let _ = std::fs::rename(root.join("file-in"), root.join("file"));
                let _ = std::os::unix::fs::symlink("../outside/canary", root.join("file-new"));
                let _ = std::fs::rename(root.join("file-new"), root.join("file"));
                flips += 1;
            }
            flips
        });
        Self { stop, thread: Some(thread) }
    }

    fn finish(mut self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }
}

#[test]
fn a_link_that_is_swapped_in_while_calls_run_never_leads_out() {
    let room = Room::new();
    let mut server = room.start(&[]);
    let flipper = Flipper::start(&room);
    let calls = [
        ("read_file", json!({"path": "sub/canary"})),
        ("read_file", json!({"path": "file"})),
        ("write_file", json!({"path": "sub/canary", "content": "overwritten"})),
        ("write_file", json!({"path": "sub/new/planted", "content": "planted"})),
        ("write_file", json!({"path": "file", "content": "overwritten"})),
        (
            "edit_file",
            json!({"path": "sub/canary", "edits": [{"old_text": "canary", "new_text": "cat"}]}),
        ),
        (
            "edit_file",
            json!({"path": "file", "edits": [{"old_text": "canary", "new_text": "cat"}]}),
        ),
        ("list_dir", json!({"path": "sub"})),
        ("search", json!({"pattern": "sings"})),
        ("search", json!({"pattern": "sings", "path": "sub/canary"})),
        ("find", json!({"pattern": "canary", "path": "sub"})),
        ("delete", json!({"path": "sub/canary"})),
        ("delete", json!({"path": "sub", "recursive": true})),
        ("move", json!({"source": "sub/canary", "destination": "caught", "overwrite": true})),
        ("move", json!({"source": "bait", "destination": "sub/canary", "overwrite": true})),
    ];
    let mut succeeded = 0;
    for _ in 0..150 {
        room.write("bait", "bait");
        let ids: Vec<u64> = calls
            .iter()
            .map(|(tool, arguments)| server.begin_call(tool, arguments.clone()))
            .collect();
        for id in ids {
            let result = server.end(id)["result"].clone();
            assert!(!result.to_string().contains(CANARY.trim()), "{result}");
            succeeded += u32::from(result["isError"] == false);
        }
        room.assert_outside_untouched();
        if let Ok(text) = std::fs::read_to_string(room.root.join("caught")) {
            assert_ne!(text, CANARY);
        }
    }
    let flips = flipper.finish();
    room.assert_outside_untouched();
    // Otherwise the race has not been run.
    assert!(flips > 300 && succeeded > 300, "{flips} flips, {succeeded} calls succeeded");
}
