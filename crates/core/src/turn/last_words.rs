//! What a person reads at the end of a turn. Must not know who is told.

use super::state::Turn;
use crate::domain::{Block, Finish, TurnEnd, text_of};

/// Nothing ends without a word.
pub fn last_words(turn: &Turn<'_>, end: &TurnEnd) -> String {
    match end {
        TurnEnd::Stopped { .. } => "Stopped.".to_owned(),
        TurnEnd::Limit { text } | TurnEnd::Failed { text } => text.clone(),
        TurnEnd::Answered => answer(turn),
    }
}

fn answer(turn: &Turn<'_>) -> String {
    let Some(last) = turn.replies.last() else { return String::new() };
    let text = text_of(last.blocks);
    match last.finish {
        Finish::MaxTokens => {
            with_mark(&text, "cut here: the answer hit the model's output limit; say “go on”")
        }
        Finish::Refusal { reason } => with_mark(&text, &format!("the model refused: {reason}")),
        _ if text.trim().is_empty()
            && !last.blocks.iter().any(|b| matches!(b, Block::Image { .. })) =>
        {
            with_mark("", "the model gave an empty answer")
        }
        _ => text,
    }
}

fn with_mark(text: &str, mark: &str) -> String {
    let text = text.trim_end();
    if text.is_empty() { format!("*[{mark}]*") } else { format!("{text}\n\n*[{mark}]*") }
}
