//! A message as the model gets it: who wrote it, when if that is long ago, what it replies to. Must
//! not know who may write, or what comes of it.

use super::context::GatewayContext;
use super::intake;
use crate::api::incoming::{ChatMessage, Replied};

/// A message that is older than this when it is handled carries its time, in seconds.
const OLD_S: i64 = 60;
/// How much of a message that is replied to is given to the model, in characters.
const QUOTED_CHARS_MAX: usize = 2_000;

const MARKED: &str = "[of the message that this replies to, this part is marked]";
const ELSEWHERE: &str =
    "[it replies to a message in another chat or topic, of which this is known]";
const ELSEWHERE_UNKNOWN: &str =
    "[it replies to a message in another chat or topic, which is not passed on]";

pub(super) fn text_of(ctx: &GatewayContext, msg: &ChatMessage) -> String {
    let mut text = String::new();
    let clock = ctx.clock();
    if clock.now_ms / 1000 - msg.at_s > OLD_S {
        text.push_str(&format!("[written at {}]\n", clock.at(msg.at_s * 1000)));
    }
    if msg.forwarded {
        text.push_str("[forwarded: somebody else wrote this]\n");
    }
    if msg.edited {
        text.push_str("[a new version of an earlier message]\n");
    }
    if let Some(replied) = &msg.reply {
        let held = intake::words_of(ctx, &msg.place, replied);
        text.push_str(&quoted(replied, held.as_deref()));
    }
    if let Some(known) = &msg.elsewhere {
        text.push_str(&quoted_from_elsewhere(known));
    }
    if !msg.private {
        text.push_str(&format!("{}: ", msg.name));
    }
    text.push_str(&msg.text);
    text
}

fn quoted(replied: &Replied, held: Option<&str>) -> String {
    let mark = if replied.is_marked { format!("{MARKED}\n") } else { String::new() };
    match lines(held, &replied.text) {
        // In a topic everything replies to the topic's beginning, which says nothing.
        lines if lines.is_empty() => lines,
        lines => format!("{mark}{lines}\n"),
    }
}

fn quoted_from_elsewhere(known: &str) -> String {
    match lines(None, known) {
        lines if lines.is_empty() => format!("{ELSEWHERE_UNKNOWN}\n\n"),
        lines => format!("{ELSEWHERE}\n{lines}\n"),
    }
}

/// Every line begins with the mark, so that no message can end the quotation.
fn lines(held: Option<&str>, text: &str) -> String {
    let text: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    held.into_iter().chain(text.lines()).map(|line| format!("> {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::incoming::Author;

    #[test]
    fn a_quotation_says_what_it_is() {
        let mut to = Replied {
            id: 3,
            by: Author::Another,
            text: "one\ntwo".into(),
            is_marked: false,
            file: None,
            words: None,
        };
        assert_eq!(quoted(&to, Some("[photo]")), "> [photo]\n> one\n> two\n\n");
        to.is_marked = true;
        assert_eq!(quoted(&to, None), format!("{MARKED}\n> one\n> two\n\n"));
        to.text.clear();
        assert_eq!(quoted(&to, None), "");
        assert_eq!(quoted_from_elsewhere("a\nb"), format!("{ELSEWHERE}\n> a\n> b\n\n"));
        assert_eq!(quoted_from_elsewhere(""), format!("{ELSEWHERE_UNKNOWN}\n\n"));
        assert_eq!(lines(None, &"x".repeat(3_000)).len(), QUOTED_CHARS_MAX + 3);
    }
}
