//! Reads shell text into pipelines: separators, groups, loops, functions, redirections. Bounded in
//! steps and depth. Must not know what is denied, and never guesses: what it does not know makes
//! the whole text unreadable.

use std::cell::Cell;

use super::shell::{Pipeline, Script, Simple, Stage};

/// The longest shell text that is read, in bytes.
pub(super) const TEXT_BYTES_MAX: usize = 64 * 1024;
/// How deep groups and substitutions may nest.
const DEPTH_MAX: u32 = 24;
/// Steps over characters for one call, repeated readings included.
pub(super) const STEPS_MAX: u32 = 4_000_000;

/// The text is not read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unreadable;

pub(super) type Read<T> = Result<T, Unreadable>;

/// Reads a whole text. `steps` is what is left of the budget.
pub(super) fn read(text: &str, steps: &Cell<u32>, depth: u32) -> Read<Script> {
    if text.len() > TEXT_BYTES_MAX || text.contains(['\0', '\u{1}']) {
        return Err(Unreadable);
    }
    Reader::new(text.chars().collect(), steps, depth)?.script(End::Text)
}

/// What ends a list of commands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Text,
    Paren,
    Word(&'static str),
    CaseItem,
}

pub(super) struct Reader<'s> {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) depth: u32,
    pub(super) steps: &'s Cell<u32>,
    /// The line break after which here-documents begin, and where reading goes on behind them.
    pub(super) here: Option<(usize, usize)>,
}

impl<'s> Reader<'s> {
    pub(super) fn new(chars: Vec<char>, steps: &'s Cell<u32>, depth: u32) -> Read<Self> {
        if depth > DEPTH_MAX {
            return Err(Unreadable);
        }
        Ok(Self { chars, at: 0, depth, steps, here: None })
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    /// One step on. Jumps over the here-documents that begin after this line.
    pub(super) fn bump(&mut self) -> Read<Option<char>> {
        self.steps.set(self.steps.get().checked_sub(1).ok_or(Unreadable)?);
        let c = self.peek();
        self.at += 1;
        if let Some((line_break, resume)) = self.here
            && c == Some('\n')
            && self.at > line_break
        {
            self.at = resume;
            self.here = None;
        }
        Ok(c)
    }

    pub(super) fn eat(&mut self, text: &str) -> Read<bool> {
        if !text.chars().enumerate().all(|(ahead, c)| self.peek_at(ahead) == Some(c)) {
            return Ok(false);
        }
        for _ in text.chars() {
            self.bump()?;
        }
        Ok(true)
    }

    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Unreadable);
        }
        let result = inner(self);
        self.depth -= 1;
        result
    }

    /// Blanks, line continuations and comments.
    pub(super) fn skip_blanks(&mut self) -> Read<()> {
        loop {
            match self.peek() {
                Some(' ' | '\t') => drop(self.bump()?),
                Some('\\') if self.peek_at(1) == Some('\n') => drop(self.eat("\\\n")?),
                Some('#')
                    if self.at == 0 || self.chars.get(self.at - 1).is_none_or(|c| is_meta(*c)) =>
                {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.bump()?;
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn skip_lines(&mut self) -> Read<()> {
        loop {
            self.skip_blanks()?;
            match self.peek() {
                Some('\n' | '\r') => drop(self.bump()?),
                _ => return Ok(()),
            }
        }
    }

    /// The unquoted word at this place, if it is made of letters or is one of `{ } ! [[ ]]`.
    fn keyword(&self) -> String {
        let rest = self.chars.get(self.at..).unwrap_or_default();
        rest.iter().take(9).take_while(|c| !is_meta(**c)).collect()
    }

    fn eat_keyword(&mut self, word: &str) -> Read<bool> {
        if self.keyword() != word {
            return Ok(false);
        }
        self.eat(word)
    }

    /// A list of pipelines up to and including its end.
    pub(super) fn script(&mut self, end: End) -> Read<Script> {
        let mut script = Script::default();
        loop {
            self.skip_lines()?;
            match (self.peek(), end) {
                (None, End::Text) => return Ok(script),
                (None, _) => return Err(Unreadable),
                (Some(')'), End::Paren) => {
                    self.bump()?;
                    return Ok(script);
                }
                (Some(';'), End::CaseItem) if matches!(self.peek_at(1), Some(';' | '&')) => {
                    let _ = self.eat(";;&")? || self.eat(";;")? || self.eat(";&")?;
                    return Ok(script);
                }
                (Some(';' | '&'), _) => {
                    self.bump()?;
                    continue;
                }
                _ => {}
            }
            let keyword = self.keyword();
            match (keyword.as_str(), end) {
                (word, End::Word(last)) if word == last => {
                    self.eat(last)?;
                    return Ok(script);
                }
                // The caller takes it.
                ("esac", End::CaseItem) => return Ok(script),
                ("then" | "else" | "elif" | "do", End::Word(_)) => drop(self.eat(&keyword)?),
                _ => script.pipelines.push(self.pipeline()?),
            }
        }
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        let mut stages = vec![self.deeper(Self::stage)?];
        loop {
            self.skip_blanks()?;
            let next = (self.peek(), self.peek_at(1));
            match next {
                (Some('|'), Some('|')) | (Some('&'), Some('&')) => {
                    self.bump()?;
                    self.bump()?;
                    return Ok(Pipeline { stages, background: false });
                }
                (Some('|'), _) => {
                    self.bump()?;
                    self.eat("&")?;
                    self.skip_lines()?;
                    stages.push(self.deeper(Self::stage)?);
                }
                (Some('&'), _) => {
                    self.bump()?;
                    return Ok(Pipeline { stages, background: true });
                }
                (None | Some('\n' | '\r' | ';' | ')'), _) => {
                    return Ok(Pipeline { stages, background: false });
                }
                _ => return Err(Unreadable),
            }
        }
    }

    fn stage(&mut self) -> Read<Stage> {
        loop {
            self.skip_blanks()?;
            if self.eat_keyword("time")? {
                self.skip_blanks()?;
                self.eat_keyword("-p")?;
            } else if !self.eat_keyword("!")? && !self.eat_keyword("coproc")? {
                break;
            }
        }
        let keyword = self.keyword();
        let script = match keyword.as_str() {
            "{" => self.body("{", "}")?,
            "if" => self.body("if", "fi")?,
            "while" => self.body("while", "done")?,
            "until" => self.body("until", "done")?,
            "for" | "select" => self.for_loop(&keyword)?,
            "case" => self.case()?,
            "function" => return self.function(),
            "[[" => return self.test(),
            "}" | "fi" | "done" | "esac" | "then" | "else" | "elif" | "do" | "in" | "]]" => {
                return Err(Unreadable);
            }
            _ if self.peek() == Some('(') => return self.parentheses(),
            _ => return self.simple(),
        };
        let redirects = self.trailing_redirects()?;
        Ok(Stage::Group { script, redirects, subshell: false })
    }

    fn body(&mut self, first: &str, last: &'static str) -> Read<Script> {
        self.eat(first)?;
        self.script(End::Word(last))
    }

    fn parentheses(&mut self) -> Read<Stage> {
        if let Some(word) = self.arithmetic()? {
            let simple = Simple {
                others: vec![word],
                redirects: self.trailing_redirects()?,
                ..Simple::default()
            };
            return Ok(Stage::Simple(simple));
        }
        self.eat("(")?;
        let script = self.script(End::Paren)?;
        Ok(Stage::Group { script, redirects: self.trailing_redirects()?, subshell: true })
    }

    fn for_loop(&mut self, keyword: &str) -> Read<Script> {
        self.eat(keyword)?;
        self.skip_blanks()?;
        let mut header = Simple::default();
        if let Some(word) = self.arithmetic()? {
            header.others.push(word);
        } else {
            self.word()?.ok_or(Unreadable)?;
            self.skip_lines()?;
            if self.eat_keyword("in")? {
                loop {
                    self.skip_blanks()?;
                    let Some(word) = self.word()? else { break };
                    header.others.push(word);
                }
            }
        }
        let mut script = self.script(End::Word("done"))?;
        script
            .pipelines
            .insert(0, Pipeline { stages: vec![Stage::Simple(header)], background: false });
        Ok(script)
    }

    fn case(&mut self) -> Read<Script> {
        self.eat("case")?;
        self.skip_blanks()?;
        let mut header =
            Simple { others: vec![self.word()?.ok_or(Unreadable)?], ..Simple::default() };
        self.skip_lines()?;
        if !self.eat_keyword("in")? {
            return Err(Unreadable);
        }
        let mut script = Script::default();
        loop {
            self.skip_lines()?;
            if self.eat_keyword("esac")? {
                break;
            }
            self.eat("(")?;
            loop {
                self.skip_blanks()?;
                header.others.push(self.word()?.ok_or(Unreadable)?);
                self.skip_blanks()?;
                if self.eat(")")? {
                    break;
                }
                if !self.eat("|")? {
                    return Err(Unreadable);
                }
            }
            script.pipelines.append(&mut self.script(End::CaseItem)?.pipelines);
        }
        script.pipelines.push(Pipeline { stages: vec![Stage::Simple(header)], background: false });
        Ok(script)
    }

    fn function(&mut self) -> Read<Stage> {
        self.eat("function")?;
        self.skip_blanks()?;
        let name = self.word()?.ok_or(Unreadable)?.text;
        self.skip_blanks()?;
        if self.eat("(")? {
            self.skip_blanks()?;
            if !self.eat(")")? {
                return Err(Unreadable);
            }
        }
        self.function_body(name)
    }

    fn function_body(&mut self, name: String) -> Read<Stage> {
        self.skip_lines()?;
        let body = self.deeper(Self::stage)?;
        Ok(Stage::Function { name, body: Box::new(body) })
    }

    /// `[[ … ]]`: its operators are no commands.
    fn test(&mut self) -> Read<Stage> {
        self.eat("[[")?;
        let mut simple = Simple::default();
        loop {
            self.skip_lines()?;
            if self.eat_keyword("]]")? {
                break;
            }
            match self.word()? {
                Some(word) => simple.others.push(word),
                None if self.bump()?.is_none() => return Err(Unreadable),
                None => {}
            }
        }
        simple.redirects = self.trailing_redirects()?;
        Ok(Stage::Simple(simple))
    }

    fn simple(&mut self) -> Read<Stage> {
        let mut simple = Simple::default();
        loop {
            self.skip_blanks()?;
            if let Some(redirect) = self.redirect()? {
                simple.redirects.push(redirect);
                continue;
            }
            let start = self.at;
            let Some(word) = self.word()? else { break };
            if simple.words.is_empty()
                && is_assignment(self.chars.get(start..self.at).unwrap_or_default())
            {
                simple.others.push(word);
                continue;
            }
            simple.words.push(word);
            self.skip_blanks()?;
            if self.peek() == Some('(') {
                self.bump()?;
                self.skip_blanks()?;
                let first = simple.words.len() == 1 && simple.others.is_empty();
                return match (self.eat(")")?, first, simple.words.pop()) {
                    (true, true, Some(name)) => self.function_body(name.text),
                    _ => Err(Unreadable),
                };
            }
        }
        if simple.words.is_empty() && simple.others.is_empty() && simple.redirects.is_empty() {
            return Err(Unreadable);
        }
        Ok(Stage::Simple(simple))
    }
}

/// Whether `c` ends an unquoted word.
pub(super) fn is_meta(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | ';' | '&' | '|' | '(' | ')' | '<' | '>')
}

/// `NAME=…`, `NAME+=…`, `NAME[…]=…`
fn is_assignment(raw: &[char]) -> bool {
    let Some(equals) = raw.iter().position(|c| *c == '=') else { return false };
    let name: String = raw.iter().take(equals).collect();
    let name = name.trim_end_matches('+');
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
