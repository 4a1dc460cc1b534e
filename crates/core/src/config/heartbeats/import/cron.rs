//! A pattern of five fields as times, days and hours of a heartbeat, where those can say it. Must
//! not know the entry around it.

use claw_kit::counted::counted;

/// Times of the day of one heartbeat that came from a pattern.
const TIMES_MAX: usize = 48;
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Writes what the pattern says: `at`, or `every` with `active`, and `days`.
pub(super) fn times(pattern: &str, to: &mut toml::Table) -> Result<(), String> {
    let fields: Vec<&str> = pattern.split_whitespace().collect();
    let [minutes, hours, day, month, weekday] = fields[..] else {
        return Err(format!(
            "its pattern `{pattern}` has {}, and five are understood",
            counted(fields.len(), "field")
        ));
    };
    if ![day, month].iter().all(|field| ["*", "?"].contains(field)) {
        return Err(format!(
            "its pattern `{pattern}` names days of the month, and a heartbeat knows only weekdays; \
             `claw schedule add --cron '{pattern}' --text …` makes a job of it"
        ));
    }
    let wrong = |field: &str| format!("`{field}` of its pattern `{pattern}` is not understood");
    let list = |field: &str, most| numbers(field, most).ok_or_else(|| wrong(field));
    let (at_minutes, at_hours) = (list(minutes, 59)?, list(hours, 23)?);
    let days = if weekday == "?" { None } else { days(weekday).ok_or_else(|| wrong(weekday))? };
    let has_all_hours = at_hours.len() == 24;
    match step(minutes) {
        // An interval goes by real time, as steps do; the hours are what a clock shows.
        Some(step) if has_all_hours => {
            to.insert("every".into(), format!("{step}m").into());
        }
        Some(step) if is_span(&at_hours) => {
            to.insert("every".into(), format!("{step}m").into());
            let end = (at_hours[at_hours.len() - 1] + 1) % 24;
            to.insert("active".into(), format!("{:02}:00-{end:02}:00", at_hours[0]).into());
        }
        _ => {
            let count = at_minutes.len() * at_hours.len();
            if count > TIMES_MAX {
                return Err(format!(
                    "its pattern `{pattern}` has {count} times a day, and at most {TIMES_MAX} are \
                     taken in; `claw schedule add --cron '{pattern}' --text …` makes a job of it"
                ));
            }
            let all = at_hours.iter().flat_map(|hour| {
                at_minutes.iter().map(move |minute| format!("{hour:02}:{minute:02}"))
            });
            to.insert("at".into(), all.map(toml::Value::from).collect::<Vec<_>>().into());
        }
    }
    if let Some(days) = days {
        let days: Vec<toml::Value> = days.into_iter().map(toml::Value::from).collect();
        to.insert("days".into(), days.into());
    }
    Ok(())
}

/// Minutes that are steps of a whole hour: `*`, `*/15`, `0-59/15`.
fn step(field: &str) -> Option<u32> {
    let step = match field {
        "*" => 1,
        _ => field.strip_prefix("*/").or_else(|| field.strip_prefix("0-59/"))?.parse().ok()?,
    };
    (step > 0 && 60 % step == 0).then_some(step)
}

fn is_span(hours: &[u32]) -> bool {
    hours.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// The numbers of a field in order; `None` for what is not understood.
fn numbers(field: &str, most: u32) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in field.split(',') {
        let (span, step) = match part.split_once('/') {
            Some((span, step)) => (span, step.parse::<usize>().ok().filter(|step| *step > 0)?),
            None => (part, 1),
        };
        let (from, to) = match span.split_once('-') {
            Some((from, to)) => (from.parse().ok()?, to.parse().ok()?),
            None if span == "*" => (0, most),
            None if part.contains('/') => (span.parse().ok()?, most),
            None => (span.parse().ok()?, span.parse().ok()?),
        };
        if from > to || to > most {
            return None;
        }
        all.extend((from..=to).step_by(step));
    }
    all.sort_unstable();
    all.dedup();
    Some(all)
}

/// The outer `None` is not understood, the inner one every day. 0 and 7 are Sunday.
fn days(field: &str) -> Option<Option<Vec<&'static str>>> {
    if field == "*" {
        return Some(None);
    }
    let mut written = field.to_lowercase();
    for (number, name) in DAYS.iter().enumerate() {
        written = written.replace(name, &number.to_string());
    }
    let mut numbers: Vec<u32> =
        numbers(&written, 7)?.into_iter().map(|number| number % 7).collect();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.len() == 7 {
        return Some(None);
    }
    // A week begins on Monday, also in the file.
    numbers.sort_by_key(|number| (number + 6) % 7);
    Some(Some(
        numbers.into_iter().filter_map(|number| DAYS.get(number as usize).copied()).collect(),
    ))
}
