//! The lines of the file that every prompt holds, as text: what a change makes of them. Pure. Must
//! not know where the file lies, or who wants the change.

use crate::error::{Result, ToolError};
use crate::note::one_line;
use crate::same::{Relation, is_same, relation};

/// How a line that is added begins.
const BULLET: &str = "- ";

/// One change of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// The line that is there from now on. `None`: nothing new.
    pub text: Option<String>,
    /// The line that goes, as [`words`] gives it.
    pub instead_of: Option<String>,
}

/// The text with the change in it.
///
/// # Errors
/// The line that goes is not there.
pub fn changed(text: &str, change: &Change) -> Result<String> {
    let Some(old) = &change.instead_of else {
        let new = change.text.as_deref().unwrap_or_default();
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        return Ok(format!("{text}{end}{BULLET}{new}\n"));
    };
    let mut is_found = false;
    let mut made = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if is_found || words(line) != *old {
            made.push_str(line);
            continue;
        }
        is_found = true;
        let Some(new) = &change.text else { continue };
        let (front, behind) = line.split_once(old.as_str()).unwrap_or((BULLET, "\n"));
        made.push_str(&format!("{front}{new}{behind}"));
    }
    match is_found {
        true => Ok(made),
        false => Err(ToolError::Refused(format!(
            "no line says `{old}`, so nothing was changed. Name the line as it stands in the file."
        ))),
    }
}

/// A line without what makes it an item of a list.
pub fn words(line: &str) -> String {
    let line = line.trim();
    let item = line.strip_prefix(['-', '*', '+']);
    let item = item.filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));
    item.unwrap_or(line).trim().to_owned()
}

/// A line as it is wanted.
///
/// # Errors
/// It is empty, or more than one line.
pub fn wanted(text: &str) -> Result<String> {
    let text = text.replace('\0', "");
    let line = words(&text);
    if line.is_empty() {
        return Err(ToolError::BadArguments(
            "the text is empty: say what is to be remembered.".into(),
        ));
    }
    if line.contains(['\n', '\r']) {
        return Err(ToolError::BadArguments(
            "the text has several lines, and what every prompt holds is one short line: say it in \
             one, or keep it as a note."
                .into(),
        ));
    }
    Ok(one_line(&line))
}

/// The line that says all of this already.
pub fn known<'a>(text: &'a str, wanted: &str, word_for_word: bool) -> Option<&'a str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).find(|line| match word_for_word {
        true => is_same(line, wanted),
        false => relation(line, wanted) == Relation::Known,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(text: Option<&str>, instead_of: Option<&str>) -> Change {
        Change { text: text.map(str::to_owned), instead_of: instead_of.map(str::to_owned) }
    }

    #[test]
    fn one_line_is_added_replaced_or_taken_out_and_the_others_keep_their_bytes() {
        let text = "# Mine\r\n\n  * Likes tea\nOld.";
        for (change, made) in [
            (change(Some("New."), None), "# Mine\r\n\n  * Likes tea\nOld.\n- New.\n"),
            (change(Some("New."), Some("Likes tea")), "# Mine\r\n\n  * New.\nOld."),
            (change(None, Some("Likes tea")), "# Mine\r\n\nOld."),
            (change(Some("New."), Some("Old.")), "# Mine\r\n\n  * Likes tea\nNew."),
        ] {
            assert_eq!(changed(text, &change).unwrap(), made);
        }
        assert_eq!(changed("", &change(Some("A"), None)).unwrap(), "- A\n");
        assert!(changed(text, &change(None, Some("tea"))).is_err(), "a part is no line");
        // The first of two that say the same.
        assert_eq!(changed("- a\n- a\n", &change(None, Some("a"))).unwrap(), "- a\n");
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(wanted(" -  Likes   tea ").unwrap(), "Likes tea");
        assert!(wanted("a\nb").is_err() && wanted(" - ").is_err());
    }
}
