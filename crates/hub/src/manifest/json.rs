//! JSON with comments and trailing commas, where a key that is there twice is an error with its
//! place: most readers keep the last one silently, and then the server that runs is not the one its
//! owner reads. Must not know what a key means.

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::errors::ParseError;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use super::ManifestError;

/// What is JSON in a file that people write: comments and commas at the end, which most MCP clients
/// read, too, and nothing that none of them does.
pub const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// The text behind a byte order mark.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// The document, or `None` where there is nothing but white space and comments.
pub(super) fn parse(text: &str) -> Result<Option<Value>, ManifestError> {
    let text = without_mark(text);
    let parsed = parse_to_ast(text, &CollectOptions::default(), &OPTIONS).map_err(syntax)?;
    parsed.value.as_ref().map(|ast| to_value(ast, text)).transpose()
}

pub(super) fn syntax(error: ParseError) -> ManifestError {
    ManifestError::Syntax {
        line: error.line_display(),
        column: error.column_display(),
        what: error.kind().to_string(),
    }
}

fn to_value(ast: &Ast<'_>, text: &str) -> Result<Value, ManifestError> {
    Ok(match ast {
        Ast::NullKeyword(_) => Value::Null,
        Ast::BooleanLit(lit) => Value::Bool(lit.value),
        Ast::StringLit(lit) => Value::String(lit.value.clone().into_owned()),
        Ast::NumberLit(lit) => serde_json::from_str(lit.value).map_err(|_| {
            let (line, column) = place(text, lit.range);
            ManifestError::Syntax { line, column, what: format!("`{}` is no number", lit.value) }
        })?,
        Ast::Array(array) => Value::Array(
            array.elements.iter().map(|item| to_value(item, text)).collect::<Result<_, _>>()?,
        ),
        Ast::Object(object) => {
            let mut map = Map::new();
            for property in &object.properties {
                let key = property.name.as_str().to_owned();
                if map.contains_key(&key) {
                    let (line, column) = place(text, property.range());
                    return Err(ManifestError::DuplicateKey { key, line, column });
                }
                map.insert(key, to_value(&property.value, text)?);
            }
            Value::Object(map)
        }
    })
}

/// Line and column, both from 1, of a range's start.
fn place(text: &str, range: Range) -> (usize, usize) {
    let before = text.get(..range.start).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}
