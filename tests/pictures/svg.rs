//! Draws text as SVG: a chat on a phone, moment by moment, and a pane of a terminal. Must not know
//! what is said.

use std::fmt::Write as _;

/// Characters in a row of a bubble. A font of one width makes them fit everywhere.
const COLUMNS: usize = 38;
const ROW: usize = 18;
const CHAR: usize = 8;
const PHONE_WIDTH: usize = 380;
const TERMINAL_COLUMNS: usize = 80;

/// What stands on the phone for a while.
pub struct Moment<'a> {
    pub seconds: usize,
    /// As the stand-in for the Bot API draws a chat: `Anna: …`, `claw: …`, further lines indented,
    /// `[ Button ]` in rows.
    pub screen: &'a str,
    /// The button that is tapped.
    pub tapped: Option<&'a str>,
}

struct Bubble {
    mine: bool,
    rows: Vec<String>,
    buttons: Vec<Vec<String>>,
}

/// A picture that shows one moment after the other, and begins anew.
pub fn phone(moments: &[Moment<'_>]) -> String {
    let all: usize = moments.iter().map(|moment| moment.seconds).sum();
    let width = PHONE_WIDTH;
    let (shown, height) = drawn(moments);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"A question of claw on a phone, a tap, and the answer\">\n<style>\ntext {{ font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; white-space: pre }}\n.b {{ font-weight: bold }}\n.key {{ text-anchor: middle; fill: #0b5cad }}\n.moment {{ opacity: 0 }}\n"
    );
    let mut from = 0;
    for (number, moment) in moments.iter().enumerate() {
        let percent = |seconds: usize| seconds * 1000 / all;
        let (begins, ends) = (percent(from), percent(from + moment.seconds));
        let tenths = |value: usize| format!("{}.{}", value / 10, value % 10);
        // A person who wants no motion sees the last moment.
        let _ = writeln!(
            out,
            "@keyframes m{number} {{ 0% {{ opacity: {first} }} {b}% {{ opacity: 1 }} {e}% {{ opacity: {last} }} 100% {{ opacity: {last} }} }}\n.m{number} {{ animation: m{number} {all}s step-end infinite }}",
            first = u8::from(number == 0),
            b = tenths(begins),
            e = tenths(ends),
            last = u8::from(number + 1 == moments.len()),
        );
        from += moment.seconds;
    }
    let last = moments.len() - 1;
    let _ = writeln!(
        out,
        "@media (prefers-reduced-motion: reduce) {{ .moment {{ animation: none }} .m{last} {{ opacity: 1 }} }}\n</style>\n<rect width=\"{width}\" height=\"{height}\" rx=\"28\" fill=\"#dfe7ee\"/>\n<text class=\"b\" x=\"20\" y=\"30\">claw</text>"
    );
    out.push_str(&shown);
    out.push_str("</svg>\n");
    out
}

/// What the moments show, and how high a phone holds the longest of them.
fn drawn(moments: &[Moment<'_>]) -> (String, usize) {
    let (mut out, mut height) = (String::new(), 0);
    for (number, moment) in moments.iter().enumerate() {
        let _ = writeln!(out, "<g class=\"moment m{number}\">");
        let mut y = 46;
        for bubble in bubbles(moment.screen) {
            y = draw(&mut out, &bubble, y, moment.tapped);
        }
        height = height.max(y + 20);
        out.push_str("</g>\n");
    }
    (out, height)
}

/// A pane of a terminal as it stands. Its edge is drawn, because a dark page has the same colour.
pub fn terminal(pane: &str) -> String {
    let rows: Vec<&str> = pane.trim_end().lines().collect();
    let (width, height) = (TERMINAL_COLUMNS * CHAR + 24, rows.len() * ROW + 24);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\" aria-label=\"claw chat in a terminal\">\n<style>text {{ font: 13px ui-monospace, Menlo, Consolas, monospace; fill: #e6edf3; white-space: pre }}</style>\n<rect x=\"0.5\" y=\"0.5\" width=\"{inner}\" height=\"{tall}\" rx=\"8\" fill=\"#0d1117\" stroke=\"#30363d\"/>\n",
        inner = width - 1,
        tall = height - 1,
    );
    for (number, row) in rows.iter().enumerate() {
        let y = number * ROW + 26;
        let _ = writeln!(out, "<text x=\"12\" y=\"{y}\">{}</text>", escaped(row));
    }
    out.push_str("</svg>\n");
    out
}

fn bubbles(screen: &str) -> Vec<Bubble> {
    let mut bubbles: Vec<Bubble> = Vec::new();
    for line in screen.lines() {
        let (mine, text) = match (line.strip_prefix("Anna: "), line.strip_prefix("claw: ")) {
            (Some(text), _) => (Some(true), text),
            (_, Some(text)) => (Some(false), text),
            _ => (None, line.trim_start()),
        };
        if let Some(mine) = mine {
            bubbles.push(Bubble { mine, rows: Vec::new(), buttons: Vec::new() });
        }
        let Some(bubble) = bubbles.last_mut() else { continue };
        if text.starts_with("[ ") {
            let labels = text.trim_matches(['[', ']', ' ']).split(" ] [ ");
            bubble.buttons.push(labels.map(str::to_owned).collect());
        } else if !text.starts_with("```") {
            bubble.rows.extend(wrapped(text));
        }
    }
    bubbles
}

/// Rows of a width, broken between words.
fn wrapped(text: &str) -> Vec<String> {
    let mut rows = vec![String::new()];
    for word in text.split_inclusive(' ') {
        let row = rows.last_mut().map_or(0, |row| plain(row).chars().count());
        if row > 0 && row + plain(word).trim_end().chars().count() > COLUMNS {
            rows.push(String::new());
        }
        rows.last_mut().into_iter().for_each(|row| row.push_str(word));
    }
    rows
}

/// Without the marks of formatting.
fn plain(text: &str) -> String {
    text.replace("**", "").replace(['`', '_'], "")
}

fn draw(out: &mut String, bubble: &Bubble, y: usize, tapped: Option<&str>) -> usize {
    let width = bubble.rows.iter().map(|row| plain(row).chars().count()).max().unwrap_or(0);
    let wide = if bubble.buttons.is_empty() { width * CHAR + 20 } else { COLUMNS * CHAR + 20 };
    let high = bubble.rows.len() * ROW + 12;
    let x = if bubble.mine { PHONE_WIDTH - wide - 14 } else { 14 };
    let fill = if bubble.mine { "#d9f5c8" } else { "#ffffff" };
    let _ = writeln!(
        out,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\" rx=\"10\" fill=\"{fill}\"/>"
    );
    for (number, row) in bubble.rows.iter().enumerate() {
        let (left, top) = (x + 10, y + number * ROW + 19);
        let class = if row.starts_with("**") { " class=\"b\"" } else { "" };
        let text = escaped(&plain(row));
        let _ = writeln!(out, "<text{class} x=\"{left}\" y=\"{top}\">{text}</text>");
    }
    let mut y = y + high + 4;
    for row in &bubble.buttons {
        let each = wide / row.len();
        for (number, label) in row.iter().enumerate() {
            let fill = if tapped == Some(label.as_str()) { "#9ec9ef" } else { "#f3f6f8" };
            let left = x + number * each;
            let _ = writeln!(
                out,
                "<rect x=\"{left}\" y=\"{y}\" width=\"{}\" height=\"26\" rx=\"6\" fill=\"{fill}\"/><text class=\"key\" x=\"{}\" y=\"{}\">{}</text>",
                each - 4,
                left + each / 2 - 2,
                y + 18,
                escaped(label)
            );
        }
        y += 30;
    }
    y + 6
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
