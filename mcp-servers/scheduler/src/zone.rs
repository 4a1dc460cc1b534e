//! A time zone with its name, and times as people read them. Owns how a time is written; must not
//! know jobs.

use claw_kit::zone;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Result, ToolError};

/// What a system without a zone has.
const NO_ZONE: &str = "UTC";

#[derive(Clone, Debug)]
pub struct Zone {
    /// As in the IANA database.
    pub name: String,
    pub rules: TimeZone,
}

impl Zone {
    /// # Errors
    /// There is no such zone.
    pub fn named(name: &str) -> Result<Self> {
        let name = name.trim();
        let unknown = || {
            ToolError::refused(format!(
                "there is no zone `{name}`. Write it as in the IANA database, for example `Europe/Berlin`."
            ))
        };
        let rules = TimeZone::get(name).map_err(|_| unknown())?;
        let name = rules.iana_name().ok_or_else(unknown)?.to_owned();
        Ok(Self { name, rules })
    }

    /// The same for an answer, which must not fail when the system has lost a zone: in UTC then.
    pub fn shown(name: &str) -> Self {
        Self::named(name)
            .unwrap_or_else(|_| Self { name: NO_ZONE.to_owned(), rules: TimeZone::UTC })
    }

    /// The system's zone. A system that names none is taken to be in UTC.
    pub fn system() -> Self {
        let rules = zone::system();
        match zone::name_of(&rules) {
            Some(name) => Self { name: name.to_owned(), rules },
            None => Self { name: NO_ZONE.to_owned(), rules: TimeZone::UTC },
        }
    }

    /// A time as it is written in every answer.
    pub fn moment(&self, at: i64) -> Moment {
        let at = Timestamp::from_second(at).unwrap_or(Timestamp::MAX);
        let local = at.to_zoned(self.rules.clone());
        let format = if local.second() == 0 { "%Y-%m-%d %H:%M" } else { "%Y-%m-%d %H:%M:%S" };
        Moment {
            weekday: local.strftime("%A").to_string(),
            local: local.strftime(format).to_string(),
            zone: self.name.clone(),
            utc: at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        }
    }
}

/// A time as people read it, and as a program does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct Moment {
    pub weekday: String,
    /// Date and time of day in the zone, without seconds if they are 0.
    pub local: String,
    /// As in the IANA database.
    pub zone: String,
    /// The same in UTC, as RFC 3339.
    pub utc: String,
}

impl Moment {
    pub fn line(&self) -> String {
        format!("{} {} ({})", self.weekday, self.local, self.zone)
    }
}
