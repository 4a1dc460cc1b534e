//! What of a Markdown file is one thing to remember: an item of a list with what is indented below
//! it, or a paragraph. Pure. Must not know notes.

/// One of them, with the heading above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub heading: Option<String>,
    pub text: String,
}

/// All of a file, in its order. Front matter and comments are left out.
pub fn items(text: &str) -> Vec<Item> {
    let mut items: Vec<Item> = Vec::new();
    let mut heading = None;
    let mut open = false;
    let (mut in_code, mut in_comment) = (false, false);
    for line in body(text).lines() {
        let trimmed = line.trim();
        if !in_code && (in_comment || trimmed.starts_with("<!--")) {
            in_comment = !trimmed.contains("-->");
            continue;
        }
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        in_code ^= fence;
        let plain = !in_code && !fence;
        if plain && trimmed.is_empty() {
            open = false;
        } else if plain && let Some(title) = title(trimmed) {
            (heading, open) = (Some(title.to_owned()), false);
        } else if plain && !line.starts_with(char::is_whitespace) && entry(trimmed).is_some() {
            let text = entry(trimmed).unwrap_or_default().to_owned();
            (open, _) = (true, items.push(Item { heading: heading.clone(), text }));
        } else {
            // Indented lines belong to the item above, also behind an empty line.
            let belongs = open || (line.starts_with("  ") && !items.is_empty());
            match items.last_mut().filter(|_| belongs) {
                Some(last) => {
                    last.text.push('\n');
                    last.text.push_str(line.trim_end());
                }
                None => items.push(Item { heading: heading.clone(), text: trimmed.to_owned() }),
            }
            open = true;
        }
    }
    items.retain(|item| item.text.chars().any(char::is_alphanumeric));
    items
}

/// A heading as a tag: `build-and-test`.
pub fn tag(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").chars().take(60).collect()
}

fn body(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("---\n") else { return text };
    rest.split_once("\n---\n").map_or(text, |(_, body)| body)
}

fn title(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    (rest.len() < line.len() && rest.starts_with(' '))
        .then(|| rest.trim().trim_end_matches('#').trim())
}

/// What stands behind the mark of a list.
fn entry(line: &str) -> Option<&str> {
    if let Some(rest) = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(rest.trim());
    }
    let (number, rest) = line.split_once(['.', ')'])?;
    let is_number = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit());
    (is_number && rest.starts_with(' ')).then(|| rest.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_paragraphs_become_items_under_their_heading() {
        let text = "---\na: b\n---\n# About me\n\nI live in Graz.\nNear the park.\n\n## Build & test\n<!-- a\nnote -->\n\
            - cargo test\n  before each commit\n- Never push\n\n  ```sh\n  # no heading\n  git push\n  ```\n1. First\n\n***\n";
        let found = items(text);
        let shown: Vec<(&str, &str)> = found
            .iter()
            .map(|item| (item.heading.as_deref().unwrap_or_default(), item.text.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                ("About me", "I live in Graz.\nNear the park."),
                ("Build & test", "cargo test\n  before each commit"),
                ("Build & test", "Never push\n  ```sh\n  # no heading\n  git push\n  ```"),
                ("Build & test", "First"),
            ]
        );
        assert_eq!(tag("Build & test"), "build-and-test".replace("and-", ""));
        assert_eq!(items("").len(), 0);
    }
}
