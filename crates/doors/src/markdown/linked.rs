//! Which files a text links, as a model hands them over. Must not know whether they are there.

use super::Document;

/// The targets of links and images that are paths and no addresses, each once, in the text's order.
/// What stands in code is no link.
pub fn linked_files(markdown: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for link in Document::read(markdown).links {
        if let Some(path) = path(&link.dest)
            && !found.contains(&path)
        {
            found.push(path);
        }
    }
    found
}

/// The path that a target means, `%20` and the like decoded; `None` for an address, a place in a
/// page, or a folder.
fn path(target: &str) -> Option<String> {
    let target = target.strip_prefix("file://").unwrap_or(target);
    let target = target.split(['#', '?']).next().unwrap_or_default();
    let before_slash = target.split('/').next().unwrap_or_default();
    let is_address =
        before_slash.contains(':') || target.starts_with("//") || before_slash.starts_with("www.");
    if target.is_empty() || is_address || target.ends_with('/') || target.contains('@') {
        return None;
    }
    Some(decoded(target))
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hex =
            after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    // A path that is no UTF-8 cannot have been meant by a text.
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_files_and_addresses_are_not() {
        let text = "![chart](chart.png) and [report](out/my%20report.pdf), [again](chart.png), \
            [abs](/home/x/a.txt) [url](file:///home/x/b.txt) [space](<a b.txt>) `[code](c.md)`\n\n\
            ```\n[code](d.md)\n```\n[web](https://example.org/x.png) [mail](mailto:a@b.org) \
            [a](a@b.org) [here](#top) [dir](out/) [www](www.example.org/x) [proto](//x/y) \
            [empty]()\n\n[ref]: e.md\n\n[ref]";
        let expected =
            ["chart.png", "out/my report.pdf", "/home/x/a.txt", "/home/x/b.txt", "a b.txt"];
        assert_eq!(linked_files(text), expected);
    }
}
