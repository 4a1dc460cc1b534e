//! The lines by which two texts differ, made visible for a question. Pure. Must not know files.

use std::time::Duration;

use claw_kit::line_diff::{self, Fate};

use crate::domain::escape;

/// A comparison may become coarser, but not slower than this.
const TIME_MAX: Duration = Duration::from_millis(300);

/// How many lines that stay are told around those that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    One,
    All,
}

/// What changes from one text to another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Changed {
    /// Lines that go.
    pub gone: u64,
    /// Lines that come.
    pub come: u64,
    /// Lines of the old text.
    pub of: u64,
    /// The lines as [`crate::domain::Effect::difference`] holds them.
    pub text: String,
}

/// Compares two texts line by line, after everything invisible in them was spelled out. Nothing is
/// lost by that, because the escape can be undone.
pub(super) fn between(old: &str, new: &str, around: Around) -> Changed {
    let around = match around {
        Around::One => 1,
        Around::All => usize::MAX,
    };
    let (shown_old, shown_new) = (escape::visible_multiline(old), escape::visible_multiline(new));
    let groups = line_diff::groups(&shown_old, &shown_new, around, TIME_MAX);
    let mut changed = Changed { of: old.lines().count() as u64, ..Changed::default() };
    let mut end_old = 0;
    for (index, group) in groups.iter().enumerate() {
        if index > 0 || group.old_start > end_old {
            changed.text.push_str(&format!("@ line {}\n", group.old_start + 1));
        }
        end_old = group.old_end;
        for line in &group.lines {
            match line.fate {
                Fate::Goes => changed.gone += 1,
                Fate::Comes => changed.come += 1,
                Fate::Stays => {}
            }
            changed.text.push(line.fate.mark());
            changed.text.push_str(line.text.strip_suffix('\n').unwrap_or(&line.text));
            changed.text.push('\n');
            if line.is_unended {
                changed.text.push_str("\\ no line feed at the end\n");
            }
        }
    }
    changed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(old: &str, new: &str) -> String {
        between(old, new, Around::One).text
    }

    #[test]
    fn lines_go_come_and_stay() {
        let old = "a\nb\nc\nd\ne\nf\n";
        let changed = between(old, "a\nB\nc\nd\ne\nF\n", Around::One);
        assert_eq!((changed.gone, changed.come, changed.of), (2, 2, 6));
        assert_eq!(changed.text, " a\n-b\n+B\n c\n@ line 5\n e\n-f\n+F\n");
        assert_eq!(between("a\n", "a\n", Around::One), Changed { of: 1, ..Changed::default() });
        assert_eq!(text("", "x\n"), "+x\n");
        let all = between("a\nb\nc\nd\n", "a\nb\nc\nD\n", Around::All);
        assert_eq!(all.text, " a\n b\n c\n-d\n+D\n");
    }

    #[test]
    fn what_is_invisible_is_spelled_out() {
        assert_eq!(text("a\r\n", "a\n"), "-a\\r\n+a\n");
        assert_eq!(text("a\n", "a\u{202e}\n"), "-a\n+a\\u{202e}\n");
        let end = "\\ no line feed at the end\n";
        assert_eq!(text("a\n", "a"), format!("-a\n+a\n{end}"));
    }

    proptest! {
        /// The lines that come, and those that stay around them, are those of the new text.
        #[test]
        fn every_new_line_is_there(old in "([abc]{0,2}\\n){0,12}", new in "([abc\t]{0,2}\\n){0,12}") {
            let changed = between(&old, &new, Around::One);
            let of = |mark: char| changed.text.lines().filter(|line| line.starts_with(mark)).count() as u64;
            prop_assert_eq!((of('-'), of('+')), (changed.gone, changed.come));
            let lines = |text: &str| text.lines().count() as u64;
            prop_assert_eq!(lines(&old) - changed.gone + changed.come, lines(&new));
        }
    }
}
