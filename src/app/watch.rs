//! The files of settings while claw runs: a change of `policy.toml` is applied, the others are read and told of; what is broken
//! changes nothing. Must not know doors, or how a person is told.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use super::{App, load_manifest, load_policy};
use crate::config::{Config, Overrides};
use crate::domain::canonical::sha256_hex;

/// How often the files are looked at. A look is one `stat` a file.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `policy.toml`, of the home or of the agent.
    Policy,
    /// `mcp.json`.
    Servers,
    /// `claw.toml`.
    Settings,
}

/// Modified, size, inode; `None` while there is no file.
type Stamp = Option<(i64, i64, u64, u64)>;

struct File {
    kind: Kind,
    path: PathBuf,
    seen: Stamp,
    /// Another one, seen once: whoever writes may not have finished.
    fresh: Option<Stamp>,
    /// Of the text that was last read.
    digest: String,
}

/// The files of one agent, as they were last read.
pub struct Watched(Vec<File>);

impl App {
    /// Begins to watch. What was changed before counts as read.
    pub fn watched(&self) -> Watched {
        let home = &self.config.home;
        let own = home.own_policy_toml().map(|path| (Kind::Policy, path));
        let files =
            [(Kind::Policy, home.policy_toml()), (Kind::Servers, home.mcp_json()), (Kind::Settings, home.claw_toml())];
        let file = |(kind, path): (Kind, PathBuf)| {
            let (seen, digest) = (stamp(&path), digest(&path));
            File { kind, path, seen, fresh: None, digest }
        };
        Watched(files.into_iter().chain(own).map(file).collect())
    }

    /// Looks once. Gives a sentence for each file that has changed.
    pub fn look(&self, watched: &mut Watched) -> Vec<String> {
        watched.0.iter_mut().filter_map(|file| file.has_changed().then(|| self.read_again(file))).collect()
    }

    fn read_again(&self, file: &File) -> String {
        let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let read = match file.kind {
            Kind::Policy => self.policy_again(),
            Kind::Servers => self.servers_again(),
            Kind::Settings => self.settings_again(),
        };
        let told = match read {
            Ok(told) => format!("{name} was changed: {told}"),
            Err(error) => {
                let why: Vec<String> = error.chain().map(ToString::to_string).collect();
                let why = why.last().cloned().unwrap_or_default();
                let path = file.path.display();
                format!(
                    "{name} was changed and is refused, so what was read before stays in force: {} ({path})",
                    why.trim_end_matches('.')
                )
            }
        };
        tracing::info!(told, "a file of settings has changed");
        self.gate.redactor().redact(&told).into_owned()
    }

    fn policy_again(&self) -> anyhow::Result<String> {
        let policy = load_policy(&self.config)?;
        let rules = match policy.rules_count() {
            1 => "1 rule".to_owned(),
            more => format!("{more} rules"),
        };
        self.gate.set_policy(policy);
        Ok(format!("{rules}; in force from now on. Open questions are judged again when they are answered."))
    }

    fn servers_again(&self) -> anyhow::Result<String> {
        let manifest = load_manifest(&self.config)?;
        let hub = self.gate.hub();
        let before: Vec<String> = hub.servers().into_iter().map(|status| status.name).collect();
        let mut changed: Vec<&str> = manifest
            .servers
            .values()
            .filter(|entry| hub.launch_pin(&entry.name).as_ref() != Some(&crate::hub::pins::launch_pin(entry)))
            .map(|entry| entry.name.as_str())
            .collect();
        changed.extend(before.iter().map(String::as_str).filter(|name| !manifest.servers.contains_key(*name)));
        let names = if changed.is_empty() { String::new() } else { format!(" ({})", changed.join(", ")) };
        Ok(format!("it is in order{names}, and counts from the next start of claw."))
    }

    fn settings_again(&self) -> anyhow::Result<String> {
        let config = &self.config;
        let (agent, workspace) = (Some(config.agent.name.clone()), Some(config.workspace.clone()));
        Config::load_from(config.env.clone(), Overrides { agent, workspace, ..Overrides::default() })?;
        Ok("it is in order, and counts from the next start of claw.".to_owned())
    }
}

impl File {
    /// Whether there is another text, and it was not being written at two looks in a row.
    fn has_changed(&mut self) -> bool {
        let now = stamp(&self.path);
        if now == self.seen {
            self.fresh = None;
            return false;
        }
        if self.fresh != Some(now) {
            self.fresh = Some(now);
            return false;
        }
        (self.seen, self.fresh) = (now, None);
        let digest = digest(&self.path);
        digest != std::mem::replace(&mut self.digest, digest.clone())
    }
}

fn stamp(path: &PathBuf) -> Stamp {
    let of = |found: Metadata| (found.mtime(), found.mtime_nsec(), found.size(), found.ino());
    std::fs::metadata(path).ok().map(of)
}

fn digest(path: &PathBuf) -> String {
    std::fs::read(path).map(sha256_hex).unwrap_or_default()
}
