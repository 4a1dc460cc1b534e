//! What a typed line means to an open question about several calls, and what of it is answered.
//! Must not know how its words are read (`doors/list_answers.rs`).

use std::time::Instant;

use super::{ChatState, Effect, OpenQuestion};
use crate::domain::{Answer, ApprovalState, Question};
use crate::doors::call_list::ranges;
use crate::doors::clean::clean_line;
use crate::doors::list_answers::is_pick;

impl ChatState {
    /// Numbers, `all` and `none` answer a list where nothing else could be meant; `#2 1 3-5` names
    /// the question. `None` if the line is for no list.
    pub(super) fn of_list(&mut self, line: &str, now: Instant, now_ms: i64) -> Option<Vec<Effect>> {
        if line.starts_with(char::is_whitespace) {
            return None;
        }
        let is_list = |open: &OpenQuestion| open.question.list.is_some();
        let first = self.open.iter().find(|open| is_list(open))?.number;
        if let Some((name, rest)) = line.strip_prefix('#').and_then(|rest| rest.split_once(' ')) {
            let named = |open: &OpenQuestion| open.number.to_string() == name && is_list(open);
            let index = self.open.iter().position(named)?;
            return Some(self.maybe_answer(index, rest, line, now, now_ms));
        }
        let word = line.trim();
        let whole = word.eq_ignore_ascii_case("all") || word.eq_ignore_ascii_case("none");
        if !whole && !is_pick(line) {
            return None;
        }
        if self.open.len() == 1 && self.staged.is_empty() {
            return Some(self.maybe_answer(0, line, line, now, now_ms));
        }
        let word = clean_line(word);
        Some(vec![Effect::Note(format!(
            "More than one question is open, so `{word}` answers none of them. Name the list: \
             `#{first} {word}`."
        ))])
    }

    /// What a list shows now that something of it was answered, perhaps elsewhere. A sentence about
    /// that, if it was.
    pub(crate) fn list_changed(&mut self, question: &Question) -> Option<String> {
        let open = self.open.iter_mut().find(|open| open.question.approval == question.approval)?;
        let new = question.list.as_ref()?;
        let known = open.question.list.replace(new.clone())?.open();
        let left = new.open();
        let answered: Vec<u32> =
            known.into_iter().filter(|number| !left.contains(number)).collect();
        (!answered.is_empty()).then(|| {
            let answered = ranges(&answered);
            format!(
                "Of the list, {answered} was answered elsewhere. Still open: {}.",
                ranges(&left)
            )
        })
    }

    /// Notes what a line has picked from a list. Whether something of it is still open.
    pub(super) fn picked(&mut self, index: usize, answer: &Answer) -> bool {
        let Answer::Pick { yes, no } = answer else { return false };
        let open = self.open.get_mut(index);
        let Some(list) = open.and_then(|open| open.question.list.as_mut()) else { return false };
        for (number, item) in (1..).zip(&mut list.items) {
            if yes.contains(&number) {
                item.state = ApprovalState::Approved;
            } else if no.contains(&number) {
                item.state = ApprovalState::Denied;
            }
        }
        !list.open().is_empty()
    }
}
