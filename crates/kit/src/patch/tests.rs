//! What is taken of a patch, what is refused, and what a text becomes.

use super::*;

const TWO: &str = "diff --git a/a.txt b/a.txt\nindex 1..2 100644\n--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@ fn x()\n one\n-two\n+2\n three\n\
    diff --git a/n/new b/n/new\nnew file mode 100644\n--- /dev/null\n+++ b/n/new\n@@ -0,0 +1,2 @@\n+--- x\n++++ y\n";

#[test]
fn a_patch_over_two_files_is_read_and_applied() {
    let changes = read(TWO).unwrap();
    let named: Vec<_> = changes.iter().map(|change| (change.path, change.creates)).collect();
    assert_eq!(named, [("a.txt", false), ("n/new", true)]);
    assert_eq!(changes[0].apply("zero\none\ntwo\nthree\n").unwrap(), "zero\none\n2\nthree\n");
    // Lines that look like the head of a file are text inside of a hunk.
    assert_eq!(changes[1].apply("").unwrap(), "--- x\n+++ y\n");
    assert_eq!(changes[0].apply("one\ntwo\n").unwrap_err(), PatchError::DoesNotFit { hunk: 1 });
    let edits = changes[0].edits();
    let expected = [
        Edit::Hunk(1),
        Edit::Stays("one"),
        Edit::Goes("two"),
        Edit::Comes("2"),
        Edit::Stays("three"),
    ];
    assert_eq!(edits, expected);
}

#[test]
fn the_end_of_a_file_without_a_line_feed_is_kept_apart() {
    let text = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n";
    let changes = read(text).unwrap();
    assert_eq!(changes[0].apply("x").unwrap(), "x\n");
    assert!(changes[0].apply("x\n").is_err());
    let expected = [Edit::Hunk(1), Edit::Goes("x"), Edit::NoLineFeed, Edit::Comes("x")];
    assert_eq!(changes[0].edits(), expected);
}

/// A model leaves the last line feed out, or its host cuts it off.
#[test]
fn a_patch_without_its_last_line_feed_is_the_same_patch() {
    let old = "import os\nimport sys\n\nprint(1)\n";
    for (hunk, new) in [
        ("@@ -1 +1,2 @@\n import os\n+import re", "import os\nimport re\nimport sys\n\nprint(1)\n"),
        (
            "@@ -1,2 +1,2 @@\n import os\n-import sys\n+import re",
            "import os\nimport re\n\nprint(1)\n",
        ),
        (
            "@@ -1,2 +1,3 @@\n import os\n+import re\n import sys",
            "import os\nimport re\nimport sys\n\nprint(1)\n",
        ),
        ("@@ -3,2 +3 @@\n \n-print(1)", "import os\nimport sys\n\n"),
        ("@@ -4 +4,2 @@\n print(1)\n+x", "import os\nimport sys\n\nprint(1)\nx\n"),
    ] {
        let cut = format!("--- a/f\n+++ b/f\n{hunk}");
        let (whole, both) = (format!("{cut}\n"), format!("{TWO}{cut}"));
        for text in [&cut, &whole, &both] {
            let changes = read(text).unwrap();
            let change = changes.last().unwrap();
            assert_eq!(change.apply(old).unwrap(), new, "{text}");
            assert!(!change.edits().contains(&Edit::NoLineFeed), "{text}");
        }
        assert_eq!(
            read(&cut).unwrap()[0].edits(),
            read(&whole).unwrap()[0].edits(),
            "who is asked sees what is written"
        );
    }
    // Who says that there is none means it, with a line feed behind that or without.
    for end in ["", "\n"] {
        let text = format!(
            "--- f\n+++ f\n@@ -4 +4,2 @@\n print(1)\n+x\n\\ No newline at end of file{end}"
        );
        let changes = read(&text).unwrap();
        assert_eq!(changes[0].apply(old).unwrap(), format!("{old}x"));
        assert_eq!(changes[0].edits().last(), Some(&Edit::NoLineFeed));
    }
}

#[test]
fn a_line_without_a_line_feed_is_the_end_of_the_file_or_refused() {
    let no_end = "\\ No newline at end of file\n";
    for (old, hunks, hunk) in [
        ("a\nb\nc\n", format!("@@ -1 +1,2 @@\n a\n+x\n{no_end}"), 1),
        ("a\nb\nc\n", format!("@@ -1,2 +1,2 @@\n a\n-b\n+x\n{no_end}"), 1),
        ("a\nb\nc\n", format!("@@ -1,2 +1,3 @@\n a\n+x\n{no_end} b\n"), 1),
        ("a\nb\nc\n", format!("@@ -1 +1 @@\n-a\n+x\n@@ -2 +2,2 @@\n b\n+y\n{no_end}"), 2),
        ("a\nb", format!("@@ -1,2 +1,2 @@\n-a\n+x\n{no_end} b\n{no_end}"), 1),
        ("a\n", format!("@@ -1 +1,2 @@\n a\n+\n{no_end}"), 1),
    ] {
        let text = format!("--- f\n+++ f\n{hunks}");
        let changes = read(&text).unwrap();
        assert_eq!(changes[0].apply(old).unwrap_err(), PatchError::NotTheEnd { hunk }, "{text}");
    }
    for (old, hunk, new) in [
        ("a\nb\n", format!("@@ -2 +2 @@\n-b\n+x\n{no_end}"), "a\nx"),
        ("a\nb", format!("@@ -2 +2 @@\n-b\n{no_end}+x\n{no_end}"), "a\nx"),
        ("a\nb", format!("@@ -1,2 +1,2 @@\n-a\n+x\n b\n{no_end}"), "x\nb"),
        ("a\nb", "@@ -1 +1 @@\n-a\n+x\n".to_owned(), "x\nb"),
    ] {
        let text = format!("--- f\n+++ f\n{hunk}");
        assert_eq!(read(&text).unwrap()[0].apply(old).unwrap(), new, "{text}");
    }
}

#[test]
fn line_ends_of_a_crlf_text_stay_whatever_the_patch_has() {
    let patch = "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n+x\n+y\n";
    let crlf = patch.replace('\n', "\r\n");
    let mixed = patch.replace("+x\n", "+x\r\n");
    for text in [patch, &crlf, &mixed, patch.trim_end()] {
        let changes = read(text).unwrap();
        let apply = |old: &str| changes[0].apply(old);
        assert_eq!(apply("a\r\nb\r\nc\r\n").unwrap(), "a\r\nx\r\ny\r\nc\r\n", "{text:?}");
        assert_eq!(apply("a\r\nb\r\nc").unwrap(), "a\r\nx\r\ny\r\nc", "{text:?}");
        assert_eq!(apply("r\r\r\na\r\nb\r\n").unwrap(), "r\r\r\na\r\nx\r\ny\r\n", "{text:?}");
    }
    // Elsewhere each line is taken as it is.
    assert!(read(patch).unwrap()[0].apply("a\r\nb\r\nc\n").is_err());
    assert!(read(&crlf).unwrap()[0].apply("a\nb\n").is_err());
    let new = read("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\r\n").unwrap();
    assert_eq!(new[0].apply("").unwrap(), "x\r\n");
}

/// Whoever judges a patch sees each file that it changes: what is not understood is refused, and
/// never passed over.
#[test]
fn what_is_not_understood_is_refused() {
    let part = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+y\n";
    assert!(read(part).is_ok());
    let other = |from: &str, to: &str| part.replace(from, to);
    for bad in [
        String::new(),
        "no patch at all\n".to_owned(),
        format!("rename from a\nrename to .env\n{part}"),
        format!("deleted file mode 100644\n{part}"),
        format!("old mode 100644\nnew mode 100755\n{part}"),
        format!("new file mode 120000\n{part}"),
        format!("{part}GIT binary patch\n"),
        format!("{part}@@ hidden\n"),
        format!("{part}-z\n"),
        format!("{part}{part}"),
        other("+++ b/f", "+++ b/.env"),
        other("+++ b/f", "+++ /dev/null"),
        other("--- a/f", "--- \"a/f\""),
        other("+++ b/f\n", ""),
        other("@@ -1 +1 @@", "@@ -1 +1,2 @@"),
        other("@@ -1 +1 @@", "@@ -1,2 +1 @@"),
        other("@@ -1 +1 @@", "@@ -1 +99999999999999999999 @@"),
        other("-x\n", "").replace("-1 +1", "-1,0 +1"),
        other("--- a/f", "--- /dev/null"),
        other("a/f", "a/").replace("b/f", "b/"),
        other("@@ -1 +1 @@\n-x\n+y\n", ""),
        "x".repeat(PATCH_BYTES_MAX + 1),
        (0..=FILES_MAX).map(|n| part.replace("/f", &format!("/f{n}"))).collect(),
    ] {
        assert!(read(&bad).is_err(), "{}", &bad[..bad.len().min(300)]);
    }
}

#[test]
fn a_search_that_takes_too_long_is_not_begun() {
    let lines = 2_000;
    let hunk: String = " \n".repeat(lines) + "-end\n";
    let text = format!("--- f\n+++ f\n@@ -1,{} +1,{lines} @@\n{hunk}", lines + 1);
    let changes = read(&text).unwrap();
    assert_eq!(changes[0].apply(&"\n".repeat(100_000)).unwrap_err(), PatchError::TooMuch);
    assert!(changes[0].apply(&"\n".repeat(3_000)).is_err(), "it does not fit");
}
