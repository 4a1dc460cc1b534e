//! A cron pattern of five fields. `croner` reads the grammar and knows which days match; this file
//! refuses what croner and Debian's cron understand differently. Owns which local times of day a
//! pattern means; must not know zones.

use croner::parser::{CronParser, Seconds, Year};
use croner::{Cron, Weekday};
use jiff::civil::{Date, DateTime};

use crate::error::{Result, ToolError};

/// A pattern that does not match for so many years never does: 29 February on one weekday comes
/// every 28 years, and every 40 around 2100.
const YEARS_MAX: i16 = 50;

const FIELDS: [&str; 5] = ["minute", "hour", "day of the month", "month", "weekday"];
const MONTHS: [&str; 12] =
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const WEEKDAYS: [&str; 7] = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"];

#[derive(Clone, Debug)]
pub struct Pattern {
    /// Minutes 0 to 59 and hours 0 to 23, a bit each.
    minutes: u64,
    hours: u64,
    cron: Cron,
    /// Neither minute nor hour begins with `*`: it means times of day, not steps of real time.
    pub is_fixed: bool,
}

impl Pattern {
    /// # Errors
    /// A sentence that says which field is wrong and what would work.
    pub fn read(text: &str) -> Result<Self> {
        let text = text.trim().to_uppercase();
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minute, hour, day, _, weekday] = fields.as_slice() else {
            return Err(refused(
                &text,
                "it has to have five fields (minute, hour, day of the month, month, weekday), as in `0 9 * * 1-5`",
            ));
        };
        for (place, (name, field)) in FIELDS.iter().zip(&fields).enumerate() {
            for item in field.split(',') {
                is_known(place, item).map_err(|why| {
                    refused(&text, &format!("the {name} `{field}` is wrong: {why}"))
                })?;
            }
        }
        // Debian's cron(8): a day has to match both fields if one begins with a star, else one.
        let both = day.starts_with('*') || weekday.starts_with('*');
        let parser = CronParser::builder()
            .seconds(Seconds::Disallowed)
            .year(Year::Disallowed)
            .sloppy_ranges(true)
            .dom_and_dow(both)
            .build();
        let cron = parser.parse(&text).map_err(|why| refused(&text, &why.to_string()))?;
        let bits =
            |values: Vec<u16>| values.into_iter().fold(0_u64, |bits, value| bits | 1 << value);
        Ok(Self {
            minutes: bits(cron.pattern.minutes.values()),
            hours: bits(cron.pattern.hours.values()),
            is_fixed: !minute.starts_with('*') && !hour.starts_with('*'),
            cron,
        })
    }

    /// The first local time that matches, from this minute on. `None` if none comes in 50 years.
    pub fn at_or_after(&self, from: DateTime) -> Option<DateTime> {
        let starts_late = i32::from(from.second() > 0 || from.subsec_nanosecond() > 0);
        let mut minute = i32::from(from.hour()) * 60 + i32::from(from.minute()) + starts_late;
        let mut day = from.date();
        let last_year = from.year().saturating_add(YEARS_MAX);
        while day.year() <= last_year {
            if !self.cron.pattern.month_match(u32::from(day.month().unsigned_abs())).ok()? {
                day = day.last_of_month().tomorrow().ok()?;
                minute = 0;
                continue;
            }
            if let (true, Some((hour, minute))) = (self.day_matches(day)?, self.time_from(minute)) {
                return Some(day.at(hour, minute, 0, 0));
            }
            day = day.tomorrow().ok()?;
            minute = 0;
        }
        None
    }

    fn day_matches(&self, day: Date) -> Option<bool> {
        let weekday = match day.weekday() {
            jiff::civil::Weekday::Monday => Weekday::Monday,
            jiff::civil::Weekday::Tuesday => Weekday::Tuesday,
            jiff::civil::Weekday::Wednesday => Weekday::Wednesday,
            jiff::civil::Weekday::Thursday => Weekday::Thursday,
            jiff::civil::Weekday::Friday => Weekday::Friday,
            jiff::civil::Weekday::Saturday => Weekday::Saturday,
            jiff::civil::Weekday::Sunday => Weekday::Sunday,
        };
        let (month, number) = (day.month().unsigned_abs(), day.day().unsigned_abs());
        let year = i32::from(day.year());
        self.cron.pattern.day_match(year, month.into(), number.into(), weekday).ok()
    }

    /// The first hour and minute of a day, from a minute of that day on.
    fn time_from(&self, minute: i32) -> Option<(i8, i8)> {
        let (hour, minute) = (minute / 60, minute % 60);
        if let (Some(same), Some(minute)) = (first(self.hours, hour), first(self.minutes, minute))
            && i32::from(same) == hour
        {
            return Some((same, minute));
        }
        Some((first(self.hours, hour + 1)?, first(self.minutes, 0)?))
    }
}

/// The first bit that is set, from one on.
fn first(bits: u64, from: i32) -> Option<i8> {
    let shift = u32::try_from(from).ok().filter(|shift| *shift < 64)?;
    let rest = bits >> shift;
    (rest != 0).then(|| i8::try_from(shift + rest.trailing_zeros()).ok()).flatten()
}

/// One item of a list: a number or a name, `*`, a range, with a step or without; for days also `L`,
/// `LW`, `5L` and `1#2`.
fn is_known(place: usize, item: &str) -> std::result::Result<(), String> {
    let number = |part: &str| {
        let names: &[&str] = match place {
            3 => &MONTHS,
            4 => &WEEKDAYS,
            _ => &[],
        };
        let is_number = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        is_number || names.contains(&part)
    };
    let special = match (place, item) {
        (2, "L" | "LW") => true,
        (4, _) => {
            item.strip_suffix('L')
                .is_some_and(|day| matches!(day, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7"))
                || item.split_once('#').is_some_and(|(day, nth)| {
                    number(day) && matches!(nth, "1" | "2" | "3" | "4" | "5")
                })
        }
        _ => false,
    };
    if special {
        return Ok(());
    }
    if item.is_empty() {
        return Err("a list has an empty item".to_owned());
    }
    let (range, step) =
        item.split_once('/').map_or((item, None), |(range, step)| (range, Some(step)));
    if step.is_some_and(|step| step.is_empty() || !step.bytes().all(|b| b.is_ascii_digit())) {
        return Err(format!("the step in `{item}` is no number"));
    }
    let known = range == "*"
        || number(range)
        || range.split_once('-').is_some_and(|(from, to)| number(from) && number(to));
    if known {
        return Ok(());
    }
    Err(format!(
        "`{item}` is not understood; write numbers, `*`, ranges as in `1-5`, steps as in `*/15`, lists with commas"
    ))
}

fn refused(pattern: &str, why: &str) -> ToolError {
    ToolError::refused(format!("the cron pattern `{pattern}` is refused: {why}."))
}
