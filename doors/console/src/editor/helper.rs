//! What rustyline asks while a line is typed: the prompt, the completions, and whether the line
//! goes on after a `\`. Must not know the terminal, or who reads the line.

use std::sync::{Arc, Mutex, PoisonError};

use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper, Prompt};

use super::{EditorState, prompt_in_line};
use crate::domain::Mode;
use crate::doors::commands;

/// The prompt of a line that began in this mode. rustyline asks for it each time that it draws,
/// which it does after it has printed what it was given.
pub(super) struct DrawnPrompt<'a>(pub(super) &'a EditorState, pub(super) Mode);

impl Prompt for DrawnPrompt<'_> {
    fn raw(&self) -> &str {
        self.0.draws_prompt();
        self.0.note_draw();
        prompt_in_line(self.1, self.0.mode())
    }
}

pub(super) struct ConsoleHelper(pub(super) Arc<EditorState>);

impl Helper for ConsoleHelper {}

impl Highlighter for ConsoleHelper {}

impl Hinter for ConsoleHelper {
    type Hint = String;

    /// There are no hints; this is where rustyline says that the prompt is up and what is on the
    /// line.
    fn hint(&self, line: &str, _pos: usize, _ctx: &Context<'_>) -> Option<String> {
        line.clone_into(&mut self.0.typed.lock().unwrap_or_else(PoisonError::into_inner));
        self.0.gate.open();
        None
    }
}

impl Completer for ConsoleHelper {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _ctx: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let names = commands::completions(line.get(..pos).unwrap_or_default());
        Ok((0, names.into_iter().map(str::to_owned).collect()))
    }
}

impl Validator for ConsoleHelper {
    fn validate(&self, ctx: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let backslashes = ctx.input().bytes().rev().take_while(|byte| *byte == b'\\').count();
        if backslashes % 2 == 1 {
            self.0
                .continued
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(ctx.input().to_owned());
            return Ok(ValidationResult::Incomplete);
        }
        self.0.gate.close();
        Ok(ValidationResult::Valid(None))
    }
}

/// The line without each `\` that a line feed was typed behind.
pub(super) fn join_continued(line: String, continued: &Mutex<Vec<String>>) -> String {
    let mut line = line;
    let continued = std::mem::take(&mut *continued.lock().unwrap_or_else(PoisonError::into_inner));
    // From the last to the first, so that places before it stay where they are.
    for before in continued.into_iter().rev() {
        let cut = before.len();
        if cut > 0 && line.starts_with(&before) && line[cut..].starts_with('\n') {
            line.remove(cut - 1);
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_typed_backslash_joins_lines() {
        let continued = Mutex::new(vec!["one \\".to_owned(), "one \\\ntwo \\".to_owned()]);
        assert_eq!(join_continued("one \\\ntwo \\\nthree".into(), &continued), "one \ntwo \nthree");
        let edited = Mutex::new(vec!["one \\".to_owned()]);
        assert_eq!(
            join_continued("1 then \\\ntwo".into(), &edited),
            "1 then \\\ntwo",
            "what was edited since stays"
        );
        assert_eq!(
            join_continued("pasted \\\nshell".into(), &Mutex::default()),
            "pasted \\\nshell"
        );
    }
}
