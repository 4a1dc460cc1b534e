//! Which characters no door shows as they are, because they show nothing, drive a terminal, or
//! reorder what stands around them. Must not know who shows a text; a question is stricter
//! (`escape`).

/// True for C0, DEL and C1 (ECMA-48), bidirectional controls (UAX #9), line and paragraph
/// separators, what is ignored by default or shows nothing (spaces of no width, fillers, soft
/// hyphens, tags), interlinear annotation, object replacement and noncharacters.
///
/// Joiners (U+200C, U+200D) and variation selectors stay: scripts and emoji need them.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}'
            | '\u{2800}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{16FE4}' | '\u{1D159}'
            | '\u{115F}'..='\u{1160}'
            | '\u{17B4}'..='\u{17B5}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{FDD0}'..='\u{FDEF}'
            | '\u{FFF0}'..='\u{FFFC}'
            | '\u{1BCA0}'..='\u{1BCA3}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}')
        || (c as u32) & 0xFFFE == 0xFFFE
}

/// What a door shows in place of one: `␛` for ESC and its like, `<U+202E>` for the rest.
pub fn hidden_shown(c: char) -> String {
    let code = u32::from(c);
    let picture = match code {
        0..=0x1F => char::from_u32(0x2400 + code),
        0x7F => Some('\u{2421}'),
        _ => None,
    };
    picture.map_or_else(|| format!("<U+{code:04X}>"), String::from)
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;
    use crate::escape::visible;

    #[test]
    fn what_is_ignored_by_default_is_hidden_and_a_question_hides_no_less() {
        let ignored = Regex::new(
            r"[[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cc}\p{Zl}\p{Zp}]--[\p{Variation_Selector}\x{200C}\x{200D}]]",
        )
        .unwrap();
        for c in (0..=0x10_FFFF_u32).filter_map(char::from_u32) {
            let (text, name) = (c.to_string(), format!("U+{:04X}", u32::from(c)));
            assert!(is_hidden(c) || !ignored.is_match(&text), "{name} is shown");
            assert!(!is_hidden(c) || visible(&text).contains('\\'), "{name} in a question");
        }
    }

    #[test]
    fn scripts_and_emoji_keep_what_they_need() {
        let needed = "e\u{301} \u{644}\u{200c}\u{627} 👩\u{200d}👧 ☁\u{fe0f} \u{3000}\u{a0}";
        assert!(!needed.chars().any(is_hidden));
        assert_eq!(hidden_shown('\u{1b}') + &hidden_shown('\u{ad}'), "␛<U+00AD>");
    }
}
