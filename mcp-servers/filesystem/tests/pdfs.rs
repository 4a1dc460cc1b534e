//! The text of PDFs: what a model gets, and what a file that was made to do harm can do.
#![expect(clippy::unwrap_used, reason = "a test helper that fails should panic")]

mod support;

use serde_json::json;
use support::Room;

/// A PDF with a content stream for each page, whose dictionary may say more (`/Filter …`), and
/// further objects: number 3 is the font, those of `more` begin with 100.
fn pdf(pages: &[(&str, &[u8])], more: &[&[u8]], trailer: &str) -> Vec<u8> {
    let mut objects: Vec<(usize, Vec<u8>)> = vec![
        (1, b"<< /Type /Catalog /Pages 2 0 R >>".to_vec()),
        (3, b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec()),
    ];
    let kids: Vec<String> = (0..pages.len()).map(|at| format!("{} 0 R", 10 + 2 * at)).collect();
    let tree = format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len());
    objects.push((2, tree.into_bytes()));
    for (at, (says, content)) in pages.iter().enumerate() {
        let number = 10 + 2 * at;
        let page = format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents {} 0 R \
             /Resources << /Font << /F 3 0 R >> /XObject << /X 100 0 R >> >> >>",
            number + 1
        );
        objects.push((number, page.into_bytes()));
        objects.push((number + 1, stream(says, content)));
    }
    objects.extend(more.iter().enumerate().map(|(at, object)| (100 + at, object.to_vec())));
    objects.sort();
    let mut file = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in &objects {
        places.push((*number, file.len()));
        file.extend(format!("{number} 0 obj\n").bytes());
        file.extend(object);
        file.extend(b"\nendobj\n");
    }
    let table = file.len();
    file.extend(b"xref\n0 1\n0000000000 65535 f \n");
    for (number, place) in places {
        file.extend(format!("{number} 1\n{place:010} 00000 n \n").bytes());
    }
    file.extend(
        format!("trailer\n<< /Size 200 /Root 1 0 R {trailer} >>\nstartxref\n{table}\n%%EOF\n")
            .bytes(),
    );
    file
}

fn stream(says: &str, content: &[u8]) -> Vec<u8> {
    let mut object = format!("<< /Length {} {says} >>\nstream\n", content.len()).into_bytes();
    object.extend(content);
    object.extend(b"\nendstream");
    object
}

fn text(words: &str) -> String {
    format!("BT /F 12 Tf 50 700 Td ({words}) Tj ET")
}

fn of_pages(words: &[&str]) -> Vec<u8> {
    let texts: Vec<String> = words.iter().map(|words| text(words)).collect();
    let pages: Vec<(&str, &[u8])> = texts.iter().map(|text| ("", text.as_bytes())).collect();
    pdf(&pages, &[], "")
}

#[test]
fn a_pdf_is_read_by_pages() {
    let room = Room::new();
    let lines = "BT /F 12 Tf 50 700 Td [(gap) -600 (ped)] TJ 0 -14 Td (second line) Tj \
                 0 -60 Td (other paragraph) Tj ET q 1 0 0 1 0 0 cm /X Do Q";
    let form = stream("/Type /XObject /Subtype /Form", text("in a form").as_bytes());
    let two = text("two");
    room.write("a.pdf", pdf(&[("", lines.as_bytes()), ("", two.as_bytes())], &[&form], ""));
    let mut server = room.start(&[]);
    let (output, told) = server.ok("read_file", json!({"path": "a.pdf"}));
    let first = "gap ped\nsecond line\n\nother paragraph\n\nin a form";
    assert_eq!(output["content"], format!("{first}\u{c}two"));
    assert_eq!(output["pages"], json!({"first": 1, "last": 2, "total": 2}));
    assert!(told.contains("[page 1 of 2 of `a.pdf`]") && told.contains(first), "{told}");
    let (output, told) = server.ok("read_file", json!({"path": "a.pdf", "start_page": 2}));
    assert_eq!(output["content"], "two");
    assert!(!told.contains("gap"), "{told}");
    let (output, told) = server.ok("read_file", json!({"path": "a.pdf", "end_page": 1}));
    assert_eq!(output["content"], first);
    assert_eq!(output.get("next_start_page"), None, "all that was asked for was read: {told}");
    let (output, _) = server.ok("read_files", json!({"paths": ["a.pdf"]}));
    assert_eq!(output["files"][0]["total_pages"], 2);
}

#[test]
fn a_range_that_a_file_does_not_have_is_told() {
    let room = Room::new();
    room.write("a.pdf", of_pages(&["one"]));
    room.write("a.txt", "one\n");
    let mut server = room.start(&[]);
    for (arguments, says) in [
        (json!({"path": "a.pdf", "start_page": 2}), "has 1 page, so there is no page 2"),
        (json!({"path": "a.pdf", "start_page": 0}), "pages count from 1"),
        (json!({"path": "a.pdf", "start_page": 3, "end_page": 2}), "are no range"),
        (json!({"path": "a.pdf", "start_line": 1}), "read by pages"),
        (json!({"path": "a.txt", "start_page": 1}), "is no PDF"),
    ] {
        let message = server.err("read_file", arguments.clone());
        assert!(message.contains(says), "{arguments}: {message}");
    }
}

#[test]
fn a_long_pdf_is_read_in_pieces_that_join_up() {
    let room = Room::new();
    let words: Vec<String> = (1..=9).map(|page| format!("page{page} {}", "x".repeat(40))).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    room.write("a.pdf", of_pages(&words));
    let one_page = ["--pdf-pages-max", "1"];
    for limits in [&["--read-reply-bytes-max", "100"], &one_page] {
        let mut server = room.start(limits);
        let (mut joined, mut next) = (Vec::new(), Some(1));
        while let Some(start) = next {
            let (output, told) =
                server.ok("read_file", json!({"path": "a.pdf", "start_page": start}));
            joined.push(output["content"].as_str().unwrap().to_owned());
            next = output["next_start_page"].as_u64();
            if let Some(next) = next {
                assert!(told.contains(&format!("there is more; ask for pages {next}–9")), "{told}");
            }
        }
        assert!(joined.len() > 1);
        assert_eq!(joined.join("\u{c}").split('\u{c}').collect::<Vec<_>>(), words);
    }
}

#[test]
fn a_page_longer_than_a_reply_is_cut_and_says_so() {
    let room = Room::new();
    room.write("a.pdf", of_pages(&[&"y".repeat(500), "two"]));
    let mut server = room.start(&["--read-reply-bytes-max", "100"]);
    let (output, told) = server.ok("read_file", json!({"path": "a.pdf"}));
    assert_eq!((&output["page_cut"], &output["next_start_page"]), (&json!(true), &json!(2)));
    assert!(told.contains("its end is missing"), "{told}");
}

#[test]
fn a_scan_an_encrypted_and_a_broken_pdf_are_told_apart() {
    let room = Room::new();
    room.write("scan.pdf", pdf(&[("", b"q 600 0 0 800 0 0 cm /X Do Q")], &[], ""));
    let encrypt = format!(
        "/ID [<00> <00>] /Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 /O <{0}> /U <{0}> >>",
        "5a".repeat(32)
    );
    room.write("locked.pdf", pdf(&[("", text("x").as_bytes())], &[], &encrypt));
    room.write("broken.pdf", b"%PDF-1.7\nnothing more");
    room.write("half.pdf", pdf(&[("", text("one").as_bytes()), ("", b"")], &[], ""));
    let mut server = room.start(&["--pdf-bytes-max", "2000"]);
    for (path, says) in [
        ("scan.pdf", "probably a scan"),
        ("locked.pdf", "opens with a password"),
        ("broken.pdf", "no page was found"),
    ] {
        let message = server.err("read_file", json!({"path": path}));
        assert!(message.contains(says), "{path}: {message}");
    }
    let (_, told) = server.ok("read_file", json!({"path": "half.pdf"}));
    assert!(told.contains("[page 2 of 2 of `half.pdf`: no text"), "{told}");
    room.write("large.pdf", pdf(&[("", &[b' '; 3000])], &[], ""));
    let message = server.err("read_file", json!({"path": "large.pdf"}));
    assert!(message.contains("the limit is 2000"), "{message}");
}

/// Forms that each run the next one a hundred times, as deep as they are followed.
fn endless() -> Vec<Vec<u8>> {
    let form = |next: usize| {
        let says =
            format!("/Type /XObject /Subtype /Form /Resources << /XObject << /X {next} 0 R >> >>");
        stream(&says, "/X Do ".repeat(100).as_bytes())
    };
    (101..117).map(form).collect()
}

/// A file with the pages, the last of which does not end.
fn ends_never(pages: &[(&str, &[u8])]) -> Vec<u8> {
    let forms = endless();
    let forms: Vec<&[u8]> = forms.iter().map(Vec::as_slice).collect();
    let mut pages = pages.to_vec();
    pages.push(("", b"/X Do"));
    pdf(&pages, &forms, "")
}

#[test]
fn a_page_without_an_end_costs_its_time_and_the_pages_before_it_are_kept() {
    let room = Room::new();
    let one = text("one");
    room.write("a.pdf", ends_never(&[("", one.as_bytes())]));
    let mut server = room.start(&["--pdf-time-ms-max", "8000"]);
    let (output, told) = server.ok("read_file", json!({"path": "a.pdf"}));
    assert_eq!((&output["content"], &output["next_start_page"]), (&json!("one"), &json!(2)));
    assert!(
        told.contains("stopped after 8 s") || told.contains("page 2 could not be read"),
        "{told}"
    );
    let message = server.err("read_file", json!({"path": "a.pdf", "start_page": 2}));
    assert!(message.contains("page 2"), "{message}");
}

/// Two bytes of the file are 128 of the page.
#[cfg(target_os = "linux")]
#[test]
fn a_page_that_fills_the_memory_ends_its_reader_and_not_the_server() {
    let room = Room::new();
    let (one, three) = (text("one"), text("three"));
    let bomb = b"\x81 ".repeat(4_000_000);
    let pages: [(&str, &[u8]); 3] =
        [("", one.as_bytes()), ("/Filter /RunLengthDecode", &bomb), ("", three.as_bytes())];
    room.write("a.pdf", pdf(&pages, &[], ""));
    let mut server = room.start(&["--pdf-memory-bytes-max", "200000000"]);
    let (output, told) = server.ok("read_file", json!({"path": "a.pdf"}));
    assert_eq!(output["content"], "one", "{told}");
    assert!(told.contains("page 2 could not be read") && told.contains("pages 3–3"), "{told}");
    assert_eq!(
        server.ok("read_file", json!({"path": "a.pdf", "start_page": 3})).0["content"],
        "three"
    );
    assert!(server.resident_kib().is_none_or(|kib| kib < 100_000), "the server took the memory");
}

/// As many calls as work at once (16) read what has no end: only a reading that was ended makes
/// room for one more.
#[test]
fn cancelled_readings_end_and_make_room_for_others() {
    let room = Room::new();
    room.write("a.pdf", ends_never(&[]));
    room.write("b.pdf", of_pages(&["well"]));
    let mut server = room.start(&["--pdf-time-ms-max", "600000"]);
    let calls: Vec<u64> =
        (0..16).map(|_| server.begin_call("read_file", json!({"path": "a.pdf"}))).collect();
    for id in calls {
        let cancelled = json!({"requestId": id});
        server.send(
            &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}),
        );
    }
    assert_eq!(server.ok("read_file", json!({"path": "b.pdf"})).0["content"], "well");
    assert!(server.close().success());
}

/// Some bytes of a good file are others, in 300 ways that are the same at each run.
#[test]
fn a_damaged_pdf_never_ends_the_server() {
    let room = Room::new();
    let form = stream("/Type /XObject /Subtype /Form", text("in a form").as_bytes());
    let (one, two) = (format!("{} /X Do", text("one")), text("two"));
    let good = pdf(&[("", one.as_bytes()), ("", two.as_bytes())], &[&form], "");
    let mut server = room.start(&["--pdf-time-ms-max", "2000"]);
    let mut random = 1u64;
    let mut next = |bound: usize| {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap() % bound
    };
    for _ in 0..300 {
        let mut bad = good.clone();
        for _ in 0..=next(12) {
            let at = next(bad.len() - 8) + 8;
            bad[at] = u8::try_from(next(256)).unwrap();
        }
        room.write("bad.pdf", &bad);
        server.call("read_file", json!({"path": "bad.pdf"}));
    }
    room.write("good.pdf", good);
    assert!(server.ok("read_file", json!({"path": "good.pdf"})).1.contains("two"));
}
