//! What bash prints is read to its end or not at all, and only what has changed counts.

use claw_kit::variables::{ALL_BYTES_MAX, VALUE_BYTES_MAX};

use super::*;

fn value(written: &str) -> Option<Vec<u8>> {
    read(format!("declare -x A={written}\n").as_bytes())?.remove("A")
}

#[test]
fn both_quotings_are_decoded_whole() {
    for (written, meant) in [
        (r#""""#, &b""[..]),
        (r#""x\"y\$z\`w\\b!'""#, b"x\"y$z`w\\b!'"),
        ("\"two\nlines\u{e4}\"", "two\nlines\u{e4}".as_bytes()),
        (r"$'l1\nl2\t\001\E\a\'\\ä'", "l1\nl2\t\u{1}\u{1b}\u{7}'\\ä".as_bytes()),
        (r"$'\377\303\244'", b"\xff\xc3\xa4"),
    ] {
        assert_eq!(value(written).as_deref(), Some(meant), "{written}");
    }
}

#[test]
fn what_bash_does_not_print_is_not_read() {
    for written in [
        "x",
        "'x'",
        "\"x",
        "\"x\"y",
        "\"$x\"",
        "\"`x`\"",
        r#""\n""#,
        r"$'\x41'",
        r"$'\400'",
        r"$'\000'",
        r"$'\07'",
        r"$'x",
        "(",
        "\"a\"\"b\"",
    ] {
        assert_eq!(value(written), None, "{written}");
    }
    for said in [
        "",
        "\n",
        "declare -x A=\"1\"",
        "declare -x A=\"1\"\n\n",
        "export A=\"1\"\n",
        "declare -r A=\"1\"\n",
        "declare -- A=\"1\"\n",
        "declare -x 1A=\"1\"\n",
        "declare -x A-B=\"1\"\n",
        "declare -x A=\"1\"\ndeclare -x A=\"2\"\n",
        ".declare -x A=\"1\"\n",
    ] {
        assert_eq!(read(said.as_bytes()), None, "{said}");
    }
}

#[test]
fn arrays_references_and_what_has_no_value_are_left_out() {
    let said = "declare -ax AR=([0]=\"1)\" [1]=$'\\n')\ndeclare -Ax M=([\"a)b\"]=\"x\" )\n\
        declare -ax EMPTY=()\ndeclare -x NONE\ndeclare -nx ref=\"A\"\ndeclare -irx A=\"5\"\n";
    let read = read(said.as_bytes()).unwrap();
    assert_eq!(read, BTreeMap::from([("A".to_owned(), b"5".to_vec())]));
}

fn given(variables: &[(&str, &str)]) -> InitialVariables {
    let bytes = |text: &&str| text.as_bytes().to_vec();
    variables.iter().map(|(name, value)| (bytes(name), bytes(value))).collect()
}

fn said(variables: &[(&str, &str)]) -> Vec<u8> {
    let line = |(name, value): &(&str, &str)| format!("declare -x {name}=\"{value}\"\n");
    variables.iter().map(line).collect::<String>().into_bytes()
}

#[test]
fn only_what_has_changed_is_told() {
    let began = given(&[("LANG", "C"), ("PATH", "/bin"), ("B", "1"), ("HOME", "/h")]);
    let by_call = BTreeMap::from([("B".to_owned(), "1".to_owned())]);
    let same = [("LANG", "C"), ("PATH", "/bin"), ("B", "1"), ("HOME", "/h"), ("PWD", "/x")];
    assert_eq!(compare(&said(&same), &began, &by_call), None);
    let other = [("PATH", "/x:/bin"), ("HOME", "/other"), ("NEW", "n"), ("SHLVL", "2")];
    let left = compare(&said(&other), &began, &by_call).unwrap();
    let set = [("NEW", "n"), ("PATH", "/x:/bin")].map(|(n, v)| (n.to_owned(), v.to_owned()));
    assert_eq!(left.set, BTreeMap::from(set));
    assert_eq!(left.unset, BTreeSet::from(["B".to_owned(), "LANG".to_owned()]));
    assert_eq!(left.withheld, BTreeSet::from(["HOME".to_owned()]));
    let sentence = left.sentence().unwrap();
    assert!(
        sentence.starts_with("The shell has exported `NEW`, `PATH`. The shell does not export ")
    );
    let left = compare(b"declare -x A", &began, &by_call).unwrap();
    assert!(left.unreadable && left.sentence().unwrap().contains("cannot be read"), "{left:?}");
}

#[test]
fn what_no_call_can_give_is_named() {
    let long = "x".repeat(VALUE_BYTES_MAX + 1);
    let left = compare(&said(&[("LONG", &long), ("A", "1")]), &given(&[]), &BTreeMap::new());
    let left = left.unwrap();
    assert_eq!(left.withheld, BTreeSet::from(["LONG".to_owned()]));
    assert_eq!(left.set.len(), 1);
    let odd = compare(b"declare -x A=$'\\377'\n", &given(&[]), &BTreeMap::new()).unwrap();
    assert_eq!((odd.set.len(), odd.withheld.len()), (0, 1));
    // What the call gave stays with the shell, so it takes room.
    let most = "x".repeat(VALUE_BYTES_MAX - 8);
    let by_call: BTreeMap<_, _> = (0..3).map(|n| (format!("C{n}"), most.clone())).collect();
    let mut now: Vec<(&str, &str)> =
        by_call.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let began = given(&now);
    now.extend([("D", most.as_str()), ("E", most.as_str())]);
    let left = compare(&said(&now), &began, &by_call).unwrap();
    assert_eq!((left.set.len(), left.withheld.len()), (1, 1));
    assert!(most.len() * 5 > ALL_BYTES_MAX);
}
