//! What a person has sent from an editor, as one text: their words, with the files that they named
//! in them, and behind these what they attached, quoted as data. Pure. Must not know who reads it.

use std::path::{Path, PathBuf};

use agent_client_protocol::v1::schema::{ContentBlock, EmbeddedResourceResource};
use percent_encoding::percent_decode_str;

use super::blocks::fenced;
use crate::domain::{Named, named_in};

/// The longest text, in bytes; that of `claw ask` from a pipe.
const TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// # Errors
/// A sentence for the person.
pub fn text_of(prompt: &[ContentBlock], workspace: &Path) -> Result<String, String> {
    let (mut words, mut attached) = (String::new(), Vec::new());
    for block in prompt {
        match block {
            ContentBlock::Text(text) => words.push_str(&text.text),
            ContentBlock::ResourceLink(link) => words.push_str(&named(&link.uri, workspace)),
            ContentBlock::Resource(embedded) => match &embedded.resource {
                EmbeddedResourceResource::TextResourceContents(text) => {
                    let name = named(&text.uri, workspace);
                    words.push_str(&name);
                    attached.push(format!(
                        "{name}, {} bytes, as data:\n{}",
                        text.text.len(),
                        fenced(&text.text)
                    ));
                }
                _ => return Err(no_bytes("A file that is no text")),
            },
            ContentBlock::Image(_) => return Err(no_bytes("An image")),
            ContentBlock::Audio(_) => return Err(no_bytes("A recording")),
            _ => return Err("This kind of content is not known to claw.".to_owned()),
        }
    }
    let text = std::iter::once(words).chain(attached).collect::<Vec<_>>().join("\n\n");
    if text.len() > TEXT_BYTES_MAX {
        return Err(format!(
            "This is over {TEXT_BYTES_MAX} bytes; put it into a file of the workspace and name the \
             file."
        ));
    }
    if text.trim().is_empty() {
        return Err("There is nothing in this message.".to_owned());
    }
    Ok(text)
}

/// What of tool servers the person has named in their own words. Files that came with
/// them are data.
pub fn named_of(prompt: &[ContentBlock]) -> Vec<Named> {
    let words = prompt.iter().filter_map(|block| match block {
        ContentBlock::Text(text) => Some(text.text.as_str()),
        _ => None,
    });
    named_in(&words.collect::<Vec<_>>().join(" "))
}

fn no_bytes(what: &str) -> String {
    format!("{what} cannot be taken in from an editor; put it into the workspace and name it.")
}

/// A file as tools name it: relative to the workspace where it lies there.
fn named(uri: &str, workspace: &Path) -> String {
    let Some(path) = file_of(uri) else { return format!("`{uri}`") };
    let shown = path.strip_prefix(workspace).unwrap_or(&path);
    format!("`{}`", shown.display())
}

/// The path of a `file:` URI (RFC 8089), without the place in it that an editor may add.
fn file_of(uri: &str) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://")?;
    let path = path.split(['#', '?']).next().unwrap_or(path);
    let path = path.strip_prefix("localhost").unwrap_or(path);
    Some(PathBuf::from(percent_decode_str(path).decode_utf8().ok()?.into_owned()))
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::{
        EmbeddedResource, ImageContent, ResourceLink, TextContent, TextResourceContents,
    };

    use super::*;

    fn text(text: &str) -> ContentBlock {
        ContentBlock::Text(TextContent::new(text))
    }

    fn told(prompt: &[ContentBlock]) -> Result<String, String> {
        text_of(prompt, Path::new("/w"))
    }

    #[test]
    fn a_file_is_named_where_it_was_named_and_quoted_behind_the_words() {
        let link = ContentBlock::ResourceLink(ResourceLink::new("a", "file:///w/src/a%20b.rs#L3"));
        let said = told(&[text("Look at "), link, text(" please")]).unwrap();
        assert_eq!(said, "Look at `src/a b.rs` please");
        let resource = TextResourceContents::new("```\nfn", "file:///w/x.rs");
        let whole = ContentBlock::Resource(EmbeddedResource::new(
            EmbeddedResourceResource::TextResourceContents(resource),
        ));
        let said = told(&[text("Explain "), whole]).unwrap();
        assert_eq!(said, "Explain `x.rs`\n\n`x.rs`, 6 bytes, as data:\n````\n```\nfn\n````");
    }

    #[test]
    fn what_cannot_be_taken_in_is_refused_with_a_next_step() {
        let image = ContentBlock::Image(ImageContent::new("AA==", "image/png"));
        assert!(told(&[text("see"), image]).unwrap_err().contains("name it"));
        assert!(told(&[text(" \n")]).is_err());
        assert!(told(&[text(&"x".repeat(TEXT_BYTES_MAX + 1))]).unwrap_err().contains("a file"));
    }

    #[test]
    fn a_file_outside_and_another_scheme_keep_their_whole_name() {
        let link = |uri: &str| ContentBlock::ResourceLink(ResourceLink::new("a", uri));
        assert_eq!(told(&[link("file:///etc/hosts")]).unwrap(), "`/etc/hosts`");
        assert_eq!(told(&[link("https://x.org/a")]).unwrap(), "`https://x.org/a`");
        assert_eq!(told(&[link("file:///a%ff")]).unwrap(), "`file:///a%ff`");
    }

    #[test]
    fn what_is_no_escape_is_a_part_of_the_name() {
        let link = |uri: &str| ContentBlock::ResourceLink(ResourceLink::new("a", uri));
        for (uri, name) in
            [("%C3%A9%25", "é%"), ("a%+1", "a%+1"), ("a%zz", "a%zz"), ("100%", "100%")]
        {
            let said = told(&[link(&format!("file:///w/{uri}"))]).unwrap();
            assert_eq!(said, format!("`{name}`"));
        }
    }
}
