//! What one command reached and what it was refused, counted by host and port, and the sentences
//! about it. Must not know how it is connected.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// So many hosts are told apart; of the others the number is told.
const HOSTS_SHOWN_MAX: usize = 20;

/// Why most connections are refused, and the one reason that a model can do something about.
pub const NOT_NAMED: &str = "not among the hosts that were named";

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    connections: u64,
    bytes: u64,
    refused: Option<&'static str>,
}

/// What one command did with one host and port.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct HostAccount {
    pub host: String,
    pub port: u16,
    /// How often it was reached.
    pub connections: u64,
    /// Bytes in both directions.
    pub bytes: u64,
    /// Why it was not reached, if that happened.
    pub refused: Option<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Reached {
    hosts: BTreeMap<(String, u16), Count>,
    others: u64,
}

impl Reached {
    pub fn refused(&mut self, host: &str, port: u16, why: &'static str) {
        if let Some(count) = self.at(host, port) {
            count.refused = Some(why);
        }
    }

    pub fn connected(&mut self, host: &str, port: u16) {
        if let Some(count) = self.at(host, port) {
            count.connections += 1;
        }
    }

    pub fn carried(&mut self, host: &str, port: u16, bytes: u64) {
        if let Some(count) = self.at(host, port) {
            count.bytes += bytes;
        }
    }

    fn at(&mut self, host: &str, port: u16) -> Option<&mut Count> {
        let key = (host.chars().take(253).collect::<String>(), port);
        if self.hosts.len() >= HOSTS_SHOWN_MAX && !self.hosts.contains_key(&key) {
            self.others += 1;
            return None;
        }
        Some(self.hosts.entry(key).or_default())
    }

    /// The same as `sentences`, for programs. Hosts that are not told apart are left out.
    pub fn accounts(&self) -> Vec<HostAccount> {
        let account = |((host, port), count): (&(String, u16), &Count)| HostAccount {
            host: host.clone(),
            port: *port,
            connections: count.connections,
            bytes: count.bytes,
            refused: count.refused.map(str::to_owned),
        };
        self.hosts.iter().map(account).collect()
    }

    /// For the model and the log of the call.
    pub fn sentences(&self) -> Vec<String> {
        let (mut reached, mut refused) = (Vec::new(), Vec::new());
        for ((host, port), count) in &self.hosts {
            let shown = host.escape_debug();
            if count.connections > 0 {
                reached.push(format!("{shown}:{port} ({} bytes)", count.bytes));
            }
            if let Some(why) = count.refused {
                refused.push(format!("{shown}:{port} ({why})"));
            }
        }
        let mut sentences = Vec::new();
        if !reached.is_empty() {
            sentences.push(format!("Over the network it reached {}.", reached.join(", ")));
        }
        if !refused.is_empty() {
            sentences.push(format!("There was no connection to {}.", refused.join(", ")));
        }
        if self.hosts.values().any(|count| count.refused == Some(NOT_NAMED)) {
            sentences.push("Call again with what is missing in `hosts`, if it is needed.".into());
        }
        if self.others > 0 {
            sentences.push(match self.others {
                1 => "1 connection to another host is not listed.".to_owned(),
                many => format!("{many} connections to other hosts are not listed."),
            });
        }
        sentences
    }
}
