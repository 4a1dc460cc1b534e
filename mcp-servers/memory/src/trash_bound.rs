//! How much the trash keeps, and for how long. Owns what goes first and what never goes; that
//! something has gone is noted down and told by a check. Must not know why a file was thrown away.

use serde::{Deserialize, Serialize};

use crate::args::Limits;
use crate::asked::OPEN_S;
use crate::error::{Result, ToolError};
use crate::memory::Memory;
use crate::note::time;

/// What was removed from the trash permanently since there is one.
const FILE: &str = "trash-gone.json";
const MODE: u32 = 0o600;
const DAY_S: i64 = 86_400;

/// Counted over all times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RemovedFromTrash {
    pub entries: u64,
    pub bytes: u64,
    /// When the last one went, in seconds since 1970.
    pub last: i64,
}

/// One thing that was thrown away: a folder at the top of the trash, named by its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrown {
    pub name: String,
    pub bytes: u64,
}

impl Memory {
    /// Removes permanently what the trash has no room or time for, the oldest first. The caller
    /// holds the lock.
    ///
    /// # Errors
    /// The trash cannot be read, or a file in it not removed.
    pub fn bound_trash(&self) -> Result<()> {
        let io = |error: &std::io::Error| ToolError::io("empty", "the trash", error);
        let thrown = self.trash.tops().map_err(|error| io(&error))?;
        let going = going(&thrown, &self.limits, time::now());
        if going.is_empty() {
            return Ok(());
        }
        let mut gone = self.removed();
        for one in going {
            self.trash.remove_top(&one.name).map_err(|error| io(&error))?;
            gone.entries += 1;
            gone.bytes += one.bytes;
        }
        gone.last = time::now();
        let text = serde_json::to_string(&gone).unwrap_or_default();
        claw_kit::durable::replace(&self.state.join(FILE), &text, MODE)
            .map_err(|error| ToolError::io("write", FILE, &error))
    }

    /// A file that is not understood counts as none: it is only told.
    pub fn removed(&self) -> RemovedFromTrash {
        let text = std::fs::read_to_string(self.state.join(FILE)).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Two sentences at most: what the trash holds, and what has left it. `None` if
    /// there is neither.
    ///
    /// # Errors
    /// The trash cannot be read.
    pub fn trash_told(&self) -> Result<Option<String>> {
        let thrown =
            self.trash.tops().map_err(|error| ToolError::io("read", "the trash", &error))?;
        let bytes: u64 = thrown.iter().map(|one| one.bytes).sum();
        let gone = self.removed();
        if thrown.is_empty() && gone.entries == 0 {
            return Ok(None);
        }
        let mut told =
            format!("The trash holds {}, {} KiB", files(thrown.len() as u64), bytes.div_ceil(1024));
        if gone.entries > 0 {
            told.push_str(&format!(
                "; removed permanently: {}, {} KiB, the last on {} ({})",
                files(gone.entries),
                gone.bytes.div_ceil(1024),
                time::day(gone.last),
                self.limits.named("--trash-days-max, --trash-files-max, --trash-bytes-max")
            ));
        }
        told.push('.');
        Ok(Some(told))
    }
}

fn files(count: u64) -> String {
    format!("{count} file{}", if count == 1 { "" } else { "s" })
}

/// What has to go, the oldest first. What has no time in its name somebody has put there by hand;
/// it stays. What a proposal has become is looked up as long as the same proposal may come again.
fn going(thrown: &[Thrown], limits: &Limits, now: i64) -> Vec<Thrown> {
    let mut dated: Vec<(i64, &Thrown)> =
        thrown.iter().filter_map(|one| Some((thrown_at(&one.name)?, one))).collect();
    dated.sort_by(|(_, one), (_, other)| other.name.cmp(&one.name));
    let days_max = i64::try_from(limits.trash_days_max).unwrap_or(i64::MAX / DAY_S);
    let oldest = now.saturating_sub(days_max.saturating_mul(DAY_S));
    let (mut files, mut bytes) = (0_u64, 0_u64);
    let mut going = Vec::new();
    for (at, one) in dated {
        let is_looked_up = one.name.ends_with("-promoted") && at > now - OPEN_S;
        let has_room = files < limits.trash_files_max
            && bytes.saturating_add(one.bytes) <= limits.trash_bytes_max;
        if is_looked_up || (at >= oldest && has_room) {
            files += 1;
            bytes = bytes.saturating_add(one.bytes);
        } else {
            going.push(one.clone());
        }
    }
    going.reverse();
    going
}

/// When something was thrown away: `20261123T101112123456789-a1b2c3-forgotten`.
fn thrown_at(name: &str) -> Option<i64> {
    let (when, rest) = name.split_once('-')?;
    let (day, of_day) = when.split_at_checked(8).filter(|_| when.is_ascii())?;
    rest.contains('-').then_some(())?;
    let part = |text: &str, from: usize| text.get(from..from + 2).map(str::to_owned);
    let clock = of_day.strip_prefix('T')?;
    time::parse(&format!(
        "{}-{}-{}T{}:{}:{}Z",
        day.get(..4)?,
        part(day, 4)?,
        part(day, 6)?,
        part(clock, 0)?,
        part(clock, 2)?,
        part(clock, 4)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 1_795_392_000; // 2026-11-23

    fn thrown(names: &[(&str, u64)]) -> Vec<Thrown> {
        names.iter().map(|(name, bytes)| Thrown { name: (*name).into(), bytes: *bytes }).collect()
    }

    fn names(going: Vec<Thrown>) -> Vec<String> {
        going.into_iter().map(|one| one.name).collect()
    }

    #[test]
    fn the_oldest_goes_first_and_what_is_looked_up_or_not_ours_stays() {
        let now = DAY + 12 * 3600;
        let all = thrown(&[
            ("20261123T080000000000003-c-replaced", 10),
            ("20261120T080000000000001-a-promoted", 10),
            ("20261121T080000000000002-b-forgotten", 10),
            ("20251121T080000000000000-z-promoted", 10),
            ("kept by hand", 999),
        ]);
        assert_eq!(thrown_at("20261123T000000000000003-c-replaced"), Some(DAY));
        let limits = |days, files, bytes| Limits {
            trash_days_max: days,
            trash_files_max: files,
            trash_bytes_max: bytes,
            ..Limits::default()
        };
        let gone = |limits: Limits| names(going(&all, &limits, now));
        let old = "20251121T080000000000000-z-promoted".to_owned();
        let second = "20261121T080000000000002-b-forgotten".to_owned();
        assert_eq!(gone(limits(10_000, 100, 1_000)), Vec::<String>::new());
        assert_eq!(gone(limits(300, 100, 1_000)), std::slice::from_ref(&old));
        assert_eq!(gone(limits(1, 100, 1_000)), [old.clone(), second.clone()]);
        assert_eq!(gone(limits(10_000, 1, 1_000)), [old.clone(), second.clone()]);
        assert_eq!(gone(limits(10_000, 100, 25)), [old,]);
    }
}
