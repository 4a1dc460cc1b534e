//! What the doctor says of the machine by itself: the box, cgroups, and whose rights claw has. Must
//! not know a home.

use claw_mcp_bash::Level;

use super::Report;

pub(super) fn look(report: &mut Report) {
    confinement(report);
    cgroups(report);
    user(report);
}

/// Nothing of claw needs root, and nothing that it starts should have it.
fn user(report: &mut Report) {
    if rustix::process::geteuid().is_root() {
        report.warn(
            "user",
            "this is root: tool servers of others run with all its rights, and only the box keeps \
             commands from using them; run claw as an ordinary user",
        );
    }
}

fn confinement(report: &mut Report) {
    let enforcement = claw_mcp_bash::try_box(&["server", "bash"]);
    let was_refused = enforcement.seccomp && !enforcement.namespaces;
    let advice = claw_mcp_bash::advice_about_namespaces().filter(|_| was_refused);
    let said = match advice {
        Some(advice) => format!("{enforcement}: {advice}"),
        None => enforcement.to_string(),
    };
    if enforcement.keeps_files() {
        report.good("box", said);
    } else {
        report.bad("box", said);
    }
    for level in [Level::Read, Level::Write, Level::Network] {
        report.good(format!("level {}", level.as_str()), enforcement.says(level));
    }
}

/// Whether each command that this process starts has a cgroup of its own, or why not.
fn cgroups(report: &mut Report) {
    report.good(
        "cgroup",
        match claw_mcp_bash::look_for_cgroup() {
            Ok(room) => {
                format!("each command has a cgroup of its own in {room}, which holds its limits")
            }
            Err(why) => format!(
                "commands have no cgroup of their own here, because {why}; the limits of single \
                 processes hold. The service of `claw service install` has one, and so has \
                 `systemd-run --user --scope -p Delegate=yes claw chat`"
            ),
        },
    );
}
