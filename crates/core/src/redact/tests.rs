//! Known secrets in all their forms, whole and in pieces.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const KEY: &str = "sk-ant/p+ss\"wörd\\1?";

fn redactor(values: &[(&str, &str)]) -> Redactor {
    Redactor::new(values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())))
        .unwrap()
}

#[test]
fn a_secret_is_masked_by_its_name() {
    let redactor = redactor(&[("A_KEY", "abcdefgh"), ("B_KEY", "abcdefghij"), ("SHORT", "abc")]);
    assert_eq!(redactor.redact("x abcdefgh y"), "x [redacted:A_KEY] y");
    assert_eq!(redactor.redact("abcdefghij"), "[redacted:B_KEY]", "the longest wins");
    assert_eq!(redactor.redact("abcdefghi"), "[redacted:A_KEY]i");
    assert_eq!(redactor.redact("abc abcdefg"), "abc abcdefg");
    assert!(matches!(redactor.redact("nothing"), Cow::Borrowed(_)));
    assert_eq!(super::Redactor::new([]).unwrap().redact("x"), "x");
}

#[test]
fn seven_bytes_are_no_secret_and_eight_are() {
    assert_eq!(redactor(&[("K", "1234567")]).redact("1234567"), "1234567");
    assert_eq!(redactor(&[("K", "12345678")]).redact("12345678"), "[redacted:K]");
    assert_eq!(redactor(&[("K", "12345678\n")]).redact("12345678"), "[redacted:K]");
}

#[test]
fn encoded_forms_are_found() {
    let redactor = redactor(&[("K", KEY)]);
    let mut forms = vec![
        KEY.to_owned(),
        serde_json::to_string(&json!({"a": [KEY]})).unwrap(),
        "sk-ant\\/p+ss\\\"w\\u00f6rd\\\\1?".to_owned(),
        "sk-ant%2Fp%2Bss%22w%C3%B6rd%5C1%3F".to_owned(),
        "sk-ant%2fp%2bss%22w%c3%b6rd%5c1%3f".to_owned(),
    ];
    for before in ["", "u", "us", "use", "user:"] {
        for behind in ["", "\n", "xy", "xyz"] {
            forms.push(STANDARD.encode(format!("{before}{KEY}{behind}")));
            forms.push(URL_SAFE_NO_PAD.encode(format!("{before}{KEY}{behind}")));
        }
    }
    for form in forms {
        assert_eq!(
            redactor.contains_secret(&json!({"a": [format!("x{form}")]})).as_deref(),
            Some("K"),
            "{form}"
        );
        assert!(redactor.redact(&form).contains("[redacted:K]"), "{form}");
    }
}

#[test]
fn json_is_searched_everywhere() {
    let redactor = redactor(&[("K", "12345678"), ("L", "abcdefgh")]);
    let mut value = json!({"a": ["abcdefgh", {"x12345678": 1, "xabcdefgh": 2}], "n": 123_456_789, "b": true, "z": null});
    for holder in
        [json!("x12345678"), json!({"12345678": 1}), json!([[12_345_678]]), json!(0.123_456_78)]
    {
        assert_eq!(redactor.contains_secret(&holder).as_deref(), Some("K"), "{holder}");
    }
    assert_eq!(redactor.contains_secret(&json!({"a": ["1234567", 1_234_567, null]})), None);
    redactor.redact_json(&mut value);
    assert_eq!(
        value,
        json!({"a": ["[redacted:L]", {"x[redacted:K]": 1, "x[redacted:L]": 2}], "n": "[redacted:K]9", "b": true, "z": null})
    );
    let mut same = json!({"12345678": 1, "[redacted:K]": 2});
    redactor.redact_json(&mut same);
    assert_eq!(same.as_object().unwrap().len(), 2);
}

#[test]
fn a_mark_is_recognised_wherever_it_stands() {
    let redactor = redactor(&[("K", "12345678")]);
    let mut value = json!({"a": ["x 12345678"]});
    assert!(!contains_mark(&value));
    redactor.redact_json(&mut value);
    assert!(contains_mark(&value));
    assert!(contains_mark(&json!({"[redacted:K]": 1})));
    assert!(!contains_mark(&json!({"a": ["redacted", 1, null]})));
}

#[test]
fn a_stream_holds_back_only_the_beginning_of_a_secret() {
    let mut stream =
        StreamRedactor::new(redactor(&[("K", "secret-value"), ("L", "secret-value-long")]));
    assert_eq!(stream.push("plain text, no s"), "plain text, no ");
    assert_eq!(stream.push("ecrets; secret-"), "secrets; ");
    assert_eq!(stream.push("value"), "");
    assert_eq!(stream.push("-lo"), "");
    assert_eq!(stream.push("w."), "[redacted:K]-low.");
    assert_eq!(stream.push("secret-valu"), "");
    assert_eq!(stream.finish(), "secret-valu");
    assert_eq!(stream.push("secret-value"), "");
    assert_eq!(stream.finish(), "[redacted:K]");
}

#[test]
fn every_form_is_masked_character_by_character() {
    let redactor = redactor(&[("K", KEY)]);
    for form in forms::of(KEY) {
        let whole = format!("a {form} b");
        let mut stream = StreamRedactor::new(redactor.clone());
        let mut out: String =
            whole.chars().map(|c| stream.push(c.encode_utf8(&mut [0; 4]))).collect();
        out.push_str(&stream.finish());
        assert_eq!(out, "a [redacted:K] b");
        // All but the last character in one piece: none of it may be let out.
        let last = form.chars().next_back().unwrap();
        let mut stream = StreamRedactor::new(redactor.clone());
        assert_eq!(stream.push(form.strip_suffix(last).unwrap()), "");
    }
}

#[test]
fn debug_output_shows_no_secret() {
    let redactor = redactor(&[("K", "secret-value")]);
    assert!(!format!("{redactor:?}").contains("secret-value"));
}

proptest! {
    #[test]
    fn a_stream_gives_what_the_whole_gives(
        values in proptest::collection::vec("[abä]{4,12}", 0..5),
        pieces in proptest::collection::vec("[abä]{0,14}", 0..12),
        split in proptest::collection::vec(0..200_usize, 0..12),
    ) {
        let redactor = Redactor::new(values.iter().enumerate().map(|(i, v)| (format!("K{i}"), v.clone()))).unwrap();
        // Whole secrets between the pieces, so that matches are common.
        let whole: String = pieces.iter().zip(values.iter().cycle().map(String::as_str).chain([""].into_iter().cycle()))
            .flat_map(|(piece, value)| [piece.as_str(), value]).collect();
        let mut cuts: Vec<usize> = split.into_iter().map(|at| at % (whole.len() + 1)).filter(|at| whole.is_char_boundary(*at)).collect();
        cuts.sort_unstable();
        let mut stream = StreamRedactor::new(redactor.clone());
        let mut out = String::new();
        let mut last = 0;
        for cut in cuts.into_iter().chain([whole.len()]) {
            out.push_str(&stream.push(&whole[last..cut]));
            // Nothing that was let out may be part of a value that the whole would mask.
            prop_assert!(redactor.redact(&whole).starts_with(out.as_str()));
            last = cut;
        }
        out.push_str(&stream.finish());
        prop_assert_eq!(out, redactor.redact(&whole).into_owned());
    }
}
