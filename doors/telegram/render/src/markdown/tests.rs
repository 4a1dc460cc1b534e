//! How typical answers look, and where they are cut.

mod properties;

use insta::assert_snapshot;

use super::*;
use crate::tests::{all_faults, covered, drawn};
use crate::utf16_len;

fn look(markdown: &str) -> String {
    let parts = render(markdown);
    assert_eq!(all_faults(&parts, MESSAGE_UNITS_MAX), []);
    drawn(&parts)
}

#[test]
fn an_answer() {
    let markdown = "\
# Disk is *nearly* full
`/var` holds **41 GB**, mostly `journal` files.
~~Nothing~~ Something to do, see [the manual](https://example.org/man?a=1&b=2):

1. Look first:
   ```sh
   journalctl --disk-usage
     # indented
   ```
2. Then **vacuum** it
   - keep ***one week***
     - or less
   - ask me

> Careful: this
> cannot be undone.
>
> > quoted twice

---
- [ ] vacuum
- [x] look";
    assert_snapshot!(look(markdown), @r"
    <b>Disk is <i>nearly</i> full</b>
    <code>/var</code> holds <b>41 GB</b>, mostly <code>journal</code> files.
    <s>Nothing</s> Something to do, see <a https://example.org/man?a=1&b=2>the manual</a>:

    1. Look first:
    <pre sh>journalctl --disk-usage
      # indented</pre>
    2. Then <b>vacuum</b> it
       ◦ keep <b><i>one week</i></b>
          • or less
       ◦ ask me

    <quote>Careful: this
    cannot be undone.

    │ quoted twice</quote>

    ──────────

    ☐ vacuum
    ☑ look
    ");
}

#[test]
fn tables() {
    let small = "| Name | Size | |\n|:--|--:|:-:|\n| `a` | 1 | x |\n| 日本 | **12** GB | |";
    assert_snapshot!(look(small), @r"
    <pre>Name │  Size │
    ─────┼───────┼──
    a    │     1 │ x
    日本 │ 12 GB │</pre>
    ");
    let wide = "\
| Host | What it does for us | Since |
|---|---|---|
| a.example.org | serves *everything* that is static | 2019 |
| b.example.org | builds<br>and tests | |";
    assert_snapshot!(look(wide), @r"
    <b>Host:</b> a.example.org
    <b>What it does for us:</b> serves <i>everything</i> that is static
    <b>Since:</b> 2019

    <b>Host:</b> b.example.org
    <b>What it does for us:</b> builds
    and tests
    <b>Since:</b>
    ");
    assert_snapshot!(look("| Page |\n|---|\n| [one](https://one.org) |"), @r"<b>Page:</b> <a https://one.org/>one</a>");
    assert_snapshot!(look("| a quite long header that fills | a phone on its own |\n|---|---|"), @r"
    <b>a quite long header that fills
    a phone on its own</b>
    ");
}

#[test]
fn links() {
    let markdown = "\
[a file](src/main.rs) and [us](mailto:a@b.org), <a@b.org>, <https://x.org/y>, [https://bank.org](https://evil.org).
![chart](https://x.org/c.png) [![badge](https://x.org/b.svg)](https://x.org) [](https://x.org/z) [`code`](https://x.org)
[http](http://localhost:80)

[1]: https://source.org \"kept\"";
    assert_snapshot!(look(markdown), @r#"
    a file (src/main.rs) and us (mailto:a@b.org), a@b.org, <a https://x.org/y>https://x.org/y</a>, <a https://evil.org/>https://bank.org</a> (https://evil.org).
    <a https://x.org/c.png>chart</a> <a https://x.org/>badge</a> <a https://x.org/z>https://x.org/z</a> <a https://x.org/>code</a>
    http (http://localhost:80)

    [1]: https://source.org "kept"
    "#);
}

#[test]
fn html_and_odd_blocks() {
    assert_snapshot!(look("<details>\n<b>x</b>\n</details>\n\na <kbd>b</kbd> &amp; c<br>d"), @r"
    <details>
    <b>x</b>
    </details>

    a <kbd>b</kbd> & c
    d
    ");
    assert_snapshot!(look("-\n- ```\n  code\n  ```\n- > quote\n- # head\n* * *\n> ```\n>   in\n> ```"), @r"
    •
    •
    <pre>code</pre>
    •
    <quote>quote</quote>

    • <b>head</b>

    ──────────

    <quote><pre>  in</pre></quote>
    ");
    assert_snapshot!(look("a\n\n```\n\n```\n\n> \n\n#\n\nb"), @r"
    a

    b
    ");
}

#[test]
fn what_a_stream_has_so_far() {
    for (prefix, expected) in [
        ("a **bold te", "a <b>bold te</b>"),
        ("a **", "a"),
        ("# Head", "<b>Head</b>"),
        ("```rust\nlet a = **b;\n``", "<pre rust>let a = **b;</pre>"),
        ("```ru", ""),
        ("see [the man](https://exa", "see the man"),
        ("- a\n- b `c", "• a\n• b <code>c</code>"),
    ] {
        assert_eq!(drawn(&render_prefix(prefix)), expected, "{prefix}");
    }
}

#[test]
fn nothing_to_show_is_no_message() {
    for nothing in ["", " \n\t\n", "\u{3000}", "```\n\n```", "****\n\n", "&nbsp;"] {
        let shown = render(nothing);
        assert!(shown.is_empty() || !shown[0].text.trim().is_empty(), "{nothing:?}: {shown:?}");
    }
    assert!(render("").is_empty() && render(" \n").is_empty() && plain(" \n\n").is_empty());
}

#[test]
fn cuts_at_the_best_place_there_is() {
    let cut = |markdown: &str| {
        let parts = render_limited(markdown, 20);
        assert_eq!(all_faults(&parts, 20), []);
        drawn(&parts).replace('\n', "/")
    };
    assert_eq!(cut("one two three\n\nfour five six"), "one two three/======/four five six");
    assert_eq!(cut("one two three\nfour five six"), "one two three/======/four five six");
    assert_eq!(cut("one two three four five six"), "one two three four/======/five six");
    assert_eq!(
        cut("**one two three four five** six"),
        "<b>one two three four</b>/======/<b>five</b> six"
    );
    assert_eq!(cut("aaaaaaaaaaaaaaaaaa👩‍👩‍👧b"), "aaaaaaaaaaaaaaaaaa/======/👩‍👩‍👧b");
    let code = "```py\nif a:\n    b(1)\n    c(2)\n    d(3)\n```";
    assert_eq!(cut(code), "<pre py>if a:/    b(1)</pre>/======/<pre py>    c(2)/    d(3)</pre>");
    assert_eq!(
        cut("a\n\n    x1\n\n\n    x2\n    yyyyyyyyyy"),
        "a//<pre>x1///x2</pre>/======/<pre>yyyyyyyyyy</pre>"
    );
}

#[test]
fn too_many_entities_make_a_message_of_their_own() {
    let markdown = "**a** b ".repeat(250);
    let parts = render(&markdown);
    assert_eq!(parts.iter().map(|part| part.entities.len()).collect::<Vec<_>>(), [100, 100, 50]);
    assert_eq!(all_faults(&parts, MESSAGE_UNITS_MAX), []);
    let words: Vec<&str> = parts.iter().flat_map(|part| part.text.split_whitespace()).collect();
    assert_eq!(words.len(), 500);
}

#[test]
fn a_long_block_of_code_is_code_in_every_message() {
    let code: Vec<String> =
        (0..400).map(|n| format!("{}let 👩{n} = {n};", " ".repeat(n % 9))).collect();
    let parts = render(&format!("```rust\n{}\n```", code.join("\n")));
    assert!(parts.len() > 1);
    assert_eq!(all_faults(&parts, MESSAGE_UNITS_MAX), []);
    let shown: Vec<String> = parts.iter().map(|part| covered(part, 0)).collect();
    assert_eq!(shown.join("\n"), code.join("\n"));
    assert!(parts.iter().all(|part| drawn(std::slice::from_ref(part)).starts_with("<pre rust>")));
}

#[test]
fn plain_text_is_cut_alike_and_keeps_its_marks() {
    let parts = plain(&"**two words** and `code`\r\n".repeat(400));
    assert!(parts.len() > 1 && parts.iter().all(|part| part.entities.is_empty()));
    assert!(parts.iter().all(|part| utf16_len(&part.text) <= MESSAGE_UNITS_MAX));
    assert_eq!(all_faults(&parts, MESSAGE_UNITS_MAX), []);
    assert_eq!(parts.iter().map(|part| part.text.matches("**two").count()).sum::<usize>(), 400);
}

/// Deep and broken nesting costs no more than its length.
#[test]
fn nothing_takes_long() {
    let started = std::time::Instant::now();
    for unit in [
        "> ",
        "- ",
        "*a ",
        "[",
        "`",
        "<b>",
        "| a ",
        "1. ",
        "![",
        "**a *b ",
        "\u{200d}",
        "👩\u{200d}",
    ] {
        let text = unit.repeat(3000);
        let parts = render(&format!("{text}x\n{}", "y\n".repeat(500)));
        assert_eq!(all_faults(&parts[..parts.len().min(3)], MESSAGE_UNITS_MAX), [], "{unit}");
        render_prefix(&text);
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
