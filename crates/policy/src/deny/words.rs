//! Reads one word of shell text: quotes, variables, substitutions. Must not know commands.

use super::read::{End, Read, Reader, Unreadable, is_meta};
use super::shell::{Nested, NestedKind, SUBSTITUTION, VARIABLE, Word};

impl Reader<'_> {
    /// The word at this place; `None` where none begins.
    pub(super) fn word(&mut self) -> Read<Option<Word>> {
        let mut word = Word::default();
        let start = self.at;
        while let Some(c) = self.peek() {
            match c {
                '<' | '>' if self.peek_at(1) == Some('(') => {
                    self.bump()?;
                    self.bump()?;
                    let kind =
                        if c == '<' { NestedKind::ProcessInput } else { NestedKind::ProcessOutput };
                    let script = self.deeper(|reader| reader.script(End::Paren))?;
                    word.text.push(SUBSTITUTION);
                    word.nested.push(Nested { kind, script });
                }
                '(' if self.at > start
                    && is_array(self.chars.get(start..self.at).unwrap_or_default()) =>
                {
                    self.bump()?;
                    self.deeper(|reader| reader.array(&mut word))?;
                }
                '(' if self.at > start
                    && matches!(self.chars.get(self.at - 1), Some('@' | '?' | '*' | '+' | '!')) =>
                {
                    self.extended_glob(&mut word)?;
                }
                _ if is_meta(c) => break,
                '\\' => {
                    self.bump()?;
                    word.quoted = true;
                    match self.bump()? {
                        Some('\n') | None => {}
                        Some(escaped) => word.text.push(escaped),
                    }
                }
                '\'' => {
                    self.bump()?;
                    self.single(&mut word)?;
                }
                '"' => {
                    self.bump()?;
                    self.double(&mut word, Some('"'))?;
                }
                '$' | '`' => self.expansion(&mut word, false)?,
                _ => {
                    self.bump()?;
                    word.text.push(c);
                }
            }
        }
        Ok((self.at > start).then_some(word))
    }

    fn single(&mut self, word: &mut Word) -> Read<()> {
        word.quoted = true;
        loop {
            match self.quoted_char()? {
                '\'' => return Ok(()),
                c => word.text.push(c),
            }
        }
    }

    /// A character inside quotes. Quotes that run over the start of a here-document are not read.
    fn quoted_char(&mut self) -> Read<char> {
        if self.peek() == Some('\n') && self.here.is_some() {
            return Err(Unreadable);
        }
        self.bump()?.ok_or(Unreadable)
    }

    /// Text in which only `$`, back-quotes and some backslashes mean something, up to `end` or the
    /// end of the text.
    pub(super) fn double(&mut self, word: &mut Word, end: Option<char>) -> Read<()> {
        word.quoted = true;
        loop {
            match self.peek() {
                None if end.is_none() => return Ok(()),
                Some('$' | '`') => self.expansion(word, true)?,
                Some('\\') => {
                    self.bump()?;
                    match self.quoted_char()? {
                        '\n' => {}
                        c @ ('$' | '`' | '"' | '\\') => word.text.push(c),
                        c => word.text.extend(['\\', c]),
                    }
                }
                c if c.is_some() && c == end => {
                    self.bump()?;
                    return Ok(());
                }
                _ => {
                    let c = self.quoted_char()?;
                    word.text.push(c);
                }
            }
        }
    }

    /// What begins with `$` or a back-quote.
    fn expansion(&mut self, word: &mut Word, in_quotes: bool) -> Read<()> {
        if self.peek() == Some('`') {
            return self.back_quotes(word);
        }
        match self.peek_at(1) {
            Some('(') => {
                self.bump()?;
                if let Some(inner) = self.arithmetic()? {
                    word.nested.extend(inner.nested);
                } else {
                    self.bump()?;
                    let script = self.deeper(|reader| reader.script(End::Paren))?;
                    word.nested.push(Nested { kind: NestedKind::Command, script });
                }
                word.text.push(SUBSTITUTION);
            }
            Some('{') => {
                self.bump()?;
                self.bump()?;
                self.deeper(|reader| reader.parameter(word))?;
            }
            Some('\'') if !in_quotes => {
                self.bump()?;
                self.bump()?;
                self.ansi_c(word)?;
            }
            Some('"') if !in_quotes => drop(self.bump()?),
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                self.bump()?;
                let mut name = String::new();
                while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
                    name.push(c);
                    self.bump()?;
                }
                variable(word, &name);
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.bump()?;
                self.bump()?;
                variable(word, &c.to_string());
            }
            _ => {
                self.bump()?;
                word.text.push('$');
            }
        }
        Ok(())
    }

    /// Behind `${`: the name counts, whatever is done to its value.
    fn parameter(&mut self, word: &mut Word) -> Read<()> {
        let _ = self.eat("!")? || self.eat("#")?;
        let mut name = String::new();
        while let Some(c) = self.peek().filter(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
            self.bump()?;
        }
        variable(word, &name);
        let mut operand = Word::default();
        loop {
            match self.peek().ok_or(Unreadable)? {
                '}' => {
                    self.bump()?;
                    break;
                }
                '$' | '`' => self.expansion(&mut operand, false)?,
                '\'' => {
                    self.bump()?;
                    self.single(&mut operand)?;
                }
                '"' => {
                    self.bump()?;
                    self.double(&mut operand, Some('"'))?;
                }
                '\\' => {
                    self.bump()?;
                    self.quoted_char()?;
                }
                _ => drop(self.quoted_char()?),
            }
        }
        word.nested.extend(operand.nested);
        Ok(())
    }

    fn back_quotes(&mut self, word: &mut Word) -> Read<()> {
        self.bump()?;
        let mut inner = Vec::new();
        loop {
            match self.quoted_char()? {
                '`' => break,
                '\\' if matches!(self.peek(), Some('`' | '\\' | '$')) => {
                    inner.push(self.quoted_char()?)
                }
                c => inner.push(c),
            }
        }
        let script = Reader::new(inner, self.steps, self.depth + 1)?.script(End::Text)?;
        word.text.push(SUBSTITUTION);
        word.nested.push(Nested { kind: NestedKind::Command, script });
        Ok(())
    }

    /// Behind `$'`.
    fn ansi_c(&mut self, word: &mut Word) -> Read<()> {
        word.quoted = true;
        loop {
            let c = match self.quoted_char()? {
                '\'' => return Ok(()),
                '\\' => match self.quoted_char()? {
                    'n' => '\n',
                    't' => '\t',
                    'r' => '\r',
                    'x' => self.number(16, 2)?,
                    'u' => self.number(16, 4)?,
                    'U' => self.number(16, 8)?,
                    digit @ '0'..='7' => {
                        self.at -= 1;
                        debug_assert_eq!(self.peek(), Some(digit));
                        self.number(8, 3)?
                    }
                    c @ ('\\' | '\'' | '"' | '?') => c,
                    _ => return Err(Unreadable),
                },
                c => c,
            };
            word.text.push(c);
        }
    }

    /// A character by its number. Numbers that are none, or our own marks, are not read.
    fn number(&mut self, radix: u32, digits_max: usize) -> Read<char> {
        let mut value = 0;
        for _ in 0..digits_max {
            let Some(digit) = self.peek().and_then(|c| c.to_digit(radix)) else { break };
            value = value * radix + digit;
            self.bump()?;
        }
        char::from_u32(value)
            .filter(|c| *c != SUBSTITUTION && *c != VARIABLE && value < 0x80)
            .ok_or(Unreadable)
    }

    /// Behind `NAME=(`: the elements count for their substitutions.
    fn array(&mut self, word: &mut Word) -> Read<()> {
        loop {
            self.skip_lines()?;
            if self.eat(")")? {
                return Ok(());
            }
            word.nested.extend(self.word()?.ok_or(Unreadable)?.nested);
        }
    }

    /// `@(a|b)` and its kin, as plain text.
    fn extended_glob(&mut self, word: &mut Word) -> Read<()> {
        let mut open = 0_u32;
        loop {
            let c = self.bump()?.ok_or(Unreadable)?;
            word.text.push(c);
            match c {
                '(' => open += 1,
                ')' if open == 1 => return Ok(()),
                ')' => open -= 1,
                '$' | '`' | '\'' | '"' | '\\' | '\n' => return Err(Unreadable),
                _ => {}
            }
        }
    }

    /// `(( … ))` at this place, as a word with its substitutions; `None`, and nothing is read,
    /// where it is no arithmetic.
    pub(super) fn arithmetic(&mut self) -> Read<Option<Word>> {
        if (self.peek(), self.peek_at(1)) != (Some('('), Some('(')) {
            return Ok(None);
        }
        let start = self.at;
        let mut open = 0_u32;
        for (index, c) in self.chars.iter().enumerate().skip(start) {
            self.steps.set(self.steps.get().checked_sub(1).ok_or(Unreadable)?);
            match c {
                '(' => open += 1,
                ')' => open -= 1,
                _ => {}
            }
            if open == 1 && *c == ')' {
                if self.chars.get(index + 1) != Some(&')') {
                    return Ok(None);
                }
                let inner = self.chars.get(start + 2..index).unwrap_or_default().to_vec();
                let mut word = Word::default();
                Reader::new(inner, self.steps, self.depth + 1)?.double(&mut word, None)?;
                self.at = index + 2;
                return Ok(Some(word));
            }
        }
        Ok(None)
    }
}

fn variable(word: &mut Word, name: &str) {
    word.text.push(VARIABLE);
    word.text.push_str(name);
    word.text.push(VARIABLE);
}

/// `NAME=` or `NAME+=`, behind which a `(` begins an array.
fn is_array(raw: &[char]) -> bool {
    let Some((last, name)) = raw.split_last() else { return false };
    let name = name.strip_suffix(&['+']).unwrap_or(name);
    *last == '=' && !name.is_empty() && name.iter().all(|c| c.is_ascii_alphanumeric() || *c == '_')
}
