//! A text file that is read whole to be changed, within a limit that its new text has to keep, too.
//! Must not know what becomes of it.

use std::io::Read as _;

use cap_std::fs::Metadata;

use crate::access::Access;
use crate::error::{Result, ToolError};
use crate::place::Place;
use crate::text;

/// How much of a text may be changed at once.
#[derive(Clone, Copy)]
pub struct TextLimit {
    pub bytes: u64,
    /// What to do with a larger one: a sentence for the model.
    pub instead: &'static str,
}

impl TextLimit {
    /// # Errors
    /// So many bytes are more than the limit.
    pub fn check(&self, place: &Place, size_bytes: u64) -> Result<()> {
        if size_bytes <= self.bytes {
            return Ok(());
        }
        let (path, limit_bytes, instead) = (place.shown.clone(), self.bytes, self.instead);
        Err(ToolError::TooLarge { path, size_bytes, limit_bytes, instead })
    }

    /// The text that stands at a place now.
    ///
    /// # Errors
    /// It cannot be opened or read, is larger than the limit, or is no text in UTF-8.
    pub fn read(&self, access: &Access<'_>, place: &Place) -> Result<(String, Metadata)> {
        let (file, metadata) = access.open_file(place)?;
        self.check(place, metadata.len())?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(usize::MAX));
        file.take(self.bytes)
            .read_to_end(&mut bytes)
            .map_err(|error| ToolError::io("read", &place.shown, &error))?;
        let not_text = |bytes: &[u8]| ToolError::NotText {
            path: place.shown.clone(),
            guess: text::guess(bytes).to_owned(),
            size_bytes: metadata.len(),
        };
        if text::looks_binary(&bytes) {
            return Err(not_text(&bytes));
        }
        let text = String::from_utf8(bytes).map_err(|error| not_text(error.as_bytes()))?;
        Ok((text, metadata))
    }
}
