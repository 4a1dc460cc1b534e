//! What is understood and what is not, that the two readers need each other, and that no text makes
//! either of them panic.

use std::time::Instant;

use proptest::prelude::*;

use super::*;
use crate::shell::readers::reading;

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

fn reads(text: &str) -> Option<Vec<String>> {
    let steps = read(text)?;
    let mut paths = Vec::new();
    for step in &steps {
        paths.extend(reading(step)?.paths.into_iter().map(str::to_owned));
    }
    Some(paths)
}

#[test]
fn readers_with_known_options_name_their_paths() {
    for (text, paths) in [
        ("ls", ""),
        ("ls -laR src 'a b'", "src a b"),
        ("cat -n a -- -b", "a -b"),
        ("head -n 5 a", "a"),
        ("head -5 a", "a"),
        ("tail -n +20 a", "a"),
        ("tail --lines=5 a b", "a b"),
        ("grep -rn 'fn main' src tests", "src tests"),
        ("grep -e x -A3 a", "a"),
        ("grep a -e x", "a"),
        ("grep --include='*.rs' -r x", ""),
        ("rg -n x src", "src"),
        ("rg --files src", "src"),
        ("find . -name '*.rs' -type f -newer x", "x ."),
        ("find src tests -maxdepth 2 -mtime -3", "src tests"),
        ("sed -n 5,9p a", "a"),
        ("sed -n '5,$p' a b", "a b"),
        ("sort -k2,2n -t , a", "a"),
        ("stat -c '%n %s' a", "a"),
        ("du -sh .", "."),
        ("wc -l a b", "a b"),
        ("date +%s", ""),
        ("echo -n $x".replace("$x", "-e -- x").as_str(), ""),
        ("ls -l src | grep rs | wc -l", "src"),
        ("git status --short && git log --oneline -5 -- src", ""),
        ("git --no-pager diff HEAD~1 src/a", ""),
        ("cd src && ls", "src"),
    ] {
        assert_eq!(reads(text).map(|paths| paths.join(" ")).as_deref(), Some(paths), "{text}");
    }
}

/// Other programs, and options of readers that write, start something, follow links or never end.
const NOT_READING: &[&str] = &[
    "rm x",
    "sh x",
    "env",
    "xargs cat",
    "tee x",
    "less x",
    "awk 1 x",
    "printf -v x y",
    "test -v x",
    "eval ls",
    "source x",
    "export x",
    "alias ls",
    "command ls",
    "builtin echo",
    "exec ls",
    "busybox ls",
    "python x",
    "man ls",
    "vim x",
    "trap x",
    "ls -L",
    "ls -H x",
    "ls --dereference",
    "ls -l --hyperlink",
    "ls --zero",
    "ls --col",
    "ls -lZ",
    "cat --show",
    "tail -f x",
    "tail -5f x",
    "tail --follow=name x",
    "tail --pid=1 x",
    "sort -o x y",
    "sort -ox y",
    "sort --output=x y",
    "sort --compress-program=x",
    "sort -T x y",
    "sort --files0-from=x",
    "uniq a b",
    "uniq -- a b",
    "wc --files0-from=x",
    "du --files0-from=x",
    "du -X x",
    "du -L",
    "date -s now",
    "date --set=now",
    "date 010100002030",
    "date -f x",
    "date -r x",
    "date -us now",
    "file -m x y",
    "file -f x",
    "file -z x",
    "file -C",
    "stat -L x",
    "stat -f x",
    "grep -f x y",
    "grep -R x",
    "grep --file=x y",
    "grep -nf x y",
    "grep --exclude-from=x y",
    "grep --inc=x y",
    "rg --pre x y",
    "rg --pre=x y",
    "rg -z x",
    "rg -f x",
    "rg -L x",
    "rg --hostname-bin=x y",
    "rg --type-add x",
    "rg --follow",
    "find . -delete",
    "find . -exec x",
    "find . -execdir x",
    "find . -ok x",
    "find . -fprint x",
    "find . -fls x",
    "find -L .",
    "find . -files0-from x",
    "find . -printf x",
    "find . -name",
    "sed 5p x",
    "sed -i x",
    "sed -n -i 5p x",
    "sed -n 5w x",
    "sed -n 'wx' y",
    "sed -n 1e x",
    "sed -n -e 5p x",
    "sed -n -f x",
    "sed -n '1p;w x' y",
    "sed -s -n 1p x",
    "sed -n '1,$p w' x",
    "git",
    "git gc",
    "git -c a=b status",
    "git -C x status",
    "git --exec-path=x status",
    "git --git-dir=x status",
    "git --no-pager --no-pager status",
    "git diff --no-index a b",
    "git diff /etc/passwd /etc/hosts",
    "git diff ../../x a",
    "git diff a/../../x b",
    "git diff --output=x",
    "git diff --ext-diff",
    "git diff --textconv",
    "git log --output=x",
    "git log --show-signature",
    "git log --format=%G?",
    "git log --pretty='%GK'",
    "git show --ext-diff",
    "git branch x",
    "git branch -d x",
    "git branch -D x",
    "git branch -m x y",
    "git branch --edit-description",
    "git status --ignored=x",
    "git rev-parse --git-path x",
    "git diff -O x",
    "git log -S x",
    "git grep x",
    "git config x",
    "git fetch",
    "git stash",
    "ls; rm x",
    "ls | sh",
    "ls || rm x",
    "pwd && rm x",
];

#[test]
fn readers_with_anything_else_are_none() {
    for text in NOT_READING.iter().copied() {
        assert_eq!(reads(text), None, "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if std::env::var_os("CLAW_SHELL_TEXTS").is_some() { 100_000 } else { 300 }))]

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,60}") {
        let _ = read(&text).map(|steps| grants::words_of(&steps));
        let _ = reads(&text);
    }

    #[test]
    fn no_shell_like_text_makes_it_panic(text in r#"[ -~\n\t]{0,40}|([a-z'"$`(){};&|<>\\ =~*?!#-]{0,40})"#) {
        let _ = (parsed::read(&text), reads(&text));
        if let Some(steps) = read(&text) {
            prop_assert!(steps.iter().all(|step| !step.words.is_empty()), "{steps:?}");
            prop_assert!(text.is_ascii() && !text.contains(['\n', '$', '`']) || text.contains('\''), "{text}");
        }
    }

    /// Whatever the words are: in single quotes they come out as they went in.
    #[test]
    fn quoted_words_come_out_as_they_went_in(words in proptest::collection::vec("[ -&(-~]{0,12}", 1..6)) {
        let text = format!("ls {}", words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" "));
        let steps = read(&text).expect("single quotes hide everything");
        prop_assert_eq!(steps[0].args(), &words[..]);
    }
}
