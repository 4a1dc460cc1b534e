//! Which workspace is meant, and the persona beside it: by the command line, the environment or
//! `claw.toml`. Must not know who works there.

use std::path::{Path, PathBuf};

use super::env::Env;
use super::error::ConfigError;
use super::home::Home;
use super::persona::PersonaSources;
use super::{MAIN, Overrides, file, here, home, roles, workspace};

/// The folder, and where it was written. A relative one is relative to the current folder, in
/// `claw.toml` to the agent's home.
fn workspace_of(
    env: &Env,
    overrides: &Overrides,
    file: &file::ClawToml,
    home: &Home,
    (agent, user_home): (&str, Option<&Path>),
) -> (PathBuf, String) {
    if let Some(folder) = &overrides.workspace {
        return (folder.clone(), "--workspace".to_owned());
    }
    if let Some(written) = env.get("CLAW_WORKSPACE").filter(|_| agent == MAIN) {
        return (home::with_tilde(written, user_home), "CLAW_WORKSPACE".to_owned());
    }
    match &file.workspace {
        Some(written) => {
            let key = if agent == MAIN {
                "workspace".to_owned()
            } else {
                format!("agents.{agent}.workspace")
            };
            let said_by = format!("{}, {key}", home.claw_toml().display());
            (home.path().join(home::with_tilde(written, user_home)), said_by)
        }
        None => (home.workspace(), "workspace".to_owned()),
    }
}

/// The persona beside a workspace, and what was made on the way, a sentence each.
type PersonaAt = (PersonaSources, Vec<String>);

/// The configured workspace, and the one that is worked in.
pub(super) fn place_of(
    env: &Env,
    overrides: &Overrides,
    file: &file::ClawToml,
    place: &str,
    home: &Home,
    agent_at: (&str, Option<&Path>),
) -> Result<(PathBuf, here::Chosen<PersonaAt>), ConfigError> {
    let with = |workspace: &Path| persona_of(file, place, home, workspace, agent_at.1);
    let untyped = Overrides { workspace: None, ..overrides.clone() };
    let (configured, _) = workspace_of(env, &untyped, file, home, agent_at);
    let usual = workspace_of(env, overrides, file, home, agent_at);
    let chosen = here::choose(env, overrides, &agent_at, home, &usual, with)?;
    Ok((workspace::real_part(&configured), chosen))
}

fn persona_of(
    file: &file::ClawToml,
    place: &str,
    home: &Home,
    workspace: &Path,
    user_home: Option<&Path>,
) -> Result<(PersonaSources, Vec<String>), ConfigError> {
    let (persona, default_role) = (file.persona.as_deref(), file.default_role.as_deref());
    let written = roles::PersonaKeys { persona, roles: &file.roles, default_role, place };
    PersonaSources::prepare(&written, home, workspace, user_home)
}
