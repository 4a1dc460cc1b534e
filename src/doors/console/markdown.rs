//! Renders Markdown (CommonMark and GitHub's tables, task lists, strike-through) to lines of styled
//! text. Owns the look of every block, and which lines can still change when more text follows;
//! must not know streams or terminals.
//!
//! Two choices make a streamed rendering equal to a whole one. Link reference definitions are shown
//! as text and never resolved, because one at the end would change what was printed at the start.
//! And whether a list is tight or loose is ignored, because its last item decides that for its
//! first.

mod inline;

use inline::OpenLink;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::clean::clean;
use super::style::{Line, Look, Span, Style};
use super::table::Table;
use super::wrap::{Long, line_width, wrap};

/// Stands between `]` and `:`, so that no link reference definition is recognised; never printed.
const REFERENCE_BREAK: char = '\u{FDD0}';
/// A container that would leave less room than this adds no further indent.
const ROOM_MIN: usize = 16;

/// Line ends as `\n`, and reference definitions defused. Takes whole lines.
pub fn normalise(source: &str) -> String {
    let text =
        source.replace(REFERENCE_BREAK, "\u{FFFD}").replace("\r\n", "\n").replace('\r', "\n");
    text.replace("]:", &format!("]{REFERENCE_BREAK}:"))
}

#[derive(Debug, Default)]
pub struct Rendered {
    pub lines: Vec<Line>,
    /// How many of the first lines stay as they are whatever whole lines follow.
    pub stable: usize,
    /// Where the line begins on which the last top-level block starts, in bytes.
    pub last_block: usize,
}

/// Renders normalised text.
pub fn render(source: &str, look: Look) -> Rendered {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut renderer = Renderer { look, ..Renderer::default() };
    let mut depth = 0_usize;
    let mut last_block = 0;
    for (event, range) in Parser::new_ext(source, options).into_offset_iter() {
        if depth == 0 {
            last_block = source[..range.start].rfind('\n').map_or(0, |at| at + 1);
        }
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        renderer.event(event);
    }
    renderer.end_leaf();
    // A blank line ends a paragraph and a table for good.
    let blank_end = source.lines().last().is_some_and(is_blank);
    if blank_end && matches!(renderer.last_leaf, Kind::Paragraph | Kind::Table) {
        renderer.stable = renderer.lines.len();
    }
    while renderer.lines.last().is_some_and(|line| is_empty(line)) {
        renderer.lines.pop();
    }
    Rendered {
        stable: renderer.stable.min(renderer.lines.len()),
        lines: renderer.lines,
        last_block,
    }
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

/// A block that holds blocks, and what it puts before each of their lines.
#[derive(Debug, Default)]
struct Container {
    item: bool,
    first: Option<Vec<Span>>,
    rest: Vec<Span>,
    /// The kind of the block before, inside of this one.
    before: Kind,
}

#[derive(Default)]
struct Renderer {
    look: Look,
    lines: Vec<Line>,
    stable: usize,
    /// A blank line comes before the next line, inside of this many containers. It waits, so that
    /// none ends the text.
    blank_due: Option<usize>,
    containers: Vec<Container>,
    /// The kind of the top-level block before.
    before: Kind,
    /// The next number of each open list; `None` for bullets.
    lists: Vec<Option<u64>>,
    leaf: Kind,
    last_leaf: Kind,
    heading: usize,
    inline: Vec<Span>,
    styles: Vec<Style>,
    links: Vec<OpenLink>,
    code: String,
    table: Table,
}

impl Default for Look {
    fn default() -> Self {
        Self::new(80, false)
    }
}

impl Renderer {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if matches!(self.leaf, Kind::Code | Kind::Html) => {
                self.code.push_str(&text)
            }
            Event::Html(text) => self.code.push_str(&text),
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text, Style::PLAIN)
            }
            Event::InlineHtml(text) => self.text(&text, Style::DIM),
            Event::FootnoteReference(label) => self.text(&format!("[^{label}]"), Style::PLAIN),
            Event::Code(text) if self.look.colour => self.text(&text, Style::CYAN),
            Event::Code(text) => self.text(&format!("`{text}`"), Style::PLAIN),
            Event::SoftBreak => self.text(" ", Style::PLAIN),
            Event::HardBreak if self.leaf == Kind::Table => self.text(" ", Style::PLAIN),
            Event::HardBreak => self.raw("\n", Style::PLAIN),
            Event::TaskListMarker(done) => {
                self.text(if done { "[x] " } else { "[ ] " }, Style::PLAIN)
            }
            Event::Rule => {
                self.begin(Kind::Rule);
                let room = self.room();
                self.line(vec![Span::new(&"─".repeat(room), Style::DIM)]);
                self.end_leaf();
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin(Kind::Paragraph),
            Tag::Heading { level, .. } => {
                self.begin(Kind::Heading);
                self.heading = level as usize;
                let marks = format!("{} ", "#".repeat(self.heading));
                if !self.look.colour {
                    self.raw(&marks, Style::PLAIN);
                }
                let underline = if self.heading == 1 { Style::UNDERLINE } else { Style::PLAIN };
                self.styles.push(Style::BOLD.with(underline));
            }
            // The language of the code is a hint for tools; a reader sees it from the code.
            Tag::CodeBlock(_) => {
                self.begin(Kind::Code);
                self.code.clear();
            }
            Tag::HtmlBlock => {
                self.begin(Kind::Html);
                self.code.clear();
            }
            Tag::BlockQuote(_) => {
                let bar = vec![Span::new("│ ", Style::DIM)];
                self.open(Container { rest: bar, ..Container::default() });
            }
            Tag::List(first) => {
                self.begin(Kind::Container);
                self.leaf = Kind::None;
                self.lists.push(first);
            }
            Tag::Item => self.start_item(),
            Tag::Table(alignments) => {
                self.begin(Kind::Table);
                self.table = Table { alignments, rows: Vec::new() };
            }
            Tag::TableHead => {
                self.table.rows.push(Vec::new());
                self.styles.push(Style::BOLD);
            }
            Tag::TableRow => self.table.rows.push(Vec::new()),
            Tag::TableCell => self.inline.clear(),
            Tag::Emphasis => self.styles.push(Style::ITALIC),
            Tag::Strong => self.styles.push(Style::BOLD),
            Tag::Strikethrough => self.styles.push(Style::STRIKE),
            Tag::Link { dest_url, .. } => self.start_link(dest_url.into_string(), false),
            Tag::Image { dest_url, .. } => self.start_link(dest_url.into_string(), true),
            // Not enabled in the options.
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::CodeBlock | TagEnd::HtmlBlock | TagEnd::Table => {
                self.end_leaf()
            }
            TagEnd::Heading(_) => {
                self.end_leaf();
                self.styles.pop();
            }
            TagEnd::BlockQuote(_) => self.close(),
            TagEnd::Item => {
                self.end_leaf();
                if self.containers.last().is_some_and(|item| item.first.is_some()) {
                    self.line(Vec::new());
                }
                self.close();
            }
            TagEnd::List(_) => {
                self.end_leaf();
                self.lists.pop();
                self.set_before(Kind::Container);
            }
            TagEnd::TableHead => {
                self.styles.pop();
            }
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.inline);
                if let Some(row) = self.table.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => _ = self.styles.pop(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn start_item(&mut self) {
        self.end_leaf();
        self.stable = self.lines.len();
        let depth = self.lists.len();
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number = number.saturating_add(1);
                format!("{}. ", number.saturating_sub(1))
            }
            _ if depth.is_multiple_of(2) => "◦ ".to_owned(),
            _ => "• ".to_owned(),
        };
        let indent = " ".repeat(marker.chars().count());
        let first = Some(vec![Span::new(&marker, Style::PLAIN)]);
        let rest = vec![Span::new(&indent, Style::PLAIN)];
        self.push_container(Container { item: true, first, rest, before: Kind::None });
    }

    /// A block starts: whatever was open before it is closed for good.
    fn begin(&mut self, kind: Kind) {
        self.end_leaf();
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
        self.leaf = kind;
        self.last_leaf = kind;
    }

    fn set_before(&mut self, kind: Kind) {
        match self.containers.last_mut() {
            Some(container) => container.before = kind,
            None => self.before = kind,
        }
    }

    fn end_leaf(&mut self) {
        let kind = std::mem::take(&mut self.leaf);
        match kind {
            Kind::None | Kind::Container => return,
            Kind::Paragraph | Kind::Heading => {
                let spans = std::mem::take(&mut self.inline);
                let lines = wrap(&spans, self.room(), Long::Keep);
                self.block_lines(lines);
            }
            Kind::Code => self.end_code(),
            Kind::Html => self.end_html(),
            Kind::Table => {
                let lines = std::mem::take(&mut self.table).lines(self.room());
                self.block_lines(lines);
            }
            Kind::Rule => {}
        }
        self.set_before(kind);
        if matches!(kind, Kind::Heading | Kind::Rule) {
            self.stable = self.lines.len();
        }
    }

    /// Code is never reflowed. A line of it is final as soon as it is whole; blank lines wait for
    /// the next one.
    fn end_code(&mut self) {
        for row in self.take_verbatim() {
            self.line(vec![
                Span::new("    ", Style::PLAIN),
                Span::new(&expand_tabs(&row), Style::CYAN),
            ]);
            self.stable = self.lines.len();
        }
    }

    fn end_html(&mut self) {
        let room = self.room();
        let rows = self.take_verbatim();
        let lines = rows
            .iter()
            .flat_map(|row| wrap(&[Span::new(row, Style::DIM)], room, Long::Keep))
            .collect();
        self.block_lines(lines);
    }

    fn take_verbatim(&mut self) -> Vec<String> {
        let text = std::mem::take(&mut self.code).replace(REFERENCE_BREAK, "");
        // Cleaned before it is trimmed: a line separator counts as white space, but is shown.
        let mut rows: Vec<String> = text.split('\n').map(|row| clean(row).into_owned()).collect();
        while rows.last().is_some_and(|row| row.trim().is_empty()) {
            rows.pop();
        }
        rows.into_iter().skip_while(|row| row.trim().is_empty()).collect()
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

    fn open(&mut self, container: Container) {
        self.begin(Kind::Container);
        self.leaf = Kind::None;
        self.push_container(container);
    }

    fn push_container(&mut self, mut container: Container) {
        let indent = line_width(&container.rest);
        if self.room() < ROOM_MIN + indent {
            container.rest.clear();
        }
        self.containers.push(container);
    }

    fn close(&mut self) {
        self.end_leaf();
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
