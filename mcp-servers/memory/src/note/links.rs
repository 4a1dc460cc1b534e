//! Links of a note: `[[Subject]]`, and what relates the two. Must not know which notes there are.

/// A link as it is written.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// What stands before the link in a line of its own: `- works at: [[Acme]]`. Empty if the link
    /// stands in a sentence.
    pub relation: String,
    /// A subject, another name, a file name or an id, as it is written.
    pub target: String,
}

/// Links of one note that are followed; the rest is text.
const LINKS_MAX: usize = 200;
const TARGET_BYTES_MAX: usize = 200;

/// The links of a body, each once.
pub fn find(body: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for line in body.lines() {
        let relation = relation_of(line);
        let mut rest = line;
        while let Some((_, from)) = rest.split_once("[[") {
            let Some((inside, after)) = from.split_once("]]") else { break };
            rest = after;
            // `[[Target|shown]]` and `[[Target#heading]]`, as Obsidian writes them.
            let target = inside.split(['|', '#']).next().unwrap_or_default().trim();
            let link = Link { relation: relation.to_owned(), target: target.to_owned() };
            if !target.is_empty() && target.len() <= TARGET_BYTES_MAX && !links.contains(&link) {
                links.push(link);
            }
            if links.len() == LINKS_MAX {
                return links;
            }
        }
    }
    links
}

fn relation_of(line: &str) -> &str {
    let Some((before, _)) = line.split_once("[[") else { return "" };
    let before = before.trim().trim_start_matches(['-', '*']).trim();
    before.strip_suffix(':').map(|text| text.trim_end_matches(':').trim()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_with_what_relates_them() {
        let links = find(
            "Met [[Anna]] and [[Bob|Bobby]] [[Anna]].\n- works at: [[Acme#office]]\n[[open\n[[]]\n",
        );
        let said: Vec<_> =
            links.iter().map(|link| (link.relation.as_str(), link.target.as_str())).collect();
        assert_eq!(said, [("", "Anna"), ("", "Bob"), ("works at", "Acme")]);
    }
}
