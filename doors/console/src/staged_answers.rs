//! What is staged and open on this console, and how a line answers it: `1` or `1 3` confirms,
//! `-2` cancels, `all`, `none`; the number of a button presses it; a yes or no answers the only
//! thing that is open. Owns the numbers; pure, so that every rule can be tested. Must not know
//! how anything is drawn.
//!
//! Only a line of nothing but numbers, or of one such word, is an answer. Any other one is a
//! message.

use std::time::{Duration, Instant};

use crate::domain::{Answer, ApprovalId, Question, Scope, Staged, Term, UnixMillis};
use crate::doors::typed::{Typed, typed};

/// An open question about something staged. A question with buttons has a number for each of them,
/// from `number` on.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Open {
    pub(super) number: usize,
    pub(super) question: Question,
    /// What was shown together is one list.
    list: usize,
    shown: Instant,
}

/// Everything that is staged and open here, in the order of its numbers.
#[derive(Debug, Default)]
pub(super) struct StagedAnswers {
    open: Vec<Open>,
    lists: usize,
}

/// An answer that a line has given.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GivenAnswer {
    pub(super) number: usize,
    pub(super) approval: ApprovalId,
    pub(super) answer: Answer,
}

/// What a line is to what is staged.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Read {
    Answers(Vec<GivenAnswer>),
    /// It looks like an answer, and nothing is guessed: the sentence says what to type.
    Unclear(String),
    NotAnAnswer,
}

const HINT: &str = "To send it as a message instead, start the line with a space.";

impl StagedAnswers {
    /// Takes in what was staged together, and gives what is new its numbers. The numbers of a list
    /// that is still open stay.
    pub(super) fn stage(&mut self, questions: Vec<Question>, now: Instant) -> Vec<Open> {
        let mut next = self.open.iter().map(Open::after).max().unwrap_or(1);
        self.lists += 1;
        let known = |answers: &Self, question: &Question| {
            answers.open.iter().any(|open| open.question.approval == question.approval)
        };
        let mut new = Vec::new();
        for question in questions {
            if known(self, &question) {
                continue;
            }
            let open = Open { number: next, question, list: self.lists, shown: now };
            next = open.after();
            self.open.push(open.clone());
            new.push(open);
        }
        new
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// What waits for a yes or no; buttons are there for whoever wants them.
    pub(super) fn questions(&self) -> impl Iterator<Item = &Question> {
        let asked = self.open.iter().filter(|open| !open.is_buttons());
        asked.map(|open| &open.question)
    }

    /// All of it, which is then read as one list.
    pub(super) fn again(&mut self, now: Instant) -> &[Open] {
        self.lists += 1;
        for open in &mut self.open {
            (open.list, open.shown) = (self.lists, now);
        }
        &self.open
    }

    /// An item was answered elsewhere or has expired. Returns its number and what it is about.
    pub(super) fn close(&mut self, approval: &ApprovalId) -> Option<Open> {
        let index = self.open.iter().position(|open| open.question.approval == *approval)?;
        Some(self.open.remove(index))
    }

    pub(super) fn find(&self, approval: &ApprovalId) -> Option<&Open> {
        self.open.iter().find(|open| open.question.approval == *approval)
    }

    /// The numbers that still wait, in words for a person; `None` if nothing does.
    pub(super) fn left(&self) -> Option<String> {
        let numbers: Vec<String> =
            self.open.iter().flat_map(Open::numbers).map(|number| number.to_string()).collect();
        (!numbers.is_empty()).then(|| numbers.join(", "))
    }

    pub(super) fn read(&self, line: &str) -> Read {
        if self.open.is_empty() || line.starts_with(char::is_whitespace) {
            return Read::NotAnAnswer;
        }
        let words: Vec<&str> = line.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        match words[..] {
            [word] if word.eq_ignore_ascii_case("all") => self.whole_list(word, &once()),
            [word] if word.eq_ignore_ascii_case("none") => {
                self.whole_list(word, &Answer::Deny { word: None })
            }
            _ => self.numbers(&words),
        }
    }

    /// A yes or no in words, if nothing else is open that it could mean. A no with words behind it
    /// is a message: what is staged has nobody who would read them.
    pub(super) fn by_word(&self, line: &str) -> Option<GivenAnswer> {
        let [only] = &self.open[..] else { return None };
        if only.is_buttons() || line.starts_with(char::is_whitespace) {
            return None;
        }
        match typed(line) {
            Typed::Yes => Some(only.given(once())),
            Typed::No { word: None } => Some(only.given(Answer::Deny { word: None })),
            Typed::No { word: Some(_) } | Typed::Remark => None,
        }
    }

    fn whole_list(&self, word: &str, answer: &Answer) -> Read {
        let items: Vec<&Open> = self.open.iter().filter(|open| !open.is_buttons()).collect();
        let Some(first) = items.first() else { return Read::NotAnAnswer };
        if items.iter().any(|open| open.list != first.list) {
            let numbers: Vec<String> = items.iter().map(|open| open.number.to_string()).collect();
            return Read::Unclear(format!(
                "`{}` could mean more than one list. Name the numbers: {}; `/staged` shows them \
                 together. {HINT}",
                word.to_lowercase(),
                numbers.join(" ")
            ));
        }
        Read::Answers(items.into_iter().map(|open| open.given(answer.clone())).collect())
    }

    fn numbers(&self, words: &[&str]) -> Read {
        let signed = |word: &str| {
            let digits = word.strip_prefix('-').unwrap_or(word);
            let plain =
                (1..=3).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
            plain
                .then(|| digits.parse().ok())
                .flatten()
                .map(|number: usize| (number, word.starts_with('-')))
        };
        let Some(numbers) = words.iter().map(|word| signed(word)).collect::<Option<Vec<_>>>()
        else {
            return Read::NotAnAnswer;
        };
        let mut given: Vec<GivenAnswer> = Vec::new();
        for (number, cancels) in numbers {
            let Some(open) = self.open.iter().find(|open| open.numbers().contains(&number)) else {
                let left = self.left().unwrap_or_default();
                return Read::Unclear(format!(
                    "Nothing is staged under {number}; open: {left}. {HINT}"
                ));
            };
            let answer = match (open.is_buttons(), cancels) {
                (true, true) => {
                    return Read::Unclear(format!(
                        "{number} is a button: there is nothing to cancel. {HINT}"
                    ));
                }
                (true, false) => Answer::Press { index: (number - open.number) as u32 },
                (false, true) => Answer::Deny { word: None },
                (false, false) => once(),
            };
            match given.iter().find(|given| given.approval == open.question.approval) {
                Some(before) if before.answer == answer => {}
                Some(_) => {
                    return Read::Unclear(format!(
                        "The line says two things about one question, at {number}. {HINT}"
                    ));
                }
                None => given.push(GivenAnswer { number, ..open.given(answer) }),
            }
        }
        if given.is_empty() { Read::NotAnAnswer } else { Read::Answers(given) }
    }
}

impl Open {
    pub(super) fn is_buttons(&self) -> bool {
        matches!(self.question.staged, Some(Staged::Buttons { .. }))
    }

    /// Whether it has been on the screen for so long that somebody can have read it.
    pub(super) fn was_read(&self, now: Instant, read_time: Duration) -> bool {
        now.duration_since(self.shown) >= read_time
    }

    pub(super) fn is_over(&self, now_ms: UnixMillis) -> bool {
        self.question.expires_at_ms <= now_ms
    }

    fn numbers(&self) -> std::ops::Range<usize> {
        self.number..self.after()
    }

    fn after(&self) -> usize {
        self.number + if self.is_buttons() { self.question.choices.len() } else { 1 }
    }

    fn given(&self, answer: Answer) -> GivenAnswer {
        GivenAnswer { number: self.number, approval: self.question.approval.clone(), answer }
    }
}

fn once() -> Answer {
    Answer::Allow { term: Term::Once, scope: Scope::Exact }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{CallId, Choice, SessionId};

    const NO: Answer = Answer::Deny { word: None };

    fn question(id: &str, staged: Staged, choices: usize) -> Question {
        let session = SessionId::new("main").unwrap();
        let choice = |index: usize| Choice {
            key: index.to_string(),
            label: "x".into(),
            answer: Answer::Press { index: index as u32 },
        };
        Question {
            approval: ApprovalId(id.into()),
            call: CallId::Reply { session: session.clone(), reply_seq: 3, block: 0 },
            session: Some(session),
            server: "shop".into(),
            tool: "confirm".into(),
            arguments: Vec::new(),
            why: String::new(),
            effect: None,
            expires_at_ms: 1_000,
            choices: (0..choices).map(choice).collect(),
            staged: Some(staged),
            list: None,
            input: None,
        }
    }

    fn item(id: &str) -> Question {
        question(id, Staged::Item { summary: id.into(), group: None, number: 1, of: 1 }, 2)
    }

    /// Items 1 to 3, and buttons 4 and 5.
    fn answers() -> StagedAnswers {
        let mut answers = StagedAnswers::default();
        let buttons = question("buttons", Staged::Buttons { group: None }, 2);
        let new = answers.stage(vec![item("a"), item("b"), item("c"), buttons], Instant::now());
        assert_eq!(new.iter().map(|open| open.number).collect::<Vec<_>>(), [1, 2, 3, 4]);
        answers
    }

    fn given(answers: &StagedAnswers, line: &str) -> Vec<(String, Answer)> {
        match answers.read(line) {
            Read::Answers(given) => {
                given.into_iter().map(|given| (given.approval.0, given.answer)).collect()
            }
            other => panic!("{line}: {other:?}"),
        }
    }

    fn said(pairs: &[(&str, Answer)]) -> Vec<(String, Answer)> {
        pairs.iter().map(|(id, answer)| ((*id).to_owned(), answer.clone())).collect()
    }

    #[test]
    fn numbers_confirm_cancel_and_press() {
        let answers = answers();
        assert_eq!(given(&answers, "1"), said(&[("a", once())]));
        assert_eq!(given(&answers, "1, 3 1"), said(&[("a", once()), ("c", once())]));
        assert_eq!(given(&answers, "-2 3 "), said(&[("b", NO), ("c", once())]));
        assert_eq!(given(&answers, "5"), said(&[("buttons", Answer::Press { index: 1 })]));
        assert_eq!(given(&answers, "All"), said(&[("a", once()), ("b", once()), ("c", once())]));
        assert_eq!(given(&answers, "none"), said(&[("a", NO), ("b", NO), ("c", NO)]));
        assert_eq!(answers.left().unwrap(), "1, 2, 3, 4, 5");
    }

    #[test]
    fn anything_else_is_a_message() {
        let answers = answers();
        for line in [
            "yes",
            "y",
            "1 apple",
            " 1",
            "all of them",
            "1.5",
            "+1",
            "2026",
            "1;2",
            ",",
            "- 1",
            "#1",
            "١",
        ] {
            assert_eq!(answers.read(line), Read::NotAnAnswer, "{line}");
        }
        assert_eq!(StagedAnswers::default().read("1"), Read::NotAnAnswer);
    }

    #[test]
    fn a_yes_or_no_answers_the_only_thing_that_is_open() {
        let mut answers = StagedAnswers::default();
        assert_eq!(answers.by_word("yes"), None);
        answers.stage(vec![item("a")], Instant::now());
        let said = |answers: &StagedAnswers, line| answers.by_word(line).map(|given| given.answer);
        for line in ["yes", "Y", "ok", "ja!"] {
            assert_eq!(said(&answers, line), Some(once()), "{line}");
        }
        for line in ["no", "N.", "nein"] {
            assert_eq!(said(&answers, line), Some(NO), "{line}");
        }
        for line in ["no, later", " yes", "yes please", "show a.txt"] {
            assert_eq!(said(&answers, line), None, "{line}");
        }
        answers.stage(vec![item("b")], Instant::now());
        assert_eq!(said(&answers, "yes"), None);
        let mut buttons = StagedAnswers::default();
        buttons
            .stage(vec![question("buttons", Staged::Buttons { group: None }, 2)], Instant::now());
        assert_eq!(said(&buttons, "yes"), None);
    }

    #[test]
    fn nothing_is_guessed_and_nothing_half_done() {
        let answers = answers();
        for line in ["9", "1 9", "0", "1 -1", "-4", "4 5"] {
            assert!(matches!(answers.read(line), Read::Unclear(_)), "{line}");
        }
    }

    #[test]
    fn numbers_stay_and_all_means_one_list() {
        let mut answers = answers();
        let now = Instant::now();
        assert_eq!(answers.stage(vec![item("a"), item("d")], now).len(), 1, "a is here already");
        assert_eq!(given(&answers, "6"), said(&[("d", once())]));
        assert!(matches!(answers.read("all"), Read::Unclear(text) if text.contains("1 2 3 6")));
        assert_eq!(answers.again(now).len(), 5);
        assert_eq!(given(&answers, "all").len(), 4, "it has been shown as one list");
        for id in ["a", "b", "c"] {
            assert!(answers.close(&ApprovalId(id.into())).is_some());
        }
        assert_eq!(
            (given(&answers, "6"), answers.left().unwrap()),
            (said(&[("d", once())]), "4, 5, 6".to_owned())
        );
    }
}
