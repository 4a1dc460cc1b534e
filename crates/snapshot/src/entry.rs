//! What stands at one path of a workspace: a folder, a file, a link. Must not know where contents
//! are kept, or what is done with an entry.

use std::cmp::Ordering;
use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The bits of a mode that are remembered: read, write, execute. A set-user-id bit is not given
/// back.
pub(crate) const MODE_BITS: u32 = 0o777;

/// What was found at a path. Two entries are equal if nobody could tell them apart by content,
/// kind, mode or target; times and owners do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    Folder {
        mode: u32,
    },
    File {
        /// SHA-256 of the content, lower-case hexadecimal.
        digest: String,
        bytes: u64,
        mode: u32,
    },
    Link {
        target: RelPath,
    },
}

impl Entry {
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Folder { .. })
    }

    /// Whether both are of one kind and hold the same, whatever their modes.
    pub fn holds_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Folder { .. }, Self::Folder { .. }) => true,
            (Self::File { digest, .. }, Self::File { digest: other, .. }) => digest == other,
            (Self::Link { target }, Self::Link { target: other }) => target == other,
            _ => false,
        }
    }
}

/// A path as the file system has it: bytes. Relative to the workspace, or the target of a link,
/// which may be any. In JSON a name that is not UTF-8 stands as a NUL, which no name can hold, and
/// its bytes in hexadecimal.
///
/// Ordered by its bytes, so that a folder stands before what lies in it. `Path` compares name by
/// name, which took half of the time of a look at 10,000 files.
#[derive(Clone)]
pub struct RelPath(PathBuf);

impl PartialEq for RelPath {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_os_str() == other.0.as_os_str()
    }
}

impl Eq for RelPath {}

impl Ord for RelPath {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.as_os_str().cmp(other.0.as_os_str())
    }
}

impl PartialOrd for RelPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl RelPath {
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// The folder that it lies in; `None` for what lies in the workspace itself.
    pub(crate) fn above(&self) -> Option<Self> {
        let above = self.0.parent().filter(|above| !above.as_os_str().is_empty())?;
        Some(Self(above.to_owned()))
    }
}

impl From<PathBuf> for RelPath {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.to_str() {
            Some(text) => serializer.serialize_str(text),
            None => {
                let hex = claw_domain::canonical::hex(self.0.as_os_str().as_bytes());
                serializer.serialize_str(&format!("\0{hex}"))
            }
        }
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let Some(hex) = text.strip_prefix('\0') else { return Ok(Self(text.into())) };
        let bytes: Option<Vec<u8>> = (hex.len() % 2 == 0)
            .then(|| {
                (0..hex.len())
                    .step_by(2)
                    .map(|at| u8::from_str_radix(hex.get(at..at + 2)?, 16).ok())
                    .collect()
            })
            .flatten();
        let bytes = bytes.ok_or_else(|| D::Error::custom("a path's bytes are not hexadecimal"))?;
        Ok(Self(OsString::from_vec(bytes).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_not_utf8_comes_back_as_it_was() {
        for bytes in [b"a b".as_slice(), "ü/ß".as_bytes(), b"\xff\xfe/x", b"\xff"] {
            let path = RelPath(OsString::from_vec(bytes.to_vec()).into());
            let text = serde_json::to_string(&path).unwrap();
            assert_eq!(serde_json::from_str::<RelPath>(&text).unwrap(), path, "{text}");
        }
        assert!(serde_json::from_str::<RelPath>("\"\\u0000f\"").is_err());
        assert!(serde_json::from_str::<RelPath>("\"\\u0000zz\"").is_err());
    }
}
