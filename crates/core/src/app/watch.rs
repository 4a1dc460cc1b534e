//! The files of settings while claw runs: what is valid is applied and told; what is broken changes
//! nothing. Must not know doors, or how a person is told.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;

use super::App;
use super::gate::load_policy;
use super::servers::{load_manifest, manifests, secret_pairs};
use crate::config::Config;
use crate::domain::canonical::sha256_hex;
use crate::hub::{Replaced, secrets};

/// How often the files are looked at. A look is one `stat` a file.
pub const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Whoever tells of changes is missing when nobody has looked for so long.
const MISSING_AFTER: Duration = Duration::from_secs(2);

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `policy.toml`, of the home or of the agent.
    Policy,
    /// `mcp.json`.
    Servers,
    /// `mcp.json` of another agent: its secrets are no less secret here.
    OthersServers,
    /// `claw.toml`.
    Settings,
    /// `heartbeats.toml`.
    Heartbeats,
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
pub struct Watched {
    files: Vec<File>,
    /// What is in force and was told to nobody yet.
    untold: Vec<String>,
    looked_at: Instant,
}

impl Watched {
    /// Begins to watch. What is changed from now on is news, so this comes before the files are
    /// read.
    pub(super) fn begin(config: &Config) -> Self {
        let home = &config.home;
        let own = home.own_policy_toml().map(|path| (Kind::Policy, path));
        let files = [
            (Kind::Policy, home.policy_toml()),
            (Kind::Servers, home.mcp_json()),
            (Kind::Settings, home.claw_toml()),
            (Kind::Heartbeats, home.heartbeats_toml()),
        ];
        let others = manifests(config).filter(|path| *path != home.mcp_json());
        let others = others.map(|path| (Kind::OthersServers, path));
        let file = |(kind, path): (Kind, PathBuf)| {
            let (seen, digest) = (stamp(&path), digest(&path));
            File { kind, path, seen, fresh: None, digest }
        };
        let files = files.into_iter().chain(own).chain(others).map(file).collect();
        Self { files, untold: Vec::new(), looked_at: Instant::now() }
    }
}

impl App {
    /// Looks once. Gives a sentence for each file that has changed since it was told.
    pub async fn look(&self) -> Vec<String> {
        let mut watched = self.watched.lock().await;
        self.read_changed(&mut watched).await;
        std::mem::take(&mut watched.untold)
    }

    /// The same where nobody has looked for a while, so that changes count also while whoever
    /// tells of them is not there. The next [`Self::look`] gives the sentences.
    pub async fn look_ahead(&self) {
        let mut watched = self.watched.lock().await;
        if watched.looked_at.elapsed() >= MISSING_AFTER {
            self.read_changed(&mut watched).await;
        }
    }

    /// The same in a folder of this agent's, of which nobody is told.
    pub(super) async fn look_untold(&self) {
        let mut watched = self.watched.lock().await;
        self.read_own(&mut watched).await;
        watched.untold.clear();
    }

    /// Here, and in each folder that is open: what is told is in force in all of them.
    async fn read_changed(&self, watched: &mut Watched) {
        watched.looked_at = Instant::now();
        self.read_own(watched).await;
        if let Some(folders) = self.folders.get() {
            folders.read_changed().await;
        }
    }

    async fn read_own(&self, watched: &mut Watched) {
        for file in &mut watched.files {
            if file.has_changed() {
                watched.untold.extend(self.read_again(file).await);
            }
        }
    }

    async fn read_again(&self, file: &File) -> Option<String> {
        let name = file
            .path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let read = match file.kind {
            Kind::Policy => self.policy_again(),
            Kind::Servers => self.servers_again(),
            Kind::Heartbeats => self.heartbeats_again(),
            Kind::OthersServers => {
                if let Err(error) = self.learn(secret_pairs(&self.config)) {
                    tracing::error!(%error, "the secrets of another agent's servers are not known");
                }
                return None;
            }
            Kind::Settings => self.settings_again().await.transpose()?,
        };
        let told = match read {
            Ok(told) => format!("{name} changed: {told}"),
            Err(error) => {
                let why: Vec<String> = error.chain().map(ToString::to_string).collect();
                let why = why.last().cloned().unwrap_or_default();
                let path = file.path.display();
                format!(
                    "{name} changed and is refused, so what was read before stays in force: {} \
                     ({path})",
                    why.trim_end_matches('.')
                )
            }
        };
        tracing::info!(told, "a file of settings has changed");
        Some(self.gate.redactor().redact(&told).into_owned())
    }

    fn policy_again(&self) -> anyhow::Result<String> {
        let policy = load_policy(&self.config)?;
        let rules = match policy.rules_count() {
            1 => "1 rule".to_owned(),
            more => format!("{more} rules"),
        };
        self.gate.calls().set_policy(policy);
        Ok(format!(
            "{rules}; in force from now on. Open questions are judged again when they are answered."
        ))
    }

    /// The secrets of the new servers are known before any of them starts.
    fn servers_again(&self) -> anyhow::Result<String> {
        let manifest = load_manifest(&self.config, &self.settings())?;
        self.learn(secrets::secrets(&manifest).into_iter().chain(secret_pairs(&self.config)))?;

        let warnings = manifest.warnings.clone();
        self.follow_notes(&manifest);
        self.follow_jobs(&manifest);
        self.settings_reach_turns();
        let Replaced { added, changed, removed } = self.gate.catalog().set_servers(manifest);
        let mut told: Vec<String> = [("new", added), ("changed", changed), ("gone", removed)]
            .into_iter()
            .filter(|(_, servers)| !servers.is_empty())
            .map(|(what, servers)| format!("{what}: {}", servers.join(", ")))
            .collect();
        if told.is_empty() {
            told.push("the servers are the same".to_owned());
        } else {
            told.push("counts from the next step of a turn".to_owned());
        }
        Ok(format!("{}. {}", told.join("; "), warnings.join(" ")).trim_end().to_owned())
    }

    pub(super) fn learn(
        &self,
        secrets: impl IntoIterator<Item = (String, String)>,
    ) -> anyhow::Result<()> {
        let secrets: Vec<_> = secrets.into_iter().collect();
        crate::logging::learn_secrets(&secrets)?;
        Ok(self.gate.redactor().learn(secrets)?)
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
