//! What the escaper promises, over every code point. The classes come from the `regex` crate's own
//! Unicode tables.

use proptest::prelude::*;
use regex::Regex;

use super::*;

/// What must never be shown as it is, in the words of the Unicode Character Database.
const HIDDEN_CLASS: &str = r"[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Bidi_Control}\p{Pattern_White_Space}\x{2800}\x{FFFC}\x{16FE4}\x{1D159}&&[^ ]]";
const MARKS_CLASS: &str = r"\p{M}";

fn all_chars() -> impl Iterator<Item = char> {
    (0..=0x10_FFFF_u32).filter_map(char::from_u32)
}

fn members(class: &str) -> Vec<char> {
    let all: String = all_chars().collect();
    Regex::new(class)
        .unwrap()
        .find_iter(&all)
        .filter_map(|found| found.as_str().chars().next())
        .collect()
}

#[test]
fn every_code_point_reads_back() {
    let all: Vec<char> = all_chars().collect();
    for block in all.chunks(1024) {
        let text: String =
            block.iter().flat_map(|c| ['a', *c, *c, 'b', '\u{301}', *c, '\\', *c, '\n']).collect();
        assert_eq!(unescape(&visible(&text)).as_deref(), Ok(text.as_str()));
        assert_eq!(unescape(&visible_multiline(&text)).as_deref(), Ok(text.as_str()));
    }
}

#[test]
fn nothing_hidden_is_ever_shown_as_it_is() {
    for c in members(HIDDEN_CLASS) {
        let shown = visible(&format!("a{c}b"));
        assert!(
            shown.is_ascii() && shown.contains('\\'),
            "U+{:04X} was shown as {shown}",
            u32::from(c)
        );
        if c != '\n' {
            assert_eq!(visible_multiline(&format!("a{c}b")), shown);
        }
    }
}

#[test]
fn a_mark_without_a_letter_is_spelled_out() {
    for c in members(MARKS_CLASS) {
        for base in ["", " ", "/", "1", "\\", "\u{200D}"] {
            let shown = visible(&format!("{base}{c}"));
            assert!(!shown.contains(c), "U+{:04X} after {base:?}", u32::from(c));
        }
    }
    assert_eq!(visible("e\u{301}"), "e\u{301}");
    assert_eq!(
        visible(&format!("e{}", "\u{301}".repeat(6))),
        format!("e{}\\u{{301}}\\u{{301}}", "\u{301}".repeat(4))
    );
}

#[test]
fn ordinary_text_stays_as_it_is() {
    for text in [
        "ls -la | grep 'x' > out.txt; echo \"$HOME\"",
        "Grüße, naïve façade – „so“ … 1 × 2 ≠ 3 €",
        "Привет мир",
        "漢字かな交じり文、ハングル 한국어",
        "שלום עולם",
        "مرحبا بالعالم",
        "हिन्दी भाषा",
        "ภาษาไทยน้ำ",
        "👍🎉🦀🇩🇪",
    ] {
        assert_eq!(visible(text), text);
    }
}

#[test]
fn the_known_tricks_become_visible() {
    for (text, shown) in [
        ("rm\u{200B}", r"rm\u{200b}"),
        ("a\u{202E}gpj.sh", r"a\u{202e}gpj.sh"),
        ("x\u{2066}y\u{2069}", r"x\u{2066}y\u{2069}"),
        ("\u{1B}[2K\u{1B}[1A", r"\u{1b}[2K\u{1b}[1A"),
        ("\u{E0041}\u{E007F}", r"\u{e0041}\u{e007f}"),
        ("a\u{A0}b\u{3000}c", r"a\u{a0}b\u{3000}c"),
        ("\u{FE0F}\u{E0100}", r"\u{fe0f}\u{e0100}"),
        ("\u{3164}\u{2800}\u{FFA0}", r"\u{3164}\u{2800}\u{ffa0}"),
        ("\u{E000}\u{F8FF}\u{10FFFD}", r"\u{e000}\u{f8ff}\u{10fffd}"),
        ("👩\u{200D}🔬", r"👩\u{200d}🔬"),
        ("a\\u{200b}\n\tb\r", r"a\\u{200b}\n\tb\r"),
    ] {
        assert_eq!(visible(text), shown);
    }
    assert_eq!(visible_multiline("a\r\nb\u{2028}c"), "a\\r\nb\\u{2028}c");
}

#[test]
fn a_text_that_was_never_escaped_is_an_error() {
    for shown in [
        "\\",
        "\\x41",
        "\\u",
        "\\u{",
        "\\u{}",
        "\\u{d800}",
        "\\u{110000}",
        "\\u{0000041}",
        "\\u{+41}",
    ] {
        assert!(unescape(shown).is_err(), "{shown}");
    }
    assert_eq!(unescape("ab\\q"), Err(InvalidEscape { at: 2 }));
}

proptest! {
    #[test]
    fn every_text_reads_back(text in any::<String>()) {
        prop_assert_eq!(unescape(&visible(&text)), Ok(text.clone()));
        prop_assert_eq!(unescape(&visible_multiline(&text)), Ok(text.clone()));
        prop_assert!(!visible(&text).contains('\n'));
    }

    #[test]
    fn two_texts_never_look_the_same(a in r"[\\nu{}0-9a\x{200B}\n]{0,8}", b in r"[\\nu{}0-9a\x{200B}\n]{0,8}") {
        prop_assert_eq!(a == b, visible(&a) == visible(&b));
        prop_assert_eq!(a == b, visible_multiline(&a) == visible_multiline(&b));
    }
}

/// Makes `table.rs`: `cargo test -p claw --lib domain::escape::tests::make -- --ignored
/// --nocapture`.
#[test]
#[ignore = "a generator, no test"]
fn make_the_table() {
    let hidden = members(HIDDEN_CLASS);
    let marks: Vec<char> =
        members(MARKS_CLASS).into_iter().filter(|c| !hidden.contains(c)).collect();
    for (name, chars) in [("HIDDEN", hidden), ("MARKS", marks)] {
        println!("pub(super) const {name}: &[(u32, u32)] = &[");
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for c in chars.into_iter().map(u32::from) {
            // The surrogates are no characters: a range may run over them.
            match ranges.last_mut() {
                Some((_, last)) if *last + 1 == c || (*last == 0xD7FF && c == 0xE000) => *last = c,
                _ => ranges.push((c, c)),
            }
        }
        for line in ranges.chunks(6) {
            let line: Vec<String> =
                line.iter().map(|(a, b)| format!("(0x{a:X}, 0x{b:X}),")).collect();
            println!("    {}", line.join(" "));
        }
        println!("];\n");
    }
}
