//! What the console looks like at 80 and 40 columns, plain and in colour.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::time::Instant;

use claw_core::domain::{
    Answer, ApprovalId, CallId, Choice, Live, OutboundBody, Question, Scope, SessionId, Term,
};
use claw_door_console::screen::Screen;
use claw_terminal::question::{Clock, whole_lines};
use claw_terminal::stream::markdown_lines;
use claw_terminal::style::Look;
use jiff::tz::TimeZone;

const PARAGRAPHS: &str = "# Title\n\nA paragraph with **bold**, *italic*, ~~gone~~ and `inline code`, that is long enough to be \
    wrapped at either width.\nA soft break, [a link](https://example.org/a), <https://example.org/b> and ![a picture](p.png).\n\n\
    ## 日本語の見出し\n\n日本語の段落は空白なしで折り返されます。絵文字 👩‍👩‍👧 も、結合文字 e\u{301} も。\n\n---\n\n[ref]: https://example.org/ref\n";

const LISTS: &str = "- one\n- two, which is so long that it has to be wrapped somewhere in the middle of it\n  - nested\n    1. deep\n    2. deeper\n\n  a second paragraph\n- [ ] open\n- [x] done\n\n9. nine\n10. ten\n\n> A quote, also long enough to be wrapped at the narrower of the two widths.\n>\n> > inner\n> - item\n";

const CODE: &str = "```rust\nfn main() {\n\tprintln!(\"a line of code that is wider than forty columns stays as it is\");\n\n}\n```\n\n    indented\n\n<div>html is shown</div>\n";

const TABLE: &str = "| Left | Centre | Right |\n|:---|:---:|---:|\n| a | b | 1 |\n| 日本語 | a longer cell, which has to be wrapped at the narrower width | 1234567 |\n\n| a | b | c | d | e | f | g |\n|-|-|-|-|-|-|-|\n| first | second | third | fourth | fifth | sixth | seventh |\n";

const HOSTILE: &str = "Red \u{1b}[31malert\u{1b}[0m, title \u{1b}]0;pwned\u{7}, C1 \u{9b}2J, entity &#27;[2J &#x9b;, bidi \u{202e}txt.exe\u{202c}.\n\n```\n\u{1b}[2J\u{8}\u{8}rm\r-rf\n```\n\n| \u{1b}[1mcell |\n|--|\n| \u{2028} |\n";

fn both(text: &str) -> String {
    let at = |width| markdown_lines(text, Look::new(width, false)).join("\n");
    format!("==== 80\n{}\n==== 40\n{}", at(80), at(40))
}

#[test]
fn markdown() {
    insta::assert_snapshot!("paragraphs", both(PARAGRAPHS));
    insta::assert_snapshot!("lists", both(LISTS));
    insta::assert_snapshot!("code", both(CODE));
    insta::assert_snapshot!("table", both(TABLE));
    insta::assert_snapshot!("hostile", both(HOSTILE));
    let coloured =
        markdown_lines(PARAGRAPHS, Look::new(80, true)).join("\n").replace('\u{1b}', "^");
    insta::assert_snapshot!("paragraphs_in_colour", coloured);
}

fn question() -> Question {
    let session = SessionId::new("main").unwrap();
    let allow = |key: &str, term, scope, label: &str| Choice {
        key: key.into(),
        label: label.into(),
        answer: Answer::Allow { term, scope },
    };
    let below = Scope::Below { path: "src".into() };
    Question {
        approval: ApprovalId("q7f2".into()),
        call: CallId::Reply { session: session.clone(), reply_seq: 3, block: 0 },
        session: Some(session),
        server: "filesystem".into(),
        tool: "write_file".into(),
        arguments: vec![
            (
                "content".into(),
                "fn main() {\n    println!(\"hello, this line is longer than forty columns\");  \n}\n".into(),
            ),
            ("path".into(), "src/main.rs".into()),
        ],
        why: "writing a file is mutating, and no rule allows this one".into(),
        effect: None,
        expires_at_ms: 1_795_000_000_000 + 4 * 3_600_000,
        staged: None,
        list: None,
        input: None,
        choices: vec![
            allow("y", Term::Once, Scope::Exact, "allow once: exactly these arguments, this one time"),
            allow("10m", Term::TenMinutes, Scope::Exact, "allow exactly these arguments for 10 minutes"),
            allow("sb", Term::Session, below, "allow write_file at or below src until this session ends"),
            Choice { key: "never".into(), label: "deny these arguments permanently".into(), answer: Answer::Never },
            Choice {
                key: "n".into(),
                label: "deny; `n because …` tells the model why".into(),
                answer: Answer::Deny { word: None },
            },
        ],
    }
}

#[test]
fn a_question() {
    let clock = Clock { now_ms: 1_795_000_000_000, zone: TimeZone::UTC };
    let at = |width, number| {
        whole_lines(&question(), number, Look::new(width, false), &clock).join("\n")
    };
    insta::assert_snapshot!(
        "question",
        format!("==== 80\n{}\n==== 40\n{}", at(80, None), at(40, Some(2)))
    );
}

#[test]
fn a_turn() {
    let at = |width| {
        let mut screen = Screen::new(Look::new(width, false), true);
        let now = Instant::now();
        let call =
            CallId::Reply { session: SessionId::new("main").unwrap(), reply_seq: 8, block: 0 };
        let title = "bash/run  ls -la /a/rather/long/path/that/is/wider/than/forty/columns";
        screen.live(Live::StepStarted { turn_seq: 7, step: 0 }, now);
        screen.live(Live::Text { turn_seq: 7, step: 0, text: "Let me look.".into() }, now);
        screen.live(Live::CallStarted { call: call.clone(), title: title.into() }, now);
        screen.live(Live::CallProgress { call: call.clone(), text: "total 12\n".into() }, now);
        let running = screen.take().unwrap();
        let summary = "exit 2: No such file or directory\n0.1 s".into();
        screen.live(
            Live::CallEnded {
                call,
                ok: false,
                title: title.into(),
                summary,
                diff: String::new(),
                output: "ls: cannot access '/a/rather/long': No such file or directory".into(),
            },
            now,
        );
        screen.out(&OutboundBody::Notice {
            text: "The turn met its limit of 20 model steps. Send a message to go on.".into(),
        });
        screen.error("The model could not be reached: set ANTHROPIC_API_KEY, or choose another with CLAW_AGENT.");
        let ended = screen.take().unwrap();
        let (before, draft, after) =
            (running.lines.join("\n"), running.draft.join("\n"), ended.lines.join("\n"));
        format!("==== {width}\n{before}\n---- draft\n{draft}\n---- after\n{after}")
    };
    insta::assert_snapshot!("turn", format!("{}\n{}", at(80), at(40)));
}

#[test]
fn the_quiet_line_of_a_turn_hangs_under_its_mark_at_either_width() {
    let text = "*Without a question, by a grant: `bash/run` ×2. Denied by a rule: `filesystem/write_file`.*";
    let at = |width| {
        let mut screen = Screen::new(Look::new(width, false), true);
        screen.out(&OutboundBody::Notice { text: text.into() });
        screen.take().unwrap().lines.join("\n")
    };
    let (wide, narrow) = (at(80), at(40));
    assert_eq!(
        wide.trim(),
        "• Without a question, by a grant: `bash/run` ×2. Denied by a rule:\n  `filesystem/write_file`."
    );
    assert_eq!(
        narrow.trim(),
        "• Without a question, by a grant:\n  `bash/run` ×2. Denied by a rule:\n  `filesystem/write_file`."
    );
}
