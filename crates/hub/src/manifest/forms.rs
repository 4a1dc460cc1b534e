//! The four forms of `mcp.json`: which key holds what. Must not know how text is parsed or what a
//! variable stands for.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};

use super::expand::{Dialect, Expander};
use super::{
    Expansion, HttpLaunch, Launch, Manifest, ManifestError, OWN_COMMAND, OwnProgram, ServerEntry,
    StdioLaunch,
};
use crate::names::safe_name;
use crate::transport::http;
use claw_domain::inherit::is_inheritable;

/// The longest start that a file may allow.
const STARTUP_TIMEOUT_MAX: Duration = Duration::from_secs(3600);

const ROOTS: [(&str, Dialect); 2] =
    [("mcpServers", Dialect::McpServers), ("servers", Dialect::Servers)];

pub(super) fn read(root: &Value, expansion: &Expansion) -> Result<Manifest, ManifestError> {
    let shape = |what: &str| ManifestError::Shape { what: what.to_owned() };
    let root = root.as_object().ok_or_else(|| shape("the file must hold one JSON object"))?;
    let inputs = input_defaults(root);
    let mut manifest = Manifest::default();
    let mut offered: BTreeMap<String, String> = BTreeMap::new();
    for (key, dialect) in ROOTS {
        let Some(servers) = root.get(key) else { continue };
        let servers =
            servers.as_object().ok_or_else(|| shape(&format!("`{key}` must be an object")))?;
        for (name, entry) in servers {
            claim_name(&mut offered, key, name)?;
            let mut expander = Expander {
                expansion,
                inputs: &inputs,
                dialect,
                server: name,
                warnings: Vec::new(),
                open_inputs: Vec::new(),
            };
            let entry = read_entry(name, entry, &mut expander)?;
            manifest.warnings.append(&mut expander.warnings);
            manifest.servers.insert(name.clone(), entry);
        }
    }
    if ROOTS.iter().all(|(key, _)| !root.contains_key(*key)) {
        return Err(ManifestError::NoRoot);
    }
    Ok(manifest)
}

/// Look-alikes are refused, and case does not tell two servers apart: a person reads these names in
/// a question.
fn claim_name(
    offered: &mut BTreeMap<String, String>,
    root: &str,
    name: &str,
) -> Result<(), ManifestError> {
    if name.trim().is_empty() {
        return Err(ManifestError::Shape {
            what: format!("under `{root}` a server's name is empty; give it one"),
        });
    }
    let safe = safe_name(name).to_ascii_lowercase();
    match offered.insert(safe.clone(), name.to_owned()) {
        Some(first) => {
            Err(ManifestError::NamesCollide { first, second: name.to_owned(), offered: safe })
        }
        None => Ok(()),
    }
}

/// The `default` of VS Code's `inputs`, by id.
fn input_defaults(root: &Map<String, Value>) -> BTreeMap<String, String> {
    let inputs =
        root.get("inputs").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let default_of = |input: &Value| {
        let id = input.get("id")?.as_str()?;
        Some((id.to_owned(), input.get("default")?.as_str()?.to_owned()))
    };
    inputs.iter().filter_map(default_of).collect()
}

fn read_entry(
    name: &str,
    entry: &Value,
    expander: &mut Expander<'_>,
) -> Result<ServerEntry, ManifestError> {
    let fields = Fields {
        server: name,
        map: entry.as_object().ok_or_else(|| wrong(name, "must be an object"))?,
    };
    let disabled =
        fields.bool("disabled")?.unwrap_or(false) || fields.bool("enabled")? == Some(false);
    let timeout = fields.millis("timeout")?;
    let startup_timeout = fields.startup_timeout()?;
    let mut launch = match transport(&fields)? {
        Transport::Stdio => Launch::Stdio(read_stdio(&fields, expander)?),
        Transport::Http => Launch::Http(read_http(&fields, expander)?),
        Transport::Unknown(kind) => {
            Launch::Unusable { reason: format!("the transport `{kind}` is not supported") }
        }
    };
    if let Some(id) = expander.open_inputs.first() {
        let hint = "write the value in its place, or use ${env:NAME}";
        launch =
            Launch::Unusable { reason: format!("nobody has answered its input `{id}`: {hint}") };
    }
    let roots = fields.bool("roots")?.unwrap_or(false);
    Ok(ServerEntry { name: name.to_owned(), launch, timeout, startup_timeout, disabled, roots })
}

enum Transport {
    Stdio,
    Http,
    Unknown(String),
}

fn transport(fields: &Fields<'_>) -> Result<Transport, ManifestError> {
    Ok(match fields.text("type")?.as_deref() {
        Some("stdio") => Transport::Stdio,
        Some("http" | "sse" | "streamable-http" | "streamableHttp" | "streamable_http") => {
            Transport::Http
        }
        Some(other) => Transport::Unknown(other.to_owned()),
        None if fields.map.contains_key("command") => Transport::Stdio,
        None if fields.map.contains_key("url") => Transport::Http,
        None => {
            return Err(wrong(
                fields.server,
                "needs a `command` (a local server) or a `url` (a remote one)",
            ));
        }
    })
}

fn read_http(
    fields: &Fields<'_>,
    expander: &mut Expander<'_>,
) -> Result<HttpLaunch, ManifestError> {
    let url = fields.text("url")?.ok_or_else(|| wrong(fields.server, "`url` is missing"))?;
    let mut headers = fields.text_map("headers")?;
    // Many clients need these spelled out; claw does not.
    headers.retain(|name, _| {
        let is_usual = ["accept", "content-type"].contains(&name.to_ascii_lowercase().as_str());
        if http::is_claws(name) && !is_usual {
            expander.warn(format!("claw sets the header `{name}` itself, and leaves this one out"));
        }
        !http::is_claws(name)
    });
    Ok(HttpLaunch {
        url: expander.text(&url),
        headers: headers.iter().map(|(k, v)| (k.clone(), expander.text(v))).collect(),
        private_hosts: fields.text_list("private_hosts")?,
        client_metadata_url: read_client_metadata_url(fields)?,
    })
}

/// It is the name of claw at an authorization server, and so stands there as it is.
fn read_client_metadata_url(fields: &Fields<'_>) -> Result<Option<String>, ManifestError> {
    let Some(text) = fields.text("client_metadata_url")? else { return Ok(None) };
    let is_usable = |url: &reqwest::Url| {
        url.scheme() == "https" && url.path() != "/" && url.fragment().is_none()
    };
    match reqwest::Url::parse(&text).ok().filter(is_usable) {
        Some(_) => Ok(Some(text)),
        None => Err(wrong(
            fields.server,
            "`client_metadata_url` has to be an `https` address with a path, such as \
             `https://you.example/claw.json`",
        )),
    }
}

fn read_stdio(
    fields: &Fields<'_>,
    expander: &mut Expander<'_>,
) -> Result<StdioLaunch, ManifestError> {
    let command =
        fields.text("command")?.ok_or_else(|| wrong(fields.server, "`command` is missing"))?;
    let command = expander.path(&command);
    if command.trim().is_empty() {
        return Err(wrong(fields.server, "`command` is empty"));
    }
    let args = fields.text_list("args")?;
    let env = fields.text_map("env")?;
    for variable in env.keys() {
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err(wrong(
                fields.server,
                &format!("`{variable}` cannot be the name of a variable"),
            ));
        }
    }
    let own = (command == OWN_COMMAND).then(|| OwnProgram {
        exe: expander.expansion.claw_exe.clone(),
        extra_args: expander.expansion.extra_claw_args.clone(),
        extra_env: BTreeMap::new(),
    });
    let launch = StdioLaunch {
        command,
        args: args.iter().map(|arg| expander.text(arg)).collect(),
        env: env.iter().map(|(key, value)| (key.clone(), expander.text(value))).collect(),
        inherit: fields.inherit()?,
        env_file: fields.text("envFile")?.map(|path| PathBuf::from(expander.path(&path))),
        cwd: fields.text("cwd")?.map(|path| PathBuf::from(expander.path(&path))),
        own,
    };
    let texts = launch.args.iter().chain(launch.env.values()).chain([&launch.command]);
    if texts.into_iter().any(|text| text.contains('\0')) {
        return Err(wrong(fields.server, "holds a NUL character"));
    }
    Ok(launch)
}

fn wrong(server: &str, what: &str) -> ManifestError {
    ManifestError::Entry { server: server.to_owned(), what: what.to_owned() }
}

/// Typed looks into one entry. `null` counts as absent.
struct Fields<'a> {
    server: &'a str,
    map: &'a Map<String, Value>,
}

impl Fields<'_> {
    fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn mistyped(&self, key: &str, expected: &str) -> ManifestError {
        wrong(self.server, &format!("`{key}` must be {expected}"))
    }

    fn bool(&self, key: &str) -> Result<Option<bool>, ManifestError> {
        self.get(key)
            .map(|value| value.as_bool().ok_or_else(|| self.mistyped(key, "true or false")))
            .transpose()
    }

    fn text(&self, key: &str) -> Result<Option<String>, ManifestError> {
        let text = |value: &Value| {
            value.as_str().map(str::to_owned).ok_or_else(|| self.mistyped(key, "text"))
        };
        self.get(key).map(text).transpose()
    }

    fn millis(&self, key: &str) -> Result<Option<Duration>, ManifestError> {
        let millis = |value: &Value| match value.as_f64() {
            Some(ms) if ms >= 1.0 && ms <= f64::from(u32::MAX) => {
                Ok(Duration::from_secs_f64(ms / 1000.0))
            }
            _ => Err(self.mistyped(key, "a number of milliseconds")),
        };
        self.get(key).map(millis).transpose()
    }

    /// Claw's key is in milliseconds, like `timeout`; Codex has one in seconds and had one in
    /// milliseconds.
    fn startup_timeout(&self) -> Result<Option<Duration>, ManifestError> {
        const LEAST: Duration = Duration::from_secs(1);
        for (key, unit_ms) in
            [("startup_timeout", 1.0), ("startup_timeout_ms", 1.0), ("startup_timeout_sec", 1000.0)]
        {
            let Some(value) = self.get(key) else { continue };
            let most_ms = STARTUP_TIMEOUT_MAX.as_millis() as f64;
            let ms = value
                .as_f64()
                .map(|number| number * unit_ms)
                .filter(|ms| *ms > 0.0 && *ms <= most_ms);
            let unit = if unit_ms > 1.0 { "seconds" } else { "milliseconds" };
            let ms = ms.ok_or_else(|| {
                self.mistyped(key, &format!("a number of {unit}, one hour at most"))
            })?;
            let limit = Duration::from_secs_f64(ms / 1000.0);
            if limit < LEAST {
                let what = format!(
                    "`{key}` is in {unit}, and {value} is too short for any start; write 60000 \
                     for a minute"
                );
                return Err(wrong(self.server, &what));
            }
            return Ok(Some(limit));
        }
        Ok(None)
    }

    /// Names of variables; one may end in `*`.
    fn inherit(&self) -> Result<Option<Vec<String>>, ManifestError> {
        if self.get("inherit").is_none() {
            return Ok(None);
        }
        let names = self.text_list("inherit")?;
        match names.iter().find(|name| !is_inheritable(name)) {
            Some(odd) => Err(wrong(
                self.server,
                &format!("`inherit` lists `{odd}`, which is no name of a variable"),
            )),
            None => Ok(Some(names)),
        }
    }

    fn text_list(&self, key: &str) -> Result<Vec<String>, ManifestError> {
        let Some(value) = self.get(key) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(|| self.mistyped(key, "a list of texts"))?;
        items
            .iter()
            .map(|item| scalar(item).ok_or_else(|| self.mistyped(key, "a list of texts")))
            .collect()
    }

    fn text_map(&self, key: &str) -> Result<BTreeMap<String, String>, ManifestError> {
        let Some(value) = self.get(key) else { return Ok(BTreeMap::new()) };
        let map = value.as_object().ok_or_else(|| self.mistyped(key, "an object of texts"))?;
        map.iter()
            .map(|(name, value)| match scalar(value) {
                Some(text) => Ok((name.clone(), text)),
                None => Err(self.mistyped(&format!("{key}.{name}"), "text")),
            })
            .collect()
    }
}

/// People write ports and switches without quotes.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
