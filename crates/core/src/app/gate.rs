//! What the gate and the snapshots go by, of the settings and of this machine. Must not know what
//! is judged, or when.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::Context as _;

use super::{LiveSettings, approvers, jobs};
use crate::calls::{CallLimits, Surroundings};
use crate::catalog::CatalogSettings;
use crate::config::{Config, Limits};
use crate::domain::HeldLevels;
use crate::gate::GateSettings;
use crate::policy::Policy;
use crate::snapshot;

pub(super) fn gate_settings(config: &Config, settings: &LiveSettings) -> GateSettings {
    let limits = &settings.limits;
    GateSettings {
        tool_timeout: Duration::from_secs(limits.tool_timeout_s),
        calls_at_once: limits.tool_calls_parallel_max as usize,
        surroundings: Surroundings {
            workspace: config.workspace.clone(),
            usual_workspace: config.usual_workspace.clone(),
            home: config.home.root().to_owned(),
            user_home: config.user_home.clone(),
            tried: Arc::new(LazyLock::new(tried)),
            approvers: approvers(config),
            harmless_variables: config.tools.harmless_variables.clone(),
            preview_job: jobs::preview(config),
        },
        limits: CallLimits {
            tool_result_bytes: limits.tool_result_bytes as usize,
            question_time: Duration::from_secs(limits.question_time_s),
            staged_actions_max: limits.staged_actions_max as usize,
            input_rounds_max: limits.input_rounds_max,
            grant_offer_days: limits.grant_offer_days,
            mode_idle_time: Duration::from_secs(limits.mode_idle_time_s),
            openings: settings.openings.clone(),
        },
        catalog: CatalogSettings {
            server_wait: Duration::from_millis(limits.server_wait_ms),
            server_instructions_bytes: limits.server_instructions_bytes as usize,
            tools: settings.tools.clone(),
            program: program(),
        },
    }
}

/// How much of a workspace is remembered.
pub(super) fn snapshot_limits(limits: &Limits) -> snapshot::Limits {
    snapshot::Limits {
        files_max: limits.undo_files_max as usize,
        bytes_max: limits.undo_bytes_max,
        file_bytes_max: limits.undo_file_bytes_max,
    }
}

/// Which build this is: its version, and the size and time of its file.
fn program() -> String {
    let file = std::env::current_exe().and_then(std::fs::metadata);
    let stamp = file.ok().and_then(|meta| {
        let modified = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
        Some(format!("{}:{}", meta.len(), modified.as_nanos()))
    });
    format!("{} {}", env!("CARGO_PKG_VERSION"), stamp.unwrap_or_default())
}

pub(super) fn load_policy(config: &Config) -> anyhow::Result<Policy> {
    let refused = |path: &PathBuf| format!("{} is refused, so claw does not start", path.display());
    let path = config.home.policy_toml();
    let text = crate::config::read_if_there(&path)?;
    let policy = Policy::load(text.as_deref()).with_context(|| refused(&path))?;
    let Some(path) = config.home.own_policy_toml() else { return Ok(policy) };
    let Some(own) = crate::config::read_if_there(&path)? else { return Ok(policy) };
    policy
        .with(&format!("agents/{}/policy.toml", config.agent.name), &own)
        .with_context(|| refused(&path))
}

/// What this machine holds of the box, by a trial.
fn tried() -> HeldLevels {
    tracing::debug!("the box is tried by a process, because no bash server has told what it holds");
    let held = claw_mcp_bash::try_box(&["server", "bash"]).held();
    HeldLevels { files: held.files, levels: held.levels, protected: held.protected }
}
