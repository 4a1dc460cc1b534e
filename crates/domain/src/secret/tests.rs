//! Names, shapes, addresses and arguments that hold a secret, and those that look so and hold none.

use super::*;

#[test]
fn names_tell_which_variables_are_secret() {
    for name in [
        "ANTHROPIC_API_KEY",
        "GITHUB_TOKEN",
        "CLIENT_SECRET",
        "DB_PASSWORD",
        "PGPASSWD",
        "AWS_CREDENTIALS",
        "GH_PAT",
        "openai_api_key",
        "API_KEY_2",
        "TOKEN1",
        "SSH_PASSPHRASE",
        "MY_CREDENTIAL",
        "--api-key",
        "X-Api-Key",
        "Authorization",
        "SENTRY_DSN",
        "BASIC_AUTH",
        "MYSQL_PASS",
        "MYSQL_PWD",
        "--pass",
    ] {
        assert!(is_secret_name(name), "{name}");
    }
    for name in [
        "PATH",
        "HOME",
        "KEYBOARD",
        "TOKENIZERS_PARALLELISM",
        "KEY_FILE_DIR",
        "SECRETS_PATH",
        "COMPAT",
        "USER",
        "--author",
        "PWD",
        "OLDPWD",
        "BYPASS",
        "GIT_ASKPASS",
    ] {
        assert!(!is_secret_name(name), "{name}");
    }
}

#[test]
fn what_every_text_holds_is_no_secret() {
    for value in [
        "true",
        "/home/me",
        "/opt/a1b2c3d4e5f6g7/bin",
        "8080",
        "production",
        "gpt-4o-mini-2024-07-18",
        "claude-sonnet-4-20250514",
        "eu-central-1",
        "Europe/Berlin",
        "me@example.org",
        "https://api.example.com/v1/things",
        "db.internal.example.com",
        "getUserByIdAndName",
        "image20240507",
        "a,b,c",
        "~/projects/x1y2z3a4b5c6d7",
        "postgres://localhost/db",
        "a few words, and more of them",
    ] {
        assert_eq!(in_named("SETTING", value), [""; 0], "{value}");
    }
    for value in ["true", "1", "/run/secrets/key", "password", "~/.ssh/id", "${TOKEN}"] {
        assert_eq!(in_named("MY_TOKEN", value), [""; 0], "{value}");
    }
}

#[test]
fn shape_alone_tells_what_is_random() {
    for value in [
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "sk-proj-abcdefghijklmnop",
        "6f1e2d3c4b5a69788796a5b4c3d2e1f0",
        "xoxb-123456789012-abcdefGHIJKL",
    ] {
        assert_eq!(in_named("SETTING", value), [value], "{value}");
    }
}

#[test]
fn a_token_is_found_among_words() {
    let json = r#"{"Authorization": "Bearer ntn_a1b2c3d4e5f6g7h8", "Version": "2022-06-28"}"#;
    assert_eq!(in_named("OPENAPI_MCP_HEADERS", json), ["ntn_a1b2c3d4e5f6g7h8"]);
    assert_eq!(in_named("OPTIONS", "--verbose --key=a1b2c3d4e5f6g7h8"), ["a1b2c3d4e5f6g7h8"]);
    for (value, password) in [
        ("Server=db;Uid=me;Password=Sommer2024!;Encrypt=yes", "Sommer2024!"),
        ("Driver={X};UID=me;PWD=Sommer2024!", "Sommer2024!"),
        ("host=db user=me password=Sommer2024! dbname=x", "Sommer2024!"),
        ("password=Sommer2024!", "Sommer2024!"),
    ] {
        assert_eq!(in_named("CONNECTION", value), [password], "{value}");
    }
    for value in ["a=b;pwd=/home/me/project", "password=${DB_PASSWORD} x", "key=customers-1"] {
        assert_eq!(in_named("CONNECTION", value), [""; 0], "{value}");
    }
}

#[test]
fn addresses_hold_passwords_tokens_and_keys() {
    let cases: [(&str, &[&str]); 6] = [
        ("postgres://me:p4ss:w0rd@db/x", &["p4ss:w0rd", "postgres://me:p4ss:w0rd@db/x"]),
        ("me:p4ssw0rd@proxy.lan:3128", &["p4ssw0rd", "me:p4ssw0rd@proxy.lan:3128"]),
        ("https://a1b2c3d4e5f6g7@host/", &["a1b2c3d4e5f6g7", "https://a1b2c3d4e5f6g7@host/"]),
        ("https://h/p?api_key=opensesame1&x=1", &["opensesame1"]),
        ("https://hooks.h/services/T0/a1b2c3d4e5f6g7", &["a1b2c3d4e5f6g7"]),
        ("https://me@host/", &[]),
    ];
    for (value, expected) in cases {
        assert_eq!(in_value(value), expected, "{value}");
    }
}

#[test]
fn arguments_and_headers_name_their_values() {
    let arguments = |list: &[&str]| list.iter().map(|arg| (*arg).to_owned()).collect::<Vec<_>>();
    let given = arguments(&[
        "-y",
        "@x/server",
        "--token=opensesame1",
        "--api-key",
        "opensesame2",
        "-e",
        "MY_SECRET=opensesame3",
        "--header",
        "Authorization: Bearer opensesame4",
        "--port",
        "8080",
        "/home/me/project",
        "--verbose",
        "opensesame5",
    ]);
    assert_eq!(in_arguments(&given), ["opensesame1", "opensesame2", "opensesame3", "opensesame4"]);
    assert_eq!(in_named("X-Api-Key", "opensesame6"), ["opensesame6"]);
}

/// A server of others is read by a person before it runs: nothing that may be code is masked.
#[test]
fn code_is_no_secret_whatever_name_stands_before_it() {
    for code in [
        "API_TOKEN=$(touch /tmp/x); exec python3 srv.py",
        "API_TOKEN=x evilprogram",
        "API_TOKEN={touch,/tmp/x}",
        "API_TOKEN=${AWS_SECRET_ACCESS_KEY}",
        "API_TOKEN=opensesame;reboot",
        "sk-x;touch</tmp/abcdefghijklmnop",
        "x://a:$(reboot)@h",
    ] {
        let given = ["-c".to_owned(), code.to_owned()];
        assert_eq!(in_arguments(&given), [""; 0], "{code}");
    }
    let given = ["--token".to_owned(), "$(reboot)12345".to_owned()];
    assert_eq!(in_arguments(&given), [""; 0]);
}
