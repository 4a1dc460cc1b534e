//! Renders Markdown (CommonMark and GitHub's tables, task lists, strike-through) to messages with
//! explicit entities. Owns what each construct looks like in Telegram; must not know chats, or how
//! messages are sent.
//!
//! Formatting never travels as markup, so no character of a model can break it. Everything that a
//! model wrote as content is shown: raw HTML as text, addresses that Telegram would not link in
//! brackets behind their text, and link reference definitions, which CommonMark would swallow, as
//! they are. Only a link's title and what follows the language of a code fence are left out.

mod block;
mod inline;
mod linked;
mod prefix;
mod table;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::clean::cleaned;
use super::rich::{Part, Rich, Style};
use super::split::{MESSAGE_UNITS_MAX, parts};
use block::Blocks;
use inline::OpenLink;
pub use linked::linked_files;
use table::Table;

/// Stands between `]` and `:`, so that no link reference definition is recognised; never shown.
const REFERENCE_BREAK: char = '\u{FDD0}';
const RULE: &str = "──────────";

/// A whole answer as messages of at most [`MESSAGE_UNITS_MAX`] units. None if there is nothing to
/// show.
pub fn render(markdown: &str) -> Vec<Part> {
    render_limited(markdown, MESSAGE_UNITS_MAX)
}

/// Like [`render`], with messages of at most `units_max` UTF-16 units, for captions. Less than 8 is
/// taken as 8.
pub fn render_limited(markdown: &str, units_max: usize) -> Vec<Part> {
    parts(&rich(markdown), units_max)
}

/// The beginning of an answer that is still being written, as it most likely will look: what is
/// open at its end is closed, and a marker that has just begun is not shown. Costs one pass over
/// the text, so it can be called for every edit.
pub fn render_prefix(markdown: &str) -> Vec<Part> {
    render(&prefix::completed(markdown))
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

/// Line ends as `\n`, and reference definitions defused.
fn normalised(source: &str) -> String {
    let text = line_feeds(&source.replace(REFERENCE_BREAK, "\u{FFFD}"));
    text.replace("]:", &format!("]{REFERENCE_BREAK}:"))
}

fn rich(markdown: &str) -> Rich {
    let source = normalised(markdown);
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer::default();
    for event in Parser::new_ext(&source, options) {
        renderer.event(event);
    }
    cleaned(renderer.blocks.rich)
}

#[derive(Default)]
struct Renderer {
    blocks: Blocks,
    /// How many of each are open around the text.
    bold: usize,
    italic: usize,
    strike: usize,
    link: Option<usize>,
    open_links: Vec<OpenLink>,
    /// The block of code that is being read, with its language.
    code: Option<(String, Option<String>)>,
    table: Option<Table>,
}

impl Renderer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) => match &mut self.code {
                Some((code, _)) => code.push_str(&text),
                None => self.text(&text, self.style()),
            },
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text, self.style()),
            // Models break lines with it inside of table cells, where Markdown has no other way.
            Event::InlineHtml(html) if is_line_break(&html) => self.text("\n", self.style()),
            Event::InlineHtml(text) => self.text(&text, self.style()),
            Event::FootnoteReference(label) => self.text(&format!("[^{label}]"), self.style()),
            Event::Code(text) => self.text(&text, Style { code: true, ..self.style() }),
            // A model that breaks a line in a chat means it; hardly any fills paragraphs by hand.
            Event::SoftBreak | Event::HardBreak => self.text("\n", self.style()),
            Event::TaskListMarker(done) => self.blocks.task(done),
            Event::Rule => {
                self.blocks.start_block();
                self.blocks.text(RULE, Style::PLAIN);
                self.blocks.end_block(2);
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.blocks.start_block(),
            Tag::Heading { .. } => {
                self.blocks.start_heading();
                self.bold += 1;
            }
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(info) => language(&info),
                    CodeBlockKind::Indented => None,
                };
                self.code = Some((String::new(), language));
            }
            Tag::BlockQuote(_) => self.blocks.start_quote(),
            Tag::List(first) => self.blocks.start_list(first),
            Tag::Item => self.blocks.start_item(),
            Tag::Table(alignments) => self.table = Some(Table::new(alignments)),
            Tag::TableHead | Tag::TableRow => self.table.iter_mut().for_each(Table::start_row),
            Tag::TableCell => self.table.iter_mut().for_each(Table::start_cell),
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.strike += 1,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => self.start_link(&dest_url),
            // Not enabled in the options.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.blocks.end_block(2),
            TagEnd::Heading(_) => {
                self.bold = self.bold.saturating_sub(1);
                self.blocks.end_block(1);
            }
            TagEnd::CodeBlock => {
                if let Some((code, language)) = self.code.take() {
                    self.blocks.pre(&shown(&code), language.as_deref());
                }
            }
            TagEnd::BlockQuote(_) => self.blocks.end_quote(),
            TagEnd::List(_) => self.blocks.end_list(),
            TagEnd::Item => self.blocks.end_item(),
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    table.write(&mut self.blocks);
                }
            }
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Strikethrough => self.strike = self.strike.saturating_sub(1),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }
}

/// Without our own mark.
fn shown(text: &str) -> String {
    text.replace(REFERENCE_BREAK, "")
}

fn is_line_break(html: &str) -> bool {
    matches!(html.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}

/// The first word behind a fence, if it could name a language (Bot API, "MessageEntity", field
/// `language`).
fn language(info: &str) -> Option<String> {
    const CHARS_MAX: usize = 32;
    let word = shown(info).split_whitespace().next()?.to_owned();
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-#._".contains(c);
    (word.len() <= CHARS_MAX && word.chars().all(plain)).then_some(word)
}

#[cfg(test)]
mod tests;
