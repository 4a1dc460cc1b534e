//! What a person reads, as text that is the same at every run. Must not know what is said there.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use claw_core::domain::OutboundBody;
use claw_door_console::screen::Screen;
use claw_terminal::style::Look;
use regex::Regex;
use serde_json::Value;

use crate::program::House;

/// The text with a word for whatever is of this run: each pattern, and what stands there instead.
pub fn steady(text: &str, house: &House, of_this_run: &[(&str, &str)]) -> String {
    let text = text.replace(&house.user_home().display().to_string(), "/home/anna");
    of_this_run.iter().fold(text, |text, (pattern, instead)| {
        Regex::new(pattern).unwrap().replace_all(&text, *instead).into_owned()
    })
}

/// Every body that went out to a chat, as `shown` makes lines of it. `steadied` sees the JSON
/// before.
pub fn outbox(
    house: &House,
    steadied: impl Fn(String) -> String,
    shown: impl Fn(&OutboundBody) -> Vec<String>,
) -> String {
    let db = house.db();
    let mut rows = db.prepare("SELECT body FROM outbox ORDER BY id").unwrap();
    let bodies = rows.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let mut all = String::new();
    for body in bodies {
        let row: Value = serde_json::from_str(&steadied(body.unwrap())).unwrap();
        let lines = shown(&serde_json::from_value(row["body"].clone()).unwrap());
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        all.push_str(&format!("{}\n----\n", lines.join("\n")));
    }
    all
}

/// As a console of this width shows it.
pub fn on_a_console(body: &OutboundBody, width: usize) -> Vec<String> {
    let mut screen = Screen::new(Look::new(width, false), true);
    screen.out(body);
    screen.take().map(|frame| frame.lines).unwrap_or_default()
}
