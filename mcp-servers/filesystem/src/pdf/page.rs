//! One page of a PDF: its operators are followed as far as they place text (ISO 32000-1,
//! 9.4), forms included. Images, paths and colours are passed over. Must not know
//! processes or limits on time.

use std::sync::Arc;

use hayro_font::hayro_cmap::BfString;
use hayro_font::hayro_syntax::content::TypedIter;
use hayro_font::hayro_syntax::content::ops::TypedInstruction;
use hayro_font::hayro_syntax::object::dict::keys::{MATRIX, RESOURCES, SUBTYPE};
use hayro_font::hayro_syntax::object::{Name, Object, String as PdfString};
use hayro_font::hayro_syntax::page::{Page as PdfPage, Resources};
use hayro_font::kurbo::Affine;
use hayro_font::{CMapResolverFn, FontCache, FontGlyph, FontQuery, FontResolverFn, StandardFont};

use super::Page;
use super::lines::Lines;
use super::state::State;

/// Forms within forms. A form may hold itself.
const FORMS_DEEP_MAX: usize = 16;

/// States that `q` has saved and `Q` has not brought back.
const STATES_MAX: usize = 512;

/// Reads pages of one document. Owns its fonts, from the first page that uses one to the end.
pub struct Reader<'a> {
    fonts: FontCache<'a>,
    font_resolver: FontResolverFn,
    cmap_resolver: CMapResolverFn,
}

/// What of a page was read so far.
struct Pass<'r, 'a> {
    reader: &'r Reader<'a>,
    lines: Lines,
    unknown: u64,
}

impl<'a> Reader<'a> {
    pub fn new() -> Self {
        Self {
            fonts: FontCache::new(),
            // Metrics of the fonts that a PDF need not bring along; without them no gap is known.
            font_resolver: Arc::new(|query| {
                Some(match query {
                    FontQuery::Standard(font) => font.get_font_data(),
                    FontQuery::Fallback(query) => query.pick_standard_font().get_font_data(),
                })
            }),
            // The predefined maps of East Asian encodings are not in this program: 0.4 MB for files
            // that bring no map of their own.
            cmap_resolver: Arc::new(|_| None),
        }
    }

    /// The text of a page, up to `bytes_max` bytes of it.
    pub fn page(&self, number: u64, page: &PdfPage<'a>, bytes_max: usize) -> Page {
        let mut pass = Pass { reader: self, lines: Lines::new(bytes_max), unknown: 0 };
        let upright = Affine::new(page.initial_transform(false).as_coeffs());
        pass.follow(page.typed_operations(), page.resources(), State::new(upright), 0);
        let unknown = pass.unknown;
        let (text, cut) = pass.lines.finish();
        Page { number, text, unknown, cut }
    }
}

impl<'a> Pass<'_, 'a> {
    fn follow(
        &mut self,
        mut operators: TypedIter<'_>,
        resources: &Resources<'a>,
        mut state: State<'a>,
        deep: usize,
    ) {
        let mut saved: Vec<State<'a>> = Vec::new();
        while let Some(operator) = operators.next() {
            match operator {
                TypedInstruction::SaveState(_) if saved.len() < STATES_MAX => {
                    saved.push(state.clone());
                }
                TypedInstruction::RestoreState(_) => {
                    state = saved.pop().unwrap_or(state);
                }
                TypedInstruction::XObject(form) if deep < FORMS_DEEP_MAX => {
                    self.form(form.0, resources, &state, deep + 1);
                }
                TypedInstruction::TextFont(font) => {
                    state.font_size = font.1.as_f64();
                    state.font = self.font(font.0, resources);
                }
                TypedInstruction::ShowText(text) => self.show(text.0, &mut state),
                TypedInstruction::NextLineAndShowText(text) => {
                    next_line(&mut state);
                    self.show(text.0, &mut state);
                }
                TypedInstruction::ShowTextWithParameters(text) => {
                    state.word_space = text.0.as_f64();
                    state.char_space = text.1.as_f64();
                    next_line(&mut state);
                    self.show(text.2, &mut state);
                }
                TypedInstruction::ShowTexts(texts) => {
                    for piece in texts.0.iter::<Object<'_>>() {
                        match piece {
                            Object::Number(number) => state.adjust(number.as_f64()),
                            Object::String(text) => self.show(&text, &mut state),
                            _ => {}
                        }
                    }
                }
                other => set(&mut state, &other),
            }
            if self.lines.cut {
                return;
            }
        }
    }

    fn form(&mut self, name: &Name<'_>, resources: &Resources<'a>, state: &State<'a>, deep: usize) {
        let Some(stream) = resources.get_x_object(name) else { return };
        let dict = stream.dict();
        let is_form = dict.get::<Name<'_>>(SUBTYPE).is_some_and(|kind| kind.as_str() == "Form");
        let Some(operators) = is_form.then(|| stream.decoded_data().ok()).flatten() else { return };
        let matrix = dict.get::<[f64; 6]>(MATRIX).map_or(Affine::IDENTITY, Affine::new);
        let own = dict.get(RESOURCES).map(Resources::new);
        let mut state = state.clone();
        state.ctm *= matrix;
        self.follow(TypedIter::new(&operators), own.as_ref().unwrap_or(resources), state, deep);
    }

    /// A font that the page names and does not have is Helvetica to other readers, too.
    fn font(&self, name: &Name<'_>, resources: &Resources<'a>) -> Option<hayro_font::Font<'a>> {
        let Reader { fonts, font_resolver, cmap_resolver } = self.reader;
        match resources.get_font(name) {
            Some(dict) => fonts.font(&dict, font_resolver, cmap_resolver),
            None => fonts.standard_font(StandardFont::Helvetica, font_resolver),
        }
    }

    fn show(&mut self, text: &PdfString<'_>, state: &mut State<'a>) {
        let bytes = text.as_bytes();
        let Some(font) = state.font.clone() else {
            self.unknown += bytes.len() as u64;
            return;
        };
        let mut at = 0;
        while at < bytes.len() && !self.lines.cut {
            let (code, length) = font.read_code(bytes, at);
            at += length.max(1);
            let letters = match font.glyph(font.map_code(code), code) {
                FontGlyph::Outline(glyph) => glyph.as_unicode(),
                FontGlyph::Type3(glyph) => glyph.as_unicode(),
            };
            let place = state.pass(font.code_advance(code), code == 32 && length == 1);
            let mut buffer = [0; 4];
            let letters = match &letters {
                Some(BfString::Char(letter)) => {
                    ligature(*letter).unwrap_or_else(|| letter.encode_utf8(&mut buffer))
                }
                Some(BfString::String(letters)) => letters,
                None => {
                    self.unknown += 1;
                    "\u{fffd}"
                }
            };
            self.lines.push(letters, place);
        }
    }
}

/// The operators that change nothing but the state.
fn set(state: &mut State<'_>, operator: &TypedInstruction<'_, '_>) {
    let affine = |a: [f64; 6]| Affine::new(a);
    match operator {
        TypedInstruction::Transform(m) => {
            state.ctm *= affine([m.0, m.1, m.2, m.3, m.4, m.5].map(|number| number.as_f64()));
        }
        TypedInstruction::SetTextMatrix(m) => {
            let matrix = [m.0, m.1, m.2, m.3, m.4, m.5].map(|number| number.as_f64());
            state.set_matrix(affine(matrix));
        }
        TypedInstruction::BeginText(_) => state.set_matrix(Affine::IDENTITY),
        TypedInstruction::CharacterSpacing(space) => state.char_space = space.0.as_f64(),
        TypedInstruction::WordSpacing(space) => state.word_space = space.0.as_f64(),
        TypedInstruction::HorizontalScaling(percent) => state.stretch = percent.0.as_f64() / 100.0,
        TypedInstruction::TextLeading(leading) => state.leading = leading.0.as_f64(),
        TypedInstruction::TextRise(rise) => state.rise = rise.0.as_f64(),
        TypedInstruction::NextLine(by) => state.next_line(by.0.as_f64(), by.1.as_f64()),
        TypedInstruction::NextLineAndSetLeading(by) => {
            state.leading = -by.1.as_f64();
            state.next_line(by.0.as_f64(), by.1.as_f64());
        }
        TypedInstruction::NextLineUsingLeading(_) => next_line(state),
        _ => {}
    }
}

fn next_line(state: &mut State<'_>) {
    let leading = state.leading;
    state.next_line(0.0, -leading);
}

/// Letters that are joined in print are searched for one by one.
fn ligature(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        _ => return None,
    })
}
