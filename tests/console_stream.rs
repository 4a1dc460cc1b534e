//! The promises of the streamed console: complete under any chunking, nothing twice, no foreign
//! escape sequence, nothing wider than the terminal.

use claw_core::domain::is_hidden;
use claw_terminal::stream::{STARTS_AGAIN, StreamView, markdown_lines};
use claw_terminal::style::{Look, visible};
use proptest::prelude::*;
use unicode_width::UnicodeWidthStr as _;

/// Pieces of Markdown and of mischief that meet in any order.
const PIECES: &[&str] = &[
    "word",
    "two words ",
    " ",
    "  ",
    "    ",
    "\n",
    "\n",
    "\n\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "- ",
    "* ",
    "+ ",
    "1. ",
    "2) ",
    "10. ",
    "# ",
    "## ",
    "#",
    "=",
    "---",
    "\n---\n",
    "===\n",
    "***",
    "**",
    "*",
    "_",
    "__",
    "~~",
    "`",
    "``",
    "```",
    "```\n",
    "\n```rust\n",
    "~~~",
    "> ",
    ">",
    ">> ",
    "| a | b |\n|---|:-:|\n| 1 | 2 |\n",
    "|",
    "-|-",
    "| x",
    ":-:",
    "[",
    "]",
    "](",
    ")",
    "[a]: /u\n",
    "[a]",
    "[a][b]",
    "[t](http://x.y \"z\")",
    "![i](p.png)",
    "<http://a.b>",
    "<div>",
    "</div>",
    "<!--",
    "-->",
    "<b>",
    "<pre>",
    "&amp;",
    "&#27;",
    "&#x9b;",
    "&#8238;",
    "&#10;",
    "\\",
    "\\\n",
    "  \n",
    "[ ] ",
    "[x] ",
    "- [ ] t",
    "日本語",
    "。",
    "👩‍👩‍👧",
    "e\u{301}",
    "\u{1b}[31m",
    "\u{1b}]0;t\u{7}",
    "\u{9b}2J",
    "\u{202e}",
    "\u{0}",
    "\u{FDD0}",
    "]:",
    "\u{2028}",
    "a|b",
    "\n\n\n",
    "\n    code\n",
];

fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => "[a-z ]{1,30}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Cuts `text` at the given places, wherever characters allow it.
fn chunks(text: &str, cuts: &[usize]) -> Vec<String> {
    let mut places: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    places.sort_unstable();
    let mut out = Vec::new();
    let mut from = 0;
    for place in places.into_iter().chain([text.len()]) {
        let mut to = place;
        while !text.is_char_boundary(to) {
            to += 1;
        }
        if to > from {
            out.push(text[from..to].to_owned());
            from = to;
        }
    }
    out
}

fn streamed(text: &str, cuts: &[usize], look: Look) -> Vec<String> {
    let mut view = StreamView::new(look);
    let mut lines = Vec::new();
    for chunk in chunks(text, cuts) {
        lines.extend(view.push(&chunk));
        view.draft();
    }
    lines.extend(view.finish());
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_chunking_shows_the_same_text(
        text in markdown(), cuts in prop::collection::vec(any::<usize>(), 0..30), width in 20..90_usize, colour: bool,
        breaks_code: bool,
    ) {
        let look = Look::new(width, colour).breaking_code(breaks_code);
        prop_assert_eq!(streamed(&text, &cuts, look), markdown_lines(&text, look));
    }

    #[test]
    fn one_character_at_a_time_shows_the_same_text(text in markdown(), breaks_code: bool) {
        let look = Look::new(40, false).breaking_code(breaks_code);
        let cuts: Vec<usize> = (0..text.len()).collect();
        prop_assert_eq!(streamed(&text, &cuts, look), markdown_lines(&text, look));
    }

    #[test]
    fn only_our_own_sequences_reach_the_terminal(text in markdown(), colour: bool) {
        for line in markdown_lines(&text, Look::new(40, colour)) {
            let seen = visible(&line);
            prop_assert!(!seen.chars().any(is_hidden), "{:?}", line);
            prop_assert!(!line.contains('\n'));
            prop_assert!(seen == seen.trim_end(), "white space at the end of {:?}", line);
        }
    }

    #[test]
    fn no_line_is_wider_than_the_terminal(text in markdown(), width in 20..90_usize) {
        for line in markdown_lines(&text, Look::new(width, false)) {
            let longest_word = line.split(' ').map(|word| word.width()).max().unwrap_or(0);
            let unbreakable = longest_word + 24 > width || line.contains("    ");
            prop_assert!(unbreakable || line.width() <= width, "{} > {width}: {line:?}", line.width());
        }
    }

    #[test]
    fn a_restart_shows_nothing_twice(text in markdown(), at in any::<usize>(), cuts in prop::collection::vec(any::<usize>(), 0..20)) {
        let look = Look::new(40, false);
        let broken = chunks(&text, &[at]);
        let mut view = StreamView::new(look);
        let mut lines = broken.first().map(|part| view.push(part)).unwrap_or_default();
        view.restart();
        for chunk in chunks(&text, &cuts) {
            lines.extend(view.push(&chunk));
        }
        prop_assert_eq!(view.text(), text.as_str());
        lines.extend(view.finish());
        prop_assert_eq!(lines, markdown_lines(&text, look));
    }

    #[test]
    fn another_text_after_a_restart_is_shown_whole(text in markdown(), other in markdown()) {
        let look = Look::new(40, false);
        let mut view = StreamView::new(look);
        let before = view.push(&text);
        view.restart();
        let mut after = view.push(&other);
        after.extend(view.finish());
        let whole = markdown_lines(&other, look);
        let said = after.iter().position(|line| line == STARTS_AGAIN);
        match said {
            // The notice stands alone, and below it is all of the new text.
            Some(at) => {
                let rest: Vec<String> = after[at + 1..].iter().skip_while(|line| line.is_empty()).cloned().collect();
                prop_assert_eq!(rest, whole);
            }
            None => prop_assert_eq!([before, after].concat(), whole),
        }
    }
}

#[test]
fn an_item_that_begins_with_nothing_is_shown_alike_in_pieces_and_whole() {
    for text in ["word\n\n\n- &#10;\n\n\tword", "- > &#10;\n\n  word", "1. &#10;\n\n   one\n2. two"]
    {
        let look = Look::new(20, false);
        let mut view = StreamView::new(look);
        let mut lines: Vec<String> = text.chars().flat_map(|c| view.push(&c.to_string())).collect();
        lines.extend(view.finish());
        assert_eq!(lines, markdown_lines(text, look), "{text:?}");
    }
}

#[test]
fn a_paragraph_is_out_as_soon_as_it_cannot_change() {
    let mut view = StreamView::new(Look::new(40, false));
    assert!(view.push("One *two").is_empty());
    assert_eq!(view.draft(), ["One *two"]);
    assert!(view.push("* three").is_empty());
    assert_eq!(view.draft(), ["One two three"]);
    assert_eq!(view.push("\n\n"), ["One two three"]);
    assert!(view.draft().is_empty());
    assert!(view.push("- a\n").is_empty());
    assert_eq!(view.push("- b\n"), ["", "• a"]);
    assert_eq!(view.push("\n```\nlet x;\nlet"), ["• b", "", "    let x;"]);
    assert_eq!(view.draft(), ["    let"]);
    assert_eq!(view.finish(), ["    let"]);
}

/// Blocks whose first or last rows show nothing: a stream cannot take back a blank line, so neither
/// shows it.
#[test]
fn rows_that_show_nothing_do_not_count() {
    let look = Look::new(40, false);
    for text in [
        "| |\n|-|\n| a |\n",
        "| a |\n|-|\n| |\n\npara\n",
        "```\na\n\u{a0}\n```\npara\n",
        "```\n\u{3000}\nb\n```\npara\n",
        "<div>\n\u{a0}\n\npara\n",
        "- | a |\n  |-|\n  | |\n\n  para\n",
        "> ```\n> \u{a0}\n> ```\n\npara\n",
    ] {
        let whole = markdown_lines(text, look);
        let cuts: Vec<usize> = (0..text.len()).collect();
        assert_eq!(streamed(text, &cuts, look), whole, "{text:?}");
        assert!(whole.first().is_some_and(|line| !line.is_empty()), "{text:?}: {whole:?}");
        assert!(
            !whole.windows(2).any(|two| two[0].is_empty() && two[1].is_empty()),
            "{text:?}: {whole:?}"
        );
    }
}
