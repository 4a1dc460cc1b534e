//! A number with its noun, as a sentence holds it: `1 note`, `2 notes`, `2 entries`; and a large
//! one with its digits in groups. Must not know what is counted.

use std::fmt::Display;

/// The noun is English and in the singular. What a sentence says of it (`is`, `are`) is its own;
/// where that stands right behind it, see [`counted_with`].
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, noun: &str) -> String {
    if number == N::from(1) { format!("1 {noun}") } else { format!("{number} {}", many(noun)) }
}

/// The number, its noun, and the word behind it: `1 job is`, `2 jobs are`.
pub fn counted_with<N: Display + PartialEq + From<u8>>(
    number: N,
    noun: &str,
    one: &str,
    many: &str,
) -> String {
    let word = if number == N::from(1) { one } else { many };
    format!("{} {word}", counted(number, noun))
}

/// With a comma before each three digits: `250,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
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
    use super::{counted, counted_with, grouped};

    #[test]
    fn digits_are_grouped_from_the_end() {
        let groups: Vec<String> = [0, 999, 1_000, 250_000, 1_234_567].map(grouped).into();
        assert_eq!(groups, ["0", "999", "1,000", "250,000", "1,234,567"]);
    }

    #[test]
    fn one_is_one_and_all_else_is_many() {
        assert_eq!(counted(1_u64, "note"), "1 note");
        assert_eq!(counted(0_usize, "byte"), "0 bytes");
        assert_eq!(counted(2_i64, "entry"), "2 entries");
        assert_eq!(counted(3_u32, "match"), "3 matches");
        assert_eq!(counted(4_usize, "day"), "4 days");
        assert_eq!(counted(5_usize, "process"), "5 processes");
        assert_eq!(counted_with(1_usize, "job", "is", "are"), "1 job is");
        assert_eq!(counted_with(2_usize, "job", "is", "are"), "2 jobs are");
    }
}
