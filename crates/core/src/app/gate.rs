//! What the gate and the snapshots go by, of the settings and of this machine. Must not know what
//! is judged, or when.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use super::{LiveSettings, approvers, tried};
use crate::calls::{CallLimits, Surroundings};
use crate::catalog::CatalogSettings;
use crate::config::{Config, Limits};
use crate::gate::GateSettings;
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
        },
        limits: CallLimits {
            tool_result_bytes: limits.tool_result_bytes as usize,
            question_time: Duration::from_secs(limits.question_time_s),
            staged_actions_max: limits.staged_actions_max as usize,
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
