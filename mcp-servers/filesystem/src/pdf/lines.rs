//! Characters with their places become lines of text. Owns where a space and a line break belong.
//! Pure. Must not know PDF.
//!
//! The order is the one in which the page draws its text, because most programs draw it as it is
//! read. Sorting by place would mix the columns of a page.

use hayro_font::kurbo::{Point, Vec2};

use super::state::GlyphPlace;

/// A gap of this part of the font's size is a space: a space is 0.2 or more of it, moved letters
/// stay below 0.1.
const SPACE: f64 = 0.15;

/// So far from the line, in sizes of the font, is another line. Raised and lowered letters stay
/// below.
const OTHER_LINE: f64 = 0.55;

/// So far from the line is another paragraph.
const OTHER_PARAGRAPH: f64 = 1.8;

/// A letter that begins this close to where the one before began, and is the same, is printed twice
/// to look bold.
const SAME_PLACE: f64 = 0.1;

/// The text so far.
pub struct Lines {
    pub text: String,
    pub cut: bool,
    bytes_max: usize,
    last: Option<Last>,
}

struct Last {
    place: GlyphPlace,
    direction: Vec2,
    letters: String,
}

impl Lines {
    pub fn new(bytes_max: usize) -> Self {
        Self { text: String::new(), cut: false, bytes_max, last: None }
    }

    /// Adds what one character stands for.
    pub fn push(&mut self, letters: &str, place: GlyphPlace) {
        if self.cut {
            return;
        }
        let direction = self.direction(place);
        if let Some(last) = &self.last {
            let again = (place.begin - last.place.begin).hypot() < SAME_PLACE * place.size;
            if again && last.letters == letters && !letters.trim().is_empty() {
                return;
            }
            let between = between(last, place, letters);
            if !(between == " " && self.text.ends_with([' ', '\n'])) {
                self.text.push_str(between);
            }
        }
        let letters: String = letters.chars().map(plain).collect();
        if self.text.len() + letters.len() > self.bytes_max {
            self.cut = true;
            self.text.truncate(self.text.floor_char_boundary(self.bytes_max));
            return;
        }
        self.text.push_str(&letters);
        self.last = Some(Last { place, direction, letters });
    }

    /// Without spaces at the ends of lines, which nobody sees.
    pub fn finish(self) -> (String, bool) {
        let lines: Vec<&str> = self.text.lines().map(str::trim_end).collect();
        (lines.join("\n").trim_matches('\n').to_owned(), self.cut)
    }

    /// Where the line leads: the way that this character takes, else the one before.
    fn direction(&self, place: GlyphPlace) -> Vec2 {
        let way = place.end - place.begin;
        if way.hypot() > f64::EPSILON {
            return way.normalize();
        }
        self.last.as_ref().map_or(Vec2::new(1.0, 0.0), |last| last.direction)
    }
}

/// What stands between two characters.
fn between(last: &Last, place: GlyphPlace, letters: &str) -> &'static str {
    let size = place.size.max(last.place.size);
    let (along, across) = apart(last.place.end, place.begin, last.direction);
    if !(along.is_finite() && across.is_finite()) || size <= 0.0 {
        return " ";
    }
    if across.abs() > OTHER_PARAGRAPH * size {
        "\n\n"
    } else if across.abs() > OTHER_LINE * size || along < -size {
        "\n"
    } else if along > SPACE * size && !letters.starts_with(char::is_whitespace) {
        " "
    } else {
        ""
    }
}

/// How far `to` lies from `from`, along the line and across it.
fn apart(from: Point, to: Point, direction: Vec2) -> (f64, f64) {
    let gap = to - from;
    (gap.dot(direction), gap.cross(direction))
}

/// Control characters would change how the text is shown.
fn plain(character: char) -> char {
    if character.is_control() { ' ' } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(letters: &[(&str, f64, f64)]) -> String {
        let mut lines = Lines::new(1000);
        for (letters, x, y) in letters {
            let begin = Point::new(*x, *y);
            lines.push(letters, GlyphPlace { begin, end: begin + Vec2::new(5.0, 0.0), size: 10.0 });
        }
        lines.finish().0
    }

    #[test]
    fn gaps_become_spaces_lines_and_paragraphs() {
        assert_eq!(text(&[("a", 0.0, 0.0), ("b", 5.2, 0.0), ("c", 13.0, 0.0)]), "ab c");
        assert_eq!(text(&[("a", 0.0, 0.0), ("2", 5.0, 4.0)]), "a2", "a raised letter");
        assert_eq!(text(&[("a", 0.0, 0.0), ("b", 0.0, -12.0), ("c", 0.0, -40.0)]), "a\nb\n\nc");
        assert_eq!(text(&[("a", 0.0, 0.0), (" ", 5.0, 0.0), ("b", 20.0, 0.0)]), "a b");
    }

    #[test]
    fn what_is_printed_twice_to_look_bold_is_told_once() {
        assert_eq!(text(&[("a", 0.0, 0.0), ("a", 0.3, 0.0), ("a", 5.0, 0.0)]), "aa");
    }

    #[test]
    fn a_text_is_cut_between_characters_and_says_so() {
        let mut lines = Lines::new(3);
        let place = GlyphPlace { begin: Point::ZERO, end: Point::new(5.0, 0.0), size: 10.0 };
        lines.push("é", place);
        lines.push("é", GlyphPlace { begin: Point::new(5.0, 0.0), ..place });
        assert_eq!(lines.finish(), ("é".to_owned(), true));
    }
}
