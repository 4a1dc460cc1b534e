//! Lays out one Markdown table: columns aligned by display width, cells wrapped, the whole no wider
//! than it may be. Must not know Markdown's syntax.

use super::style::{Line, Span, Style};
use super::wrap::{Long, line_width, wrap};
use crate::doors::markdown::Align;

/// Columns between two cells: ` │ `.
const GAP: usize = 3;
/// A column is not shrunk below this; a table that needs it is shown as records instead.
const COLUMN_MIN: usize = 5;

type Row = Vec<Vec<Span>>;

/// The lines of a table whose first row is the header, none wider than `columns` (at least 10).
pub fn lines(rows: &[Row], aligns: &[Align], columns: usize) -> Vec<Line> {
    Table { rows, aligns }.lines(columns)
}

struct Table<'a> {
    rows: &'a [Row],
    aligns: &'a [Align],
}

impl Table<'_> {
    fn lines(&self, columns: usize) -> Vec<Line> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        if count == 0 {
            return Vec::new();
        }
        let natural = self.natural_widths(count);
        match shrink(&natural, columns.saturating_sub(GAP * (count - 1))) {
            Some(widths) => self.grid(&widths),
            None => self.records(columns),
        }
    }

    fn natural_widths(&self, count: usize) -> Vec<usize> {
        let mut widths = vec![1; count];
        for row in self.rows {
            for (index, cell) in row.iter().enumerate() {
                widths[index] = widths[index].max(line_width(cell));
            }
        }
        widths
    }

    fn grid(&self, widths: &[usize]) -> Vec<Line> {
        let mut lines = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            let cells: Vec<Vec<Line>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| {
                    wrap(row.get(column).map_or(&[], Vec::as_slice), *width, Long::Break)
                })
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for part in 0..height {
                lines.push(self.grid_line(&cells, widths, part));
            }
            if index == 0 {
                let rules: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(vec![Span::new(&rules.join("─┼─"), Style::DIM)]);
            }
        }
        lines
    }

    fn grid_line(&self, cells: &[Vec<Line>], widths: &[usize], part: usize) -> Line {
        let mut line = Line::new();
        for (column, width) in widths.iter().enumerate() {
            if column > 0 {
                line.push(Span::new(" │ ", Style::DIM));
            }
            let cell = cells[column].get(part).map_or(&[][..], Vec::as_slice);
            let space = width.saturating_sub(line_width(cell));
            let left = self.aligns.get(column).copied().unwrap_or_default().left(space);
            line.push(Span::new(&" ".repeat(left), Style::PLAIN));
            line.extend_from_slice(cell);
            line.push(Span::new(&" ".repeat(space - left), Style::PLAIN));
        }
        line
    }

    /// One `header: value` paragraph a cell, for a table with more columns than fit.
    fn records(&self, columns: usize) -> Vec<Line> {
        let (Some(header), rows) = (self.rows.first(), self.rows.get(1..).unwrap_or_default())
        else {
            return Vec::new();
        };
        let mut lines = Vec::new();
        if rows.is_empty() {
            for cell in header {
                lines.extend(wrap(cell, columns, Long::Break));
            }
        }
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                lines.push(vec![Span::new(&"─".repeat(columns.min(10)), Style::DIM)]);
            }
            for (column, cell) in row.iter().enumerate() {
                let mut text = header.get(column).cloned().unwrap_or_default();
                text.push(Span::new(": ", Style::BOLD));
                text.extend_from_slice(cell);
                lines.extend(wrap(&text, columns, Long::Break));
            }
        }
        lines
    }
}

/// Takes the widest columns down until all fit into `room`; `None` if they cannot.
fn shrink(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    let least: usize = natural.iter().map(|width| (*width).min(COLUMN_MIN)).sum();
    if least > room {
        return None;
    }
    // The highest cap under which everything fits; a binary search would save nothing at terminal
    // widths.
    let cap = (COLUMN_MIN..=room)
        .rev()
        .find(|cap| natural.iter().map(|w| (*w).min(*cap)).sum::<usize>() <= room)?;
    let mut widths: Vec<usize> = natural.iter().map(|width| (*width).min(cap)).collect();
    let mut spare = room - widths.iter().sum::<usize>();
    for (width, wanted) in widths.iter_mut().zip(natural) {
        if *width < *wanted && spare > 0 {
            *width += 1;
            spare -= 1;
        }
    }
    Some(widths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wide_columns_give_way() {
        assert_eq!(shrink(&[3, 50, 10], 33), Some(vec![3, 20, 10]));
        assert_eq!(shrink(&[3, 4], 80), Some(vec![3, 4]));
        assert_eq!(shrink(&[9; 12], 40), None);
    }
}
