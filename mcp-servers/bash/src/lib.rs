//! The bash MCP server: `run` for a command, `start`, `output`, `stop`, `stop_all` and `list` for
//! jobs in the background, over stdio, inside a box that the operating system holds. This file owns
//! the order of the start: read the arguments, close the box, and only then make a runtime. Of the
//! crates of claw it knows the kit alone.
//!
//! The tour: `args` (what was typed, and what it means) → `namespace` (processes and mounts of its
//! own; before that `cgroup` finds room for those of commands) → `confine` (the box) → `server`
//! (the MCP face, `tool` its words; `background` and `job_tools` for jobs that stay) → `run` (one
//! job as the server sees it; `network` what it reaches) → `supervisor` (one small process a job,
//! which kills what it started).

mod args;
mod background;
mod baseline;
mod caches;
mod capture;
mod cgroup;
mod confine;
mod credentials;
mod description;
mod disk;
mod drive;
mod environment;
mod eof;
mod error;
mod git_head;
mod git_names;
mod home;
mod identity;
mod job_tools;
mod kept;
#[cfg(target_os = "linux")]
mod launcher;
mod level;
mod limits;
#[cfg(target_os = "linux")]
mod namespace;
mod network;
mod obeyed;
mod opened_to_call;
mod openings;
#[cfg(target_os = "linux")]
mod own_namespaces;
mod progress;
mod queue;
mod refusals;
mod run;
mod schema;
mod scratch;
mod server;
mod services;
mod shared;
mod shell_end;
mod shell_folder;
mod shell_variables;
mod shown;
mod small_file;
mod supervisor;
mod supervisors;
mod tool;
mod toolchains;
mod wire;
mod work_folder;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

pub use args::Args;
pub use cgroup::{Missing as MissingCgroup, Room as CgroupRoom, look as look_for_cgroup};
pub use confine::{Enforcement, Held, advice_about_namespaces, probe, try_box};
pub use home::{
    BYTES_MAX_DEFAULT as HOME_BYTES_MAX, BYTES_MAX_RANGE as HOME_BYTES_RANGE, in_words, size,
};
pub use level::Level;
pub use openings::{CannotOpen, check as check_opening};
pub use services::{Service, Sockets, VARIABLES as SOCKET_VARIABLES};
pub use toolchains::{
    LeftOut, Surroundings, Toolchains, VARIABLES as TOOLCHAIN_VARIABLES, not_on_path,
};

use args::Settings;
use cgroup::{Folder, Settled};
use confine::{Boundary, GivenNamespaces};
use error::StartError;
use home::CommandHome;
use identity::{Identity, IdentityQuery};
#[cfg(target_os = "linux")]
use launcher::Launcher;
#[cfg(target_os = "linux")]
use namespace::NamespacePlace;
use run::{Apart, Machine};
use scratch::Scratch;
use server::Serving;
use services::Services;
use wire::CommandAccess;

/// Serves MCP over stdin and stdout until stdin closes. Confines the **whole process** permanently,
/// so it is the last thing that a program does, and it must be called before any thread exists.
///
/// Exit code 0 after an orderly end, 2 for arguments that cannot be served (one sentence on
/// stderr), 1 for a broken environment. Nothing but MCP is written to stdout.
pub fn main(args: Args) -> ExitCode {
    if args.supervise {
        return supervisor::main();
    }
    if args.ssh_client {
        return services::ssh_client::main(&args.ssh_words);
    }
    match start(&args) {
        Ok(code) => code,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(error.exit_code())
        }
    }
}

fn start(args: &Args) -> Result<ExitCode, StartError> {
    // A host may have leaked descriptors of its own files to us, and the box does not take back
    // what is open already.
    close_fds::set_fds_cloexec(3, &[]);
    confine::check_threads()?;
    // Before there are mounts of our own, through which the tree is read-only.
    let room = if args.try_box { None } else { cgroup_room(args) };
    #[cfg(target_os = "linux")]
    let namespaces = match namespace::enter(args, room.as_ref())? {
        NamespacePlace::Served(code) => return Ok(code),
        NamespacePlace::Inside => true,
        NamespacePlace::Without => false,
    };
    #[cfg(not(target_os = "linux"))]
    let namespaces = false;
    if args.try_box {
        return tell_of_the_box(namespaces);
    }
    let mut settings = Settings::new(args)?;
    let folder = room.and_then(folder_for_commands);
    if folder.is_some() {
        settings.limits.command = settings.limits.command.within_machine();
    }
    let scratch = Scratch::new("tmp")?;
    let read_scratch = Scratch::new("read")?;
    let own_shelf = settings.output_dir.is_none().then(|| Scratch::new("output")).transpose()?;
    let output_dir =
        own_shelf.as_ref().map(|own| own.path().to_owned()).or_else(|| settings.output_dir.clone());
    let output_dir = output_dir.unwrap_or_default();
    let early = environment::search_of_system(&[&settings.workspace, scratch.path()]);
    let asked = Identity::ask(&early, &settings.workspace);
    let own_home = settings.home.is_none().then(|| Scratch::new("home")).transpose()?;
    let (given, toolchains) = given(&settings, scratch.path(), own_home.as_ref())?;
    let programs = toolchains.named();
    let mut boundary = Boundary {
        cgroup: folder.as_ref().map(Folder::path),
        ..Boundary::new(&settings, &given, scratch.path(), &output_dir)
    };
    // They go with the server, which has to remove what lies in them. Commands write
    // their HOME alone, and their TMPDIR.
    let own = [Some(&read_scratch), own_home.as_ref()];
    boundary.writable.extend(own.into_iter().flatten().map(|own| own.path().to_owned()));
    let path = environment::search_path_of_jobs(
        &settings.workspace,
        scratch.path(),
        &given,
        &boundary.readable,
    );
    let search: Vec<_> = std::env::split_paths(&path).collect();
    let asked = asked.or_else(|| Identity::ask(&search, &settings.workspace));
    let untold = |source| StartError::Home { path: given.told.clone(), source };
    let git = asked
        .map(IdentityQuery::answer)
        .unwrap_or_default()
        .write(&given.told, &settings.workspace)
        .map_err(untold)?;
    let services = Services::start(&given.told, &search).map_err(untold)?;
    let begin = shell_end::write(&given.told).map_err(untold)?;
    let (apart, given_namespaces) = set_apart(namespaces, &boundary)?;
    let enforcement = confine::apply(&boundary, given_namespaces)?;
    if !enforcement.is_full() {
        complain(&enforcement.to_string());
    }
    let home = CommandHome::new(given.home.clone(), settings.home_bytes_max, toolchains.shared);
    home.begin_to_fill();
    let environment =
        environment::of_jobs(path, scratch.path(), &given.home, &toolchains.variables, git);
    let read_folder = read_scratch.path().to_owned();
    let machine = Machine { environment, given, home, services, begin, read_scratch: read_folder };
    let serving = Serving { output_dir, machine, enforcement, folder, apart, programs };
    let served = serve(settings, serving);
    let own = [scratch, read_scratch].into_iter().chain(own_shelf).chain(own_home);
    own.for_each(Scratch::clear);
    served.map(|()| ExitCode::SUCCESS)
}

fn serve(settings: Settings, serving: Serving) -> Result<(), StartError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(StartError::Runtime)?;
    let served = runtime.block_on(server::serve(settings, serving));
    // A read of stdin that never returns must not hold the end up.
    runtime.shutdown_background();
    served
}

/// What commands get of the machine: their HOME, and the user's programs.
fn given(
    settings: &Settings,
    scratch: &Path,
    own_home: Option<&Scratch>,
) -> Result<(CommandAccess, Toolchains), StartError> {
    let parts = match (&settings.home, own_home) {
        (Some(parts), _) => parts.clone(),
        (None, own) => {
            let path = own.map_or_else(|| scratch.to_owned(), |own| own.path().to_owned());
            home::prepare(&path).map_err(|source| StartError::Home { path, source })?
        }
    };
    let opened = settings.openings.clone();
    let own = [settings.workspace.clone(), scratch.to_owned(), parts.home.clone()];
    let writable = [&own[..], &opened.write].concat();
    let mut toolchains = Toolchains::find(&Surroundings::of_process(&writable, &settings.protect));
    let programs = toolchains.readable.clone();
    toolchains.shared.extend(shared::of_openings(&opened));
    Ok((CommandAccess { home: parts.home, told: parts.told, programs, opened }, toolchains))
}

/// Closes a box around nothing, and says on stdout what came of it.
fn tell_of_the_box(namespaces: bool) -> Result<ExitCode, StartError> {
    let boundary = Boundary::default();
    let (_apart, given) = set_apart(namespaces, &boundary)?;
    let enforcement = confine::apply(&boundary, given)?;
    let line = serde_json::to_string(&enforcement)
        .map_err(|error| StartError::Handshake(error.to_string()))?;
    // A host that does not listen has no use for it.
    let _ = writeln!(std::io::stdout(), "{line}");
    Ok(ExitCode::SUCCESS)
}

/// Seals the server's own namespaces, and finds out what each command can have of its own. Must run
/// before the box closes.
#[cfg(target_os = "linux")]
fn set_apart(
    inside: bool,
    boundary: &Boundary,
) -> Result<(Option<Apart>, GivenNamespaces), StartError> {
    if !inside {
        return Ok((None, GivenNamespaces::default()));
    }
    let sealed = namespace::set_apart(&boundary.writable)
        .and_then(|()| namespace::seal(&boundary.writable, None))
        .map_err(StartError::Namespace)?;
    let launcher = own_namespaces::are_given().then(Launcher::start).flatten();
    let mounts = launcher.is_some();
    let networks = mounts && network::own::can_be_had();
    let apart = launcher.map(|launcher| Apart { launcher, boundary: boundary.clone() });
    Ok((apart, GivenNamespaces { namespaces: true, mounts, networks, sealed }))
}

#[cfg(not(target_os = "linux"))]
fn set_apart(
    _inside: bool,
    _boundary: &Boundary,
) -> Result<(Option<Apart>, GivenNamespaces), StartError> {
    Ok((None, GivenNamespaces::default()))
}

/// Where commands can have a cgroup of their own. Most hosts have no such place, which is no news.
fn cgroup_room(args: &Args) -> Option<Settled> {
    if let (Some(descriptor), Some(home)) = (args.cgroup_fd, &args.cgroup_home) {
        return Settled::inherited(descriptor, home).ok();
    }
    if args.inside {
        return None;
    }
    match cgroup::look().and_then(|room| room.settle()) {
        Ok(room) => Some(room),
        Err(MissingCgroup::NoTree | MissingCgroup::NotDelegated(_)) => None,
        Err(why) => {
            complain(&format!("commands have no cgroup of their own: {why}"));
            None
        }
    }
}

fn folder_for_commands(room: Settled) -> Option<Folder> {
    let folder = Folder::new(room);
    if let Err(why) = &folder {
        complain(&format!("commands have no cgroup of their own: {why}"));
    }
    folder.ok()
}

/// One line to stderr. A host that has closed stderr is no reason to stop.
fn complain(sentence: &str) {
    let _ = writeln!(std::io::stderr(), "claw-mcp-bash: {sentence}");
}
