//! Names for files that somebody else has named. Pure. Must not know folders.

/// How long the part before the ending may be, in bytes; together with the rest it stays below what
/// any file system takes.
const STEM_BYTES_MAX: usize = 80;
const ENDING_BYTES_MAX: usize = 10;

/// A name for a file that was called `given`: letters, digits, `-` and `_` of it, then `-id`, then
/// its ending. It holds no separator, no control, invisible or direction character, begins with
/// neither a dot nor a dash, and is never empty.
pub fn safe_name(given: &str, id: &str) -> String {
    // Only what stands behind the last separator was a name, whichever system wrote it.
    let given = given.rsplit(['/', '\\']).next().unwrap_or_default();
    let (stem, ending) = match given.rsplit_once('.') {
        Some((stem, ending)) if is_ending(ending) => {
            (stem, format!(".{}", ending.to_ascii_lowercase()))
        }
        _ => (given, String::new()),
    };
    let mut safe = String::new();
    for c in stem.chars() {
        let c = if c.is_alphanumeric() || c == '-' { c } else { '_' };
        if safe.len() + c.len_utf8() > STEM_BYTES_MAX {
            break;
        }
        if !(c == '_' && safe.ends_with('_')) {
            safe.push(c);
        }
    }
    let stem = safe.trim_matches(['_', '-']);
    let stem = if stem.is_empty() { "file" } else { stem };
    format!("{stem}-{id}{ending}")
}

fn is_ending(ending: &str) -> bool {
    (1..=ENDING_BYTES_MAX).contains(&ending.len())
        && ending.chars().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_as_people_and_attackers_write_them() {
        for (given, expected) in [
            ("report.pdf", "report-id.pdf"),
            ("Rechnung März 2026.PDF", "Rechnung_März_2026-id.pdf"),
            ("../../etc/passwd", "passwd-id"),
            ("..\\..\\boot.ini", "boot-id.ini"),
            (".bashrc", "file-id.bashrc"),
            ("-rf", "rf-id"),
            ("invoice\u{202e}fdp.exe", "invoice_fdp-id.exe"),
            ("a\0b\n.txt", "a_b-id.txt"),
            ("", "file-id"),
            ("...", "file-id"),
            ("archive.tar.gz", "archive_tar-id.gz"),
        ] {
            assert_eq!(safe_name(given, "id"), expected, "{given:?}");
        }
        assert!(safe_name(&"ä".repeat(500), "id").len() < 100);
    }

    proptest! {
        #[test]
        fn any_name_is_one_plain_component(given in ".*") {
            let name = safe_name(&given, "0a1b2c3d");
            prop_assert!(name.len() <= 120, "{name}");
            prop_assert!(!name.starts_with(['.', '-']));
            prop_assert!(name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)), "{name}");
        }
    }
}
