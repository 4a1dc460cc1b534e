//! Single notes as resources, in both eras of the protocol, over a real child process.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use support::{Room, Server};

fn contents(server: &mut Server, uri: &str) -> Value {
    server.request("resources/read", json!({ "uri": uri }))["result"]["contents"][0].clone()
}

#[test]
fn every_note_is_a_resource_and_pages_miss_none() {
    let room = Room::new();
    for n in 0..230 {
        room.write(&format!("f{}/n{n}.md", n % 3), format!("---\nid: n{n}\n---\ntext {n}\n"));
    }
    room.write("by hand é.md", "Only text.\n");
    room.write("f0/n0.sync-conflict-20261123-101112-ABCDEFG.md", "---\nid: n0\n---\nother\n");
    room.write("thesaurus.md", "a → b\n");
    let mut server = room.start();
    let (mut seen, mut cursor, mut pages) = (BTreeSet::new(), Value::Null, 0);
    loop {
        let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
        let page = server.request("resources/list", params)["result"].clone();
        for one in page["resources"].as_array().unwrap() {
            let uri = one["uri"].as_str().unwrap();
            assert!(one["name"].is_string() && one["mimeType"] == "text/markdown", "{one}");
            assert!(seen.insert(uri.to_owned()), "{uri} came twice");
        }
        cursor = page["nextCursor"].clone();
        pages += 1;
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!((seen.len(), pages), (231, 3));
    let note = contents(&mut server, "memory://notes/n7");
    assert_eq!(note["text"], "---\nid: n7\n---\ntext 7\n");
    let by_hand = seen.iter().find(|uri| uri.contains("hand")).unwrap();
    assert_eq!(by_hand, "memory://notes/by%20hand%20%C3%A9.md");
    assert_eq!(contents(&mut server, by_hand)["text"], "Only text.\n");
    // What is changed by hand is in the next answer.
    room.write("by hand é.md", "Other text.\n");
    assert_eq!(contents(&mut server, by_hand)["text"], "Other text.\n");
    let templates = server.request("resources/templates/list", json!({}))["result"].clone();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "memory://notes/{id}");
    let wrong = server.request("resources/list", json!({"cursor": "x"}));
    assert_eq!(wrong["error"]["code"], -32602, "{wrong}");
}

#[test]
fn what_is_not_there_is_the_error_of_each_era() {
    let room = Room::new();
    room.write("a.md", "text");
    for (is_modern, code) in [(false, -32002), (true, -32602)] {
        let mut server = support::spawn(&room.notes, &[]);
        if is_modern {
            server.be_modern();
        } else {
            let said = server.initialize("2025-11-25");
            assert!(said["result"]["capabilities"]["resources"].is_object(), "{said}");
        }
        for uri in [
            "memory://notes/m404",
            "memory://notes/../../etc/passwd",
            "memory://notes/%2e%2e%2fa.md",
            "file:///etc/passwd",
            "memory://notes/%zz",
            "",
        ] {
            let reply = server.request("resources/read", json!({ "uri": uri }));
            assert_eq!(reply["error"]["code"], code, "{uri}: {reply}");
            assert_eq!(reply["error"]["data"]["uri"], uri, "{reply}");
        }
        let list = server.request("resources/list", json!({}))["result"].clone();
        assert_eq!(list["resources"].as_array().unwrap().len(), 1);
        assert!(list["cacheScope"] == "private" && list["ttlMs"] == 0, "{list}");
        let read = server.request("resources/read", json!({"uri": "memory://notes/a.md"}));
        assert_eq!(read["result"]["contents"][0]["text"], "text");
        assert_eq!(read["result"]["resultType"] == "complete", is_modern, "{read}");
    }
}
