//! Builds the gate, the hub whose mint it alone is given, and the calls and the catalog that it
//! judges by, from the settings and from what this machine is. Must not know what is judged, or
//! when.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anyhow::Context as _;

use super::servers::hub_settings;
use super::{LiveSettings, approvers, jobs};
use crate::calls::{CallLimits, Calls, CallsParts, Surroundings};
use crate::catalog::{Catalog, CatalogSettings};
use crate::config::{Config, Limits};
use crate::domain::{HeldLevels, claw};
use crate::gate::{Gate, GateParts};
use crate::hub::Hub;
use crate::hub::manifest::Manifest;
use crate::policy::Policy;
use crate::redact::Redactor;
use crate::snapshot;
use crate::store::{Artifacts, Store};
use crate::undo::TurnSnapshots;

pub(super) fn gate(
    (config, settings): (&Config, &LiveSettings),
    store: &Store,
    manifest: Manifest,
    policy: Policy,
    redactor: Redactor,
) -> anyhow::Result<Gate> {
    let (hub, mint) = Hub::new(manifest, hub_settings(config, &redactor, store)?);
    let (hub, limits) = (Arc::new(hub), &settings.limits);
    let of_catalog = catalog_settings(config, settings);
    let catalog = Arc::new(Catalog::new(store.clone(), hub.clone(), redactor.clone(), of_catalog));
    let calls = Calls::new(CallsParts {
        store: store.clone(),
        hub: hub.clone(),
        catalog: catalog.clone(),
        policy,
        redactor: redactor.clone(),
        artifacts: Artifacts::new(&config.home.artifacts()),
        surroundings: surroundings(config),
        limits: call_limits(settings),
    });
    let snapshots = TurnSnapshots::new(
        store.clone(),
        config.home.snapshots(),
        config.workspace.clone(),
        snapshot_limits(limits),
        claw(&config.agent.name),
    );
    Ok(Gate::new(GateParts {
        hub,
        mint,
        calls: Arc::new(calls),
        catalog,
        redactor,
        snapshots,
        tool_timeout: Duration::from_secs(limits.tool_timeout_s),
        calls_at_once: limits.tool_calls_parallel_max as usize,
    }))
}

fn surroundings(config: &Config) -> Surroundings {
    Surroundings {
        workspace: config.workspace.clone(),
        usual_workspace: config.usual_workspace.clone(),
        home: config.home.root().to_owned(),
        user_home: config.user_home.clone(),
        tried: Arc::new(LazyLock::new(tried)),
        approvers: approvers(config),
        harmless_variables: config.tools.harmless_variables.clone(),
        zone: config.zone.clone(),
        preview_job: jobs::preview(config),
        claw: claw(&config.agent.name),
    }
}

pub(super) fn call_limits(settings: &LiveSettings) -> CallLimits {
    let limits = &settings.limits;
    CallLimits {
        tool_result_bytes: limits.tool_result_bytes as usize,
        question_time: Duration::from_secs(limits.question_time_s),
        staged_actions_max: limits.staged_actions_max as usize,
        input_rounds_max: limits.input_rounds_max,
        grant_offer_days: limits.grant_offer_days,
        mode_idle_time: Duration::from_secs(limits.mode_idle_time_s),
        openings: settings.openings.clone(),
    }
}

pub(super) fn catalog_settings(config: &Config, settings: &LiveSettings) -> CatalogSettings {
    let limits = &settings.limits;
    CatalogSettings {
        server_wait: Duration::from_millis(limits.server_wait_ms),
        server_instructions_bytes: limits.server_instructions_bytes as usize,
        tools: settings.tools.clone(),
        program: program(),
        claw: claw(&config.agent.name),
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
