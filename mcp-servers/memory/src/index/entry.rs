//! A file as it stands in the index. Owns what is derived from the file's content and name alone,
//! so that any two indexes of the same files are equal. Must not know SQL.

use sha2::{Digest as _, Sha256};

use crate::error::why;
use crate::folder::{Content, Stamp, conflict, stem};
use crate::note::Note;

/// The id of a conflict copy without front matter is that of its original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: String,
    /// Of the file's bytes. A version of a note is its beginning.
    pub digest: String,
    /// The note's own id, else its path.
    pub id: String,
    /// Whether its name is that of a conflict copy.
    pub is_copy: bool,
    pub note: Note,
    /// When it was last said to be so: updated, else created, else when the file was written.
    pub dated: i64,
}

/// Bytes of a digest that are kept.
const DIGEST_BYTES: usize = 16;

/// The part of a digest that a model is shown and sends back.
pub const VERSION_CHARS: usize = 12;

impl Entry {
    pub fn new(path: &str, stamp: &Stamp, content: &Content) -> Self {
        let named = |fault: String| Note {
            subject: stem(path).to_owned(),
            fault: Some(fault),
            ..Note::default()
        };
        let (note, digest) = match content {
            Content::Text(bytes) => {
                let note = match std::str::from_utf8(bytes) {
                    Ok(text) => Note::parse(text, stem(path)),
                    Err(_) => Note {
                        body: String::from_utf8_lossy(bytes).trim().to_owned(),
                        ..named("it is not UTF-8 text".to_owned())
                    },
                };
                (note, digest(bytes))
            }
            Content::TooLarge(size) => (
                named(format!(
                    "it has {size} bytes, which is more than one note may have; split it"
                )),
                String::new(),
            ),
            Content::Unreadable(error) => {
                (named(format!("it cannot be read: {}", why(error))), String::new())
            }
        };
        let original = conflict::original(path);
        let id =
            note.id.clone().unwrap_or_else(|| original.clone().unwrap_or_else(|| path.to_owned()));
        let dated = note.updated.or(note.created).unwrap_or_else(|| stamp.modified_s());
        Self { path: path.to_owned(), digest, id, is_copy: original.is_some(), note, dated }
    }

    pub fn version(&self) -> String {
        self.digest.chars().take(VERSION_CHARS).collect()
    }
}

pub fn digest(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().take(DIGEST_BYTES).map(|byte| format!("{byte:02x}")).collect()
}
