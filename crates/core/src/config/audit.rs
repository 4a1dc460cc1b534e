//! The `[audit]` section of `claw.toml`. Must not know who keeps to it.

use serde::Deserialize;

/// What is told of the audit without being asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditSection {
    /// Tell number and digest of the newest row to `telegram.notify_chat`, once a day.
    pub tell_head: bool,
    /// When to tell there what ran without a question, in the owner's zone; never if it
    /// is left out.
    pub digest_at: Option<TimeOfDay>,
}

/// A time of the day, written as `20:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct TimeOfDay(pub jiff::civil::Time);

impl TryFrom<String> for TimeOfDay {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let time = jiff::civil::Time::strptime("%H:%M", &text);
        time.map(Self).map_err(|_| {
            format!("`{text}` is no time of the day; write hours and minutes, such as \"20:00\"")
        })
    }
}

/// When something is told every day, written as `20:00`, or `never`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Daily(pub Option<jiff::civil::Time>);

impl TryFrom<String> for Daily {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self(None));
        }
        let at = TimeOfDay::try_from(text).map_err(|why| format!("{why}, or \"never\""))?;
        Ok(Self(Some(at.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<AuditSection, toml::de::Error> {
        toml::from_str(text)
    }

    #[test]
    fn a_day_has_a_time_or_none() {
        let at = |text: &str| Daily::try_from(text.to_owned());
        assert_eq!(at("never"), Ok(Daily(None)));
        assert_eq!(at("20:05"), Ok(Daily(Some(jiff::civil::time(20, 5, 0, 0)))));
        assert!(at("off").unwrap_err().ends_with("such as \"20:00\", or \"never\""));
    }

    #[test]
    fn a_time_is_hours_and_minutes() {
        let at = |text: &str| read(&format!("digest_at = \"{text}\"")).map(|read| read.digest_at);
        assert_eq!(read("").unwrap().digest_at, None);
        assert_eq!(at("20:05").unwrap(), Some(TimeOfDay(jiff::civil::time(20, 5, 0, 0))));
        for wrong in ["", "8 pm", "24:00", "20:60", "20:00:00", "-1:00", "20"] {
            let error = at(wrong).unwrap_err().to_string();
            assert!(error.contains("such as \"20:00\""), "{wrong}: {error}");
        }
    }
}
