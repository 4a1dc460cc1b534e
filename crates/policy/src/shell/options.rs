//! How the arguments of a known program are read: its known options, what their values may be, and
//! which words are paths. An option that is not in the table ends the reading, so that a new
//! version's new option is asked about. Pure. Must not know which programs there are.

/// What a word may be, and whether it names a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A path, which the caller has to look at.
    Path,
    /// Any text; the program takes it for no file.
    Text,
    /// `5`, `+5`, `-5`, `5k`
    Number,
    /// A revision or a path of git's, not absolute and without `..` as a part: `git diff` reads any
    /// two files that way.
    RepoWord,
    /// Letters, digits and `. _ -`, not beginning with a dash: a target, a script's name, a branch.
    Name,
    /// A name in which `/` may stand, too: a branch, a package. Neither `:` nor a leading `+`,
    /// which mean more to git.
    Ref,
    /// A lint of the compiler or a group of them.
    Lint,
}

impl Kind {
    fn fits(self, word: &str) -> bool {
        let name = |extra: fn(char) -> bool| {
            let fits =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-') || extra(c);
            word.starts_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '@'))
                && word.chars().all(fits)
        };
        match self {
            Self::Path => !word.is_empty(),
            Self::Text => true,
            Self::Number => is_number(word),
            Self::RepoWord => {
                !word.is_empty()
                    && !word.starts_with('/')
                    && !word.split('/').any(|part| part == "..")
            }
            Self::Name => name(|_| false),
            Self::Ref => name(|c| matches!(c, '/' | '@')),
            Self::Lint => name(|c| c == ':'),
        }
    }
}

fn is_number(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    let digits = digits.strip_suffix(['b', 'c', 'k', 'K', 'M', 'G', 'm', 'w']).unwrap_or(digits);
    (1..=12).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// How a program reads its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// `-la`, `-n5`, `-n 5`, `--lines=5`, `--lines 5`; behind `--` nothing is an option
    /// (getopt_long).
    Getopt,
    /// Each word is one option, its value is the next word or stands behind `=` (find, go).
    Whole,
    /// Words are words (`echo`).
    None,
}

/// What may stand behind `--`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// The operands, as before it.
    Operands,
    /// Another program's arguments, which is one of the workspace's own.
    Anything,
    /// `-D`, `-W`, `-A`, `-F` with lints.
    Lints,
}

/// What is known of a program's arguments.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    pub style: Style,
    /// Options without a value, with a blank between them. Single letters are written `-l`; what
    /// has an optional value stands here with it.
    pub flags: &'static str,
    /// Options with a value.
    pub values: &'static [(&'static str, Kind)],
    /// Whether `-5` is an option.
    pub digits: bool,
    /// The first operands.
    pub first: &'static [Kind],
    /// With one of these options there are no first operands.
    pub first_unless: &'static str,
    /// All further operands, as many as there are; `None`: there are none.
    pub further: Option<Kind>,
    pub rest: Rest,
}

/// A program that takes nothing; the tables fill in what differs.
pub const NOTHING: Arguments = Arguments {
    style: Style::Getopt,
    flags: "",
    values: &[],
    digits: false,
    first: &[],
    first_unless: "",
    further: None,
    rest: Rest::Operands,
};

/// The paths among the arguments, if all of them are known.
pub fn paths<'w>(known: &Arguments, args: &'w [String]) -> Option<Vec<&'w str>> {
    let mut reading =
        Reading { known, paths: Vec::new(), operands: Vec::new(), has_no_first: false };
    let mut words = args.iter().map(String::as_str);
    while let Some(word) = words.next() {
        if known.style == Style::Getopt && word == "--" {
            reading.behind(words)?;
            break;
        }
        if known.style == Style::None || word == "-" || !word.starts_with('-') {
            reading.operands.push(word);
            continue;
        }
        reading.option(word, &mut words)?;
    }
    reading.end()
}

fn holds(list: &str, option: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == option)
}

struct Reading<'k, 'w> {
    known: &'k Arguments,
    paths: Vec<&'w str>,
    operands: Vec<&'w str>,
    has_no_first: bool,
}

impl<'w> Reading<'_, 'w> {
    fn option(&mut self, word: &'w str, words: &mut impl Iterator<Item = &'w str>) -> Option<()> {
        let known = self.known;
        if holds(known.flags, word) {
            self.seen(word);
            return Some(());
        }
        if known.digits && word.len() > 1 && word.bytes().skip(1).all(|byte| byte.is_ascii_digit())
        {
            return Some(());
        }
        if let Some((name, kind)) = self.value_of(word) {
            self.seen(name);
            return self.value(kind, words.next()?);
        }
        if let Some((name, value)) = word.split_once('=')
            && (word.starts_with("--") || known.style == Style::Whole)
        {
            let (name, kind) = self.value_of(name)?;
            self.seen(name);
            return self.value(kind, value);
        }
        if word.starts_with("--") || known.style != Style::Getopt {
            return None;
        }
        self.cluster(word, words)
    }

    /// `-la`, `-n5`: letter by letter; the first one that takes a value takes the rest, or the next
    /// word.
    fn cluster(&mut self, word: &'w str, words: &mut impl Iterator<Item = &'w str>) -> Option<()> {
        for (at, letter) in word.char_indices().skip(1) {
            let option = format!("-{letter}");
            if holds(self.known.flags, &option) {
                self.seen(&option);
                continue;
            }
            let (name, kind) = self.value_of(&option)?;
            self.seen(name);
            let attached = word.get(at + letter.len_utf8()..)?;
            let value = if attached.is_empty() { words.next()? } else { attached };
            return self.value(kind, value);
        }
        Some(())
    }

    fn value_of(&self, option: &str) -> Option<(&'static str, Kind)> {
        self.known.values.iter().find(|(name, _)| *name == option).copied()
    }

    fn seen(&mut self, option: &str) {
        self.has_no_first |= holds(self.known.first_unless, option);
    }

    fn value(&mut self, kind: Kind, word: &'w str) -> Option<()> {
        if kind == Kind::Path {
            self.paths.push(word);
        }
        kind.fits(word).then_some(())
    }

    fn behind(&mut self, words: impl Iterator<Item = &'w str>) -> Option<()> {
        match self.known.rest {
            Rest::Operands => self.operands.extend(words),
            Rest::Anything => {}
            Rest::Lints => {
                let words: Vec<&str> = words.collect();
                let lint = |word: &str| Kind::Lint.fits(word);
                let level = |word: &str| matches!(word, "-D" | "-W" | "-A" | "-F");
                if !words
                    .chunks(2)
                    .all(|pair| matches!(pair, [option, name] if level(option) && lint(name)))
                {
                    return None;
                }
            }
        }
        Some(())
    }

    fn end(mut self) -> Option<Vec<&'w str>> {
        let first = if self.has_no_first { &[] } else { self.known.first };
        let mut kinds = first.iter().copied();
        for operand in std::mem::take(&mut self.operands) {
            self.value(kinds.next().or(self.known.further)?, operand)?;
        }
        // What a program demands and does not get is its own business, except where its first word
        // would be another kind.
        Some(self.paths)
    }
}
