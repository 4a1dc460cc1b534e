//! Reads redirections of shell text and the here-documents that they bring. Must not know commands.

use super::read::{Read, Reader, Unreadable};
use super::shell::{Redirect, RedirectKind, Word};

impl Reader<'_> {
    pub(super) fn trailing_redirects(&mut self) -> Read<Vec<Redirect>> {
        let mut redirects = Vec::new();
        loop {
            self.skip_blanks()?;
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(redirects),
            }
        }
    }

    /// `2> file`, `<<EOF`, `<<< word`, `&> file`, `>& 2`, … at this place.
    pub(super) fn redirect(&mut self) -> Read<Option<Redirect>> {
        let digits = (0..4)
            .take_while(|ahead| self.peek_at(*ahead).is_some_and(|c| c.is_ascii_digit()))
            .count();
        let operator = (self.peek_at(digits), self.peek_at(digits + 1));
        let ampersand = digits == 0 && operator == (Some('&'), Some('>'));
        let process = matches!(operator, (Some('<' | '>'), Some('(')));
        if !ampersand && (process || !matches!(operator.0, Some('<' | '>'))) {
            return Ok(None);
        }
        for _ in 0..digits + usize::from(ampersand) {
            self.bump()?;
        }
        if self.eat("<<<")? {
            let word = self.redirect_word()?;
            return Ok(Some(Redirect { kind: RedirectKind::Text, word }));
        }
        if self.eat("<<")? {
            let strip_tabs = self.eat("-")?;
            return Ok(Some(Redirect {
                kind: RedirectKind::Text,
                word: self.here_document(strip_tabs)?,
            }));
        }
        let kind =
            if self.peek() == Some('<') { RedirectKind::Input } else { RedirectKind::Output };
        let both_ways = self.eat("<>")?;
        if !both_ways {
            let _ = self.eat(">>")? || self.eat(">|")? || self.eat(">&")? || self.eat("<&")? || {
                self.bump()?;
                true
            };
        }
        let kind = if both_ways { RedirectKind::Output } else { kind };
        Ok(Some(Redirect { kind, word: self.redirect_word()? }))
    }

    fn redirect_word(&mut self) -> Read<Word> {
        self.skip_blanks()?;
        self.word()?.ok_or(Unreadable)
    }

    /// Behind `<<` or `<<-`: reads the delimiter, takes the body from behind this line, and
    /// remembers where to go on.
    fn here_document(&mut self, strip_tabs: bool) -> Read<Word> {
        self.skip_blanks()?;
        let delimiter = self.word()?.ok_or(Unreadable)?;
        let line_break = match self.here {
            Some((line_break, _)) => line_break,
            None => {
                let rest = self.chars.get(self.at..).unwrap_or_default();
                self.at + rest.iter().position(|c| *c == '\n').ok_or(Unreadable)?
            }
        };
        let mut next = self.here.map_or(line_break + 1, |(_, resume)| resume);
        let mut body = String::new();
        while next < self.chars.len() {
            let rest = self.chars.get(next..).unwrap_or_default();
            let length = rest.iter().position(|c| *c == '\n').unwrap_or(rest.len());
            let line: String = rest.iter().take(length).collect();
            next += length + 1;
            let line = if strip_tabs { line.trim_start_matches('\t') } else { line.as_str() };
            if line == delimiter.text {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        self.here = Some((line_break, next));
        let mut word = Word::default();
        if delimiter.quoted {
            word = Word { text: body, quoted: true, ..Word::default() };
        } else {
            let inner = body.chars().collect();
            Reader::new(inner, self.steps, self.depth + 1)?.double(&mut word, None)?;
        }
        Ok(word)
    }
}
