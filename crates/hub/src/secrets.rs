//! The secrets that a manifest holds: in variables, env files, headers, addresses and arguments of
//! its servers. Must not know how they are kept out of sight.

use std::collections::BTreeMap;
use std::fs;

use super::manifest::{HttpLaunch, Launch, Manifest, parse_env_file};
use claw_domain::secret::{in_arguments, in_named, in_value};

/// Names and values of the variables that look like secrets.
pub(super) fn in_variables(variables: &BTreeMap<String, String>) -> Vec<(String, String)> {
    let of_one = |(name, value): (&String, &String)| -> Vec<(String, String)> {
        in_named(name, value).into_iter().map(|secret| (name.clone(), secret.to_owned())).collect()
    };
    variables.iter().flat_map(of_one).collect()
}

/// Names and values; servers that are disabled count, too. An env file that cannot be read holds
/// none now, and its server does not start.
pub fn secrets(manifest: &Manifest) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (server, entry) in &manifest.servers {
        let mut keep = |name: &str, values: Vec<&str>| {
            found.extend(values.into_iter().map(|value| (name.to_owned(), value.to_owned())));
        };
        match &entry.launch {
            Launch::Stdio(launch) => {
                let file = launch.env_file.as_ref().and_then(|path| fs::read_to_string(path).ok());
                let file = file.and_then(|text| parse_env_file(&text).ok()).unwrap_or_default();
                file.iter()
                    .chain(&launch.env)
                    .for_each(|(name, value)| keep(name, in_named(name, value)));
                keep(&format!("{server}.args"), in_arguments(&launch.args));
            }
            Launch::Http(HttpLaunch { url, headers, .. }) => {
                keep(&format!("{server}.url"), in_value(url));
                headers.iter().for_each(|(name, value)| keep(name, in_named(name, value)));
            }
            Launch::Unusable { .. } => {}
        }
    }
    found
}
