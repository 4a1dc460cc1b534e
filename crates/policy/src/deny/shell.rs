//! What the reader makes of shell text: pipelines of stages of words. Lossy on purpose: it keeps
//! what the hard denies ask about. Must not know what is denied.

/// Stands for the output of a substitution within a word's text. It cannot occur in shell text that
/// we read.
pub(super) const SUBSTITUTION: char = '\u{1}';
/// Encloses the name of a variable within a word's text: `$HOME` is `\0HOME\0`. NUL cannot occur in
/// a command line.
pub(super) const VARIABLE: char = '\0';

#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    pub(super) pipelines: Vec<Pipeline>,
}

#[derive(Clone, Debug)]
pub(super) struct Pipeline {
    pub(super) stages: Vec<Stage>,
    /// Ended by a single `&`.
    pub(super) background: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Stage {
    Simple(Simple),
    /// `{ … }`, `( … )`, and the loops and conditions, whose parts are read as one list.
    Group {
        script: Script,
        redirects: Vec<Redirect>,
        subshell: bool,
    },
    Function {
        name: String,
        body: Box<Stage>,
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct Simple {
    /// `NAME=value` before the program, the words of `for`, `case` and `[[`: looked at for
    /// substitutions only.
    pub(super) others: Vec<Word>,
    pub(super) words: Vec<Word>,
    pub(super) redirects: Vec<Redirect>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RedirectKind {
    Input,
    Output,
    /// A here-document or here-string; the word is the text itself.
    Text,
}

#[derive(Clone, Debug)]
pub(super) struct Redirect {
    pub(super) kind: RedirectKind,
    pub(super) word: Word,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NestedKind {
    /// `$( … )` or back-quotes.
    Command,
    /// `<( … )`
    ProcessInput,
    /// `>( … )`
    ProcessOutput,
}

#[derive(Clone, Debug)]
pub(super) struct Nested {
    pub(super) kind: NestedKind,
    pub(super) script: Script,
}

/// A word after quote removal. Variables and substitutions are marked, not expanded.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) nested: Vec<Nested>,
    /// Some part of it was quoted, so that braces and globs may be plain text.
    pub(super) quoted: bool,
}

impl Word {
    pub(super) fn literal(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }

    /// The text as shell source again, for a shell that will read it: variables get their `$` back.
    pub(super) fn to_source(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        for (index, part) in self.text.split(VARIABLE).enumerate() {
            if index % 2 == 1 {
                out.push_str("${");
                out.push_str(part);
                out.push('}');
            } else {
                out.push_str(&part.replace(SUBSTITUTION, ""));
            }
        }
        out
    }

    /// `a{b,c}d` as `abd` and `acd`: one level, at most 32 words, as far as wiping tricks need it.
    pub(super) fn braces_expanded(&self) -> Vec<Word> {
        let whole = || vec![self.clone()];
        if self.quoted {
            return whole();
        }
        let Some((before, rest)) = self.text.split_once('{') else { return whole() };
        let Some((inner, after)) = rest.split_once('}') else { return whole() };
        if !inner.contains(',') || inner.contains('{') {
            return whole();
        }
        let make = |part: &str| Word { text: format!("{before}{part}{after}"), ..self.clone() };
        inner.split(',').take(32).map(make).collect()
    }
}

impl Stage {
    pub(super) fn redirects(&self) -> &[Redirect] {
        match self {
            Self::Simple(simple) => &simple.redirects,
            Self::Group { redirects, .. } => redirects,
            Self::Function { .. } => &[],
        }
    }
}

impl Simple {
    /// Every word, wherever it stands.
    pub(super) fn all_words(&self) -> impl Iterator<Item = &Word> {
        self.others
            .iter()
            .chain(&self.words)
            .chain(self.redirects.iter().map(|redirect| &redirect.word))
    }
}
