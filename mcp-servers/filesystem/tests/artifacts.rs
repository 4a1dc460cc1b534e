//! `read_artifact`: what a host has put aside is read in parts and searched over all parts of a
//! conversation, and only by whoever knows its name.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::path::Path;

use serde_json::json;
use support::Room;

/// Not the digest of anything: the server reads files by their names.
fn name(number: u8) -> String {
    format!("{number:02x}").repeat(32)
}

fn put(folder: &Path, number: u8, text: impl AsRef<[u8]>) -> String {
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join(name(number)), text).unwrap();
    name(number)
}

#[test]
fn a_long_text_is_read_in_parts_by_the_beginning_of_its_name() {
    let room = Room::new();
    let folder = room.outside.join("kept");
    let whole = "zeile äöü\n".repeat(2_000);
    let kept = put(&folder, 0xa1, &whole);
    let mut server = room.start(&["--artifacts", folder.to_str().unwrap()]);
    let (mut read, mut offset) = (String::new(), json!(0));
    while !offset.is_null() {
        let asked = json!({"artifact": &kept[..16], "offset": offset});
        let (output, _) = server.ok("read_artifact", asked);
        assert_eq!(
            (&output["artifact"], output["size_bytes"].as_u64()),
            (&json!(kept), Some(whole.len() as u64))
        );
        read.push_str(output["content"].as_str().unwrap());
        offset = output["next_offset"].clone();
    }
    assert_eq!(read, whole);
    let past = json!({"artifact": kept, "offset": 1_000_000});
    assert!(server.err("read_artifact", past).contains("bytes, so there is nothing at 1000000"));
}

#[test]
fn words_are_looked_for_in_all_parts_of_a_conversation() {
    let room = Room::new();
    let folder = room.outside.join("kept");
    let first =
        put(&folder, 1, "A part.\n\n[3] the gate code of the garden is 7788\n[4] nothing\n");
    let second = put(
        &folder,
        2,
        format!("A part. The part before it is artifact {first}.\n\n[9] the garden is wet\n"),
    );
    let mut server = room.start(&["--artifacts", folder.to_str().unwrap()]);
    let asked = json!({"artifact": second, "search": "Garden gate code"});
    let (output, text) = server.ok("read_artifact", asked);
    assert_eq!(output["hits"][0]["text"], "[3] the gate code of the garden is 7788");
    assert_eq!(
        (&output["hits"][0]["artifact"], &output["hits"][0]["offset"]),
        (&json!(first), &json!(9))
    );
    assert_eq!(output["hits"][1]["text"], "[9] the garden is wet");
    assert!(text.starts_with(&first[..16]), "{text}");
    let (output, text) = server.ok("read_artifact", json!({"artifact": second, "search": "zzz"}));
    assert!(output.get("hits").is_none() && text.contains("in 2 parts"), "{text}");
    assert!(
        server.err("read_artifact", json!({"artifact": second, "search": " "})).contains("no word")
    );
    std::fs::remove_file(folder.join(first)).unwrap();
    let (output, _) = server.ok("read_artifact", json!({"artifact": second, "search": "garden"}));
    assert_eq!(output["hits"].as_array().unwrap().len(), 1, "what is left is searched");
}

#[test]
fn of_a_long_line_the_part_is_shown_in_which_the_words_stand() {
    let room = Room::new();
    let folder = room.outside.join("kept");
    let filler = "the garden was İstanbul in spring. ".repeat(60);
    let line = format!("{filler}By the way, the Garden gate code is 4711. {filler}\nshort garden");
    let name = put(&folder, 1, &line);
    let mut server = room.start(&["--artifacts", folder.to_str().unwrap()]);
    let asked = json!({"artifact": name, "search": "garden GATE code"});
    let (output, text) = server.ok("read_artifact", asked);
    let hit = &output["hits"][0];
    let shown = hit["text"].as_str().unwrap();
    assert!(shown.contains("Garden gate code is 4711"), "{text}");
    assert!(shown.starts_with('…') && shown.ends_with('…') && shown.len() <= 520, "{shown}");
    let (read, _) = server.ok("read_artifact", json!({"artifact": name, "offset": hit["offset"]}));
    let begins = shown.trim_matches('…');
    assert!(read["content"].as_str().unwrap().starts_with(begins), "the offset is another place");
    assert_eq!(output["hits"][1]["text"], "short garden");
}

#[test]
fn only_a_name_opens_an_artifact() {
    let room = Room::new();
    let folder = room.outside.join("kept");
    let kept = put(&folder, 0xab, "secret of another conversation");
    put(&folder, 0xcd, [0, 159, 146, 150]);
    std::fs::write(room.outside.join("f"), "x").unwrap();
    let mut server = room.start(&["--artifacts", folder.to_str().unwrap()]);
    for guess in ["", "ab", &kept[..15], "../canary", "../../outside/canary", "*", "ab ab"] {
        let said = server.err("read_artifact", json!({"artifact": guess}));
        assert!(said.contains("names no artifact"), "{guess}: {said}");
    }
    let gone = server.err("read_artifact", json!({"artifact": name(0xee)}));
    assert!(gone.contains("There is no artifact"), "{gone}");
    assert!(server.err("read_artifact", json!({"artifact": name(0xcd)})).contains("is not text"));
    // Where no folder is named there is no such tool.
    let mut plain = room.start(&[]);
    let listed = plain.request("tools/list", json!({})).to_string();
    assert!(listed.contains("read_file") && !listed.contains("read_artifact"), "{listed}");
}
