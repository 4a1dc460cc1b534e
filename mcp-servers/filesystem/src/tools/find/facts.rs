//! Time and size of a file, as far as they are asked for. Must not know paths or globs.

use cap_std::fs::MetadataExt as _;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::Input;
use crate::error::{Result, ToolError};
use crate::kind::Kind;
use crate::walk::Entry;

/// What is asked of a file beside its path.
pub struct Facts {
    since: Option<Timestamp>,
    before: Option<Timestamp>,
    size_min_bytes: Option<u64>,
    size_max_bytes: Option<u64>,
}

/// Whether an entry is what was asked for.
pub enum Fit {
    NotAsked,
    Not,
    Fits { size_bytes: u64, modified: Timestamp },
}

impl Facts {
    /// # Errors
    /// A time that is none, or bounds between which nothing lies.
    pub fn new(input: &Input) -> Result<Self> {
        let facts = Self {
            since: time("modified_since", input.modified_since.as_deref())?,
            before: time("modified_before", input.modified_before.as_deref())?,
            size_min_bytes: input.size_min_bytes,
            size_max_bytes: input.size_max_bytes,
        };
        let is_empty = facts.since.zip(facts.before).is_some_and(|(since, before)| since >= before)
            || facts.size_min_bytes.zip(facts.size_max_bytes).is_some_and(|(min, max)| min > max);
        if is_empty {
            return Err(ToolError::BadArguments(
                "no file can be that: the lower bound is above the upper one.".into(),
            ));
        }
        Ok(facts)
    }

    /// A directory, a link or a file that is gone meanwhile does not fit where something is asked.
    pub fn of(&self, entry: &Entry<'_>) -> Fit {
        let Self { since, before, size_min_bytes, size_max_bytes } = self;
        if since.is_none()
            && before.is_none()
            && size_min_bytes.is_none()
            && size_max_bytes.is_none()
        {
            return Fit::NotAsked;
        }
        if entry.kind != Kind::File {
            return Fit::Not;
        }
        let Ok(metadata) = entry.parent.symlink_metadata(entry.name) else { return Fit::Not };
        let size_bytes = metadata.len();
        let seconds = metadata.mtime();
        let modified = Timestamp::from_second(seconds).unwrap_or(Timestamp::MIN);
        let fits = since.is_none_or(|since| modified >= since)
            && before.is_none_or(|before| modified < before)
            && size_min_bytes.is_none_or(|min| size_bytes >= min)
            && size_max_bytes.is_none_or(|max| size_bytes <= max);
        if fits { Fit::Fits { size_bytes, modified } } else { Fit::Not }
    }
}

fn time(name: &str, text: Option<&str>) -> Result<Option<Timestamp>> {
    let Some(text) = text.map(str::trim) else { return Ok(None) };
    let of_day = |day: Date| day.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let day = text.parse::<Date>().ok().filter(|_| text.len() == 10).and_then(of_day);
    match day.or_else(|| text.parse::<Timestamp>().ok()) {
        Some(time) => Ok(Some(time)),
        None => Err(ToolError::BadArguments(format!(
            "{name} `{text}` is no time. Write it as 2026-11-23 or 2026-11-23T10:00:00Z."
        ))),
    }
}
