//! Paints a Markdown document as messages with explicit entities. Owns what each construct looks
//! like in Telegram; must not know how Markdown is read, chats, or how messages are sent.
//!
//! Formatting never travels as markup, so no character of a model can break it. Everything that a
//! model wrote as content is shown: raw HTML as text, addresses that Telegram would not link in
//! brackets behind their text, and link reference definitions, which CommonMark would swallow, as
//! they are. Only a link's title and what follows the language of a code fence are left out.

mod block;
mod inline;
mod table;

use super::clean::cleaned;
use super::rich::{Part, Rich, Style};
use super::split::{MESSAGE_UNITS_MAX, parts};
use crate::doors::markdown::{Block, Container, Document, Link};
use block::Blocks;

const RULE: &str = "──────────";

/// A whole answer as messages of at most [`MESSAGE_UNITS_MAX`] units. None if there is nothing to
/// show.
pub fn render(markdown: &str) -> Vec<Part> {
    render_limited(markdown, MESSAGE_UNITS_MAX)
}

/// Like [`render`], with messages of at most `units_max` UTF-16 units, for captions. Less than 8 is
/// taken as 8.
pub fn render_limited(markdown: &str, units_max: usize) -> Vec<Part> {
    parts(&rich(Document::read(markdown)), units_max)
}

/// The beginning of an answer that is still being written, as it most likely will look: what is
/// open at its end is closed, and a marker that has just begun is not shown. Costs one pass over
/// the text, so it can be called for every edit.
pub fn render_prefix(markdown: &str) -> Vec<Part> {
    parts(&rich(Document::read_prefix(markdown)), MESSAGE_UNITS_MAX)
}

/// The same cut without any formatting, for when Telegram refuses the formatted one. Markdown is
/// shown as it was written.
pub fn plain(text: &str) -> Vec<Part> {
    let mut rich = Rich::default();
    rich.push(&line_feeds(text), Style::PLAIN);
    parts(&cleaned(rich), MESSAGE_UNITS_MAX)
}

fn line_feeds(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn rich(document: Document) -> Rich {
    let Document { blocks, links, .. } = document;
    let mut painter = Painter { links, ..Painter::default() };
    blocks.iter().for_each(|block| painter.block(block));
    cleaned(painter.blocks.rich)
}

#[derive(Default)]
struct Painter {
    blocks: Blocks,
    links: Vec<Link>,
}

impl Painter {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Enter(Container::Quote) => self.blocks.start_quote(),
            Block::Enter(Container::List) => self.blocks.start_list(),
            Block::Enter(Container::Item(marker)) => self.blocks.start_item(*marker),
            Block::Leave(Container::Quote) => self.blocks.end_quote(),
            Block::Leave(Container::List) => self.blocks.end_list(),
            Block::Leave(Container::Item(_)) => self.blocks.end_item(),
            Block::Paragraph { text, tight: true } => self.text(text, Style::PLAIN),
            Block::Paragraph { text, tight: false } => {
                self.blocks.start_block();
                self.text(text, Style::PLAIN);
                self.blocks.end_block(2);
            }
            Block::Heading { text, .. } => {
                self.blocks.start_heading();
                self.text(text, Style::BOLD);
                self.blocks.end_block(1);
            }
            Block::Code { language, text } => {
                let language = language.as_deref().filter(|word| is_language(word));
                self.blocks.pre(text, language);
            }
            Block::Html(text) => {
                self.blocks.start_block();
                self.blocks.text(text, Style::PLAIN);
                self.blocks.end_block(2);
            }
            Block::Table(table) => self.table(table),
            Block::Rule => {
                self.blocks.start_block();
                self.blocks.text(RULE, Style::PLAIN);
                self.blocks.end_block(2);
            }
        }
    }
}

/// Whether the word behind a fence could name a language (Bot API, "MessageEntity", field
/// `language`).
fn is_language(word: &str) -> bool {
    const CHARS_MAX: usize = 32;
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-#._".contains(c);
    word.len() <= CHARS_MAX && word.chars().all(plain)
}

#[cfg(test)]
mod tests;
