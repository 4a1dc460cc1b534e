//! A cron pattern in words, where it is a plain one: `0 9 * * 1` is "every Monday at 09:00". Owns
//! these words; must not know which times a pattern means, or who reads them.

const WEEKDAYS: [(&str, &str); 8] = [
    ("SUN", "Sunday"),
    ("MON", "Monday"),
    ("TUE", "Tuesday"),
    ("WED", "Wednesday"),
    ("THU", "Thursday"),
    ("FRI", "Friday"),
    ("SAT", "Saturday"),
    ("SUN", "Sunday"),
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// Times of day that are listed; more are no plain pattern.
const TIMES_MAX: usize = 4;

/// `None` where only the pattern itself says it exactly.
pub fn of(pattern: &str) -> Option<String> {
    let fields: Vec<&str> = pattern.split_whitespace().collect();
    let [minute, hours, day, month, weekday] = fields.as_slice() else { return None };
    let minute = number(minute, 0, 59)?;
    let hours: Vec<usize> =
        hours.split(',').map(|hour| number(hour, 0, 23)).collect::<Option<_>>()?;
    if hours.len() > TIMES_MAX || !hours.is_sorted() {
        return None;
    }
    let times = hours.iter().map(|hour| format!("{hour:02}:{minute:02}")).collect();
    Some(format!("{} at {}", days(day, month, weekday)?, listed(times)))
}

fn days(day: &str, month: &str, weekday: &str) -> Option<String> {
    match (day, month, weekday) {
        ("*", "*", "*") => Some("every day".to_owned()),
        ("*", "*", weekday) => weekdays(weekday),
        (day, "*", "*") => Some(format!("on day {} of every month", number(day, 1, 31)?)),
        (day, month, "*") => {
            let month = MONTHS.get(number(month, 1, 12)? - 1)?;
            Some(format!("every {} {month}", number(day, 1, 31)?))
        }
        _ => None,
    }
}

fn weekdays(field: &str) -> Option<String> {
    if let Some((from, to)) = field.split_once('-') {
        return Some(format!("{} to {}", weekday(from)?, weekday(to)?));
    }
    let names = field.split(',').map(|one| weekday(one).map(str::to_owned));
    Some(format!("every {}", listed(names.collect::<Option<_>>()?)))
}

fn weekday(text: &str) -> Option<&'static str> {
    let upper = text.to_uppercase();
    let named = WEEKDAYS.iter().find(|(short, _)| *short == upper);
    let numbered = || WEEKDAYS.get(number(text, 0, 7)?);
    named.or_else(numbered).map(|(_, name)| *name)
}

fn number(text: &str, from: usize, to: usize) -> Option<usize> {
    let is_plain = (1..=2).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    text.parse().ok().filter(|number| is_plain && (from..=to).contains(number))
}

/// `a`, `a and b`, `a, b and c`.
fn listed(mut items: Vec<String>) -> String {
    let last = items.pop().unwrap_or_default();
    if items.is_empty() { last } else { format!("{} and {last}", items.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_pattern_reads_like_a_sentence() {
        for (pattern, words) in [
            ("0 9 * * *", "every day at 09:00"),
            ("5 8,20 * * *", "every day at 08:05 and 20:05"),
            ("0 9 * * 1", "every Monday at 09:00"),
            ("30 7 * * mon-fri", "Monday to Friday at 07:30"),
            ("0 9 * * 1,4,7", "every Monday, Thursday and Sunday at 09:00"),
            ("0 9 1 * *", "on day 1 of every month at 09:00"),
            ("0 9 24 12 *", "every 24 December at 09:00"),
        ] {
            assert_eq!(of(pattern).as_deref(), Some(words), "{pattern}");
        }
    }

    #[test]
    fn what_is_not_plain_stays_a_pattern() {
        for pattern in [
            "*/5 * * * *",
            "0 */2 * * *",
            "0-5 9 * * *",
            "0 9 L * *",
            "0 9 * * 5L",
            "0 9 * * 1#2",
            "0 9 1 * 1",
            "0 9 1-7 * *",
            "0 9 * 1 *",
            "0 9 * * 1-5/2",
            "0 1,2,3,4,5 * * *",
            "0 9 * *",
            "",
        ] {
            assert_eq!(of(pattern), None, "{pattern}");
        }
    }
}
