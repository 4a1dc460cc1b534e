//! A process without a supervisor: the child is claw's own, and its group dies with it. For claw's
//! own servers, which end with their stdin and see to their own children. Must not know MCP.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop, ProcessGroup};
use tokio::time::timeout;

use super::child::Fate;
use super::strays::{self, WaitedChild};
use crate::in_flight::InFlightGuard;
use crate::manifest::StdioLaunch;

/// After SIGKILL the kernel needs a moment; a process in uninterruptible sleep is not waited for.
const REAP_TIMEOUT: Duration = Duration::from_millis(500);

/// The process with its group. Dropping it, also with the runtime, kills what is left of the group.
pub(super) struct Group(
    pub(super) Box<dyn ChildWrapper>,
    #[expect(dead_code, reason = "as long as this lives the process is no stray")] WaitedChild,
);

impl Drop for Group {
    fn drop(&mut self) {
        // The group may be gone already; there is nobody to tell.
        let _ = self.0.start_kill();
    }
}

#[expect(clippy::disallowed_methods, reason = "the hub starts claw's own servers here")]
pub(super) fn start(
    launch: &StdioLaunch,
    env: &BTreeMap<String, String>,
    cwd: &Path,
) -> io::Result<Group> {
    let program =
        launch.own.as_ref().map_or_else(|| launch.command.as_ref(), |own| own.exe.as_os_str());
    let extra_args = launch.own.as_ref().map(|own| own.extra_args.as_slice()).unwrap_or_default();
    let mut command = CommandWrap::with_new(program, |command| {
        command.args(&launch.args).args(extra_args).env_clear().envs(env).current_dir(cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    command.wrap(ProcessGroup::leader()).wrap(KillOnDrop);
    let (child, kept) = strays::start(|| command.spawn(), |child| child.id())?;
    Ok(Group(child, kept))
}

/// Waits for the process, or ends it when asked; whatever is left of the group dies with it.
pub(super) async fn reap(guard: InFlightGuard, mut group: Group, fate: Fate, grace: Duration) {
    let status = tokio::select! {
        status = group.0.wait() => status.ok(),
        () = fate.end.cancelled() => end_group(&mut group, grace).await,
    };
    drop(group);
    if !status.is_some_and(|status| status.success()) {
        // It could not see to its own children.
        strays::end().await;
    }
    fate.set_exit(describe_exit(status));
    drop(guard);
}

async fn end_group(group: &mut Group, grace: Duration) -> Option<ExitStatus> {
    if let Ok(status) = timeout(grace, group.0.wait()).await {
        return status.ok();
    }
    // A group that is gone already is what we want.
    let _ = group.0.signal(rustix::process::Signal::TERM.as_raw());
    if let Ok(status) = timeout(grace, group.0.wait()).await {
        return status.ok();
    }
    let _ = group.0.start_kill();
    timeout(REAP_TIMEOUT, group.0.wait()).await.ok()?.ok()
}

fn describe_exit(status: Option<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match status {
        Some(status) => match (status.code(), status.signal()) {
            (Some(code), _) => format!("it exited with status {code}"),
            (None, Some(signal)) => format!("it was ended by signal {signal}"),
            (None, None) => "it ended".to_owned(),
        },
        None => "it ended".to_owned(),
    }
}
