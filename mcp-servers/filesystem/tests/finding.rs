//! `find` by time and size, and a search that only counts.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};
use support::Room;

/// 2026-11-23T10:00:00Z
const CHANGED_S: u64 = 1_795_428_000;

fn paths(output: &Value) -> Vec<&str> {
    let found = output["paths"].as_array().unwrap().iter();
    found.map(|one| one["path"].as_str().unwrap()).collect()
}

#[test]
fn files_are_found_by_time_and_size() {
    let room = Room::new();
    for (name, bytes, hours) in
        [("old.txt", 10, 0), ("new.txt", 20, 24), ("dir/large.txt", 500, 48)]
    {
        room.write(name, "x".repeat(bytes));
        let at = UNIX_EPOCH + Duration::from_secs(CHANGED_S + hours * 3_600);
        let file = std::fs::File::options().append(true).open(room.root.join(name)).unwrap();
        file.set_modified(at).unwrap();
    }
    let mut server = room.start(&[]);
    for (asked, found) in [
        (json!({"pattern": "*"}), &["dir", "dir/large.txt", "new.txt", "old.txt"][..]),
        (json!({"pattern": "*", "modified_since": "2026-11-24"}), &["dir/large.txt", "new.txt"]),
        (json!({"pattern": "*", "modified_before": "2026-11-23T10:00:01Z"}), &["old.txt"]),
        (json!({"pattern": "*", "modified_before": "2026-11-23T10:00:00Z"}), &[]),
        (json!({"pattern": "*", "size_min_bytes": 20}), &["dir/large.txt", "new.txt"]),
        (json!({"pattern": "*", "size_min_bytes": 11, "size_max_bytes": 20}), &["new.txt"]),
    ] {
        let (output, text) = server.ok("find", asked.clone());
        assert_eq!(paths(&output), found, "{asked}: {text}");
    }
    let (output, text) = server.ok("find", json!({"pattern": "old*", "size_max_bytes": 10}));
    let one = &output["paths"][0];
    assert_eq!(
        (&one["size_bytes"], &one["modified"]),
        (&json!(10), &json!("2026-11-23T10:00:00Z"))
    );
    assert!(text.contains("old.txt  10 bytes, 2026-11-23T10:00:00Z"), "{text}");
    for (asked, why) in [
        (json!({"pattern": "*", "modified_since": "yesterday"}), "is no time. Write it as"),
        (json!({"pattern": "*", "size_min_bytes": 2, "size_max_bytes": 1}), "no file can be that"),
    ] {
        assert!(server.err("find", asked).contains(why), "{why}");
    }
}

#[test]
fn a_search_that_counts_gives_numbers_and_no_lines() {
    let room = Room::new();
    room.write("a.txt", "cat\ndog\ncat cat\n");
    room.write("b.txt", "cat\n");
    room.write("c.txt", "dog\n");
    let mut server = room.start(&[]);
    let (output, text) = server.ok("search", json!({"pattern": "cat", "count_only": true}));
    let counts = json!([{"path": "a.txt", "lines": 2}, {"path": "b.txt", "lines": 1}]);
    assert_eq!((&output["counts"], &output["matching_lines"]), (&counts, &json!(3)));
    assert_eq!(output["matches"], json!([]));
    assert!(text.contains("3 matching lines in 2 of 3 files searched"), "{text}");
    assert!(!text.contains("cat"), "no line is shown: {text}");
    let limited = json!({"pattern": "cat", "count_only": true, "limit": 1});
    let (output, text) = server.ok("search", limited);
    assert_eq!((&output["truncated"], &output["matching_lines"]), (&json!(true), &json!(2)));
    assert!(text.contains("there are more"), "{text}");
    let (output, text) = server.ok("search", json!({"pattern": "bird", "count_only": true}));
    assert!(output["matching_lines"] == 0 && text.contains("no line matches `bird`"), "{text}");
}
