//! What a model asks for: the fields of `schedule`, and those that `change` replaces. Owns how they
//! become a plan, and which are refused; must not know storage.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::{Result, ToolError};
use crate::job::{IfMissed, Overlap, Plan, What};
use crate::schedule::Schedule;
use crate::when::{Fields, Rule, end_of};
use crate::zone::Zone;

/// Names that a host gives, in bytes.
const NAME_BYTES_MAX: usize = 256;

/// The widest jitter, in seconds.
const JITTER_S_MAX: u64 = 3_600;

/// The longest `not_later_than_minutes`: ten years.
const LATE_MINUTES_MAX: u64 = 5_256_000;

/// As `until`: the job has no end.
const NO_END: &str = "never";

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub struct JobRequest {
    /// What is to be done then, in words for an agent. Give this or `say`.
    #[serde(default)]
    text: Option<String>,
    /// A reminder of words only: it is said as it is, without an agent. Give this or `text`.
    #[serde(default)]
    say: Option<String>,
    /// Once, so many seconds from now.
    #[serde(default)]
    in_seconds: Option<u64>,
    /// Once, so many minutes from now. Fractions are allowed.
    #[serde(default)]
    in_minutes: Option<f64>,
    /// Once, at this time of day in the zone: `09:00`. Without `date` and `weekday` the
    /// next time it is so late.
    #[serde(default)]
    at_local: Option<String>,
    /// The day of `at_local`: `2026-12-24`, `today` or `tomorrow`.
    #[serde(default)]
    date: Option<String>,
    /// The day of `at_local`: the next such weekday whose time lies ahead, `monday` to `sunday`.
    #[serde(default)]
    weekday: Option<String>,
    /// Again and again by real time: `15m`, `2h`. For times of day use `cron`.
    #[serde(default)]
    every: Option<String>,
    /// Again and again by local time, five fields (minute, hour, day of the month, month, weekday):
    /// `0 9 * * 1-5` is at 09:00 from Monday to Friday.
    #[serde(default)]
    cron: Option<String>,
    /// The time zone, as in the IANA database: `Europe/Berlin`. Default: the server's own.
    #[serde(default)]
    zone: Option<String>,
    /// The host's name of the chat that it is for.
    #[serde(default)]
    chat: Option<String>,
    /// The host's name of the topic that it is for.
    #[serde(default)]
    topic: Option<String>,
    /// The host's name of the session that it is for.
    #[serde(default)]
    session: Option<String>,
    /// The host's name of the agent that it is for.
    #[serde(default)]
    agent: Option<String>,
    /// What becomes of firings that nobody was there for: `skip`, `latest` (the newest is made up)
    /// or `all`. Default: latest.
    #[serde(default)]
    if_missed: Option<IfMissed>,
    /// A firing that is later than this is not made up, and one that is due is given up.
    #[serde(default)]
    not_later_than_minutes: Option<u64>,
    /// What becomes of a firing while an earlier one waits to be taken: `skip` or `queue`. Default:
    /// skip, but queue with `if_missed` all.
    #[serde(default)]
    overlap: Option<Overlap>,
    /// The job is moved by a fixed part of so many seconds, so that not all start together.
    #[serde(default)]
    jitter_s: Option<u64>,
    /// No firing behind it: `2026-12-24`, or `2026-12-24 18:00` in the zone. `never` takes an end
    /// away.
    #[serde(default)]
    until: Option<String>,
}

impl JobRequest {
    fn fields(&self) -> Fields {
        Fields {
            in_seconds: self.in_seconds,
            in_minutes: self.in_minutes,
            at_local: self.at_local.clone(),
            date: self.date.clone(),
            weekday: self.weekday.clone(),
            every: self.every.clone(),
            cron: self.cron.clone(),
        }
    }

    /// The plan of a new job.
    ///
    /// # Errors
    /// A sentence that says what is missing or wrong.
    pub fn plan(&self, schedule: &Schedule) -> Result<Plan> {
        let zone = self.zone.as_deref().map_or_else(|| Ok(schedule.zone.clone()), Zone::named)?;
        let now = schedule.now();
        let rule = self.fields().rule(&zone, now, schedule.limits.interval_s_min)?;
        let plan = Plan {
            zone: zone.name.clone(),
            rule,
            what: What::default(),
            if_missed: IfMissed::default(),
            not_later_than_s: None,
            overlap: Overlap::default(),
            jitter_s: 0,
            until: None,
        };
        let mut plan = self.over(plan, &zone, schedule)?;
        if let Some(caller) = &schedule.caller {
            caller.own(&mut plan.what);
        }
        Ok(plan)
    }

    /// A plan in which what was given stands in place of what there was.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub fn changed(&self, before: &Plan, schedule: &Schedule) -> Result<Plan> {
        let zone = self.zone.as_deref().map_or_else(|| before.zone(), Zone::named)?;
        let mut plan = Plan { zone: zone.name.clone(), ..before.clone() };
        let fields = self.fields();
        if !fields.is_empty() {
            plan.rule = fields.rule(&zone, schedule.now(), schedule.limits.interval_s_min)?;
        } else if self.zone.is_some() && matches!(before.rule, Rule::Once { .. }) {
            return Err(ToolError::refused(
                "another `zone` would not move a single time: give `at_local`, too.",
            ));
        }
        let mut plan = self.over(plan, &zone, schedule)?;
        if schedule.caller.is_some() {
            // A change by somebody else's hand leaves the job with whom it was made for.
            let What { text, say, .. } = plan.what;
            plan.what = What { text, say, ..before.what.clone() };
        }
        Ok(plan)
    }

    fn over(&self, mut plan: Plan, zone: &Zone, schedule: &Schedule) -> Result<Plan> {
        self.put_what(&mut plan.what, schedule.limits.text_bytes_max)?;
        if let Some(if_missed) = self.if_missed {
            plan.if_missed = if_missed;
        }
        if let Some(overlap) = self.overlap {
            plan.overlap = overlap;
        } else if plan.if_missed == IfMissed::All {
            plan.overlap = Overlap::Queue;
        }
        if plan.if_missed == IfMissed::All && plan.overlap == Overlap::Skip {
            return Err(ToolError::refused(
                "`if_missed` all makes up every firing, so `overlap` cannot be skip. Leave it out, or use `if_missed` latest.",
            ));
        }
        if let Some(minutes) = self.not_later_than_minutes {
            let seconds = within("not_later_than_minutes", minutes, LATE_MINUTES_MAX)? * 60;
            plan.not_later_than_s = Some(seconds);
        }
        if let Some(seconds) = self.jitter_s {
            plan.jitter_s = within("jitter_s", seconds, JITTER_S_MAX)?;
        }
        if let Some(until) = &self.until {
            let has_none = until.trim().eq_ignore_ascii_case(NO_END);
            plan.until = match has_none {
                true => None,
                false => Some(end_of(until, zone, schedule.now())?),
            };
        }
        if plan.next(schedule.now(), 1)?.is_empty() {
            return Err(ToolError::refused(
                "it would end before it fires once; give a later `until`.",
            ));
        }
        Ok(plan)
    }

    fn put_what(&self, what: &mut What, text_bytes_max: u64) -> Result<()> {
        let put = |place: &mut Option<String>, name: &str, given: &Option<String>| {
            let Some(given) = given else { return Ok(()) };
            if given.len() > NAME_BYTES_MAX {
                return Err(ToolError::refused(format!(
                    "`{name}` has {} bytes; at most {NAME_BYTES_MAX} are kept.",
                    given.len()
                )));
            }
            *place = Some(given.clone());
            Ok(())
        };
        put(&mut what.chat, "chat", &self.chat)?;
        put(&mut what.topic, "topic", &self.topic)?;
        put(&mut what.session, "session", &self.session)?;
        put(&mut what.agent, "agent", &self.agent)?;
        match (&self.text, &self.say) {
            (Some(_), Some(_)) => {
                return Err(ToolError::refused(
                    "give `text` (an agent acts) or `say` (words only), not both.",
                ));
            }
            (Some(text), None) => (what.text, what.say) = (Some(text.clone()), None),
            (None, Some(say)) => (what.text, what.say) = (None, Some(say.clone())),
            (None, None) => {}
        }
        let Some(text) = what.text.as_ref().or(what.say.as_ref()) else {
            return Err(ToolError::refused(
                "what? Give `text` (what an agent is to do then) or `say` (words to be said).",
            ));
        };
        if text.trim().is_empty() {
            return Err(ToolError::refused("the text is empty; say what is to be done or said."));
        }
        if text.len() as u64 > text_bytes_max {
            return Err(ToolError::refused(format!(
                "the text has {} bytes; at most {text_bytes_max} are kept (--text-bytes-max). Make it shorter.",
                text.len()
            )));
        }
        Ok(())
    }
}

fn within(name: &str, given: u64, max: u64) -> Result<i64> {
    match i64::try_from(given) {
        Ok(number) if given <= max => Ok(number),
        _ => Err(ToolError::refused(format!("`{name}` is {given}; at most {max} is allowed."))),
    }
}
