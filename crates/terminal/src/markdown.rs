//! Paints a Markdown document as lines of styled text. Owns the look of every block, and which
//! lines can still change when more text follows; must not know how Markdown is read, streams or
//! terminals.
//!
//! One choice makes a streamed rendering equal to a whole one: whether a list is tight or loose is
//! ignored, because its last item decides that for its first.

mod inline;

use super::style::{Line, Look, Span, Style};
use super::table;
use super::wrap::{Long, chop_words, line_width, width, wrap};
use crate::doors::clean::clean;
use crate::doors::markdown::{Block, Container, Document, Link, Marker};

/// A container that would leave less room than this adds no further indent.
const ROOM_MIN: usize = 16;
const CODE_INDENT: &str = "    ";
/// Columns by which a line of code that goes on is set in.
const CODE_HANG: usize = 2;

#[derive(Debug, Default)]
pub struct Rendered {
    pub lines: Vec<Line>,
    /// How many of the first lines stay as they are whatever whole lines follow.
    pub stable: usize,
    /// See [`Document::last_block`].
    pub last_block: usize,
}

/// Renders normalised text.
pub fn render(source: &str, look: Look) -> Rendered {
    let Document { blocks, links, last_block } = Document::of_normalised(source);
    let mut painter = Painter { look, links, ..Painter::default() };
    blocks.iter().for_each(|block| painter.block(block));
    // A blank line ends a paragraph and a table.
    let blank_end = source.lines().last().is_some_and(is_blank);
    if blank_end && matches!(painter.last_begun, Kind::Paragraph | Kind::Table) {
        painter.stable = painter.lines.len();
    }
    while painter.lines.last().is_some_and(|line| is_empty(line)) {
        painter.lines.pop();
    }
    Rendered { stable: painter.stable.min(painter.lines.len()), lines: painter.lines, last_block }
}

fn is_empty(line: &[Span]) -> bool {
    line.iter().all(|span| span.text().trim().is_empty())
}

fn is_blank(line: &str) -> bool {
    line.chars().all(|c| c == ' ' || c == '\t')
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    None,
    Paragraph,
    Heading,
    Code,
    Html,
    Table,
    Rule,
    Container,
}

/// A quote or an item, and what it puts before each of its lines.
#[derive(Debug, Default)]
struct Indent {
    item: bool,
    first: Option<Vec<Span>>,
    rest: Vec<Span>,
    /// The kind of the block before, inside of this one.
    before: Kind,
}

#[derive(Default)]
struct Painter {
    look: Look,
    links: Vec<Link>,
    lines: Vec<Line>,
    stable: usize,
    /// A blank line comes before the next line, inside of this many containers. It waits, so that
    /// none ends the text.
    blank_due: Option<usize>,
    containers: Vec<Indent>,
    /// The kind of the top-level block before.
    before: Kind,
    /// The kind of the block that began last, at any depth.
    last_begun: Kind,
}

impl Default for Look {
    fn default() -> Self {
        Self::new(80, false)
    }
}

impl Painter {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Enter(container) => self.enter(*container),
            Block::Leave(container) => self.leave(*container),
            Block::Paragraph { text, .. } => {
                self.begin(Kind::Paragraph);
                let spans = self.spans(text, Style::PLAIN);
                self.wrapped(&spans);
                // A first paragraph that shows nothing takes the marker all the same: a stream has
                // shown it by the time the next one comes.
                if self.containers.iter().any(|container| container.first.is_some()) {
                    self.line(Vec::new());
                }
                self.set_before(Kind::Paragraph);
            }
            Block::Heading { level, text } => {
                self.begin(Kind::Heading);
                let underline = if *level == 1 { Style::UNDERLINE } else { Style::PLAIN };
                let mut spans = self.spans(text, Style::BOLD.with(underline));
                if !self.look.colour {
                    spans.insert(0, Span::new(&format!("{} ", "#".repeat(*level)), Style::PLAIN));
                }
                self.wrapped(&spans);
                self.set_before(Kind::Heading);
                self.stable = self.lines.len();
            }
            // The language of the code is a hint for tools; a reader sees it from the code.
            Block::Code { text, .. } => {
                self.begin(Kind::Code);
                self.code(text);
                self.set_before(Kind::Code);
            }
            Block::Html(text) => {
                self.begin(Kind::Html);
                self.html(text);
                self.set_before(Kind::Html);
            }
            Block::Table(table) => {
                self.begin(Kind::Table);
                let lines = table::lines(&self.table(table), &table.aligns, self.room());
                self.block_lines(lines);
                self.set_before(Kind::Table);
            }
            Block::Rule => {
                self.begin(Kind::Rule);
                let room = self.room();
                self.line(vec![Span::new(&"─".repeat(room), Style::DIM)]);
                self.set_before(Kind::Rule);
                self.stable = self.lines.len();
            }
        }
    }

    fn enter(&mut self, container: Container) {
        match container {
            Container::Quote => {
                self.begin(Kind::Container);
                let bar = vec![Span::new("│ ", Style::DIM)];
                self.push_container(Indent { rest: bar, ..Indent::default() });
            }
            Container::List => self.begin(Kind::Container),
            Container::Item(marker) => self.start_item(marker),
        }
    }

    fn leave(&mut self, container: Container) {
        match container {
            Container::Quote => self.close(),
            Container::List => self.set_before(Kind::Container),
            Container::Item(_) => {
                if self.containers.last().is_some_and(|item| item.first.is_some()) {
                    self.line(Vec::new());
                }
                self.close();
            }
        }
    }

    fn start_item(&mut self, marker: Marker) {
        self.stable = self.lines.len();
        let marker = marker.text();
        let indent = " ".repeat(marker.chars().count());
        let first = Some(vec![Span::new(&marker, Style::PLAIN)]);
        let rest = vec![Span::new(&indent, Style::PLAIN)];
        self.push_container(Indent { item: true, first, rest, before: Kind::None });
    }

    /// A block starts: what stands before it cannot change any more.
    fn begin(&mut self, kind: Kind) {
        self.stable = self.lines.len();
        let (before, in_item) = match self.containers.last() {
            Some(container) => (container.before, container.item),
            None => (self.before, false),
        };
        let apart = if in_item {
            before == Kind::Paragraph && kind == Kind::Paragraph
        } else {
            before != Kind::None
        };
        if apart {
            let depth = self.containers.len();
            self.blank_due = Some(self.blank_due.map_or(depth, |due| due.min(depth)));
        }
        self.last_begun = kind;
    }

    fn set_before(&mut self, kind: Kind) {
        match self.containers.last_mut() {
            Some(container) => container.before = kind,
            None => self.before = kind,
        }
    }

    fn wrapped(&mut self, spans: &[Span]) {
        let lines = wrap(spans, self.room(), Long::Keep);
        self.block_lines(lines);
    }

    /// Code is never reflowed; at a terminal a line that is too wide goes on below its own start. A
    /// line of it is final as soon as it is whole; blank lines wait for the next one.
    fn code(&mut self, text: &str) {
        for row in verbatim(text) {
            for row in self.code_rows(&expand_tabs(&row)) {
                self.line(vec![Span::new(CODE_INDENT, Style::PLAIN), Span::new(&row, Style::CYAN)]);
            }
            self.stable = self.lines.len();
        }
    }

    fn code_rows(&self, row: &str) -> Vec<String> {
        // Blanks at its end show nothing, and would take a row of their own.
        let row = row.trim_end();
        let room = self.room().saturating_sub(CODE_INDENT.len());
        if !self.look.breaks_code || width(row) <= room {
            return vec![row.to_owned()];
        }
        let indent = row.len() - row.trim_start_matches(' ').len();
        // Where the indent alone takes the line, what goes on begins at its start.
        let hang = Some(indent + CODE_HANG).filter(|hang| hang + ROOM_MIN <= room).unwrap_or(0);
        let (start, code) = row.split_at(indent.min(hang));
        let rows = chop_words(code, room.saturating_sub(hang));
        let start = |index: usize| if index == 0 { start.to_owned() } else { " ".repeat(hang) };
        rows.iter().enumerate().map(|(index, row)| start(index) + row.trim_end()).collect()
    }

    fn html(&mut self, text: &str) {
        let room = self.room();
        let lines = verbatim(text)
            .iter()
            .flat_map(|row| wrap(&[Span::new(row, Style::DIM)], room, Long::Keep))
            .collect();
        self.block_lines(lines);
    }

    /// A block without the rows at its start and end that show nothing: a stream could not take
    /// them back.
    fn block_lines(&mut self, mut lines: Vec<Line>) {
        while lines.last().is_some_and(|line| is_empty(line)) {
            lines.pop();
        }
        for line in lines.into_iter().skip_while(|line| is_empty(line)) {
            self.line(line);
        }
    }

    fn push_container(&mut self, mut container: Indent) {
        let indent = line_width(&container.rest);
        if self.room() < ROOM_MIN + indent {
            container.rest.clear();
        }
        self.containers.push(container);
    }

    fn close(&mut self) {
        self.containers.pop();
        self.blank_due = self.blank_due.filter(|depth| *depth <= self.containers.len());
        self.set_before(Kind::Container);
    }

    /// Columns that the containers leave. An item's marker is as wide as its indent.
    fn room(&self) -> usize {
        let used: usize = self.containers.iter().map(|c| line_width(&c.rest)).sum();
        let marker =
            self.containers.iter().filter(|c| c.rest.is_empty()).filter_map(|c| c.first.as_deref());
        self.look.width.saturating_sub(used + marker.map(line_width).sum::<usize>())
    }

    fn line(&mut self, content: Line) {
        let around = self.blank_due.take().and_then(|depth| self.containers.get(..depth));
        if let Some(around) = around
            .filter(|around| around.iter().all(|c| c.first.is_none()) && !self.lines.is_empty())
        {
            self.lines.push(around.iter().flat_map(|c| c.rest.clone()).collect());
        }
        let mut line = Line::new();
        for container in &mut self.containers {
            match container.first.take() {
                Some(first) => line.extend(first),
                None => line.extend_from_slice(&container.rest),
            }
        }
        line.extend(content);
        self.lines.push(line);
    }
}

/// The rows of code or HTML from the first to the last that shows something.
fn verbatim(text: &str) -> Vec<String> {
    // Cleaned before it is trimmed: a line separator counts as white space, but is shown.
    let mut rows: Vec<String> = text.split('\n').map(|row| clean(row).into_owned()).collect();
    while rows.last().is_some_and(|row| row.trim().is_empty()) {
        rows.pop();
    }
    rows.into_iter().skip_while(|row| row.trim().is_empty()).collect()
}

/// Tabs to the next multiple of four columns, so that code keeps its shape under any indent.
fn expand_tabs(row: &str) -> String {
    let mut out = String::with_capacity(row.len());
    let mut column = 0;
    for c in row.chars() {
        let wide = if c == '\t' { 4 - column % 4 } else { 1 };
        column += wide;
        if c == '\t' { out.extend(std::iter::repeat_n(' ', wide)) } else { out.push(c) }
    }
    out
}
