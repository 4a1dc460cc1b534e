//! The four forms, their variables, and what is refused.

use std::path::PathBuf;
use std::time::Duration;

use super::*;

fn expansion() -> Expansion {
    let env = [("TOKEN", "s3cret"), ("EMPTY", ""), ("SNEAKY", "${TOKEN}")];
    Expansion {
        env: env.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
        home: PathBuf::from("/home/ann"),
        workspace: PathBuf::from("/work/space"),
        claw_exe: PathBuf::from("/opt/claw"),
        extra_claw_args: vec!["--workspace".into(), "/work/space".into()],
        inputs: BTreeMap::new(),
    }
}

fn stdio(text: &str, name: &str) -> StdioLaunch {
    let manifest = parse(text, &expansion()).unwrap();
    match &manifest.servers[name].launch {
        Launch::Stdio(launch) => launch.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn claude_desktop() {
    let text = r#"{"globalShortcut":"x","mcpServers":{"fs":{"command":"npx","args":["-y","@x/fs","/tmp"],"env":{"A":"$TOKEN"}}}}"#;
    let launch = stdio(text, "fs");
    assert_eq!((launch.command.as_str(), launch.args.len()), ("npx", 3));
    assert_eq!(launch.env["A"], "$TOKEN", "a bare variable stays");
}

#[test]
fn claude_code() {
    let text = r#"{"mcpServers":{"a":{"type":"stdio","command":"x","timeout":90000,
        "args":["${TOKEN}","${NOPE:-dflt}","${EMPTY:-dflt}","${NOPE}","${SNEAKY}","${unclosed"]},
        "b":{"type":"http","url":"https://h/${TOKEN}","headers":{"Authorization":"Bearer ${TOKEN}"}}}}"#;
    assert_eq!(stdio(text, "a").args, ["s3cret", "dflt", "", "${NOPE}", "${TOKEN}", "${unclosed"]);
    let manifest = parse(text, &expansion()).unwrap();
    assert_eq!(manifest.servers["a"].timeout, Some(Duration::from_secs(90)));
    assert_eq!(manifest.warnings.len(), 1, "{:?}", manifest.warnings);
    assert!(manifest.warnings[0].contains("`a`") && manifest.warnings[0].contains("NOPE"));
    let Launch::Http(HttpLaunch { url, headers, .. }) = &manifest.servers["b"].launch else {
        panic!()
    };
    assert_eq!(
        (url.as_str(), headers["Authorization"].as_str()),
        ("https://h/s3cret", "Bearer s3cret")
    );
}

#[test]
fn vs_code() {
    let text = r#"{ // comment
        "inputs":[{"id":"key","type":"promptString"},{"id":"host","default":"localhost"}],
        "servers":{
            "a":{"command":"${userHome}/bin/x","args":["${workspaceFolder}${/}y","${env:TOKEN}","${input:host}","${TOKEN}"],
                 "envFile":"${workspaceFolder}/.env",},
            "b":{"command":"x","env":{"K":"${input:key}"}},
        },
    }"#;
    let launch = stdio(text, "a");
    assert_eq!(launch.command, "/home/ann/bin/x");
    assert_eq!(launch.args, ["/work/space/y", "s3cret", "localhost", "${TOKEN}"]);
    assert_eq!(launch.env_file, Some(PathBuf::from("/work/space/.env")));
    let manifest = parse(text, &expansion()).unwrap();
    let Launch::Unusable { reason } = &manifest.servers["b"].launch else { panic!() };
    assert!(reason.contains("`key`"), "{reason}");
    let mut answered = expansion();
    answered.inputs.insert("key".into(), "42".into());
    let manifest = parse(text, &answered).unwrap();
    assert!(
        matches!(&manifest.servers["b"].launch, Launch::Stdio(launch) if launch.env["K"] == "42")
    );
}

#[test]
fn cursor() {
    let text = r#"{"mcpServers":{"a":{"command":"~/bin/x","args":["~","${userHome}","${env:NOPE}"],"cwd":"~/w","disabled":true,
        "env":{"PORT":8080}},"r":{"type":"streamableHttp","url":"http://h"}}}"#;
    let launch = stdio(text, "a");
    assert_eq!(launch.command, "/home/ann/bin/x");
    assert_eq!(launch.args, ["~", "/home/ann", ""]);
    assert_eq!(launch.cwd, Some(PathBuf::from("/home/ann/w")));
    assert_eq!(launch.env["PORT"], "8080");
    let manifest = parse(text, &expansion()).unwrap();
    assert!(manifest.servers["a"].disabled);
    assert!(matches!(manifest.servers["r"].launch, Launch::Http(_)));
}

#[test]
fn claw_means_this_executable() {
    let launch = stdio(include_str!("../../../../mcp.json"), "bash");
    assert_eq!(launch.args, ["server", "bash"], "the caller's arguments are kept apart");
    let own = launch.own.unwrap();
    assert_eq!(own.exe, PathBuf::from("/opt/claw"));
    assert_eq!(own.extra_args, ["--workspace", "/work/space"]);
    assert!(stdio(r#"{"mcpServers":{"a":{"command":"/usr/bin/claw"}}}"#, "a").own.is_none());
}

#[test]
fn what_is_refused_names_the_place() {
    let cases = [
        ("{\n  \"mcpServers\": {\n    \"a\": }\n}", "line 3"),
        (
            "{\"mcpServers\":{\"a\":{\"command\":\"x\"},\n \"a\":{\"command\":\"y\"}}}",
            "line 2, column 2: the key `a`",
        ),
        (r#"{"mcpServers":{"a":{"command":"x","env":{"K":"1","K":"2"}}}}"#, "the key `K`"),
        (r#"{"mcpServers":{"a":{"command":7}}}"#, "server `a`: `command` must be text"),
        (r#"{"mcpServers":{"a":{"command":"x","args":"y"}}}"#, "`args` must be a list"),
        (r#"{"mcpServers":{"a":{"command":"x","env":{"K":{}}}}}"#, "`env.K` must be text"),
        (r#"{"mcpServers":{"a":{"command":"x","env":{"K=":"1"}}}}"#, "name of a variable"),
        (r#"{"mcpServers":{"a":{"args":[]}}}"#, "server `a`: needs a `command`"),
        (r#"{"mcpServers":{"a":{"command":" "}}}"#, "`command` is empty"),
        (r#"{"mcpServers":{"a":{"command":"x","timeout":-1}}}"#, "milliseconds"),
        (r#"{"mcpServers":[]}"#, "`mcpServers` must be an object"),
        ("[]", "one JSON object"),
        (r#"{"mcpServers":{"ä b":{"command":"x"},"ö b":{"command":"x"}}}"#, "`ä b` and `ö b`"),
        (
            r#"{"mcpServers":{"Git":{"command":"x"}},"servers":{"git":{"command":"x"}}}"#,
            "same name",
        ),
        (r#"{"mcpServers":{"":{"command":"x"}}}"#, "name is empty"),
    ];
    for (text, expected) in cases {
        let error = parse(text, &expansion()).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
}

#[test]
fn what_is_only_unsupported_is_kept() {
    let text = r#"{"mcpServers":{"a":{"type":"ws","url":"x"},"b":{"command":"x","alwaysAllow":["y"],"args":null}}}"#;
    let manifest = parse(text, &expansion()).unwrap();
    assert!(
        matches!(&manifest.servers["a"].launch, Launch::Unusable { reason } if reason.contains("`ws`"))
    );
    assert!(matches!(&manifest.servers["b"].launch, Launch::Stdio(_)));
    assert_eq!(parse(r#"{"mcpServers":{}}"#, &expansion()).unwrap(), Manifest::default());
}

/// What a power loss leaves, and a root that is misspelt: an agent without tools would not say why.
#[test]
fn a_file_without_a_root_is_refused() {
    for text in ["", " // nothing\n", "{}", r#"{"mcp":{}}"#] {
        assert_eq!(parse(text, &expansion()), Err(ManifestError::NoRoot), "{text}");
    }
}

mod any_text {
    use super::*;
    use proptest::prelude::*;

    const GOOD: &str = r#"{
      // every kind of value that has a meaning
      "inputs": [{"id": "host", "default": "localhost"}],
      "mcpServers": {
        "a": {"command": "x", "args": ["${TOKEN}", "${NOPE:-d}"], "env": {"K": "1"}, "timeout": 90000, "disabled": true},
        "b": {"type": "http", "url": "https://h/", "headers": {"A": "b"}},
        "c": {"command": "claw", "args": ["server", "bash"], "cwd": "~/w", "envFile": "${userHome}/e",},
      },
    }"#;

    /// Each says where, for somebody who has the file before them.
    fn names_the_place(error: &ManifestError) -> bool {
        let text = error.to_string();
        let by_line = text.starts_with("mcp.json, line ") && text.contains(", column ");
        let by_name = text.starts_with("mcp.json, server `")
            || text.starts_with("mcp.json: ") && text.contains('`');
        by_line
            || by_name
            || *error == ManifestError::NoRoot
            || text.ends_with("must hold one JSON object")
    }

    proptest! {
        #[test]
        fn never_panics(text in ".{0,200}") {
            let read = parse(&text, &expansion());
            prop_assert!(read.as_ref().err().is_none_or(names_the_place), "{read:?}");
            let _ = parse_env_file(&text);
        }

        /// A file as somebody types it: with something missing, doubled, or put into the wrong
        /// place.
        #[test]
        fn a_slip_is_read_or_named(from in 0..GOOD.len(), length in 0..12_usize, typed in "[\\[\\]{}:,\"a-c0-9.\\\\\n $/*-]{0,6}") {
            let to = (from + length).min(GOOD.len());
            let text = format!("{}{typed}{}", &GOOD[..from], &GOOD[to..]);
            let read = parse(&text, &expansion());
            prop_assert!(read.as_ref().err().is_none_or(names_the_place), "{text}\n{read:?}");
        }
    }

    /// A file may have a megabyte of brackets.
    #[test]
    fn deep_nesting_is_refused_and_overflows_nothing() {
        for open in ["[", "{\"a\":"] {
            let error = parse(&open.repeat(100_000), &expansion()).unwrap_err();
            assert!(names_the_place(&error), "{error}");
        }
    }
}
