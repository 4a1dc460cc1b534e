//! The message that asks an owner about tools that have changed. Owns the words and the buttons;
//! must not know pins, or what an answer does.

use super::super::clean::cleaned;
use super::super::rich::{Part, Rich, Style};
use super::super::split::{MESSAGE_UNITS_MAX, parts};
use super::{QuestionView, button};
use crate::api::callback::{Button, Callback};
use crate::domain::{OwnerAnswer, escape};
use crate::doors::clock::Clock;

/// A question about one server.
#[derive(Clone, Copy, Debug)]
pub struct Changed<'a> {
    pub id: &'a str,
    pub server: &'a str,
    /// How many of its tools have changed.
    pub count: usize,
    /// The differences, made visible already.
    pub differences: &'a str,
}

impl Changed<'_> {
    /// The message, with its buttons. What is accepted must have been seen whole: where the
    /// differences do not fit into one message, it names the command that shows them, and takes no
    /// yes.
    pub fn message(&self, shown: QuestionView<'_>, clock: &Clock) -> (Part, Vec<Vec<Button>>) {
        let (part, fits) = match self.part(shown, clock, self.differences) {
            Some(part) => (part, true),
            None => {
                let instead = "The change is too long for a message. Look at it, and accept it, \
                    on the machine that claw runs on: claw tools diff";
                (self.part(shown, clock, instead).unwrap_or_default(), false)
            }
        };
        let answered = |answer| Callback::Owner(answer, self.id.to_owned());
        let accept = button("Accept", answered(OwnerAnswer::Accept)).filter(|_| fits);
        let keep = button("Keep withheld", answered(OwnerAnswer::KeepWithheld));
        let row: Vec<Button> = accept.into_iter().chain(keep).collect();
        (part, if shown == QuestionView::Asked { vec![row] } else { Vec::new() })
    }

    /// `None` if it is too long for one message.
    fn part(&self, shown: QuestionView<'_>, clock: &Clock, differences: &str) -> Option<Part> {
        let what = if self.count == 1 { "A tool has" } else { "Tools have" };
        let head = match shown {
            QuestionView::Asked => format!("{what} changed: {}", escape::visible(self.server)),
            QuestionView::Answered { answer: OwnerAnswer::Accept, by, at_ms } => {
                format!("✅ Accepted by {by}, {}", clock.at(at_ms))
            }
            QuestionView::Answered { answer: OwnerAnswer::KeepWithheld, by, at_ms } => {
                format!("❌ Kept withheld by {by}, {}", clock.at(at_ms))
            }
            QuestionView::Answered { .. } | QuestionView::Stale => {
                "Nothing to answer here any more: this was settled elsewhere, or has changed again"
                    .to_owned()
            }
        };
        let mut rich = Rich::default();
        rich.push(&head, Style::BOLD);
        rich.push("\n\n", Style::PLAIN);
        let code = Style { code: true, ..Style::PLAIN };
        for line in differences.lines() {
            rich.push(line, if line.is_empty() { Style::PLAIN } else { code });
            rich.push("\n", Style::PLAIN);
        }
        if shown == QuestionView::Asked {
            let what = "\nUntil you accept it, no model is offered it and no call of it runs. The \
                words are the server's.";
            rich.push(what, Style::PLAIN);
        }
        let mut parts = parts(&cleaned(rich), MESSAGE_UNITS_MAX).into_iter();
        parts.next().filter(|_| parts.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_whole_or_takes_no_yes() {
        let asked = |differences: &str| {
            let changed = Changed { id: "k3v9", server: "weather", count: 1, differences };
            changed.message(QuestionView::Asked, &Clock::system())
        };
        let (part, buttons) = asked("weather/now\ndescription:\n- Reads.\n+ Sends.");
        assert!(
            part.text.starts_with("A tool has changed: weather") && part.text.contains("+ Sends."),
            "{}",
            part.text
        );
        assert_eq!(
            buttons[0].iter().map(|button| button.data.as_str()).collect::<Vec<_>>(),
            ["o:accept:k3v9", "o:keep_withheld:k3v9"]
        );
        let (part, buttons) = asked(&"+ and so on\n".repeat(1000));
        assert!(
            part.text.contains("claw tools diff") && !part.text.contains("and so on"),
            "{}",
            part.text
        );
        assert_eq!(
            buttons[0].iter().map(|button| button.data.as_str()).collect::<Vec<_>>(),
            ["o:keep_withheld:k3v9"]
        );
    }
}
