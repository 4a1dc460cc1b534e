//! `/undo`: drops the newest exchange from what a model sees. The log keeps it, and what its calls
//! did stays done. Must not know doors.

use super::drive::Drive;
use crate::domain::{EventBody, text_of};
use crate::store::InboxRow;
use crate::turn::{Step, Turn, next};

/// How many characters of a message tell which exchange it was.
const FIRST_WORDS_CHARS_MAX: usize = 48;

/// Why there is no undo now. A door may say it at once; the session says it if a turn has begun in
/// between.
pub const TURN_IS_OPEN: &str =
    "A turn is running or waits for your answer; `/stop` it first, then `/undo` drops it.";

impl Drive<'_> {
    /// Whether the row is done with. It waits for a stop that is on its way and for a summary that
    /// was asked for before, and is refused while a turn goes on: nobody means to drop what they
    /// are waiting for.
    pub(super) fn undo(&mut self, row: &InboxRow) -> bool {
        if let Some(turn) = self.log.open_turn() {
            let stopping = turn.stop_requested;
            if !stopping {
                self.reply_to(row, TURN_IS_OPEN);
            }
            return !stopping;
        }
        if next(&self.log, &self.settings.runner.bounds) != Step::Done {
            return false;
        }
        let text = match self.log.last_exchange() {
            Some(exchange @ [first, .., last]) => {
                let (text, from_seq, through_seq) =
                    (what_was_dropped(&Turn::of(&self.session, exchange)), first.seq, last.seq);
                self.push(EventBody::ExchangeDropped { from_seq, through_seq });
                text
            }
            _ => "There is nothing to undo: the model sees no whole exchange any more.".to_owned(),
        };
        self.reply_to(row, &text);
        true
    }
}

fn what_was_dropped(exchange: &Turn<'_>) -> String {
    let said = exchange.messages.first().map(|message| text_of(message.blocks));
    let which = first_words(&said.unwrap_or_default());
    let done = if !exchange.results.is_empty() { " What its calls did stays done." } else { "" };
    format!("Dropped from the context: {which}; the log keeps it.{done}")
}

/// The beginning of a message, cut behind a whole word where there is one.
fn first_words(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    if line.is_empty() {
        return "a message without text".to_owned();
    }
    let Some((cut, _)) = line.char_indices().nth(FIRST_WORDS_CHARS_MAX) else {
        return format!("“{line}”");
    };
    let head = line.get(..cut).unwrap_or_default();
    let end = if line[cut..].starts_with(' ') {
        head.len()
    } else {
        head.rfind(' ').unwrap_or(head.len())
    };
    format!("“{}…”", &head[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_tell_which_exchange_it_was() {
        assert_eq!(first_words("list\n  src"), "“list src”");
        assert_eq!(first_words("  "), "a message without text");
        let long = "write a long letter to my sister about the garden and the weather";
        assert_eq!(first_words(long), "“write a long letter to my sister about the…”");
        let whole = "x".repeat(FIRST_WORDS_CHARS_MAX);
        assert_eq!(first_words(&whole), format!("“{whole}”"));
        assert_eq!(first_words(&format!("{whole}é")), format!("“{whole}…”"));
        assert_eq!(first_words(&format!("{whole} y")), format!("“{whole}…”"));
    }
}
