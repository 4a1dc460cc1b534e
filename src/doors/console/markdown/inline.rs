//! Text within a block: styles, links, images. Must not know blocks or lines.

use super::{Kind, REFERENCE_BREAK, Renderer, Span, Style};

pub(super) struct OpenLink {
    url: String,
    /// The index of its text's first span.
    from: usize,
    image: bool,
}

impl Renderer {
    pub(super) fn start_link(&mut self, url: String, image: bool) {
        if image {
            self.text("[image: ", Style::PLAIN);
        }
        self.links.push(OpenLink { url, from: self.inline.len(), image });
        self.styles.push(Style::UNDERLINE);
    }

    /// The address is always shown: a text may claim to lead elsewhere.
    pub(super) fn end_link(&mut self) {
        self.styles.pop();
        let Some(link) = self.links.pop() else { return };
        let text: String = self.inline.iter().skip(link.from).map(Span::text).collect();
        if link.image {
            self.text("]", Style::PLAIN);
        }
        let url = link.url.replace(REFERENCE_BREAK, "");
        if !url.is_empty() && text != url && format!("mailto:{text}") != url {
            self.text(&format!(" ({url})"), Style::DIM);
        }
    }

    pub(super) fn text(&mut self, text: &str, style: Style) {
        self.raw(&text.replace('\n', " "), style);
    }

    pub(super) fn raw(&mut self, text: &str, style: Style) {
        if self.leaf == Kind::None {
            // A tight list item holds its text without a paragraph around it.
            self.begin(Kind::Paragraph);
        }
        let style = self.styles.iter().fold(style, |all, one| all.with(*one));
        let text = text.replace(REFERENCE_BREAK, "");
        if !text.is_empty() {
            self.inline.push(Span::new(&text, style));
        }
    }
}
