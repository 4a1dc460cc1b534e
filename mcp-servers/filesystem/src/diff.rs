//! The unified diff of an edit. Pure. Must not know files or edits.

use std::time::Duration;

use claw_kit::line_diff;

use crate::text::head;

/// A diff may become coarser, but not slower than this.
const DIFF_TIME_MAX: Duration = Duration::from_secs(2);

/// A unified diff with three lines of context, in the form that `patch` and `git apply` read.
pub fn unified(path: &str, old: &str, new: &str) -> String {
    let names = (format!("a/{path}"), format!("b/{path}"));
    line_diff::unified((&names.0, &names.1), old, new, DIFF_TIME_MAX)
}

/// Cuts a diff after whole lines and says so.
pub fn shortened(diff: String, bytes_max: usize) -> (String, bool) {
    if diff.len() <= bytes_max {
        return (diff, false);
    }
    let kept = head(&diff, bytes_max);
    let kept = kept.rfind('\n').map_or("", |end| &kept[..=end]);
    (format!("{kept}[the diff has {} bytes; the rest is not shown]\n", diff.len()), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A small reader of unified diffs, written from the format (POSIX diff -u), not from the crate
    /// that wrote it.
    fn patch(old: &str, diff: &str) -> String {
        let lines: Vec<&str> = old.split_inclusive('\n').collect();
        let mut out: Vec<String> = Vec::new();
        let mut at = 0;
        let mut body =
            diff.split_inclusive('\n').skip_while(|line| !line.starts_with("@@")).peekable();
        while let Some(line) = body.next() {
            let no_newline = body.peek().is_some_and(|next| next.starts_with("\\ "));
            let content = || {
                let text = &line[1..];
                if no_newline {
                    text.strip_suffix('\n').unwrap_or(text).to_owned()
                } else {
                    text.to_owned()
                }
            };
            match line.as_bytes()[0] {
                b'@' => {
                    let range = line.split(' ').nth(1).unwrap().trim_start_matches('-');
                    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
                    let start: usize = start.parse().unwrap();
                    let first = if count == "0" { start } else { start - 1 };
                    out.extend(lines[at..first].iter().map(|line| (*line).to_owned()));
                    at = first;
                }
                b' ' => {
                    assert_eq!(lines[at], content());
                    out.push(content());
                    at += 1;
                }
                b'-' => {
                    assert_eq!(lines[at], content());
                    at += 1;
                }
                b'+' => out.push(content()),
                b'\\' => {}
                other => panic!("{other}"),
            }
        }
        out.extend(lines[at..].iter().map(|line| (*line).to_owned()));
        out.concat()
    }

    proptest! {
        #[test]
        fn the_diff_applies(old in "([abc\\r]{0,3}\\n){0,30}[ab\\r]{0,2}", new in "([abc\\r]{0,3}\\n){0,30}[ab\\r]{0,2}") {
            prop_assert_eq!(patch(&old, &unified("f", &old, &new)), new);
        }
    }

    #[test]
    fn a_long_diff_is_cut_after_a_line_and_says_so() {
        let diff = unified("f", "", &"line\n".repeat(100));
        let (cut, was_cut) = shortened(diff.clone(), 60);
        assert!(was_cut && cut.contains("not shown"));
        assert_eq!(shortened(diff.clone(), 6000), (diff, false));
    }
}
