//! Which of the open questions a typed line is aimed at. Must not know what becomes of an answer.

use std::time::Instant;

use super::{ChatState, Effect};
use crate::domain::{Answer, Term};
use crate::doors::clean::clean_line;
use crate::terminal::question::{ParsedAnswer, parse_answer};

impl ChatState {
    /// `?` shows all of the oldest question, `? 2` of that one. It counts as shown anew.
    pub(super) fn whole(&mut self, line: &str, now: Instant) -> Option<Effect> {
        let rest = line.trim().strip_prefix('?')?.trim();
        let several = self.open.len() > 1;
        let open = match rest {
            "" => self.open.first_mut()?,
            number => self.open.iter_mut().find(|open| open.number.to_string() == number)?,
        };
        open.shown = now;
        Some(Effect::Whole(Box::new(open.question.clone()), several.then_some(open.number)))
    }

    /// Which question a line is aimed at, and the line without that. `2 n because …`, `y 2` and `y
    /// ID` name one. Without a name an answer is for the one question that is open; where there are
    /// several, it answers none.
    pub(super) fn addressee(&self, line: &str) -> Result<(usize, String), String> {
        // Whatever is typed may be a value, with numbers in it.
        if let [one] = &self.open[..]
            && one.question.input.is_some()
        {
            return Ok((0, line.to_owned()));
        }
        let find = |word: &str| {
            let number = word.strip_prefix('#').unwrap_or(word);
            self.open.iter().position(|open| {
                open.number.to_string() == number || open.question.approval.0 == word
            })
        };
        let is_number = |word: &str| {
            let digits = word.strip_prefix('#').unwrap_or(word);
            !digits.is_empty()
                && digits.len() < 4
                && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        let is_answer = |text: &str| {
            self.open
                .iter()
                .any(|open| matches!(parse_answer(text, &open.question), ParsedAnswer::Answer(_)))
        };
        let none = |word: &str| format!("There is no open question {}.", clean_line(word));
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [first, second] = words[..]
            && is_answer(first)
        {
            match find(second) {
                Some(index) => return Ok((index, first.to_owned())),
                None if self.is_row_of_the_list(first, second) => {
                    return Ok((0, second.to_owned()));
                }
                None if is_number(second) => return Err(none(second)),
                None => {}
            }
        }
        if let Some((first, rest)) = line.trim().split_once(char::is_whitespace)
            && is_answer(rest)
        {
            match find(first) {
                Some(index) => return Ok((index, rest.trim().to_owned())),
                None if is_number(first) => return Err(none(first)),
                None => {}
            }
        }
        if self.open.len() > 1 && is_answer(line) {
            return Err(self.name_one(words.first().copied().unwrap_or_default()));
        }
        Ok((0, line.to_owned()))
    }

    /// Whether `y 2` can only mean the second row of the one list that is open.
    fn is_row_of_the_list(&self, answer: &str, number: &str) -> bool {
        let [one] = &self.open[..] else { return false };
        let picks = |text: &str| match parse_answer(text, &one.question) {
            ParsedAnswer::Answer(answer) => Some(answer),
            _ => None,
        };
        let is_yes = matches!(picks(answer), Some(Answer::Allow { term: Term::Once, .. }));
        is_yes && matches!(picks(number), Some(Answer::Pick { .. }))
    }
}
