//! Where the next character of a page stands: the text state of PDF (ISO 32000-1, 9.3 and 9.4).
//! Pure. Must not know operators or what becomes of a character.

use hayro_font::Font;
use hayro_font::kurbo::{Affine, Point, Vec2};

/// A font counts its widths in thousandths.
const UNITS_PER_EM: f64 = 1000.0;

/// What `q` saves and `Q` brings back.
#[derive(Clone)]
pub struct State<'a> {
    pub ctm: Affine,
    pub font: Option<Font<'a>>,
    pub font_size: f64,
    pub char_space: f64,
    pub word_space: f64,
    /// 1 is the font's own width.
    pub stretch: f64,
    pub leading: f64,
    pub rise: f64,
    text: Affine,
    line: Affine,
}

/// A character's place on the page: where it begins and where the next one would.
#[derive(Clone, Copy)]
pub struct GlyphPlace {
    pub begin: Point,
    pub end: Point,
    /// The height of the font, in units of the page.
    pub size: f64,
}

impl State<'_> {
    pub fn new(ctm: Affine) -> Self {
        Self {
            ctm,
            font: None,
            font_size: 1.0,
            char_space: 0.0,
            word_space: 0.0,
            stretch: 1.0,
            leading: 0.0,
            rise: 0.0,
            text: Affine::IDENTITY,
            line: Affine::IDENTITY,
        }
    }

    pub fn set_matrix(&mut self, matrix: Affine) {
        self.text = matrix;
        self.line = matrix;
    }

    pub fn next_line(&mut self, x: f64, y: f64) {
        self.set_matrix(self.line * Affine::translate((x, y)));
    }

    /// A number between two pieces of text: how much the next one moves back.
    pub fn adjust(&mut self, thousandths: f64) {
        self.advance(-thousandths / UNITS_PER_EM * self.font_size);
    }

    /// Goes behind a character that takes `width` thousandths. `space` says whether it is the one
    /// that word spacing widens.
    pub fn pass(&mut self, width: Vec2, space: bool) -> GlyphPlace {
        let begin = self.origin();
        let along = if self.is_horizontal() { width.x } else { width.y };
        let extra = self.char_space + if space { self.word_space } else { 0.0 };
        let at = self.text;
        self.advance(along / UNITS_PER_EM * self.font_size);
        let end = self.origin();
        self.text = at;
        self.advance(along / UNITS_PER_EM * self.font_size + extra);
        let [a, b, c, d, ..] = (self.ctm * self.text).as_coeffs();
        let size = (a * d - b * c).abs().sqrt() * self.font_size.abs();
        GlyphPlace { begin, end, size }
    }

    fn origin(&self) -> Point {
        self.ctm * (self.text * Point::new(0.0, self.rise))
    }

    fn advance(&mut self, length: f64) {
        let by = if self.is_horizontal() { (length * self.stretch, 0.0) } else { (0.0, length) };
        self.text *= Affine::translate(by);
    }

    fn is_horizontal(&self) -> bool {
        self.font.as_ref().is_none_or(Font::is_horizontal)
    }
}
