//! A number with its noun, as a sentence holds it: `1 note`, `2 notes`, `2 entries`. Must not know
//! what is counted.

use std::fmt::Display;

/// The noun is English and in the singular. What a sentence says of it (`is`, `are`) is its own.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    if number == N::from(1) { format!("1 {noun}") } else { format!("{number} {}", many(noun)) }
}

fn many(noun: &str) -> String {
    let ends = |ends: &[&str]| ends.iter().any(|end| noun.ends_with(end));
    match noun.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'o', 'u']) => format!("{stem}ies"),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::counted;

    #[test]
    fn one_is_one_and_all_else_is_many() {
        assert_eq!(counted(1_u64, "note"), "1 note");
        assert_eq!(counted(0_usize, "byte"), "0 bytes");
        assert_eq!(counted(2_i64, "entry"), "2 entries");
        assert_eq!(counted(3_u32, "match"), "3 matches");
        assert_eq!(counted(4_usize, "day"), "4 days");
        assert_eq!(counted(5_usize, "process"), "5 processes");
    }
}
