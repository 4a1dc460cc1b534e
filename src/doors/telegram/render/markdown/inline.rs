//! Text within a block: styles and links. Must not know blocks or lines.

use reqwest::Url;

use super::{Renderer, Style, shown};

/// A longer address is shown as text; Telegram's clients cut what they open.
const URL_BYTES_MAX: usize = 2048;

pub(super) struct OpenLink {
    dest: String,
    /// Its place in the table of links, unless Telegram would not take it or it stands in another
    /// link.
    index: Option<usize>,
    /// The link around it.
    outer: Option<usize>,
    text: String,
}

impl Renderer {
    pub(super) fn style(&self) -> Style {
        Style {
            bold: self.bold > 0,
            italic: self.italic > 0,
            strike: self.strike > 0,
            link: self.link,
            ..Style::PLAIN
        }
    }

    pub(super) fn text(&mut self, text: &str, style: Style) {
        let text = shown(text);
        self.open_links.iter_mut().for_each(|link| link.text.push_str(&text));
        match &mut self.table {
            Some(table) => table.text(&text, style),
            None => self.blocks.text(&text, style),
        }
    }

    /// An image is a link to it: Telegram shows none within a text.
    pub(super) fn start_link(&mut self, dest: &str) {
        let dest = shown(dest);
        let outer = self.link;
        let index = match outer {
            Some(_) => None,
            None => accepted(&dest).map(|url| self.blocks.rich.link(url)),
        };
        self.link = outer.or(index);
        self.open_links.push(OpenLink { dest, index, outer, text: String::new() });
    }

    /// The address is shown behind the text where nobody could follow it otherwise, and where the
    /// text claims to be another address.
    pub(super) fn end_link(&mut self) {
        let Some(link) = self.open_links.pop() else { return };
        let text = link.text.trim();
        if text.is_empty() {
            self.text(&link.dest, self.style());
        }
        self.link = link.outer;
        let same = text.is_empty() || text == link.dest || format!("mailto:{text}") == link.dest;
        let hidden = link.index.is_none() && link.outer.is_none();
        let claims = text.contains("://") || text.starts_with("www.");
        if !same && !link.dest.is_empty() && (hidden || claims) {
            self.text(&format!(" ({})", link.dest), self.style());
        }
    }
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
