//! How words answer a question about several calls: `1 3-5`, `-2`, `all`, `none`. One reading for
//! every door. Must not know which question is meant, or who may answer it.

use super::call_list::ranges;
use crate::domain::{Answer, CallList, Scope, Term};

/// What a text is to an open list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadList {
    Answer(Answer),
    /// It looks like an answer, and nothing is guessed: the sentence says why.
    Unclear(String),
    NotAnAnswer,
}

/// Whether a text is nothing but numbers, and so may pick from a list.
pub fn is_pick(text: &str) -> bool {
    let words: Vec<&str> = words(text).collect();
    !words.is_empty() && words.iter().all(|word| span(word).is_some())
}

/// Reads a text that may answer this list. A number without a sign is a yes to that call, one
/// behind a minus a no; what is not named stays open.
pub fn read_list(text: &str, list: &CallList) -> ReadList {
    if list.items.is_empty() {
        return ReadList::NotAnAnswer;
    }
    let all = text.trim().trim_end_matches(['.', '!']);
    if all.eq_ignore_ascii_case("all") {
        return ReadList::Answer(Answer::Allow { term: Term::Once, scope: Scope::Exact });
    }
    if all.eq_ignore_ascii_case("none") {
        return ReadList::Answer(Answer::Deny { word: None });
    }
    if !is_pick(text) {
        return ReadList::NotAnAnswer;
    }
    let open = list.open();
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    for (denies, first, last) in words(text).filter_map(span) {
        if last < first || last as usize > list.items.len() || first == 0 {
            let of = list.items.len();
            return ReadList::Unclear(format!("The numbers of this list go from 1 to {of}."));
        }
        let (these, others) = if denies { (&mut no, &yes) } else { (&mut yes, &no) };
        for number in first..=last {
            if !open.contains(&number) {
                let left = ranges(&open);
                return ReadList::Unclear(format!("{number} is answered already; open: {left}."));
            }
            if others.contains(&number) {
                return ReadList::Unclear(format!("The line says two things about {number}."));
            }
            if !these.contains(&number) {
                these.push(number);
            }
        }
    }
    ReadList::Answer(Answer::Pick { yes, no })
}

/// An answer to a list, in words for whoever gave it.
pub fn in_words(answer: &Answer, list: &CallList) -> String {
    let open = list.open();
    match answer {
        Answer::Pick { yes, no } => {
            let part = |word: &str, numbers: &[u32]| {
                (!numbers.is_empty()).then(|| format!("{word} {}", ranges(numbers)))
            };
            let parts = [part("Allowed", yes), part("Denied", no)];
            let left: Vec<u32> = open
                .into_iter()
                .filter(|number| !yes.contains(number) && !no.contains(number))
                .collect();
            let left = match left[..] {
                [] => String::new(),
                _ => format!(" Still open: {}.", ranges(&left)),
            };
            let said: Vec<String> = parts.into_iter().flatten().collect();
            format!("{}.{left}", said.join(". "))
        }
        Answer::Allow { scope: Scope::Mode { mode }, .. } => {
            format!("Allowed all {}, and mode {mode} for this session.", open.len())
        }
        Answer::Allow { term: Term::Always, .. } => {
            format!("Allowed all {}, always with exactly these arguments.", open.len())
        }
        Answer::Allow { .. } => format!("Allowed all {}.", open.len()),
        _ => format!("Denied all {}.", open.len()),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', ',']).filter(|word| !word.is_empty())
}

/// `3`, `3-5`, `-2`, `-2-4`: whether it denies, the first and the last number.
fn span(word: &str) -> Option<(bool, u32, u32)> {
    let (denies, rest) = match word.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, word),
    };
    let number = |digits: &str| {
        let plain =
            (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        plain.then(|| digits.parse().ok()).flatten()
    };
    match rest.split_once('-') {
        None => number(rest).map(|one| (denies, one, one)),
        Some((first, last)) => Some((denies, number(first)?, number(last)?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{ApprovalId, ApprovalState, CallId, ListedCall, SessionId};

    /// Five calls, of which the second is answered.
    fn list() -> CallList {
        let session = SessionId::new("main").unwrap();
        let item = |block: u32| ListedCall {
            difference: String::new(),
            content: String::new(),
            approval: ApprovalId(format!("q{block}")),
            call: CallId::Reply { session: session.clone(), reply_seq: 3, block },
            digest: String::new(),
            says: format!("Move {block}.txt to old/"),
            danger: false,
            notes: Vec::new(),
            always_shown: false,
            state: ApprovalState::Waiting,
        };
        let mut list = CallList { items: (1..=5).map(item).collect() };
        list.items[1].state = ApprovalState::Approved;
        list
    }

    fn pick(yes: &[u32], no: &[u32]) -> ReadList {
        ReadList::Answer(Answer::Pick { yes: yes.into(), no: no.into() })
    }

    #[test]
    fn numbers_pick_and_a_minus_denies() {
        let list = list();
        assert_eq!(read_list("1", &list), pick(&[1], &[]));
        assert_eq!(read_list(" 1, 3-5 ", &list), pick(&[1, 3, 4, 5], &[]));
        assert_eq!(read_list("-3 1 1", &list), pick(&[1], &[3]));
        assert_eq!(read_list("-3-5", &list), pick(&[], &[3, 4, 5]));
        let yes = Answer::Allow { term: Term::Once, scope: Scope::Exact };
        assert_eq!(read_list("All", &list), ReadList::Answer(yes));
        assert_eq!(read_list("none.", &list), ReadList::Answer(Answer::Deny { word: None }));
    }

    #[test]
    fn nothing_is_guessed_and_the_rest_is_a_message() {
        let list = list();
        for text in ["0", "6", "4-9", "5-3", "2", "1 2", "1 -1"] {
            assert!(matches!(read_list(text, &list), ReadList::Unclear(_)), "{text}");
        }
        for text in ["", "y", "1 apple", "all of them", "1.5", "2026", "- 1", "1--2", "#1", "١"] {
            assert_eq!(read_list(text, &list), ReadList::NotAnAnswer, "{text}");
        }
    }

    #[test]
    fn an_answer_is_told_with_what_stays_open() {
        let picked = Answer::Pick { yes: vec![1, 3], no: vec![4] };
        assert_eq!(in_words(&picked, &list()), "Allowed 1, 3. Denied 4. Still open: 5.");
        assert_eq!(in_words(&Answer::Deny { word: None }, &list()), "Denied all 4.");
    }
}
