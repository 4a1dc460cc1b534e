//! The variables that a command is given, a line each: what the call gives and what its
//! shell keeps from an earlier command is one thing to whoever answers. Must not know which
//! of them are harmless.

use std::collections::BTreeMap;

use serde_json::Value;

use super::inline;
use crate::domain::escape;
use crate::policy::Facts;
use crate::policy::variables::{VARIABLES, named};

/// So many are said by lines of their own; all of more stand among the arguments.
const LINES_MAX: usize = 3;

/// One line a variable. Where all of them are said whole, the argument is told.
pub(super) fn notes(facts: &Facts<'_>, told: &mut Vec<String>) -> Vec<String> {
    let Some(given) = named(facts).and_then(Value::as_object) else { return Vec::new() };
    let given: BTreeMap<&String, &Value> = given.iter().collect();
    let is_short = given.len() <= LINES_MAX;
    let shown = if is_short { LINES_MAX } else { LINES_MAX - 1 };
    let mut is_whole = is_short;
    let mut lines: Vec<String> = Vec::new();
    for (name, value) in given.iter().take(shown) {
        let pair = value.as_str().map(|value| format!("{name}={value}"));
        let line = match pair.as_deref().and_then(inline) {
            Some(pair) => format!("With `{pair}`"),
            None => {
                is_whole = false;
                format!("With `{}`, whose value stands below", escape::visible(name))
            }
        };
        lines.push(line);
    }
    if !is_short {
        lines.push(match given.len() - shown {
            1 => "With 1 more variable, which stands below".to_owned(),
            more => format!("With {more} more variables, which stand below"),
        });
    }
    if is_whole {
        told.push(VARIABLES.to_owned());
    }
    lines
}
