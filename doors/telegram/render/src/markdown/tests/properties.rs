//! Properties that hold for any Markdown: Telegram takes every message as it is, and everything
//! that was written is there.

use proptest::prelude::*;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::super::*;
use crate::doors::markdown::normalised;
use crate::tests::{all_faults, covered};
use crate::utf16_len;

/// Words that break offsets, columns and parsers.
fn word() -> impl Strategy<Value = String> {
    let odd = [
        "a",
        "word",
        "👩",
        "👩\u{200d}👩\u{200d}👧",
        "🇩🇪",
        "é",
        "e\u{301}",
        "a\u{30a}",
        "日本語",
        "אבג",
        "العربية",
        "x\u{202e}y",
        "\u{200b}",
        "\u{200d}",
        "\u{feff}",
        "\u{2800}",
        "\u{3000}",
        "\u{a0}",
        "\t",
        "\u{1b}[2J",
        "\\",
        "`",
        "``",
        "```",
        "*",
        "**",
        "_",
        "~~",
        "[",
        "]",
        "](",
        "]:",
        "(",
        ")",
        "<b>",
        "<br>",
        "&amp;",
        "&#8238;",
        "|",
        "#",
        "> ",
        "- ",
        "1. ",
        "!",
        "𝒳𝒴",
        "z\u{301}\u{302}\u{303}",
        "https://example.org",
        "\\*",
        "<!--",
        "\u{fdd0}",
        "\u{333}",
    ];
    prop_oneof![4 => "[a-z]{1,9}", 4 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned), 1 => ".{0,6}"]
}

fn inline() -> impl Strategy<Value = String> {
    let piece = (word(), 0..14_u8).prop_map(|(word, kind)| match kind {
        0 => format!("**{word}**"),
        1 => format!("*{word}*"),
        2 => format!("`{word}`"),
        3 => format!("~~{word}~~"),
        4 => format!("[{word}](https://example.org/{word})"),
        5 => format!("[**{word}**]({word})"),
        6 => format!("***{word}** a*b **c**"),
        7 => format!("![{word}](https://example.org/i.png)"),
        8 => format!("**{word}"),
        9 => format!("{word}\n"),
        _ => word,
    });
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.join(" "))
}

fn block() -> impl Strategy<Value = String> {
    let indented = |text: &str, first: &str, rest: &str| {
        let lines: Vec<String> = text.lines().map(|line| format!("{rest}{line}")).collect();
        format!("{first}{}", lines.join("\n").get(rest.len()..).unwrap_or_default())
    };
    let leaf = prop_oneof![
        5 => inline(),
        1 => (1..7_usize, inline()).prop_map(|(level, text)| format!("{} {text}", "#".repeat(level))),
        1 => prop::collection::vec(inline(), 0..6).prop_map(|lines| format!("```rust\n{}\n```", lines.join("\n  "))),
        1 => inline().prop_map(|text| format!("~~~\n  {text}")),
        2 => (1..5_usize, prop::collection::vec(inline(), 1..12)).prop_map(|(columns, cells)| table(columns, &cells)),
        1 => inline().prop_map(|text| format!("<div>\n{text}\n</div>")),
        1 => Just("---".to_owned()),
        1 => inline().prop_map(|text| format!("[x]: https://x.org\n{text}")),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let several = prop::collection::vec(inner, 1..4);
        (several, 0..5_u8).prop_map(move |(blocks, kind)| {
            let join = |each: &dyn Fn(&String) -> String, by: &str| {
                blocks.iter().map(each).collect::<Vec<_>>().join(by)
            };
            match kind {
                0 => indented(&join(&String::clone, "\n\n"), "> ", "> "),
                1 => join(&|text| indented(text, "- ", "  "), "\n"),
                2 => join(&|text| indented(text, "7. ", "   "), "\n\n"),
                3 => join(&|text| indented(text, "- [x] ", "  "), "\n"),
                _ => join(&String::clone, "\n\n"),
            }
        })
    })
}

fn table(columns: usize, cells: &[String]) -> String {
    let rows: Vec<String> = cells
        .chunks(columns)
        .map(|row| format!("| {} |", row.join(" | ").replace('\n', " ")))
        .collect();
    let mut rows = rows.into_iter();
    let head = rows.next().unwrap_or_default();
    format!("{head}\n{}|\n{}", "|---".repeat(columns), rows.collect::<Vec<_>>().join("\n"))
}

fn document() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => prop::collection::vec(block(), 1..6).prop_map(|blocks| blocks.join("\n\n")),
        1 => "[\\x00-\\u{2fff}\\u{1f000}-\\u{1faff}]{0,200}",
        1 => prop::collection::vec(word(), 0..60).prop_map(|words| words.concat()),
    ]
}

fn limit() -> impl Strategy<Value = usize> {
    prop::sample::select(vec![8, 20, 61, 200, 1024, 4096])
}

/// What pulldown-cmark calls text, in order; and apart from it what stands in the heads of tables,
/// which may be repeated.
fn content(markdown: &str) -> (String, String) {
    let source = normalised(markdown);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let (mut body, mut heads, mut in_head) = (String::new(), String::new(), false);
    for event in Parser::new_ext(&source, options) {
        let text = match event {
            Event::Start(Tag::TableHead) => {
                in_head = true;
                continue;
            }
            Event::End(TagEnd::TableHead) => {
                in_head = false;
                continue;
            }
            Event::InlineHtml(html) if is_line_break(&html) => continue,
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                text
            }
            _ => continue,
        };
        let text = text.replace('\u{FDD0}', "");
        if in_head { heads.push_str(&text) } else { body.push_str(&text) }
    }
    (comparable(&body), comparable(&heads))
}

fn is_line_break(html: &str) -> bool {
    matches!(html.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}

/// Characters without white space and joiners, and with what was written out read back.
fn comparable(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let code = rest
            .strip_prefix("<U+")
            .and_then(|hex| hex.split_once('>'))
            .filter(|(hex, _)| (4..=6).contains(&hex.len()));
        let known = code.and_then(|(hex, after)| {
            Some((char::from_u32(u32::from_str_radix(hex, 16).ok()?)?, after))
        });
        (rest, _) = match known {
            Some((c, after)) => (after, out.push(c)),
            None => (&rest[c.len_utf8()..], out.push(c)),
        };
    }
    let plain = out.chars().flat_map(|c| match c {
        'å' => vec!['a', '\u{30a}'],
        'Å' => vec!['A', '\u{30a}'],
        'ů' => vec!['u', '\u{30a}'],
        'Ů' => vec!['U', '\u{30a}'],
        'ẘ' => vec!['w', '\u{30a}'],
        'ẙ' => vec!['y', '\u{30a}'],
        '\u{2400}'..='\u{241f}' => char::from_u32(c as u32 - 0x2400).into_iter().collect(),
        '\u{2421}' => vec!['\u{7f}'],
        c => vec![c],
    });
    plain.filter(|c| !c.is_whitespace() && !matches!(c, '\u{200c}' | '\u{200d}')).collect()
}

fn together(parts: &[Part]) -> String {
    comparable(&parts.iter().map(|part| part.text.as_str()).collect::<String>())
}

/// The first character of `wanted` that is not in `found` in order, with what follows it.
fn missing<'a>(wanted: &'a str, found: &str) -> Option<&'a str> {
    let mut found = found.chars();
    let lost = wanted.char_indices().find(|(_, c)| !found.any(|other| other == *c));
    lost.map(|(at, _)| &wanted[at..])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn telegram_takes_every_message_as_it_is(markdown in document(), units_max in limit()) {
        let parts = render_limited(&markdown, units_max);
        prop_assert_eq!(all_faults(&parts, units_max), vec![]);
        let parts = plain(&markdown);
        prop_assert_eq!(all_faults(&parts, MESSAGE_UNITS_MAX), vec![]);
    }

    #[test]
    fn everything_that_was_written_is_shown(markdown in document(), units_max in limit()) {
        let (body, heads) = content(&markdown);
        let shown = together(&render_limited(&markdown, units_max));
        prop_assert_eq!(missing(&body, &shown), None, "{}", shown);
        prop_assert_eq!(missing(&heads, &shown), None, "{}", shown);
        prop_assert_eq!(together(&plain(&markdown)), comparable(&line_feeds(&markdown)));
    }

    #[test]
    fn a_limit_changes_where_a_text_is_cut_and_nothing_else(markdown in document(), units_max in limit()) {
        prop_assert_eq!(together(&render_limited(&markdown, units_max)), together(&render_limited(&markdown, 100_000)));
    }

    #[test]
    fn any_beginning_of_a_text_can_be_shown(markdown in document(), at in any::<prop::sample::Index>()) {
        let ends: Vec<usize> = markdown.char_indices().map(|(at, _)| at).chain([markdown.len()]).collect();
        let parts = render_prefix(&markdown[..*at.get(&ends)]);
        prop_assert_eq!(all_faults(&parts, MESSAGE_UNITS_MAX), vec![]);
    }

    /// Offsets are right, not only well-formed: every entity covers exactly the words that were
    /// marked.
    #[test]
    fn entities_cover_what_was_marked(
        words in prop::collection::vec(("[a-z👩日é]{1,8}", 0..5_u8), 1..200), units_max in limit(),
    ) {
        let mark = |(word, kind): &(String, u8)| match kind {
            0 => format!("**{word}**"),
            1 => format!("*{word}*"),
            2 => format!("`{word}`"),
            3 => format!("[{word}](https://example.org)"),
            _ => word.clone(),
        };
        let markdown = words.iter().map(mark).collect::<Vec<_>>().join(" - ");
        let parts = render_limited(&markdown, units_max);
        let shown: String = parts.iter().flat_map(|part| (0..part.entities.len()).map(|n| covered(part, n))).collect();
        let marked: String = words.iter().filter(|(_, kind)| *kind < 4).map(|(word, _)| word.as_str()).collect();
        prop_assert_eq!(shown, marked);
    }

    #[test]
    fn code_that_is_cut_stays_code(lines in prop::collection::vec("[ a-z👩]{0,30}", 1..60), units_max in limit()) {
        let code = format!("x\n{}\nx", lines.join("\n"));
        let parts = render_limited(&format!("```rust\n{code}\n```"), units_max);
        prop_assert_eq!(all_faults(&parts, units_max), vec![]);
        let language = Some("rust".to_owned());
        for part in &parts {
            let whole = teloxide_core::types::MessageEntity::pre(language.clone(), 0, utf16_len(&part.text));
            prop_assert_eq!(&part.entities, &vec![whole]);
        }
        if units_max >= 61 {
            // No line is longer, so each keeps its indent and stays whole.
            let lines = |text: &str| -> Vec<String> {
                text.lines().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect()
            };
            let shown: Vec<String> = parts.iter().flat_map(|part| lines(&part.text)).collect();
            prop_assert_eq!(shown, lines(&code));
        }
    }
}
