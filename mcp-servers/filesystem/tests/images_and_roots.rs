//! Images come back as images; further roots are worked in by absolute paths, and what lies in none
//! of them is out of reach as before.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::json;
use support::{CANARY, Room};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";

#[test]
fn an_image_comes_back_as_one_and_a_large_one_is_refused() {
    let room = Room::new();
    room.write("logo.png", PNG);
    room.write("photo.jpg", [b"\xff\xd8\xff".as_slice(), &[0; 200]].concat());
    room.write("poem.txt", "GIF8 is how this begins\n");
    let mut server = room.start(&["--image-bytes-max", "100"]);
    let result = server.call("read_file", json!({"path": "logo.png"}));
    let content = &result["content"];
    assert_eq!(content[0]["text"], "[`logo.png` is an image: image/png, 16 bytes]", "{result:#}");
    assert_eq!(
        (&content[1]["type"], &content[1]["mimeType"]),
        (&json!("image"), &json!("image/png"))
    );
    assert_eq!(content[1]["data"], "iVBORw0KGgoAAAANSUhEUg==");
    assert_eq!(result["structuredContent"]["image"], "image/png");
    let message = server.err("read_file", json!({"path": "photo.jpg"}));
    assert!(message.contains("203 bytes") && message.contains("at most 100"), "{message}");
    assert!(
        server.ok("read_file", json!({"path": "poem.txt"})).0["content"]
            .as_str()
            .unwrap()
            .contains("how this begins")
    );
}

#[test]
fn a_further_root_is_worked_in_by_absolute_paths() {
    let room = Room::new();
    room.write("here.txt", "here\n");
    let outside = room.outside.display().to_string();
    let mut server = room.start(&["--root", &outside]);
    let there = |name: &str| format!("{outside}/{name}");
    assert_eq!(server.ok("read_file", json!({"path": there("canary")})).0["content"], CANARY);
    assert_eq!(
        server.ok("read_file", json!({"path": there("canary")})).0["path"],
        there("canary"),
        "it is named whole"
    );
    assert_eq!(
        server.ok("write_file", json!({"path": there("new/a.txt"), "content": "a\n"})).0["path"],
        there("new/a.txt")
    );
    assert_eq!(
        server.ok("find", json!({"path": &outside, "pattern": "*.txt"})).0["paths"][0]["path"],
        there("new/a.txt")
    );
    assert_eq!(
        server.ok("search", json!({"path": &outside, "pattern": "sings"})).0["matches"][0]["path"],
        there("canary")
    );
    assert_eq!(server.ok("list_dir", json!({"path": &outside})).0["path"], outside);
    server.ok("move", json!({"source": there("new/a.txt"), "destination": "b.txt"}));
    server.ok("move", json!({"source": "here.txt", "destination": there("here.txt")}));
    server.ok("delete", json!({"path": there("new")}));
    assert_eq!((room.read("b.txt").as_str(), room.root.join("here.txt").exists()), ("a\n", false));
    assert!(room.outside.join("here.txt").exists() && !room.outside.join("new").exists());
    assert_eq!(
        server.ok("find", json!({"pattern": "**"})).0["paths"].as_array().unwrap().len(),
        1,
        "`.` is the workspace"
    );
}

#[test]
fn a_further_root_opens_nothing_else() {
    let room = Room::new();
    let inner = room.outside.join("inner");
    std::fs::create_dir_all(inner.join("private")).unwrap();
    std::fs::write(inner.join("private/key"), "k").unwrap();
    std::os::unix::fs::symlink("../canary", inner.join("up")).unwrap();
    std::os::unix::fs::symlink(room.outside.join("canary"), inner.join("away")).unwrap();
    room.link(&inner, "in");
    let (root, private) =
        (inner.display().to_string(), inner.join("private").display().to_string());
    let mut server = room.start(&["--root", &root, "--protect", &private]);
    for path in [
        format!("{root}/../canary"),
        room.outside.join("canary").display().to_string(),
        format!("{root}/up"),
        format!("{root}/away"),
        format!("{root}x/file"),
        format!("{root}/private/key"),
        "in/private/key".to_owned(),
        "/etc/passwd".to_owned(),
    ] {
        server.err("read_file", json!({"path": path}));
    }
    let moved = server.err("move", json!({"source": &root, "destination": "stolen"}));
    assert!(moved.contains("cannot be moved"), "{moved}");
    assert!(inner.join("private/key").exists());
}

#[test]
fn roots_in_one_another_are_one_place_with_two_names() {
    let room = Room::new();
    room.write("sub/a.txt", "a\n");
    let sub = room.root.join("sub").display().to_string();
    let mut server = room.start(&["--root", &sub]);
    assert_eq!(server.ok("read_file", json!({"path": format!("{sub}/a.txt")})).0["content"], "a\n");
    let same = server.err(
        "move",
        json!({"source": "sub/a.txt", "destination": format!("{sub}/a.txt"), "overwrite": true}),
    );
    assert!(same.contains("are the same"), "{same}");
    let inside =
        server.err("move", json!({"source": "sub", "destination": format!("{sub}/deeper")}));
    assert!(inside.contains("into itself"), "{inside}");
    assert_eq!(room.read("sub/a.txt"), "a\n");
}

#[test]
fn a_link_is_not_moved_from_one_root_into_another() {
    let room = Room::new();
    let outside = room.outside.display().to_string();
    room.write("sub/a.txt", "a\n");
    room.link("/etc/hostname", "USER.md");
    let sub = room.root.join("sub").display().to_string();
    let mut server = room.start(&["--root", &outside, "--root", &sub]);
    for into in [format!("{outside}/USER.md"), format!("{sub}/USER.md"), "sub/USER.md".to_owned()] {
        let refused = server.err("move", json!({"source": "USER.md", "destination": into}));
        assert!(refused.contains("is a symbolic link"), "{refused}");
    }
    assert!(room.root.join("USER.md").is_symlink());
    server.ok("move", json!({"source": "USER.md", "destination": "new/OTHER.md"}));
    assert!(
        room.root.join("new/OTHER.md").is_symlink() && !room.outside.join("USER.md").is_symlink()
    );
}
