//! How deep JSON of strangers may be nested. What is kept lies some levels deeper, and the parser
//! that reads it back takes 128. Must not know whose JSON it is.

use serde_json::Value;

/// Levels of arrays and objects in what comes in: results and forms of servers, schemas, arguments.
pub const LEVELS_MAX: usize = 64;

/// Whether arrays and objects in it lie in each other more than [`LEVELS_MAX`] levels deep.
pub fn is_too_deep(value: &Value) -> bool {
    is_deeper_than(value, LEVELS_MAX)
}

/// The same with another bound. It looks no deeper than that.
pub fn is_deeper_than(value: &Value, levels: usize) -> bool {
    let below = |inner: &Value| levels == 0 || is_deeper_than(inner, levels - 1);
    match value {
        Value::Array(items) => levels == 0 || items.iter().any(below),
        Value::Object(fields) => levels == 0 || fields.values().any(below),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn levels_are_counted_to_the_bound() {
        let nested = |levels: usize| {
            (0..levels).fold(json!(1), |inner, nr| {
                if nr % 2 == 0 { json!([0, inner]) } else { json!({"a": inner}) }
            })
        };
        assert!(!is_too_deep(&nested(LEVELS_MAX)));
        assert!(is_too_deep(&nested(LEVELS_MAX + 1)));
        assert!(is_too_deep(&nested(1_000)));
        assert!(!is_deeper_than(&json!("x"), 0) && is_deeper_than(&json!([]), 0));
    }
}
