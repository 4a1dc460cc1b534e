//! Guesses how the end of an unfinished Markdown text will go on, so that a streamed answer does
//! not flicker between marks and formatting. Owns only the guess: a wrong one shows for a second.
//! Must not know how anything is rendered.

/// `markdown` without marks that have just begun at its end, and with what is open there closed.
///
/// Only the last block is looked at. A fence that is open needs no help, because CommonMark closes
/// it by itself.
pub fn completed(markdown: &str) -> String {
    let (last_line, in_fence) = last_line(markdown);
    if in_fence {
        // A closing fence that has not arrived in full is no code.
        let tail = markdown[last_line..].trim();
        let partial =
            !tail.is_empty() && (tail.chars().all(|c| c == '`') || tail.chars().all(|c| c == '~'));
        return markdown[..if partial { last_line } else { markdown.len() }].to_owned();
    }
    let block = last_block(markdown);
    let (done, block) = markdown.split_at(block);
    let block = without_open_link(block.trim_end_matches(['*', '_', '~', '`', '[', '!']));
    let closing = closing_marks(&block);
    let text = if closing.is_empty() { block.as_str() } else { block.trim_end() };
    format!("{done}{text}{closing}")
}

/// Where the last line starts, in bytes, and whether it stands in a fenced block of code.
fn last_line(markdown: &str) -> (usize, bool) {
    let mut fence: Option<(char, usize)> = None;
    let mut start = 0;
    for line in markdown.split_inclusive('\n') {
        let inside = fence.is_some();
        let text = line.trim();
        let mark = text.chars().next().unwrap_or_default();
        let length = text.chars().take_while(|c| *c == mark).count();
        let is_fence = matches!(mark, '`' | '~') && length >= 3;
        fence = match fence {
            None if is_fence => Some((mark, length)),
            Some((open, least))
                if is_fence && open == mark && length >= least && length == text.len() =>
            {
                None
            }
            other => other,
        };
        if !line.ends_with('\n') {
            return (start, inside || fence.is_some());
        }
        start += line.len();
    }
    (start, fence.is_some())
}

/// Where the last paragraph, item, heading or row starts, in bytes. Emphasis does not reach over
/// its start.
fn last_block(markdown: &str) -> usize {
    let mut block = 0;
    let mut start = 0;
    for line in markdown.split_inclusive('\n') {
        let text = line.trim_start();
        let item = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_item = ["- ", "* ", "+ ", ". ", ") "].iter().any(|mark| item.starts_with(mark));
        let starts = is_item || text.starts_with(['#', '>', '|']);
        if starts {
            block = start;
        }
        start += line.len();
        if text.is_empty() {
            block = start;
        }
    }
    block
}

/// `[text](http://exam` is shown as `text`.
fn without_open_link(block: &str) -> String {
    let open = || {
        let middle = block.rfind("](").filter(|at| !block[*at..].contains([')', '\n']))?;
        Some((block[..middle].rfind('[')?, middle))
    };
    match open() {
        Some((from, to)) => {
            format!("{}{}", block[..from].trim_end_matches('!'), &block[from + 1..to])
        }
        None => block.to_owned(),
    }
}

/// The marks that close what is open at the end of `block`, innermost first.
fn closing_marks(block: &str) -> String {
    let mut open: Vec<&str> = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while let Some(c) = block[at..].chars().next() {
        let rest = &block[at..];
        let run = rest.len() - rest.trim_start_matches(c).len();
        match c {
            '\\' => at += 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            '`' => match closing_ticks(&rest[run..], run) {
                Some(length) => at += run + length,
                // Code swallows every mark behind it.
                None => {
                    return open
                        .into_iter()
                        .rev()
                        .fold(rest[..run].to_owned(), |all, mark| all + mark);
                }
            },
            '*' | '_' | '~' => {
                let after = rest[run..].chars().next().unwrap_or(' ');
                mark_run(&mut open, &rest[..run], before, after);
                at += run;
            }
            _ => at += c.len_utf8(),
        }
        before = c;
    }
    open.into_iter().rev().collect()
}

/// How far behind a run of so many backticks the code ends, its closing run included.
fn closing_ticks(rest: &str, run: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(next) = rest[at..].find('`') {
        let ticks = &rest[at + next..];
        let length = ticks.len() - ticks.trim_start_matches('`').len();
        at += next + length;
        if length == run {
            return Some(at);
        }
    }
    None
}

/// Opens or closes by a run of one mark, roughly as CommonMark's left- and right-flanking delimiter
/// runs do.
fn mark_run<'a>(open: &mut Vec<&'a str>, mut run: &'a str, before: char, after: char) {
    let within_word = run.starts_with('_') && before.is_alphanumeric() && after.is_alphanumeric();
    while !run.is_empty() && !within_word {
        let size = match (run.starts_with('~'), run.len()) {
            (true, 1) => return,
            (_, 1) => 1,
            _ => 2,
        };
        let closes =
            !before.is_whitespace() && open.last().is_some_and(|mark| run.starts_with(mark));
        match open.last() {
            Some(mark) if closes => {
                run = &run[mark.len()..];
                open.pop();
            }
            _ if !after.is_whitespace() => {
                open.push(&run[..size]);
                run = &run[size..];
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::completed;

    #[test]
    fn what_is_open_is_closed() {
        for (unfinished, expected) in [
            ("a **bold te", "a **bold te**"),
            ("a **bold ", "a **bold**"),
            ("a **", "a "),
            ("a **bold** b", "a **bold** b"),
            ("***both", "***both***"),
            ("*a **b", "*a **b***"),
            ("run `ls -", "run `ls -`"),
            ("~~gone", "~~gone~~"),
            ("see [the page](https://exa", "see the page"),
            ("snake_case and 2 * 3", "snake_case and 2 * 3"),
            ("**a\n\n- b *c", "**a\n\n- b *c*"),
            ("\\*a", "\\*a"),
        ] {
            assert_eq!(completed(unfinished), expected, "{unfinished}");
        }
    }

    #[test]
    fn code_that_is_open_is_left_alone() {
        for text in ["```rust\nlet a = *b", "```\na **b\n", "~~~\n*x"] {
            assert_eq!(completed(text), text);
        }
        assert_eq!(completed("```rust\nlet a;\n``"), "```rust\nlet a;\n");
        assert_eq!(completed("```\na\n```\nb **c"), "```\na\n```\nb **c**");
    }
}
