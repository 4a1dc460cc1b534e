//! Tests of the picking of a model. Local servers are played by sockets; nothing here leaves the
//! machine.

use std::collections::BTreeMap;

use super::{ChooseError, Chosen, RetryPolicy, choose, choose_of};
use crate::config::TYPED_MODEL;
use crate::config::model::ModelSection;

/// No test is given port 1. A port that was free a moment ago may be that of another test.
const NOBODY_LISTENS: &str = "http://127.0.0.1:1";

fn env(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn section(text: &str) -> ModelSection {
    toml::from_str(text).unwrap()
}

async fn pick(file: &str, pairs: &[(&str, &str)]) -> Result<Chosen, ChooseError> {
    choose(&section(file), &env(pairs), RetryPolicy::default()).await
}

async fn name(file: &str, pairs: &[(&str, &str)]) -> String {
    let chosen = pick(file, pairs).await.unwrap_or_else(|error| panic!("{pairs:?}: {error}"));
    format!("{}/{}", chosen.model.provider(), chosen.model.model())
}

async fn error(file: &str, pairs: &[(&str, &str)]) -> String {
    match pick(file, pairs).await {
        Ok(chosen) => panic!("{}", chosen.why),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_key_is_enough() {
    assert_eq!(name("", &[("ANTHROPIC_API_KEY", "k")]).await, "claude/claude-sonnet-5");
    assert_eq!(
        name("", &[("OPENAI_API_KEY", "k"), ("GEMINI_API_KEY", "k")]).await,
        "openai/gpt-5.4-mini"
    );
    assert_eq!(name("", &[("GROQ_API_KEY", "k"), ("CLAW_MODEL", "m")]).await, "groq/m");
    for key in ["GEMINI", "DEEPSEEK", "OPENROUTER", "XAI", "MISTRAL", "TOGETHER"] {
        let found = name("", &[(&format!("{key}_API_KEY"), "k")]).await;
        assert!(found.starts_with(&key.to_ascii_lowercase()), "{found}");
    }
}

#[tokio::test]
async fn a_named_model_goes_to_the_provider_that_makes_it() {
    let keys = [("ANTHROPIC_API_KEY", "k"), ("GEMINI_API_KEY", "k"), ("CLAW_MODEL", "gemini-9")];
    assert_eq!(name("", &keys).await, "gemini/gemini-9");
}

#[tokio::test]
async fn a_model_that_was_typed_is_told_as_the_option() {
    let nobody = ("OLLAMA_HOST", "127.0.0.1:9");
    let text = error("", &[("CLAW_MODEL", "foo"), (TYPED_MODEL, "foo"), nobody]).await;
    assert!(text.starts_with("--model names the model `foo`"), "{text}");
    let text = error("", &[("CLAW_MODEL", "foo"), nobody]).await;
    assert!(text.starts_with("CLAW_MODEL names the model `foo`"), "{text}");
}

#[tokio::test]
async fn asked_for_by_name_without_a_key_is_an_error_and_never_the_demo() {
    for (agent, variable) in [
        ("claude", "ANTHROPIC_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("openai-compatible", "OPENAI_API_KEY"),
    ] {
        let text = error("", &[("CLAW_AGENT", agent)]).await;
        assert!(text.contains(variable) && text.contains("CLAW_AGENT"), "{text}");
        let text = error(&format!("agent = '{agent}'"), &[("XAI_API_KE", "k")]).await;
        assert!(text.contains(variable) && text.contains("[model] agent"), "{text}");
        // Set to nothing is not set.
        assert!(error("", &[("CLAW_AGENT", agent), (variable, " ")]).await.contains(variable));
    }
    let text = error("", &[("CLAW_AGENT", "gpt")]).await;
    assert!(text.contains("claude, openai-compatible, gemini, ollama, demo"), "{text}");
}

#[tokio::test]
async fn the_environment_wins_over_the_file() {
    let file = "agent = 'claude'\nmodel = 'file-model'\napi_key = 'file-key'";
    assert_eq!(name(file, &[]).await, "claude/file-model");
    assert_eq!(name(file, &[("CLAW_MODEL", "env-model")]).await, "claude/env-model");
    assert_eq!(name(file, &[("CLAW_AGENT", "demo")]).await, "demo/demo");
}

#[tokio::test]
async fn a_key_of_the_file_never_reaches_another_agent() {
    let file = "agent = 'claude'\nmodel = 'claude-x'\nbase_url = 'http://127.0.0.1:9'\napi_key = 'file-key'";
    let text = error(file, &[("CLAW_AGENT", "gemini")]).await;
    assert!(text.contains("GEMINI_API_KEY"), "{text}");
    let other = [("CLAW_AGENT", "gemini"), ("GEMINI_API_KEY", "k")];
    assert_eq!(name(file, &other).await, "gemini/gemini-3.8-flash");
}

#[tokio::test]
async fn an_address_decides_the_agent() {
    let here = [("CLAW_BASE_URL", "http://127.0.0.1:9/v1"), ("CLAW_MODEL", "m")];
    assert_eq!(name("", &here).await, "openai-compatible/m");
    let known = [("CLAW_BASE_URL", "https://api.groq.com/openai/v1"), ("GROQ_API_KEY", "k")];
    assert_eq!(name("", &known).await, "groq/openai/gpt-oss-120b");
    assert!(
        error("", &[("CLAW_BASE_URL", "https://x.example/v1")]).await.contains("OPENAI_API_KEY")
    );
    assert!(error("", &[("CLAW_BASE_URL", "nonsense")]).await.contains("CLAW_BASE_URL"));
    let unnamed = [("CLAW_BASE_URL", "https://x.example/v1"), ("OPENAI_API_KEY", "k")];
    assert!(error("", &unnamed).await.contains("CLAW_MODEL"));
}

#[tokio::test]
async fn no_why_and_no_error_holds_a_key() {
    let chosen = pick("", &[("ANTHROPIC_API_KEY", "sk-very-secret")]).await.unwrap();
    assert!(
        !chosen.why.contains("secret") && chosen.why.contains("ANTHROPIC_API_KEY"),
        "{}",
        chosen.why
    );
}

#[tokio::test]
async fn an_ollama_that_is_not_there_or_has_nothing_is_an_error() {
    let text = error("", &[("CLAW_AGENT", "ollama"), ("OLLAMA_HOST", NOBODY_LISTENS)]).await;
    assert!(text.contains("no Ollama at"), "{text}");
    assert_eq!(name("", &[("CLAW_AGENT", "ollama"), ("CLAW_MODEL", "qwen")]).await, "ollama/qwen");
}

/// Answers every request with what `body` says for its path, on a free port of this machine.
async fn server(body: fn(&str) -> &'static str) -> String {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut head = vec![0; 4096];
            let read = socket.read(&mut head).await.unwrap();
            let text = String::from_utf8_lossy(&head[..read]).into_owned();
            let body = body(text.split(' ').nth(1).unwrap());
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            );
            socket.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    url
}

#[tokio::test]
async fn an_ollama_on_loopback_is_found_and_its_first_model_taken() {
    let url = server(|path| {
        if path == "/api/tags" { r#"{"models":[{"name":"qwen3:8b"},{"name":"b"}]}"# } else { "{}" }
    })
    .await;
    assert_eq!(name("", &[("OLLAMA_HOST", &url)]).await, "ollama/qwen3:8b");
    assert_eq!(name("", &[("OLLAMA_HOST", &url), ("CLAW_MODEL", "b")]).await, "ollama/b");
    assert_eq!(
        name("", &[("CLAW_AGENT", "ollama"), ("CLAW_BASE_URL", &url)]).await,
        "ollama/qwen3:8b"
    );
    // A key comes before what merely runs here.
    assert_eq!(name("", &[("OLLAMA_HOST", &url), ("XAI_API_KEY", "k")]).await, "xai/grok-4.5");
    let empty = server(|_| r#"{"models":[]}"#).await;
    assert!(
        error("", &[("CLAW_AGENT", "ollama"), ("OLLAMA_HOST", &empty)])
            .await
            .contains("ollama pull")
    );
}

#[tokio::test]
async fn an_address_at_which_nothing_listens_is_told_as_that() {
    let nobody = format!("{NOBODY_LISTENS}/v1");
    let text = error("", &[("CLAW_BASE_URL", &nobody)]).await;
    assert!(text.starts_with("CLAW_BASE_URL points to http://127.0.0.1:"), "{text}");
    assert!(text.contains("nobody answers there (connection refused): start the server"), "{text}");
    let there = server(|_| "{}").await;
    let text = error("", &[("CLAW_BASE_URL", &there)]).await;
    assert!(text.contains("whose models are not known: set CLAW_MODEL"), "{text}");
}

#[tokio::test]
async fn a_web_server_that_is_no_ollama_is_not_taken_for_one() {
    for body in [(|_: &str| "<html>") as fn(&str) -> &'static str, |_| "[]", |_| r#"{"models":7}"#]
    {
        let url = server(body).await;
        let found = pick("", &[("OLLAMA_HOST", &url)]).await.unwrap();
        // Port 8080 of this machine belongs to somebody else and may hold a real llama.cpp server.
        assert_ne!(found.model.provider(), "ollama", "{}", found.why);
        assert!(
            error("", &[("CLAW_AGENT", "ollama"), ("OLLAMA_HOST", &url)])
                .await
                .contains("no Ollama at")
        );
    }
}

#[tokio::test]
async fn a_llama_cpp_server_says_that_it_is_one() {
    use super::probe::llama_cpp;
    let own = server(|_| r#"{"data":[{"id":"m.gguf","owned_by":"llamacpp"}]}"#).await;
    assert_eq!(llama_cpp(&format!("{own}/")).await.as_deref(), Some("m.gguf"));
    let props = server(|path| {
        if path == "/props" {
            r#"{"default_generation_settings":{}}"#
        } else {
            r#"{"data":[{"id":"m"}]}"#
        }
    })
    .await;
    assert_eq!(llama_cpp(&format!("{props}/")).await.as_deref(), Some("m"));
    let other = server(|_| r#"{"data":[{"id":"m"}]}"#).await;
    assert_eq!(llama_cpp(&format!("{other}/")).await, None);
    assert_eq!(name("", &[("CLAW_BASE_URL", &own)]).await, "openai-compatible/m.gguf");
}

#[tokio::test]
async fn a_model_without_any_provider_is_an_error_and_not_the_demo() {
    match pick("", &[("OLLAMA_HOST", NOBODY_LISTENS), ("CLAW_MODEL", "gpt-9")]).await {
        Ok(chosen) => assert_eq!(
            chosen.model.provider(),
            "openai-compatible",
            "only a real llama.cpp may answer"
        ),
        Err(error) => assert!(error.to_string().contains("CLAW_MODEL"), "{error}"),
    }
}

/// What stands in the file, which variables are set, and what the sentence names.
type Told<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str);

/// Where a section reads no variable, no sentence about it sends anybody to one.
#[tokio::test]
async fn a_sentence_names_the_setting_that_is_in_force() {
    // Each with the variable, and with the key of the section in its place.
    let cases: [Told<'_>; 8] = [
        ("", &[("CLAW_AGENT", "openai-compatible")], "CLAW_BASE_URL"),
        ("agent = 'openai-compatible'", &[], "`[model] base_url`"),
        (
            "",
            &[("CLAW_BASE_URL", "https://x.example/v1"), ("OPENAI_API_KEY", "k")],
            "set CLAW_MODEL",
        ),
        (
            "agent = 'openai-compatible'\nbase_url = 'https://x.example/v1'\napi_key = 'k'",
            &[],
            "set `[model] model`",
        ),
        ("", &[("CLAW_AGENT", "ollama"), ("CLAW_BASE_URL", NOBODY_LISTENS)], "set CLAW_BASE_URL"),
        ("agent = 'ollama'", &[("OLLAMA_HOST", NOBODY_LISTENS)], "set OLLAMA_HOST"),
        ("agent = 'claude'", &[], "ANTHROPIC_API_KEY, or `[model] api_key`"),
        ("agent = 'gemini'\nbase_url = 'https://x.example'", &[], "`[model] base_url` asks"),
    ];
    for (file, pairs, names) in cases {
        let told = error(file, pairs).await;
        assert!(told.contains(names), "`{names}` is missing: {told}");
        let set = |variable: &str| pairs.iter().any(|(name, _)| name == &variable);
        for variable in ["CLAW_AGENT", "CLAW_MODEL", "CLAW_BASE_URL"] {
            let from_claw = pairs.iter().any(|(name, _)| name.starts_with("CLAW_"));
            assert!(from_claw || set(variable) || !told.contains(variable), "{told}");
        }
    }
    let file =
        section("agent = 'openai-compatible'\nbase_url = 'https://x.example'\napi_key = 'k'");
    let none = env(&[]);
    let behind = choose_of("[[model.fallback]]", &file, &none, RetryPolicy::default()).await;
    let Err(told) = behind else { panic!("no model is named") };
    assert!(told.to_string().contains("set `[[model.fallback]] model`"), "{told}");
}

#[tokio::test]
async fn what_fails_later_names_where_model_and_address_come_from() {
    let settings = async |file: &str, pairs: &[(&str, &str)]| {
        let target = pick(file, pairs).await.unwrap().target.unwrap();
        [target.key_setting, target.address_setting, target.model_setting]
    };
    let key = ("ANTHROPIC_API_KEY", "k");
    assert_eq!(
        settings("", &[key]).await,
        ["ANTHROPIC_API_KEY", "`[model] base_url`", "`[model] model`"]
    );
    let here = [key, ("CLAW_BASE_URL", "https://api.anthropic.com"), ("CLAW_MODEL", "m")];
    assert_eq!(settings("", &here).await, ["ANTHROPIC_API_KEY", "CLAW_BASE_URL", "CLAW_MODEL"]);
    let typed = [key, ("CLAW_MODEL", "m"), (TYPED_MODEL, "m")];
    assert_eq!(settings("", &typed).await[2], "--model");
    let local = settings("agent = 'ollama'\nmodel = 'm'", &[("OLLAMA_HOST", "127.0.0.1:9")]).await;
    assert_eq!(local, ["`[model] api_key`", "OLLAMA_HOST", "`[model] model`"]);
}
