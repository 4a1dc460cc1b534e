//! Shell texts that claw understands to the last byte, and what they mean: lists of simple commands
//! whose words are all literal. Pure. Owns which texts count as understood and which programs are
//! known; must not know grants, questions, or what lies on the disk.
//!
//! Nothing here says "dangerous": a text is understood, or it is not, and what is not understood is
//! asked about. Two readers that share nothing must agree on every word: `plain`, which takes a
//! handful of bytes and knows no expansion, and `brush-parser` behind it (`parsed`). Only texts
//! that `plain` has taken come to the second one, so that no text which a model wrote can make a
//! grammar recurse or backtrack. `deny` reads the same texts for another purpose and with another
//! reader: it must look into everything, this must look into nothing.

pub mod grants;
mod options;
mod parsed;
mod plain;
#[cfg(test)]
mod tests;

/// The longest text that is read, in bytes. What is longer is asked about.
pub const TEXT_BYTES_MAX: usize = 4096;

/// What stands between a simple command and the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// Nothing: it is the first one.
    Start,
    /// `&&`
    And,
    /// `||`
    Or,
    /// `;`
    Then,
    /// `|`
    Pipe,
}

/// One simple command, as bash runs it: the program's name and its arguments, which hold nothing to
/// expand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellStep {
    pub joint: Joint,
    /// Never empty. The first one is made of letters, digits and `+ - . _`, was not quoted, and is
    /// no word of bash's grammar.
    pub words: Vec<String>,
}

impl ShellStep {
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    pub fn args(&self) -> &[String] {
        self.words.get(1..).unwrap_or_default()
    }
}

/// Reads a command as `bash -c` would. `None` where anything in it is more than literal words:
/// quotes aside, no expansion, no glob, no redirection, no assignment, no group, no background, no
/// line feed, nothing but ASCII.
pub fn read(text: &str) -> Option<Vec<ShellStep>> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    let steps = plain::read(text)?;
    (parsed::read(text)? == steps).then_some(steps)
}
