//! The settings that a running claw follows: what of `claw.toml` they are, and how a change reaches
//! the rooms. Must not know who looks at the file, or who is told.

use std::sync::{Arc, PoisonError};

use secrecy::ExposeSecret as _;

use super::App;
use super::gate::{call_limits, catalog_settings, snapshot_limits};
use super::servers::{check_trust, load_manifest};
use crate::config::model::ModelSection;
use crate::config::{
    AuditSection, ChangedKey, Config, Limits, MemorySection, OpenFolder, Overrides, PersonaSources,
    Prices, PromptSection, Retention, ServeSection, Tools, ToolsListed,
};
use crate::domain::{Opening, ToolRoom};
use crate::model::Chain;

/// The most changed keys that a notice names.
const KEYS_NAMED_MAX: usize = 6;

/// What may be another thing than at the start. Replaced whole.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    pub model: ModelSection,
    pub prices: Prices,
    pub limits: Limits,
    pub retention: Retention,
    pub audit: AuditSection,
    pub tools: Tools,
    pub memory: MemorySection,
    pub prompt: PromptSection,
    pub serve: ServeSection,
    pub persona: PersonaSources,
    /// What is opened to commands beside the workspace.
    pub open_folders: Vec<OpenFolder>,
    /// What is open to commands that ask for it by name.
    pub openings: Vec<Opening>,
}

impl LiveSettings {
    pub(super) fn of(config: &Config) -> Self {
        Self {
            model: config.model.clone(),
            prices: config.prices.clone(),
            limits: config.limits.clone(),
            retention: config.retention.clone(),
            audit: config.audit,
            tools: config.tools.clone(),
            memory: config.memory.clone(),
            prompt: config.prompt,
            serve: config.serve.clone(),
            persona: config.persona.clone(),
            open_folders: config.open_folders.clone(),
            openings: config.openings.clone(),
        }
    }

    /// What a claw that was started with `start` can follow of `new`.
    fn following(start: &Config, new: &Config) -> Self {
        let (limits, tools) =
            (start.limits.following(&new.limits), start.tools.following(&new.tools));
        Self { limits, tools, ..Self::of(new) }
    }
}

impl App {
    /// Reads `claw.toml` again and follows it. A sentence about what has changed; `None` if that is
    /// nothing of this agent's.
    ///
    /// # Errors
    /// The file is broken, or the models that it names cannot be had; then nothing has changed.
    pub(super) async fn settings_again(&self) -> anyhow::Result<Option<String>> {
        let (agent, workspace) =
            (Some(self.config.agent.name.clone()), Some(self.config.workspace.clone()));
        let doors = self.config.doors.sections().clone();
        let overrides = Overrides { doors, agent, workspace, ..Overrides::default() };
        let new = Config::load_from(self.config.env.clone(), overrides)?;
        let settings = LiveSettings::following(&self.config, &new);
        let before = self.settings();
        // All that can fail comes first.
        let same_servers = settings.persona.server_args() == before.persona.server_args()
            && settings.open_folders == before.open_folders
            && settings.memory.is_served_like(&before.memory);
        let manifest = match same_servers {
            true => None,
            false => Some(load_manifest(&self.config, &settings)?),
        };
        if manifest.is_none() {
            let known = self.gate.hub().servers();
            let is_there = |name: &str| known.iter().any(|status| status.name == name);
            check_trust(&settings.tools, &self.config, is_there)?;
        }
        let chain = match self.changes(&new).iter().any(ChangedKey::is_of_models) {
            true => Some(self.chain_of(&settings).await?),
            false => None,
        };
        self.learn(
            new.secrets
                .iter()
                .map(|(name, value)| (name.clone(), value.expose_secret().to_owned())),
        )?;
        self.put_settings(settings);
        if let Some(chain) = chain {
            self.put_model(chain);
        }
        let settings = self.settings();
        self.gate.calls().set_limits(call_limits(&settings));
        self.gate.catalog().set_settings(catalog_settings(&self.config, &settings));
        self.gate.snapshots().set_limits(snapshot_limits(&settings.limits));
        if let Some(manifest) = manifest {
            self.follow_notes(&manifest);
            drop(self.gate.catalog().set_servers(manifest));
        }
        self.mail.set_queued_messages_max(self.settings().limits.queued_messages_max);
        self.settings_reach_turns();
        Ok(self.note_written(&new).or_else(|| {
            let is_main = self.config.agent.name == crate::config::MAIN;
            is_main.then(|| "it means the same as before.".to_owned())
        }))
    }

    fn changes(&self, new: &Config) -> Vec<ChangedKey> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).changes(&new.written)
    }

    /// Compares what is in force with what is written, and tells it.
    fn note_written(&self, new: &Config) -> Option<String> {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let changes = written.changes(&new.written);
        written.follow(&new.written);
        told(&changes)
    }

    /// The models go to turns and to whoever tells of them.
    pub(super) fn settings_reach_turns(&self) {
        let Some(chain) = self.model_now() else { return };
        if let Some(worker) = self.worker.get() {
            worker.set_settings(self.turn_settings(&chain));
        }
        if let Some(chat_commands) = self.chat_commands.get() {
            chat_commands.change(|parts| {
                let (agents, others) = (parts.agents.clone(), std::mem::take(&mut parts.others));
                *parts = self.chat_commands_parts(&chain, agents, others);
            });
        }
    }

    /// The section with the limits that are for any model.
    pub(super) fn model_section(&self, settings: &LiveSettings) -> ModelSection {
        let mut section = settings.model.clone();
        // `[model] timeout_s` is for this model, `limits.model_timeout_s` for any.
        let time = settings.limits.model_timeout_s;
        section.timeout_s.get_or_insert(time);
        section.fallback.iter_mut().chain(section.compaction.as_deref_mut()).for_each(|other| {
            other.timeout_s.get_or_insert(time);
        });
        section
    }

    /// The settings of this moment.
    pub fn settings(&self) -> Arc<LiveSettings> {
        self.settings.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put_settings(&self, settings: LiveSettings) {
        *self.settings.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(settings);
    }
}

/// What is taken for the window of a model when nobody says how large it is, for this alone.
const UNKNOWN_WINDOW_TOKENS: u64 = 200_000;

/// How many tools these models are offered at once.
pub(super) fn tool_room(listed: ToolsListed, chain: &Chain) -> ToolRoom {
    let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    let percent = chain.tools.window_percent.unwrap_or(listed.listed_window_percent);
    let share = |tokens: u64| (tokens / 100).saturating_mul(percent);
    ToolRoom {
        finder: chain.tools.finder,
        tools_max: number(chain.tools.listed_max.unwrap_or(listed.listed_max))
            .min(chain.tools.wire_max.unwrap_or(usize::MAX)),
        tokens_max: share(chain.window_tokens.unwrap_or(UNKNOWN_WINDOW_TOKENS)),
        suggested_max: number(listed.suggested_max),
        used_lately_max: number(listed.used_lately_max),
    }
}

/// What counts now, then what waits for the next start.
fn told(changes: &[ChangedKey]) -> Option<String> {
    let (now, later): (Vec<_>, Vec<_>) = changes.iter().partition(|change| change.counts_now);
    let mut sentences = Vec::new();
    if !now.is_empty() {
        sentences.push(format!("{}.", listed(now.into_iter().map(change_in_words).collect())));
    }
    if !later.is_empty() {
        let mut keys: Vec<String> = later.into_iter().map(place_of).collect();
        keys.dedup();
        let verb = if keys.len() == 1 { "counts" } else { "count" };
        sentences.push(format!("{} {verb} from the next start.", listed(keys)));
    }
    (!sentences.is_empty()).then(|| sentences.join(" "))
}

/// The key, with its value where that is short and can be no secret.
fn change_in_words(ChangedKey { key, value, .. }: &ChangedKey) -> String {
    match value.as_deref() {
        None => format!("{key} taken out"),
        Some(value)
            if value.bytes().all(|byte| byte.is_ascii_digit())
                || ["true", "false"].contains(&value) =>
        {
            format!("{key} now {value}")
        }
        Some(_) => format!("{key} changed"),
    }
}

/// Where to look: a whole section, or a key of `[limits]` and `[tools]`, whose other keys count at
/// once.
fn place_of(ChangedKey { key, .. }: &ChangedKey) -> String {
    match key.split_once('.') {
        Some(("limits" | "tools", _)) | None => key.clone(),
        Some((section, _)) => format!("[{section}]"),
    }
}

fn listed(mut words: Vec<String>) -> String {
    let more = words.len().saturating_sub(KEYS_NAMED_MAX);
    words.truncate(KEYS_NAMED_MAX);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{more}", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(key: &str, value: Option<&str>, counts_now: bool) -> ChangedKey {
        ChangedKey { key: key.into(), value: value.map(Into::into), counts_now }
    }

    #[test]
    fn a_notice_says_what_counts_now_and_what_waits_and_shows_no_text() {
        let changes = [
            change("limits.tool_timeout_s", Some("9"), false),
            change("limits.turn_time_s", Some("300"), true),
            change("model.api_key", Some("\"sk-1\""), true),
            change("prices.m", None, true),
            change("telegram.owners", Some("[1]"), false),
            change("telegram.token", Some("\"t\""), false),
        ];
        let words = "limits.turn_time_s now 300, model.api_key changed, prices.m taken out. \
            limits.tool_timeout_s, [telegram] count from the next start.";
        assert_eq!(told(&changes).as_deref(), Some(words));
        assert_eq!(told(&changes[..0]), None);
        let many: Vec<_> =
            (0..8).map(|n| change(&format!("roles.r{n}"), Some("{}"), true)).collect();
        assert!(told(&many).unwrap_or_default().ends_with("roles.r5 changed and 2 more."));
    }
}
