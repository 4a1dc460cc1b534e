//! The written form of `policy.toml`, and its translation into rules and classes. Owns the wording
//! of its errors and the check of every rule's examples. Must not know how a verdict is reached.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use toml::Spanned;

use super::{ArgPattern, Decision, Rule};
use crate::classes::{Class, Classes, NameGlob, ToolGlob};
use claw_domain::Origin;
use claw_toml_fault as toml_fault;

/// The largest `policy.toml`, in bytes.
pub const POLICY_BYTES_MAX: usize = 1024 * 1024;
/// The most rules that a policy may have.
pub const RULES_MAX: usize = 1000;

/// `policy.toml` did not load. The start is refused with this; a rule is never skipped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("policy.toml{}: {message}. {next}.", line.map(|line| format!(", line {line}")).unwrap_or_default())]
pub struct PolicyError {
    /// Counted from 1.
    pub line: Option<usize>,
    /// One sentence, without its full stop.
    pub message: String,
    /// What to do about it, without its full stop.
    pub next: String,
}

impl claw_domain::Blamed for PolicyError {
    fn blame(&self) -> claw_domain::Blame {
        claw_domain::Blame::User
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    #[serde(default)]
    rule: Vec<Spanned<RuleText>>,
    #[serde(default)]
    classes: BTreeMap<Spanned<String>, Class>,
    #[serde(default)]
    idempotent: Vec<Spanned<String>>,
    #[serde(default)]
    bash_reads: BashReads,
}

/// What becomes of a command that only reads, where no rule speaks about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum BashReads {
    #[default]
    Allow,
    Ask,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    #[serde(default = "anything")]
    server: String,
    #[serde(default = "anything")]
    tool: String,
    #[serde(default)]
    args: BTreeMap<String, String>,
    #[serde(default)]
    origin: Option<OneOrMany>,
    #[serde(default)]
    client: Option<OneOrMany>,
    decision: Decision,
    why: String,
    #[serde(default, rename = "match")]
    matching: Vec<Example>,
    #[serde(default)]
    not_match: Vec<Example>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    fn all(&self) -> &[String] {
        match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::Many(names) => names,
        }
    }
}

/// A call that a rule must speak about, or must not.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    server: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    args: serde_json::Map<String, Value>,
    origin: Option<String>,
    client: Option<String>,
}

const ORIGINS: [Origin; 6] = [
    Origin::Owner,
    Origin::Button,
    Origin::Schedule,
    Origin::McpClient,
    Origin::SubAgent,
    Origin::Forwarded,
];

fn anything() -> String {
    "*".to_owned()
}

/// Reads the whole file. Every rule's examples are tried before anything is returned.
pub(crate) fn read(text: &str) -> Result<(Vec<Rule>, Classes), PolicyError> {
    if text.len() > POLICY_BYTES_MAX {
        let message = format!("the file is larger than {POLICY_BYTES_MAX} bytes");
        return Err(PolicyError { line: None, message, next: "Make it smaller".to_owned() });
    }
    let file: PolicyFile = toml::from_str(text).map_err(|error| {
        let fault = toml_fault::fault(text, &error);
        PolicyError {
            line: fault.line,
            message: fault.message,
            next: "Correct the line".to_owned(),
        }
    })?;
    if file.rule.len() > RULES_MAX {
        let message = format!("there are more than {RULES_MAX} rules");
        return Err(PolicyError {
            line: None,
            message,
            next: "Join some of them with patterns".to_owned(),
        });
    }
    let mut rules = Vec::with_capacity(file.rule.len());
    for spanned in &file.rule {
        let line = toml_fault::line_of(text, spanned.span().start);
        let wrong =
            |(message, next): (String, String)| PolicyError { line: Some(line), message, next };
        rules.push(compile(line, spanned.get_ref()).map_err(wrong)?);
    }
    Ok((rules, classes(text, &file)?))
}

fn classes(text: &str, file: &PolicyFile) -> Result<Classes, PolicyError> {
    let glob = |written: &Spanned<String>| {
        ToolGlob::new(written.get_ref()).map_err(|message| PolicyError {
            line: Some(toml_fault::line_of(text, written.span().start)),
            message,
            next: "Write it as \"server/tool\"; `*` stands for any name".to_owned(),
        })
    };
    let table: Result<Vec<_>, _> =
        file.classes.iter().map(|(key, class)| Ok((glob(key)?, *class))).collect();
    let idempotent: Result<Vec<_>, _> = file.idempotent.iter().map(glob).collect();
    Ok(Classes {
        table: table?,
        idempotent: idempotent?,
        bash_reads_ask: file.bash_reads == BashReads::Ask,
    })
}

/// The error is a message and a next step.
fn compile(line: usize, text: &RuleText) -> Result<Rule, (String, String)> {
    let correct =
        |message: String| (format!("in this rule {message}"), "Correct the rule".to_owned());
    if text.why.trim().is_empty() {
        return Err((
            "this rule has an empty `why`".to_owned(),
            "Say in one sentence what the rule is for".to_owned(),
        ));
    }
    let args: Result<Vec<_>, _> = text
        .args
        .iter()
        .map(|(name, pattern)| ArgPattern::new(name, pattern, text.decision))
        .collect();
    let rule = Rule {
        id: format!("policy.toml:{line}"),
        server: NameGlob::new(&text.server).map_err(correct)?,
        tool: NameGlob::new(&text.tool).map_err(correct)?,
        args: args.map_err(correct)?,
        origins: origins(text).map_err(correct)?,
        clients: clients(text).map_err(correct)?,
        decision: text.decision,
        why: text.why.clone(),
    };
    let listed = text
        .matching
        .iter()
        .map(|example| (true, example))
        .chain(text.not_match.iter().map(|example| (false, example)));
    for (wanted, example) in listed {
        check(&rule, wanted, example)?;
    }
    Ok(rule)
}

/// A rule that allows and names no origin speaks about the owner's own messages and buttons; lower
/// origins gain scope only where a rule names them. A rule that asks or denies and names no origin
/// speaks about all.
fn origins(text: &RuleText) -> Result<Vec<Origin>, String> {
    let names: &[String] = match &text.origin {
        None if text.client.is_some() => return Ok(vec![Origin::McpClient]),
        None if text.decision == Decision::Allow => return Ok(vec![Origin::Owner, Origin::Button]),
        None => return Ok(ORIGINS.to_vec()),
        Some(names) => names.all(),
    };
    if names.is_empty() {
        return Err("`origin` is an empty list, so that the rule speaks about nothing".to_owned());
    }
    let found: Vec<Origin> = names.iter().map(|name| origin(name)).collect::<Result<_, _>>()?;
    if text.client.is_some() && !found.contains(&Origin::McpClient) {
        return Err("`client` names a client, whose calls are of the origin `mcp_client`, and \
                    `origin` leaves that out, so that the rule speaks about nothing"
            .to_owned());
    }
    Ok(found)
}

/// The clients that a rule speaks about.
fn clients(text: &RuleText) -> Result<Vec<NameGlob>, String> {
    let Some(names) = &text.client else { return Ok(Vec::new()) };
    if names.all().is_empty() {
        return Err("`client` is an empty list, so that the rule speaks about nothing".to_owned());
    }
    names.all().iter().map(|name| NameGlob::new(name)).collect()
}

fn origin(name: &str) -> Result<Origin, String> {
    ORIGINS.into_iter().find(|origin| origin.as_str() == name).ok_or_else(|| {
        let known = ORIGINS.map(Origin::as_str);
        match toml_fault::closest(name, known) {
            Some(close) => format!("`{name}` is not an origin; did you mean `{close}`?"),
            None => format!("`{name}` is not an origin; the origins are {}", known.join(", ")),
        }
    })
}

fn check(rule: &Rule, wanted: bool, example: &Example) -> Result<(), (String, String)> {
    let list = if wanted { "match" } else { "not_match" };
    let name = |given: &Option<String>, glob: &NameGlob, key: &str| {
        given.clone().or_else(|| glob.literal().map(str::to_owned)).ok_or_else(|| {
            let message =
                format!("an example in `{list}` needs a `{key}`, because the rule's is a pattern");
            (message, format!("Add `{key} = \"…\"` to the example"))
        })
    };
    let server = name(&example.server, &rule.server, "server")?;
    let tool = name(&example.tool, &rule.tool, "tool")?;
    let from = match &example.origin {
        Some(written) => origin(written).map_err(|message| {
            (format!("in an example of `{list}` {message}"), "Correct the example".to_owned())
        })?,
        None if example.client.is_some() => Origin::McpClient,
        None => rule.origins.iter().copied().max().unwrap_or(Origin::Owner),
    };
    let client = match (&example.client, rule.clients.first()) {
        (Some(client), _) => Some(client.clone()),
        (None, Some(glob)) => Some(name(&None, glob, "client")?),
        (None, None) => None,
    };
    let arguments = Value::Object(example.args.clone());
    if rule.is_match(&server, &tool, &arguments, (from, client.as_deref())) == wanted {
        return Ok(());
    }
    let shown = claw_domain::canonical::canonical_json(&arguments);
    let what = if wanted { "does not match its example" } else { "matches what it must not" };
    let message =
        format!("this rule {what} {server}/{tool} {shown} from {} (in `{list}`)", from.as_str());
    Err((message, "Correct the rule or the example".to_owned()))
}
