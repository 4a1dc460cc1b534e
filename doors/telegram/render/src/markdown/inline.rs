//! Text within a block: styles and links. Must not know blocks or lines.

use reqwest::Url;

use super::{Blocks, Painter, Style};
use crate::doors::markdown::{Emphasis, Inline, Link, Piece};

/// A longer address is shown as text; Telegram's clients cut what they open.
const URL_BYTES_MAX: usize = 2048;

/// Who takes painted text: a block, or a cell of a table.
type Take<'a> = dyn FnMut(&mut Blocks, &str, Style) + 'a;

struct OpenLink {
    /// The place of the link around it in the message's table of links.
    outer: Option<usize>,
    /// Neither it nor a link around it can be followed.
    dead: bool,
}

impl Painter {
    /// Text of the current block; `around` is the style of the block.
    pub(super) fn text(&mut self, text: &[Inline], around: Style) {
        self.paint(text, around, &mut |blocks, text, style| blocks.text(text, style));
    }

    /// Text of a cell, which is laid out later.
    pub(super) fn cell(&mut self, text: &[Inline]) -> Vec<(String, Style)> {
        let mut cell = Vec::new();
        self.paint(text, Style::PLAIN, &mut |_, text, style| cell.push((text.to_owned(), style)));
        cell
    }

    fn paint(&mut self, text: &[Inline], around: Style, take: &mut Take<'_>) {
        let mut link = None;
        let mut open: Vec<OpenLink> = Vec::new();
        for Inline { piece, emphasis } in text {
            let style = emphasised(*emphasis, Style { link, ..around });
            let blocks = &mut self.blocks;
            match piece {
                Piece::Text(text) | Piece::Html(text) => take(blocks, text, style),
                Piece::Code(text) => take(blocks, text, Style { code: true, ..style }),
                // A model that breaks a line in a chat means it; hardly any fills paragraphs by
                // hand.
                Piece::SoftBreak | Piece::HardBreak => take(blocks, "\n", style),
                Piece::Task(done) => blocks.task(*done),
                // An image is a link to it: Telegram shows none within a text.
                Piece::LinkStart(index) => {
                    let outer = link;
                    let dest = self.links.get(*index).map_or("", |link| &link.dest);
                    link = outer.or_else(|| accepted(dest).map(|url| blocks.rich.link(url)));
                    open.push(OpenLink { outer, dead: link.is_none() });
                }
                Piece::LinkEnd(index) => {
                    let Some(ended) = open.pop() else { continue };
                    link = ended.outer;
                    let shown = self.links.get(*index).filter(|link| shows_dest(link, ended.dead));
                    if let Some(Link { dest, .. }) = shown {
                        take(blocks, &format!(" ({dest})"), Style { link, ..style });
                    }
                }
            }
        }
    }
}

/// The address is shown behind the text where nobody could follow it otherwise, and where the text
/// claims to be another address.
fn shows_dest(link: &Link, dead: bool) -> bool {
    let text = link.text.trim();
    let claims = text.contains("://") || text.starts_with("www.");
    !link.names_its_address() && (dead || claims)
}

fn emphasised(Emphasis { strong, italic, strike }: Emphasis, around: Style) -> Style {
    Style { bold: strong || around.bold, italic, strike, ..around }
}

/// The address as Telegram links it: `http` and `https` with a host that has a dot or is an IPv6
/// address, and `tg`. Others are dropped by the server or, like `mailto:`, would lead elsewhere
/// (tdlib, `LinkManager::check_link`).
fn accepted(dest: &str) -> Option<Url> {
    let url = Url::parse(dest).ok().filter(|url| url.as_str().len() <= URL_BYTES_MAX)?;
    let host = url.host_str().unwrap_or_default();
    let fits = match url.scheme() {
        "http" | "https" => host.trim_matches('.').contains('.') || host.starts_with('['),
        "tg" => {
            !host.is_empty()
                && host.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        }
        _ => false,
    };
    fits.then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_telegram_links_is_a_link() {
        for good in [
            "https://example.org/a?b=c#d",
            "HTTP://EXAMPLE.ORG",
            "http://[::1]:80/",
            "tg://user?id=1",
        ] {
            assert!(accepted(good).is_some(), "{good}");
        }
        let long = format!("https://example.org/{}", "x".repeat(URL_BYTES_MAX));
        for bad in [
            "",
            "a.md",
            "#x",
            "http://localhost:80/",
            "mailto:a@b.org",
            "file:///etc",
            "javascript:1",
            "tg:x",
            &long,
        ] {
            assert!(accepted(bad).is_none(), "{bad}");
        }
    }
}
