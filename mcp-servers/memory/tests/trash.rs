//! The trash over a real child process: what it has no room for is removed permanently, the oldest
//! first, and a check says so.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::json;
use support::Room;

#[test]
fn the_trash_is_bounded_and_what_has_gone_is_said() {
    let room = Room::new();
    let trash = room.temp.path().join("memory-state/trash");
    for (when, n) in [("20200101T000000000000001", 1), ("20250101T000000000000001", 2)] {
        let folder = trash.join(format!("{when}-abcdef-forgotten/sub"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("n{n}.md")), "x".repeat(2_000)).unwrap();
    }
    std::fs::write(room.temp.path().join("outside.md"), "not ours").unwrap();
    std::os::unix::fs::symlink(
        room.temp.path(),
        trash.join("20200101T000000000000001-abcdef-forgotten/link"),
    )
    .unwrap();
    room.write("a.md", "---\nid: m1\n---\ntext\n");
    let said = room.check().1;
    assert!(said.contains("The trash holds 2 files, 4 KiB.\n"), "a check removes nothing: {said}");
    let mut server =
        support::spawn(&room.notes, &["--trash-files-max", "2", "--trash-days-max", "99999"]);
    server.initialize("2025-11-25");
    let (gone, _) = server.ok("forget", json!({"id": "m1"}));
    drop(server);
    let kept: Vec<_> = std::fs::read_dir(&trash).unwrap().map(|one| one.unwrap().path()).collect();
    assert_eq!(kept.len(), 2, "{kept:?}");
    assert!(!trash.join("20200101T000000000000001-abcdef-forgotten").exists());
    assert!(trash.join(gone["trash"].as_str().unwrap()).exists(), "the newest stays");
    assert!(room.temp.path().join("outside.md").exists(), "no link is followed");
    let (is_equal, said) = room.check();
    assert!(is_equal && said.contains("removed permanently: 1 file, 2 KiB"), "{said}");
}
