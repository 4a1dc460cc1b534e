//! What one row of the outbox is sent as: messages, a file where there would be too many, and the
//! files that a reply links. Must not know a door, or what was sent already.

use super::chat_door::{DoorPiece, File};
use super::markdown::linked_files;
use crate::domain::OutboundBody;

/// How much of one row a door hands over.
#[derive(Clone, Copy, Debug)]
pub struct PieceLimits {
    /// A text that would be more messages than this is sent as its first one and as a file.
    pub messages_max: usize,
    /// Files that one reply hands over; a sentence names the others.
    pub files_max: usize,
}

/// The pieces of a reply or notice, in order. `painted` makes messages of Markdown, `plain` of
/// words that are none.
pub fn pieces<T>(
    (body, text): (&OutboundBody, &str),
    limits: PieceLimits,
    painted: impl Fn(&str) -> Vec<T>,
    plain: impl Fn(&str) -> Vec<T>,
) -> Vec<DoorPiece<T>> {
    let PieceLimits { messages_max, files_max } = limits;
    let (is_reply, name) = match body {
        OutboundBody::Reply { .. } => (true, "answer.md"),
        _ => (false, "notice.md"),
    };
    let mut messages = painted(text);
    let whole = (messages.len() > messages_max).then(|| {
        let file = File::Whole { name, text: text.to_owned() };
        DoorPiece::Whole { file, rest: messages.split_off(1) }
    });
    let linked = if is_reply { linked_files(text) } else { Vec::new() };
    let more: Vec<&str> = linked.iter().skip(files_max).map(String::as_str).collect();
    let left_out = (!more.is_empty()).then(|| {
        let more = more.join(", ");
        format!("Not sent, because a reply hands over {files_max} files at most: {more}")
    });
    let files = linked.iter().take(files_max).cloned().map(File::Linked);
    let last = left_out.iter().flat_map(|sentence| plain(sentence).into_iter().take(1));
    messages
        .into_iter()
        .map(DoorPiece::Text)
        .chain(whole)
        .chain(files.map(DoorPiece::File))
        .chain(last.map(DoorPiece::Text))
        .collect()
}

/// A text as messages of at most so many characters, cut between two lines where one of them is not
/// too long by itself.
pub fn cut(text: &str, chars_max: usize) -> Vec<String> {
    let mut messages: Vec<Vec<char>> = vec![Vec::new()];
    for line in text.split_inclusive('\n') {
        for part in line.chars().collect::<Vec<_>>().chunks(chars_max) {
            if messages.last().is_some_and(|last| last.len() + part.len() > chars_max) {
                messages.push(Vec::new());
            }
            messages.last_mut().into_iter().for_each(|last| last.extend(part));
        }
    }
    messages.into_iter().map(|message| message.into_iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: PieceLimits = PieceLimits { messages_max: 3, files_max: 2 };

    fn of(body: OutboundBody, text: &str) -> Vec<DoorPiece<String>> {
        let messages = |text: &str| cut(text, 20);
        pieces((&body, text), LIMITS, messages, messages)
    }

    fn reply(text: &str) -> Vec<DoorPiece<String>> {
        of(OutboundBody::Reply { turn_seq: 1, step: 1, text: text.into() }, text)
    }

    fn whole(name: &'static str, text: &str) -> DoorPiece<String> {
        let file = File::Whole { name, text: text.to_owned() };
        DoorPiece::Whole { file, rest: cut(text, 20).split_off(1) }
    }

    #[test]
    fn a_long_text_is_its_beginning_and_a_file() {
        assert_eq!(reply(&"word ".repeat(12)).len(), 3);
        let long = format!("{} [a](a.txt)", "word ".repeat(12));
        let linked = DoorPiece::File(File::Linked("a.txt".into()));
        let first = DoorPiece::Text("word word word word ".to_owned());
        assert_eq!(reply(&long), [first.clone(), whole("answer.md", &long), linked]);
        assert_eq!(reply(&long)[1].parts(), 3, "as many as come where no files are taken");
        let notice = of(OutboundBody::Notice { text: long.clone() }, &long);
        assert_eq!(notice, [first, whole("notice.md", &long)], "a notice hands no file over");
    }

    #[test]
    fn only_so_many_files_and_the_others_are_named() {
        let sent = reply("[x](1.txt) [x](2.txt)\n[x](3.txt) [x](4.txt)");
        let linked = |piece: &&DoorPiece<String>| matches!(piece, DoorPiece::File(File::Linked(_)));
        assert_eq!(sent.iter().filter(linked).count(), LIMITS.files_max);
        let many: String = (0..3).map(|number| format!("[{number}]({number}.txt)\n")).collect();
        let body = OutboundBody::Reply { turn_seq: 1, step: 1, text: many.clone() };
        let sent = pieces((&body, &many), LIMITS, |text| cut(text, 500), |text| cut(text, 500));
        let last = "Not sent, because a reply hands over 2 files at most: 2.txt";
        assert_eq!(sent.last(), Some(&DoorPiece::Text(last.to_owned())));
    }

    #[test]
    fn a_text_is_cut_between_lines_and_no_character_is_lost() {
        assert_eq!(cut("one\ntwo\nthree", 8), ["one\ntwo\n", "three"]);
        assert_eq!(cut("éééééé\nx", 4), ["éééé", "éé\nx"]);
        assert_eq!(cut("", 4), [""]);
    }
}
