//! Lays out one table: columns aligned by display width where a phone has room for them, else one
//! block of lines a row. Must not know Markdown's syntax.

use unicode_width::UnicodeWidthStr as _;

use super::Painter;
use super::block::Blocks;
use crate::clean::cleaned_line;
use crate::doors::markdown;
use crate::doors::markdown::Align;
use crate::rich::Style;

/// Columns of monospaced text that a phone held upright shows in one line, or nearly so.
const COLUMNS_MAX: usize = 40;
const GAP: &str = " │ ";

type Cell = Vec<(String, Style)>;

struct Table<'a> {
    aligns: &'a [Align],
    /// The first row is the header.
    rows: Vec<Vec<Cell>>,
}

impl Painter {
    /// Links would be lost in monospaced text, so a table with one is shown as blocks, too.
    pub(super) fn table(&mut self, table: &markdown::Table) {
        let rows = table.rows.iter();
        let rows = rows.map(|row| row.iter().map(|cell| self.cell(cell)).collect()).collect();
        let table = Table { aligns: &table.aligns, rows };
        let blocks = &mut self.blocks;
        blocks.start_block();
        let linked = table.rows.iter().flatten().flatten().any(|(_, style)| style.link.is_some());
        match table.grid().filter(|_| !linked) {
            Some(grid) => blocks.pre(&grid, None),
            None => table.records(blocks),
        }
        blocks.end_block(2);
    }
}

impl Table<'_> {
    /// The table as monospaced lines; `None` if they would be too wide.
    fn grid(&self) -> Option<String> {
        let line = |cell: &Cell| {
            cleaned_line(&cell.iter().map(|(text, _)| text.as_str()).collect::<String>())
        };
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(line).collect()).collect();
        let mut widths = vec![1; rows.iter().map(Vec::len).max()?];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.width());
            }
        }
        let total = widths.iter().sum::<usize>() + GAP.width() * (widths.len().checked_sub(1)?);
        if total > COLUMNS_MAX {
            return None;
        }
        let mut lines: Vec<String> = rows.iter().map(|row| self.grid_line(row, &widths)).collect();
        let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
        lines.insert(1.min(lines.len()), rules.join("─┼─"));
        Some(lines.join("\n"))
    }

    fn grid_line(&self, row: &[String], widths: &[usize]) -> String {
        let mut cells = Vec::new();
        for (column, width) in widths.iter().enumerate() {
            let cell = row.get(column).map_or("", String::as_str);
            let space = width.saturating_sub(cell.width());
            let left = self.aligns.get(column).copied().unwrap_or_default().left(space);
            cells.push(format!("{}{cell}{}", " ".repeat(left), " ".repeat(space - left)));
        }
        cells.join(GAP).trim_end().to_owned()
    }

    /// One `header: value` line a cell, and a blank line between two rows.
    fn records(self, blocks: &mut Blocks) {
        let mut rows = self.rows.into_iter();
        let header = rows.next().unwrap_or_default();
        if rows.len() == 0 {
            for cell in &header {
                write_cell(blocks, cell, Style::BOLD);
                blocks.end_block(1);
            }
        }
        for row in rows {
            for (column, cell) in row.iter().enumerate() {
                let title = header
                    .get(column)
                    .filter(|title| title.iter().any(|(text, _)| !text.trim().is_empty()));
                if let Some(title) = title {
                    write_cell(blocks, title, Style::BOLD);
                    blocks.text(":", Style::BOLD);
                    if cell.iter().any(|(text, _)| !text.trim().is_empty()) {
                        blocks.text(" ", Style::PLAIN);
                    }
                }
                write_cell(blocks, cell, Style::PLAIN);
                blocks.end_block(1);
            }
            blocks.end_block(2);
        }
    }
}

fn write_cell(blocks: &mut Blocks, cell: &Cell, style: Style) {
    for (text, own) in cell {
        blocks.text(text, Style { bold: own.bold || style.bold, ..*own });
    }
}
