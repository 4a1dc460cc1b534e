//! Which days, months and years a question names, in English and in German. Owns how people write
//! them; must not know notes.
//!
//! A month or a day without its year is that of every year. Words such as "yesterday" are no dates
//! here: whose day it is, only the one who asks knows.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};

/// Where a day begins depends on where its owner lives: up to half a day earlier or later.
const MARGIN_S: i64 = 12 * 3_600;

/// Years in which a month without its year is looked for, the last ones.
const YEARS_MAX: usize = 50;

/// Dates of one question that are looked at.
const NAMED_MAX: usize = 8;

const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner"],
    &["february", "feb", "februar", "feber"],
    &["march", "mar", "märz"],
    &["april", "apr"],
    &["may", "mai"],
    &["june", "jun", "juni"],
    &["july", "jul", "juli"],
    &["august", "aug"],
    &["september", "sep", "sept"],
    &["october", "oct", "oktober", "okt"],
    &["november", "nov"],
    &["december", "dec", "dezember", "dez"],
];

/// What stands before the name of a month. Without one of these, a day or a year it may be another
/// word: "may", "march", or somebody called June.
const BEFORE_MONTH: &[&str] = &[
    "in", "of", "on", "during", "since", "until", "till", "by", "from", "to", "before", "after",
    "between", "last", "this", "early", "late", "mid", "im", "am", "vom", "bis", "seit", "ab",
    "anfang", "mitte", "ende", "letzten", "diesen",
];

/// The dates that a question names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Days(Vec<Named>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Named {
    year: Option<i16>,
    month: Option<i8>,
    day: Option<i8>,
}

impl Days {
    pub fn of(text: &str) -> Self {
        let words: Vec<String> = words(text).collect();
        let mut is_used = vec![false; words.len()];
        let mut found = Vec::new();
        for at in 0..words.len() {
            if let Some(named) = of_month(&words, at, &mut is_used) {
                found.push(named);
            }
        }
        for (word, is_used) in words.iter().zip(is_used) {
            let year = (!is_used).then(|| year(word)).flatten();
            let of_year = year.map(|year| Named { year: Some(year), ..Named::default() });
            found.extend(of_year.or_else(|| in_digits(word)));
        }
        found.truncate(NAMED_MAX);
        Self(found)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// From when to when they are, within the time from `first` to `last`, both in seconds.
    pub fn spans(&self, first: i64, last: i64) -> Vec<(i64, i64)> {
        let year = |seconds| {
            let time = Timestamp::from_second(seconds).unwrap_or(Timestamp::UNIX_EPOCH);
            time.to_zoned(TimeZone::UTC).year()
        };
        let every: Vec<i16> = (year(first)..=year(last)).rev().take(YEARS_MAX).collect();
        let mut spans = Vec::new();
        for named in &self.0 {
            let years = named.year.map(|year| vec![year]).unwrap_or_else(|| every.clone());
            spans.extend(years.into_iter().filter_map(|year| named.span(year)));
        }
        spans
    }
}

impl Named {
    fn span(self, year: i16) -> Option<(i64, i64)> {
        let begin = Date::new(year, self.month.unwrap_or(1), self.day.unwrap_or(1)).ok()?;
        let length = match (self.month, self.day) {
            (None, _) => Span::new().years(1),
            (_, None) => Span::new().months(1),
            _ => Span::new().days(1),
        };
        let end = begin.checked_add(length).ok()?;
        Some((seconds(begin)? - MARGIN_S, seconds(end)? + MARGIN_S))
    }
}

fn seconds(date: Date) -> Option<i64> {
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

/// In small letters, without what stands around them.
fn words(text: &str) -> impl Iterator<Item = String> {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '–' | '—');
    text.split(is_end)
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
        .map(|word| word.trim_end_matches("'s").trim_end_matches("’s").to_lowercase())
}

/// The date of which the month stands at `at`, and the words that it takes: `8 May 2023`, `8th of
/// May`, `May 8, 2023`, `in May 2023`, `mid-May`.
fn of_month(words: &[String], at: usize, is_used: &mut [bool]) -> Option<Named> {
    let word = words.get(at)?;
    let (before, word) = match word.rsplit_once('-') {
        Some((before, word)) => (Some(before), word),
        None => (None, word.as_str()),
    };
    let month = MONTHS.iter().position(|names| names.contains(&word))?;
    let get = |at: Option<usize>| at.and_then(|at| words.get(at)).map(String::as_str);
    let before = before.or_else(|| get(at.checked_sub(1)));
    let mut used = Vec::new();
    let mut day = before.and_then(day_of);
    used.extend(day.and(at.checked_sub(1)));
    if day.is_none() && before == Some("of") {
        day = get(at.checked_sub(2)).and_then(day_of);
        used.extend(day.and(at.checked_sub(2)));
    }
    let mut next = at + 1;
    if day.is_none() {
        day = get(Some(next)).and_then(day_of);
        used.extend(day.map(|_| next));
        next += usize::from(day.is_some());
    }
    next += usize::from(get(Some(next)) == Some("of"));
    let year = get(Some(next)).and_then(year);
    used.extend(year.map(|_| next));
    let is_date = day.is_some() || year.is_some();
    let is_meant = |word| match word {
        "and" | "und" => get(at.checked_sub(2)).is_some_and(is_month_or_year),
        word => BEFORE_MONTH.contains(&word),
    };
    if !is_date && !before.is_some_and(is_meant) {
        return None;
    }
    for at in used {
        if let Some(is_used) = is_used.get_mut(at) {
            *is_used = true;
        }
    }
    Some(Named { year, month: i8::try_from(month + 1).ok(), day })
}

/// What a second date is joined to: "between April and May", "March 2023 and June".
fn is_month_or_year(word: &str) -> bool {
    MONTHS.iter().any(|names| names.contains(&word)) || year(word).is_some()
}

/// `8`, `8th`, and `8.`, whose dot is gone.
fn day_of(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end));
    let day: i8 = digits.unwrap_or(word).parse().ok()?;
    (1..=31).contains(&day).then_some(day)
}

fn year(word: &str) -> Option<i16> {
    let year: i16 = (word.len() == 4).then(|| word.parse().ok())??;
    (1900..2100).contains(&year).then_some(year)
}

/// `2023-05-08`, `2023/05/08`, `2023-05`, `8.5.2023`.
fn in_digits(word: &str) -> Option<Named> {
    let parts: Vec<&str> = word.split(['-', '/', '.']).collect();
    let (year_text, month, day) = match *parts.as_slice() {
        [first, month, last] if first.len() == 4 => (first, month, Some(last)),
        [day, month, last] if word.contains('.') => (last, month, Some(day)),
        [year, month] if !word.contains('.') => (year, month, None),
        _ => return None,
    };
    let month = month.parse().ok().filter(|month| (1..=12).contains(month))?;
    let day = match day {
        Some(day) => Some(day_of(day)?),
        None => None,
    };
    Some(Named { year: Some(year(year_text)?), month: Some(month), day })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<(Option<i16>, Option<i8>, Option<i8>)> {
        Days::of(text).0.iter().map(|one| (one.year, one.month, one.day)).collect()
    }

    #[test]
    fn days_months_and_years_are_read_as_people_write_them() {
        let day = vec![(Some(2023), Some(5), Some(8))];
        for text in [
            "What did Anna do on 8 May, 2023?",
            "on May 8th, 2023",
            "the 8th of May 2023",
            "am 8. Mai 2023",
            "on 2023-05-08?",
            "2023/5/8",
            "am 8.5.2023",
            "(8.05.2023)",
        ] {
            assert_eq!(named(text), day, "{text}");
        }
        assert_eq!(named("in May's last week"), [(None, Some(5), None)]);
        assert_eq!(named("since mid-May 2023"), [(Some(2023), Some(5), None)]);
        assert_eq!(
            named("im Mai 2023 und im Juni"),
            [(Some(2023), Some(5), None), (None, Some(6), None)]
        );
        let both = [(None, Some(4), None), (None, Some(5), None)];
        assert_eq!(named("between April and May"), both);
        assert_eq!(named("May of 2023"), [(Some(2023), Some(5), None)]);
        assert_eq!(named("2023-05"), [(Some(2023), Some(5), None)]);
        assert_eq!(named("December 31"), [(None, Some(12), Some(31))]);
        assert_eq!(named("back in 2019"), [(Some(2019), None, None)]);
    }

    #[test]
    fn other_words_and_numbers_are_no_dates() {
        for text in [
            "may I march with June?",
            "May lives here, and Jan too",
            "it cost 2300 or 20230 euros",
            "version 1.2.3, 10-12 of them, 1/2",
            "the 8th time",
            "2023-13-01",
            "",
        ] {
            assert_eq!(named(text), [], "{text}");
        }
        let many = "in 2019 ".repeat(100);
        assert_eq!(named(&many).len(), NAMED_MAX);
    }

    #[test]
    fn a_date_is_a_time_with_a_margin_and_one_without_a_year_is_of_each() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap().as_second();
        let (first, last) = (at("2022-03-01T00:00:00Z"), at("2024-02-01T00:00:00Z"));
        let day = Days::of("8 May 2023").spans(first, last);
        assert_eq!(day, [(at("2023-05-07T12:00:00Z"), at("2023-05-09T12:00:00Z"))]);
        let month = Days::of("in February").spans(first, last);
        assert_eq!(month.len(), 3);
        assert_eq!(month[0], (at("2024-01-31T12:00:00Z"), at("2024-03-01T12:00:00Z")));
        assert_eq!(Days::of("29 February").spans(first, last).len(), 1, "in 2024 alone");
        let year = Days::of("in 1999").spans(first, last);
        assert_eq!(year, [(at("1998-12-31T12:00:00Z"), at("2000-01-01T12:00:00Z"))]);
        // Whatever dates notes have.
        assert_eq!(Days::of("in May").spans(i64::MIN, i64::MAX).len(), 1);
        let all = Days::of("in May").spans(at("0001-01-01T00:00:00Z"), at("9999-12-01T00:00:00Z"));
        assert_eq!(all.len(), YEARS_MAX);
    }
}
