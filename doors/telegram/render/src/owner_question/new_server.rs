//! The message that shows an owner a server that is new, and asks how far to trust it. Owns the
//! words and the buttons; must not know what an answer does.

use super::super::clean::cleaned;
use super::super::rich::{Part, Rich, Style};
use super::super::split::{MESSAGE_UNITS_MAX, parts};
use super::{QuestionView, button};
use crate::api::callback::{Button, Callback};
use crate::domain::{OwnerAnswer, Trust, UnixMillis, command_line, escape};
use crate::doors::clock::Clock;

/// A question about one server.
#[derive(Clone, Copy, Debug)]
pub struct NewServer<'a> {
    pub id: &'a str,
    /// The first words of a command.
    pub claw: &'a str,
    pub server: &'a str,
    /// What it says about itself, in claw's words, made visible already.
    pub says: &'a str,
    pub first_seen_ms: UnixMillis,
}

impl NewServer<'_> {
    /// The message, with its buttons.
    pub fn message(&self, shown: QuestionView<'_>, clock: &Clock) -> (Part, Vec<Vec<Button>>) {
        let server = escape::visible(self.server);
        let code = Style { code: true, ..Style::PLAIN };
        let command = format!("{} mcp trust {}", self.claw, command_line([self.server]));
        let (head, last) = match shown {
            QuestionView::Asked => {
                (format!("New server: {server}"), "\nUntil you choose, each call asks.".to_owned())
            }
            QuestionView::Answered { answer: OwnerAnswer::Trust(level), by, at_ms } => (
                format!("{server}: {} by {by}, {}", decided(level), clock.at(at_ms)),
                format!("\n{}\nTo change it: {command}", level.says()),
            ),
            QuestionView::Answered { .. } | QuestionView::Stale => (
                format!("{server}: nothing to answer here any more, it was settled elsewhere"),
                format!("\nWhat counts now: {command}"),
            ),
        };
        let mut rich = Rich::default();
        rich.push(&head, Style::BOLD);
        rich.push("\n", Style::PLAIN);
        // What a server or a command is called must not become a link or a mention.
        for (row, line) in self.says.lines().enumerate() {
            rich.push(line, if row == 0 { Style::PLAIN } else { code });
            rich.push("\n", Style::PLAIN);
        }
        let seen = clock.at(self.first_seen_ms);
        let today = if seen.len() == "14:05".len() { "today, " } else { "" };
        rich.push(&format!("First seen {today}{seen}."), Style::PLAIN);
        rich.push(&last, Style::PLAIN);
        let part = parts(&cleaned(rich), MESSAGE_UNITS_MAX).into_iter().next().unwrap_or_default();
        let answers = [
            ("Ask for everything", Trust::Ask),
            ("Believe: what only reads runs", Trust::Hints),
            ("Offer nothing", Trust::Nothing),
        ];
        let row = |(label, level)| {
            let answer = OwnerAnswer::Trust(level);
            button(label, Callback::Owner(answer, self.id.to_owned())).map(|button| vec![button])
        };
        let offered = answers.into_iter().filter(|_| shown == QuestionView::Asked);
        let keyboard = offered.filter_map(row).collect();
        (part, keyboard)
    }
}

fn decided(level: Trust) -> &'static str {
    match level {
        Trust::Nothing => "❌ nothing offered,",
        Trust::Ask => "✅ everything asks,",
        Trust::Hints => "✅ hints believed,",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_fits_a_screen_and_has_three_answers() {
        let says =
            "26 tools: 12 say they only read, 3 say they destroy.\nRuns npx -y @acme/weather";
        let claw = "claw --agent work";
        let server = NewServer { id: "k3v9", claw, server: "weather", says, first_seen_ms: 0 };
        let (part, keyboard) = server.message(QuestionView::Asked, &Clock::system());
        assert!(part.text.starts_with("New server: weather\n26 tools"), "{}", part.text);
        assert!(part.text.ends_with("Until you choose, each call asks."), "{}", part.text);
        let data: Vec<_> = keyboard.iter().flatten().map(|button| button.data.as_str()).collect();
        assert_eq!(data, ["o:ask:k3v9", "o:hints:k3v9", "o:nothing:k3v9"]);
        assert!(keyboard.iter().flatten().all(|button| button.label.chars().count() <= 32));

        let answer = OwnerAnswer::Trust(Trust::Hints);
        let shown = QuestionView::Answered { answer, by: "Anna", at_ms: 0 };
        let (part, keyboard) = server.message(shown, &Clock::system());
        assert!(part.text.starts_with("weather: ✅ hints believed, by Anna, "), "{}", part.text);
        assert!(part.text.contains(Trust::Hints.says()) && keyboard.is_empty(), "{}", part.text);
        let change = "To change it: claw --agent work mcp trust weather";
        assert!(part.text.ends_with(change), "{}", part.text);
    }
}
