//! What is understood and what is not, that the two readers need each other, and that no text makes
//! either of them panic.

use std::time::Instant;

use super::*;

fn shown(text: &str) -> Option<String> {
    let joint = |joint| match joint {
        Joint::Start => "",
        Joint::And => " && ",
        Joint::Or => " || ",
        Joint::Then => " ; ",
        Joint::Pipe => " | ",
    };
    Some(
        read(text)?
            .iter()
            .map(|step| format!("{}{}", joint(step.joint), step.words.join("·")))
            .collect(),
    )
}

#[test]
fn literal_words_are_understood() {
    for (text, meant) in [
        ("ls", "ls"),
        ("  ls   -la  src/main.rs ", "ls·-la·src/main.rs"),
        ("cat 'a b' \"c d\" e'f'\"g\"h", "cat·a b·c d·efgh"),
        (r#"grep 'a$b`c\d!e*' "f'g*h#i""#, r"grep·a$b`c\d!e*·f'g*h#i"),
        ("echo '' \"\"", "echo··"),
        (
            "git log main..HEAD~2 HEAD^ a=b --x=1,2:3@4%5+6",
            "git·log·main..HEAD~2·HEAD^·a=b·--x=1,2:3@4%5+6",
        ),
        ("ls|head -5&&pwd;wc x||echo no", "ls | head·-5 && pwd ; wc·x || echo·no"),
        ("ls if then fi { } time".replace("{ } ", "").as_str(), "ls·if·then·fi·time"),
    ] {
        assert_eq!(shown(text).as_deref(), Some(meant), "{text}");
    }
}

/// Texts in which something is more than literal words and joints.
const NOT_LITERAL: &[&str] = &[
    "",
    " ",
    ";",
    "&&",
    "ls;",
    "ls &&",
    "ls |",
    "; ls",
    "ls;;ls",
    "ls & ls",
    "ls &",
    "ls |& cat",
    "ls &&& ls",
    "ls || | cat",
    "ls\n",
    "ls\nrm x",
    "ls\tx",
    "ls\rx",
    "ls \u{a0}x",
    "ls \u{200b}x",
    "ls ä",
    "ls 'ä'",
    "l\u{131}s",
    "ls \0",
    "ls '\n'",
    "$x",
    "ls $x",
    "ls ${x}",
    "ls \"$x\"",
    "ls $(x)",
    "ls `x`",
    "ls \"`x`\"",
    "ls $'x'",
    "ls $\"x\"",
    "ls $((1))",
    "ls $",
    "ls *",
    "ls ?",
    "ls [a]",
    "ls {a,b}",
    "ls ~",
    "ls ~/x",
    "ls x=~",
    "ls a:~",
    "ls ''~",
    "ls !x",
    "ls \"a!b\"",
    "ls #x",
    "ls \\x",
    "ls \"\\x\"",
    "ls 'x",
    "ls \"x",
    "ls x'",
    "ls > x",
    "ls 2>&1",
    "ls < x",
    "ls <<x",
    "ls <<<x",
    "ls <(x)",
    "ls >(x)",
    "(ls)",
    "{ ls; }",
    "ls (x)",
    "ls() x",
    "x=1 ls",
    "x=1",
    "x+=1 ls",
    "x[0]=1 ls",
    "'ls'",
    "l's'",
    "\"ls\" x",
    "./ls",
    "/bin/ls",
    "~/ls",
    "-ls",
    "_ls",
    "%1",
    ":",
    ".",
    "[ x ]",
    "[[ x ]]",
    "! ls",
    "if ls",
    "time ls",
    "while ls",
    "coproc ls",
    "function ls",
    "select x",
    "for x",
    "case x",
    "until x",
    "do x",
    "then x",
    "else",
    "fi",
    "done",
    "esac",
    "in x",
    "ls ^x",
    "^x",
    "ls && time x",
    "ls | if",
];

#[test]
fn everything_else_is_not() {
    for text in NOT_LITERAL.iter().copied() {
        assert_eq!(read(text), None, "{text:?}");
    }
    assert_eq!(
        read(&format!("ls {}", "x".repeat(TEXT_BYTES_MAX - 3))).map(|steps| steps.len()),
        Some(1)
    );
    assert_eq!(read(&format!("ls {}", "x".repeat(TEXT_BYTES_MAX - 2))), None);
}

/// Only words in which nothing is expanded may come to the second reader, which is a grammar; what
/// does must cost little.
#[test]
fn the_longest_texts_are_read_soon() {
    let worst =
        ["a;", "a|", "a&&", "a||", "a ", "''", "a'b'\"c\"", "a=b ", "HEAD~1^ ", "if ", "a if;"];
    let start = Instant::now();
    for piece in worst {
        let mut text = format!("x {}", piece.repeat((TEXT_BYTES_MAX - 4) / piece.len()));
        let _one = read(&text);
        text.push('x');
        let _other = read(&text);
    }
    // No measure of speed: a grammar that backtracks would take years.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn either_reader_alone_stops_what_the_other_one_stops() {
    for text in [
        "ls $(x)",
        "ls `x`",
        "ls > x",
        "x=1 ls",
        "ls & x",
        "! ls",
        "time ls",
        "if ls; then ls; fi",
        "ls <(x)",
    ] {
        assert_eq!((plain::read(text), parsed::read(text)), (None, None), "{text}");
    }
}
