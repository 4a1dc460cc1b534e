//! Texts as content of the protocol: words, quoted blocks, and differences of files. Pure. Must not
//! know what is told.

use std::path::Path;

use agent_client_protocol::v1::schema::{
    ContentBlock, ContentChunk, Diff, SessionUpdate, TextContent, ToolCallContent,
};

pub fn words(text: &str) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(ContentChunk::new(block(text)))
}

pub fn persons_words(text: &str) -> SessionUpdate {
    SessionUpdate::UserMessageChunk(ContentChunk::new(block(text)))
}

fn block(text: &str) -> ContentBlock {
    ContentBlock::Text(TextContent::new(text))
}

pub fn content(text: &str) -> ToolCallContent {
    block(text).into()
}

/// A text in a fence that it cannot end: it is data, and no Markdown.
pub fn fenced(text: &str) -> String {
    // CommonMark 0.31.2, 4.5: a fence ends with one that is at least as long.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// What a difference says of one file, a part for each place of it: the lines behind `-`, `+` and a
/// blank. An editor compares the two texts of a part itself.
pub fn differences(path: &Path, difference: &str) -> Vec<ToolCallContent> {
    let mut parts = Vec::new();
    let (mut old, mut new) = (Vec::new(), Vec::new());
    let mut end = |old: &mut Vec<&str>, new: &mut Vec<&str>| {
        if !old.is_empty() || !new.is_empty() {
            let before = (!old.is_empty()).then(|| old.join("\n"));
            parts.push(Diff::new(path, new.join("\n")).old_text(before).into());
        }
        old.clear();
        new.clear();
    };
    let mut in_header = true;
    for line in difference.lines() {
        // A unified diff names its two files before the first place.
        if in_header && (line.starts_with("--- ") || line.starts_with("+++ ")) {
            continue;
        }
        in_header = false;
        match line.split_at_checked(1) {
            Some(("-", rest)) => old.push(rest),
            Some(("+", rest)) => new.push(rest),
            Some((" ", rest)) => {
                old.push(rest);
                new.push(rest);
            }
            Some(("@", _)) => end(&mut old, &mut new),
            Some(("\\", _)) => {}
            _ => {
                old.push(line);
                new.push(line);
            }
        }
    }
    end(&mut old, &mut new);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_of_a_difference_is_a_part_with_both_texts() {
        let text =
            "--- a/f\n+++ b/f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline\n@@ -9 +9 @@\n+d\n";
        let parts = differences(Path::new("/w/f"), text);
        let told: Vec<(Option<String>, String)> = parts
            .into_iter()
            .map(|part| match part {
                ToolCallContent::Diff(diff) => (diff.old_text, diff.new_text),
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(told, [(Some("a\nb".to_owned()), "a\nc".to_owned()), (None, "d".to_owned())]);
        // A line that goes and looks like a header is one of the text.
        let parts = differences(Path::new("/w/f"), "@\n--- old rule\n+++ new rule\n");
        let ToolCallContent::Diff(diff) = &parts[0] else { panic!() };
        assert_eq!(
            (diff.old_text.as_deref(), &*diff.new_text),
            (Some("-- old rule"), "++ new rule")
        );
    }

    #[test]
    fn what_is_quoted_cannot_leave_its_fence() {
        assert_eq!(fenced("a\n"), "```\na\n```");
        assert!(fenced("````\nb").ends_with("\n`````"));
    }
}
