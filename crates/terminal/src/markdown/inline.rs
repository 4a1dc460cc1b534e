//! Text within a block: emphasis, code, links, images. Must not know blocks or lines.

use super::{Painter, Span, Style};
use crate::doors::markdown::{Emphasis, Inline, Piece, Table};

impl Painter {
    /// Text that may be broken into lines; `around` is the style of its block.
    pub(super) fn spans(&self, text: &[Inline], around: Style) -> Vec<Span> {
        self.painted(text, around, "\n")
    }

    /// The cells of a table: a line break in one is a space.
    pub(super) fn table(&self, table: &Table) -> Vec<Vec<Vec<Span>>> {
        let row = |(index, row): (usize, &Vec<Vec<Inline>>)| {
            let around = if index == 0 { Style::BOLD } else { Style::PLAIN };
            row.iter().map(|cell| self.painted(cell, around, " ")).collect()
        };
        table.rows.iter().enumerate().map(row).collect()
    }

    fn painted(&self, text: &[Inline], around: Style, line_break: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        let mut open_links = 0_usize;
        for Inline { piece, emphasis } in text {
            let underline = if open_links > 0 { Style::UNDERLINE } else { Style::PLAIN };
            let style = around.with(emphasised(*emphasis)).with(underline);
            let mut push = |text: &str, own: Style| {
                spans.push(Span::new(&text.replace('\n', " "), style.with(own)));
            };
            match piece {
                Piece::Text(text) => push(text, Style::PLAIN),
                Piece::Code(text) if self.look.colour => push(text, Style::CYAN),
                Piece::Code(text) => push(&format!("`{text}`"), Style::PLAIN),
                Piece::Html(text) => push(text, Style::DIM),
                Piece::SoftBreak => push(" ", Style::PLAIN),
                Piece::HardBreak => spans.push(Span::new(line_break, style)),
                Piece::Task(done) => push(if *done { "[x] " } else { "[ ] " }, Style::PLAIN),
                Piece::LinkStart(index) => {
                    if self.links.get(*index).is_some_and(|link| link.image) {
                        push("[image: ", Style::PLAIN);
                    }
                    open_links += 1;
                }
                Piece::LinkEnd(index) => {
                    open_links = open_links.saturating_sub(1);
                    let underline = if open_links > 0 { Style::UNDERLINE } else { Style::PLAIN };
                    let style = around.with(emphasised(*emphasis)).with(underline);
                    spans.extend(self.end_of_link(*index, style));
                }
            }
        }
        spans
    }

    /// The address is always shown: a text may claim to lead elsewhere.
    fn end_of_link(&self, index: usize, style: Style) -> Vec<Span> {
        let mut spans = Vec::new();
        let Some(link) = self.links.get(index) else { return spans };
        if link.image {
            spans.push(Span::new("]", style));
        }
        if !link.names_its_address() {
            spans.push(Span::new(&format!(" ({})", link.dest), style.with(Style::DIM)));
        }
        spans
    }
}

fn emphasised(Emphasis { strong, italic, strike }: Emphasis) -> Style {
    [(strong, Style::BOLD), (italic, Style::ITALIC), (strike, Style::STRIKE)]
        .into_iter()
        .filter(|(is_set, _)| *is_set)
        .fold(Style::PLAIN, |all, (_, style)| all.with(style))
}
