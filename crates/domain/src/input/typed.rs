//! How a typed text becomes the value that is asked for, and whether a value fits. A text that does
//! not fit is told in one sentence. Must not know who types, or whether it was meant as an answer.

use serde_json::{Value, json};

use super::{Input, InputKind, InputOption, TextFormat, is_own_word};

const YES: &[&str] = &["y", "yes", "ja", "true", "1", "ok"];
const NO: &[&str] = &["n", "no", "nein", "false", "0"];

impl Input {
    /// The same for a text that may be meant otherwise: of options a server has chosen the names,
    /// so only a number takes one, or its whole name between quotation marks.
    pub fn read_strictly(&self, text: &str) -> Result<Value, String> {
        let is_number = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        let mut parts = text.split([' ', ',']).filter(|part| !part.is_empty());
        let is_strict = unquoted(text.trim()).is_some() || parts.all(is_number);
        if self.has_options() && !is_strict { Err(self.misfit()) } else { self.read(text) }
    }

    /// The value that a person has typed. `Err` is one sentence that says what fits.
    pub fn read(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let value = match &self.kind {
            InputKind::Confirm | InputKind::Page | InputKind::Boolean => {
                boolean(text).map(Value::Bool)
            }
            InputKind::Number { whole, .. } => number(text, *whole),
            InputKind::Text { .. } => Some(Value::from(text)),
            InputKind::Choice { options } => chosen(options, text).map(Value::from),
            InputKind::Several { options, .. } => several(options, text),
        };
        let value = value.ok_or_else(|| self.misfit())?;
        self.check(&value)?;
        Ok(value)
    }

    /// Whether a value fits. `Err` is one sentence that says what would.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let fits = match (&self.kind, value) {
            (InputKind::Confirm | InputKind::Page, value) => *value == Value::Bool(true),
            (InputKind::Boolean, value) => value.is_boolean(),
            (InputKind::Number { whole, min, max }, Value::Number(number)) => {
                let is_whole = number.is_i64() || number.is_u64();
                number.as_f64().is_some_and(|number| {
                    min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max)
                }) && (is_whole || !whole)
            }
            (InputKind::Text { min, max, format }, Value::String(text)) => {
                let length = text.chars().count() as u64;
                (*min..=*max).contains(&length) && format.is_none_or(|format| format.fits(text))
            }
            (InputKind::Choice { options }, Value::String(text)) => {
                options.iter().any(|option| option.value == *text)
            }
            (InputKind::Several { options, min, max }, Value::Array(items)) => {
                let known = |item: &Value| options.iter().any(|option| *item == option.value);
                (*min..=*max).contains(&(items.len() as u64)) && items.iter().all(known)
            }
            _ => false,
        };
        if fits { Ok(()) } else { Err(self.misfit()) }
    }

    fn misfit(&self) -> String {
        format!("That does not fit: “{}” takes {}.", self.label, self.wants())
    }
}

fn boolean(text: &str) -> Option<bool> {
    let word = text.trim_end_matches(['.', '!']).to_lowercase();
    match word.as_str() {
        word if YES.contains(&word) => Some(true),
        word if NO.contains(&word) => Some(false),
        _ => None,
    }
}

fn number(text: &str, whole: bool) -> Option<Value> {
    if let Ok(number) = text.parse::<i64>() {
        return Some(json!(number));
    }
    // "3,5" is how half of the world writes it.
    let number = text.replacen(',', ".", 1).parse::<f64>().ok().filter(|it| it.is_finite())?;
    (!whole).then(|| json!(number))
}

/// What stands between quotation marks.
fn unquoted(text: &str) -> Option<&str> {
    let inner = text.strip_prefix(['“', '"', '„']);
    inner.and_then(|inner| inner.strip_suffix(['”', '"', '“']))
}

/// By its number, its name or its value, letter case aside; between quotation marks it is a name.
fn chosen<'o>(options: &'o [InputOption], text: &str) -> Option<&'o str> {
    if let Some(name) = unquoted(text) {
        let lower = name.to_lowercase();
        let found = options.iter().find(|option| option.label.to_lowercase() == lower);
        return found.map(|option| option.value.as_str());
    }
    // Who writes `stop` means claw, not an option that a server has called so.
    if is_own_word(text) {
        return None;
    }
    let by_number = text.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let lower = text.to_lowercase();
    let named = |option: &&InputOption| {
        option.label.to_lowercase() == lower || option.value.to_lowercase() == lower
    };
    // A value may be a number itself.
    let exact = options.iter().find(|option| option.value == text);
    let found = exact
        .or_else(|| by_number.and_then(|index| options.get(index)))
        .or_else(|| options.iter().find(named));
    found.map(|option| option.value.as_str())
}

fn several(options: &[InputOption], text: &str) -> Option<Value> {
    if matches!(text.to_lowercase().as_str(), "none" | "-") {
        return Some(json!([]));
    }
    let mut values: Vec<&str> = Vec::new();
    let separators: &[char] = if text.contains(',') { &[','] } else { &[' '] };
    for part in text.split(separators).map(str::trim).filter(|part| !part.is_empty()) {
        let value = chosen(options, part)?;
        if !values.contains(&value) {
            values.push(value);
        }
    }
    (!values.is_empty()).then(|| json!(values))
}

impl TextFormat {
    fn fits(self, text: &str) -> bool {
        let plain = !text.chars().any(|c| c.is_whitespace() || c.is_control());
        match self {
            Self::Email => {
                let parts = text.split_once('@');
                plain && parts.is_some_and(|(name, host)| !name.is_empty() && is_host(host))
            }
            Self::Uri => {
                let parts = text.split_once(':');
                plain
                    && parts.is_some_and(|(scheme, rest)| {
                        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                            && scheme
                                .chars()
                                .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
                            && !rest.trim_matches('/').is_empty()
                    })
            }
            Self::Date => is_date(text),
            Self::DateTime => {
                let at = text.find(['T', 't']);
                at.is_some_and(|at| is_date(&text[..at]) && is_time(&text[at + 1..]))
            }
        }
    }
}

fn is_host(host: &str) -> bool {
    !host.contains('@') && host.split('.').count() > 1 && host.split('.').all(|it| !it.is_empty())
}

/// `YYYY-MM-DD` of a day that there is (RFC 3339 section 5.6).
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts[..] else { return false };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => return false,
    };
    (1..=days).contains(&day)
}

/// `HH:MM:SS`, a fraction, and `Z` or an offset.
fn is_time(text: &str) -> bool {
    let Some(zone) = text.find(['Z', 'z', '+', '-']) else { return false };
    let (clock, offset) = text.split_at(zone);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<&str> = clock.split(':').collect();
    let [hour, minute, second] = parts[..] else { return false };
    let below = |text: &str, end: u32| digits(text, 2).is_some_and(|number| number < end);
    let zone = match offset.get(1..).unwrap_or_default() {
        "" => offset.eq_ignore_ascii_case("z"),
        offset => offset.split_once(':').is_some_and(|(h, m)| below(h, 24) && below(m, 60)),
    };
    let fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    below(hour, 24) && below(minute, 60) && below(second, 61) && fraction && zone
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let fits = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn input(kind: InputKind) -> Input {
        let (request, field) = ("a".to_owned(), "n".to_owned());
        Input { request, field, label: "Seats".to_owned(), required: true, kind }
    }

    fn options() -> Vec<InputOption> {
        let option =
            |value: &str, label: &str| InputOption { value: value.into(), label: label.into() };
        vec![option("w", "Window"), option("a", "Aisle"), option("3", "Three")]
    }

    #[test]
    fn a_number_keeps_to_its_range() {
        let seats = input(InputKind::Number { whole: true, min: Some(1.0), max: Some(10.0) });
        assert_eq!(seats.read(" 3 "), Ok(json!(3)));
        let told = "That does not fit: “Seats” takes a whole number from 1 to 10.";
        for text in ["0", "11", "2.5", "three", "", "1e1", "NaN"] {
            assert_eq!(seats.read(text), Err(told.to_owned()), "{text}");
        }
        let price = input(InputKind::Number { whole: false, min: None, max: None });
        assert_eq!(price.read("3,5"), Ok(json!(3.5)));
        assert!(price.read("inf").is_err());
    }

    #[test]
    fn a_choice_is_made_by_number_name_or_value() {
        let seat = input(InputKind::Choice { options: options() });
        for (text, value) in [("1", "w"), ("aisle", "a"), ("W", "w"), ("3", "3"), ("three", "3")] {
            assert_eq!(seat.read(text), Ok(json!(value)), "{text}");
        }
        assert!(seat.read("4").is_err() && seat.read("0").is_err() && seat.read("both").is_err());
        assert!(seat.check(&json!("x")).is_err());
        let seats = input(InputKind::Several { options: options(), min: 1, max: 2 });
        assert_eq!(seats.read("1 2"), Ok(json!(["w", "a"])));
        assert_eq!(seats.read("Window, aisle"), Ok(json!(["w", "a"])));
        assert_eq!(seats.read("1 1"), Ok(json!(["w"])));
        assert!(seats.read("1 2 3").is_err() && seats.read("none").is_err());
    }

    #[test]
    fn a_word_of_claws_takes_no_option_that_is_called_so() {
        let option = |label: &str| InputOption { value: label.to_lowercase(), label: label.into() };
        let asked = input(InputKind::Choice { options: vec![option("Stop"), option("yes")] });
        for text in ["stop", "STOP!", "yes"] {
            assert!(asked.read(text).is_err(), "{text}");
        }
        assert_eq!(asked.read("1"), Ok(json!("stop")));
        assert_eq!(asked.read("“Yes”"), Ok(json!("yes")));
        assert!(asked.read_strictly("“Yes”").is_ok() && asked.read_strictly("2").is_ok());
    }

    #[test]
    fn a_text_keeps_to_its_length_and_format() {
        let text = |min, max, format| input(InputKind::Text { min, max, format });
        assert!(text(2, 3, None).read("ab").is_ok() && text(2, 3, None).read("a").is_err());
        assert!(text(0, 3, None).read("äöü").is_ok() && text(0, 3, None).read("abcd").is_err());
        let cases = [
            (TextFormat::Email, vec!["me@example.org"], vec!["me", "me@x", "@a.b", "a b@c.d"]),
            (TextFormat::Uri, vec!["https://a.b/c", "mailto:x"], vec!["a.b", "1:x", "http://"]),
            (TextFormat::Date, vec!["2024-02-29"], vec!["2023-02-29", "2026-13-01", "24.12.2026"]),
            (
                TextFormat::DateTime,
                vec!["2026-12-24T18:30:00Z", "2026-12-24T18:30:00.5+01:00"],
                vec!["2026-12-24", "2026-12-24T18:30", "2026-12-24T25:00:00Z"],
            ),
        ];
        for (format, good, bad) in cases {
            let input = text(0, 100, Some(format));
            good.into_iter().for_each(|one| assert!(input.read(one).is_ok(), "{one}"));
            bad.into_iter().for_each(|one| assert!(input.read(one).is_err(), "{one}"));
        }
    }

    #[test]
    fn only_a_yes_confirms() {
        assert_eq!(input(InputKind::Boolean).read("No"), Ok(json!(false)));
        assert_eq!(input(InputKind::Confirm).read("yes!"), Ok(json!(true)));
        assert!(input(InputKind::Confirm).read("no").is_err());
        assert!(input(InputKind::Page).check(&json!(false)).is_err());
    }
}
