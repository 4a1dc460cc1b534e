//! Makes a [`Document`] of Markdown. The only file that names the parser; must not know doors.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{
    Align, Block, Container, Document, Emphasis, Inline, Link, Marker, Piece, Table, completed,
};

/// Stands between `]` and `:`, so that no link reference definition is recognised; never shown.
const REFERENCE_BREAK: char = '\u{FDD0}';

/// Line ends as `\n`, and reference definitions defused. Whole lines can be normalised one by one.
pub fn normalised(source: &str) -> String {
    let text =
        source.replace(REFERENCE_BREAK, "\u{FFFD}").replace("\r\n", "\n").replace('\r', "\n");
    text.replace("]:", &format!("]{REFERENCE_BREAK}:"))
}

impl Document {
    /// Reads a whole text.
    pub fn read(markdown: &str) -> Self {
        Self::of_normalised(&normalised(markdown))
    }

    /// Reads the beginning of a text that is still being written, as it most likely will go on:
    /// what is open at its end is closed, and a mark that has just begun is left out.
    pub fn read_prefix(markdown: &str) -> Self {
        Self::read(&completed(markdown))
    }

    /// Reads what [`normalised`] has returned.
    pub fn of_normalised(source: &str) -> Self {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        let mut reader = Reader::default();
        let mut depth = 0_usize;
        for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
            if depth == 0 {
                let line = source[..range.start].rfind('\n').map_or(0, |at| at + 1);
                reader.document.last_block = line;
            }
            match &event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth = depth.saturating_sub(1),
                _ => {}
            }
            reader.event(event);
        }
        reader.end_tight();
        reader.document
    }
}

#[derive(Default)]
struct Reader {
    document: Document,
    /// The text of the block, heading or cell that is being read.
    text: Vec<Inline>,
    /// How many of each are open around the text.
    strong: usize,
    italic: usize,
    strike: usize,
    open_links: Vec<usize>,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    items: Vec<Marker>,
    /// The block of code or HTML that is being read.
    verbatim: Option<Block>,
    table: Table,
}

impl Reader {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) => match &mut self.verbatim {
                Some(Block::Code { text: all, .. } | Block::Html(all)) => {
                    all.push_str(&without_break(&text));
                }
                // Only these two are ever kept open.
                Some(_) => {}
                None => self.text(&text, Piece::Text),
            },
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text, Piece::Text),
            // Models break lines with it inside of table cells, where Markdown has no other way.
            Event::InlineHtml(html) if is_line_break(&html) => self.line_break(Piece::HardBreak),
            Event::InlineHtml(text) => self.text(&text, Piece::Html),
            Event::FootnoteReference(label) => self.text(&format!("[^{label}]"), Piece::Text),
            Event::Code(text) => self.text(&text, Piece::Code),
            Event::SoftBreak => self.line_break(Piece::SoftBreak),
            Event::HardBreak => self.line_break(Piece::HardBreak),
            Event::TaskListMarker(done) => self.push(Piece::Task(done)),
            Event::Rule => self.block(Block::Rule),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::Heading { .. } => self.end_tight(),
            Tag::CodeBlock(kind) => {
                self.end_tight();
                let language = language(&kind);
                self.verbatim = Some(Block::Code { language, text: String::new() });
            }
            Tag::HtmlBlock => {
                self.end_tight();
                self.verbatim = Some(Block::Html(String::new()));
            }
            Tag::BlockQuote(_) => self.block(Block::Enter(Container::Quote)),
            Tag::List(first) => {
                self.block(Block::Enter(Container::List));
                self.lists.push(first);
            }
            Tag::Item => {
                let marker = self.next_marker();
                self.items.push(marker);
                self.block(Block::Enter(Container::Item(marker)));
            }
            Tag::Table(aligns) => {
                self.end_tight();
                let aligns = aligns.into_iter().map(Align::from).collect();
                self.table = Table { aligns, rows: Vec::new() };
            }
            Tag::TableHead | Tag::TableRow => self.table.rows.push(Vec::new()),
            Tag::TableCell => self.text.clear(),
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.strong += 1,
            Tag::Strikethrough => self.strike += 1,
            Tag::Link { dest_url, .. } => self.start_link(&dest_url, false),
            Tag::Image { dest_url, .. } => self.start_link(&dest_url, true),
            // Not enabled in the options.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph => {
                let text = std::mem::take(&mut self.text);
                self.document.blocks.push(Block::Paragraph { text, tight: false });
            }
            TagEnd::Heading(level) => {
                let text = std::mem::take(&mut self.text);
                self.document.blocks.push(Block::Heading { level: level as usize, text });
            }
            TagEnd::CodeBlock | TagEnd::HtmlBlock => {
                let verbatim = self.verbatim.take();
                self.document.blocks.extend(verbatim);
            }
            TagEnd::BlockQuote(_) => self.block(Block::Leave(Container::Quote)),
            TagEnd::List(_) => {
                self.lists.pop();
                self.block(Block::Leave(Container::List));
            }
            TagEnd::Item => {
                if let Some(marker) = self.items.pop() {
                    self.block(Block::Leave(Container::Item(marker)));
                }
            }
            TagEnd::Table => {
                let table = std::mem::take(&mut self.table);
                self.document.blocks.push(Block::Table(table));
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.text);
                if let Some(row) = self.table.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strong => self.strong = self.strong.saturating_sub(1),
            TagEnd::Strikethrough => self.strike = self.strike.saturating_sub(1),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn block(&mut self, block: Block) {
        self.end_tight();
        self.document.blocks.push(block);
    }

    /// A tight list item holds its text without a paragraph around it: the next edge ends it.
    fn end_tight(&mut self) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            self.document.blocks.push(Block::Paragraph { text, tight: true });
        }
    }

    fn next_marker(&mut self) -> Marker {
        let depth = self.lists.len();
        match self.lists.last_mut() {
            Some(Some(next)) => {
                let number = *next;
                *next = next.saturating_add(1);
                Marker::Number(number)
            }
            _ => Marker::Bullet { depth },
        }
    }

    fn start_link(&mut self, dest: &str, image: bool) {
        let index = self.document.links.len();
        let link = Link { dest: without_break(dest), image, text: String::new() };
        self.document.links.push(link);
        self.push(Piece::LinkStart(index));
        self.open_links.push(index);
    }

    fn end_link(&mut self) {
        let Some(index) = self.open_links.last().copied() else { return };
        let link = self.document.links.get(index).cloned().unwrap_or_default();
        if link.text.trim().is_empty() {
            self.text(&link.dest, Piece::Text);
        }
        self.open_links.pop();
        self.push(Piece::LinkEnd(index));
    }

    fn text(&mut self, text: &str, piece: fn(String) -> Piece) {
        let text = without_break(text);
        if !text.is_empty() {
            self.add_to_links(&text);
            self.push(piece(text));
        }
    }

    fn line_break(&mut self, piece: Piece) {
        self.add_to_links("\n");
        self.push(piece);
    }

    fn add_to_links(&mut self, text: &str) {
        for index in &self.open_links {
            if let Some(link) = self.document.links.get_mut(*index) {
                link.text.push_str(text);
            }
        }
    }

    fn push(&mut self, piece: Piece) {
        let emphasis =
            Emphasis { strong: self.strong > 0, italic: self.italic > 0, strike: self.strike > 0 };
        self.text.push(Inline { piece, emphasis });
    }
}

impl From<Alignment> for Align {
    fn from(alignment: Alignment) -> Self {
        match alignment {
            Alignment::None | Alignment::Left => Self::Left,
            Alignment::Center => Self::Center,
            Alignment::Right => Self::Right,
        }
    }
}

/// Without our own mark.
fn without_break(text: &str) -> String {
    text.replace(REFERENCE_BREAK, "")
}

fn is_line_break(html: &str) -> bool {
    matches!(html.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}

fn language(kind: &CodeBlockKind<'_>) -> Option<String> {
    match kind {
        CodeBlockKind::Fenced(info) => {
            without_break(info).split_whitespace().next().map(str::to_owned)
        }
        CodeBlockKind::Indented => None,
    }
}
