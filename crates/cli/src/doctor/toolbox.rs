//! What the doctor says of the machine as commands find it: the owner's programs, and the HOME that
//! commands have. Looks, and changes nothing.

use std::path::{Path, PathBuf};

use claw_mcp_bash::{Service, Sockets, Surroundings, Toolchains, in_words, not_on_path, size};

use super::Report;
use crate::app::{App, openings};
use crate::config::{Config, OpenFolder};
use crate::domain::Opening;
use crate::doors::reached::quoted_path;
use crate::moment::when;
use crate::service;
use crate::whose::claw;

pub(super) fn look(config: &Config, report: &mut Report) {
    home(config, report);
    folders(config, report);
    if report.agent.is_none() {
        programs(config, report);
    }
}

fn home(config: &Config, report: &mut Report) {
    let folder = config.home.command_home(&config.workspace);
    let (had, may) = (size(&folder.join("home")), config.limits.command_home_bytes_max);
    report.good(
        "commands:home",
        format!(
            "HOME of commands is {}: {} of at most {} (command_home_bytes_max), after which it is \
             emptied",
            folder.join("home").display(),
            in_words(had),
            in_words(may)
        ),
    );
}

/// The folders that the owner has opened. One that cannot be opened keeps claw from its start, and
/// is told there.
fn folders(config: &Config, report: &mut Report) {
    for folder in &config.open_folders {
        if openings::real(config, folder).is_err() {
            continue;
        }
        report.good(
            "open",
            format!(
                "{}: {}; take it out of {} in claw.toml to close it",
                with_tilde(&folder.path, &config.user_home),
                folder.cost(),
                folder.key()
            ),
        );
    }
}

/// What is open to commands by name, and whether it is there.
pub(super) fn openings_by_name(app: &App, report: &mut Report) {
    let open = match app.gate.calls().openings() {
        Ok(open) => open,
        Err(error) => return report.bad("open", error.to_string()),
    };
    timed_folders(app, report);
    let sockets = Sockets::find(|name| app.config.env.get(name).map(str::to_owned));
    for one in open {
        let back = match one.until_ms {
            None => "take it out of `open` under [box] in claw.toml to close it".to_owned(),
            Some(at) => {
                let claw = claw(app);
                format!("until {}; `{claw} close {}` closes it", when(at), one.opening)
            }
        };
        report.good("open", format!("{}: {}; {back}", one.opening, one.opening.cost()));
        let service = match one.opening {
            Opening::SshAgent => Service::SshAgent,
            Opening::Docker => Service::Docker,
        };
        if let Err(why) = sockets.of(service) {
            report.warn("open", format!("{} cannot be reached from here: {why}", one.opening));
        }
    }
}

fn timed_folders(app: &App, report: &mut Report) {
    let folders = match app.gate.calls().open_folders() {
        Ok(folders) => folders,
        Err(error) => return report.bad("open", error.to_string()),
    };
    for one in folders {
        let folder = OpenFolder { path: one.path, to_write: one.to_write };
        let name = with_tilde(&folder.path, &app.config.user_home);
        let until = one.until_ms.map(when).unwrap_or_default();
        report.good(
            "open",
            format!(
                "{name}: {}; until {until}; `{} close {}` closes it",
                folder.cost(),
                claw(app),
                quoted_path(&name)
            ),
        );
        if let Err(why) = openings::may_open(&app.config, &folder) {
            report.warn("open", format!("{name} cannot be opened any more: {}", why.words()));
        }
    }
}

/// What a claw that is started here finds. The service has a PATH of its own.
fn programs(config: &Config, report: &mut Report) {
    let writable = [config.workspace.clone(), config.home.command_homes()];
    let mut protect = vec![config.home.root().to_owned()];
    protect.extend(config.kept_apart.folder.clone());
    let around = Surroundings::of_process(&writable, &protect);
    let found = Toolchains::find(&around);
    let name = |path: &PathBuf| with_tilde(path, &config.user_home);
    let named: Vec<String> = found.search.iter().map(name).collect();
    let text = match named.is_empty() {
        true => "commands find the system's programs, and none of yours on PATH".to_owned(),
        false => {
            format!("commands find the system's programs, and yours in {}", named.join(", "))
        }
    };
    report.good("commands:path", text);
    for (path, why) in &found.left_out {
        let text = format!("{} of PATH is kept from commands: {}", name(path), why.words());
        report.good("commands:left-out", text);
    }
    let missing: Vec<String> = not_on_path(&around).iter().map(name).collect();
    if !missing.is_empty() {
        report.warn(
            "commands:missing",
            format!(
                "commands find nothing in {}, because PATH does not name it; add it to PATH where \
                 claw is started",
                missing.join(", ")
            ),
        );
    }
    if service::has_short_path(config) {
        report.warn(
            "commands:service",
            "the service was installed without your PATH, so that its commands find the system's \
             programs alone; run `claw service install` again from the shell that you work in",
        );
    }
}

fn with_tilde(path: &Path, home: &Path) -> String {
    path.strip_prefix(home)
        .map_or_else(|_| path.display().to_string(), |rest| format!("~/{}", rest.display()))
}
