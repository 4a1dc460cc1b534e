//! What was typed (`Args`) and what it means (`Settings`, validated). The only reader of the
//! server's own environment besides `environment`. Must not know how the box is built.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use claw_kit::homes::{canonical_even_if_missing, homes};

use crate::confine::ESSENTIAL_PATHS;
use crate::error::StartError;
use crate::home::{self, Parts};
use crate::limits::CommandLimits;
use crate::network::HostRule;
use crate::openings::Openings;
use crate::scratch::make_private;
use crate::services::Service;

/// The least that the head, the tail and the words around them need.
const OUTPUT_BYTES_MIN: usize = 2048;

/// The command line of the server.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Directory that commands run in; the only place besides a private temporary one that they can
    /// write to. Default: CLAW_WORKSPACE, else the current directory
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// Directory that commands must never reach, for example claw's home; refuses to start if the
    /// workspace holds it. Repeatable
    #[arg(long, value_name = "DIR")]
    pub protect: Vec<PathBuf>,
    /// One more directory that commands may read and execute from, for example a toolchain.
    /// Repeatable
    #[arg(long, value_name = "DIR")]
    pub read_only: Vec<PathBuf>,
    /// One more folder that commands may read, at every level. Repeatable
    #[arg(long, value_name = "DIR")]
    pub open_read: Vec<PathBuf>,
    /// One more folder that commands may read, and change from the level write on. Repeatable
    #[arg(long, value_name = "DIR")]
    pub open_write: Vec<PathBuf>,
    /// Folder for this workspace alone, outside of it: the HOME of commands (`home`), which
    /// they write and in which their caches last, and what they are told (`told`). Default: a
    /// private one until the end
    #[arg(long, value_name = "DIR")]
    pub home: Option<PathBuf>,
    /// Size in bytes at which the HOME of commands is emptied after a command
    #[arg(long, value_name = "BYTES", default_value_t = home::BYTES_MAX_DEFAULT)]
    pub command_home_bytes_max: u64,
    /// Seconds that a command may take when the call does not say
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub timeout_s: u64,
    /// The longest that a call may ask for, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub timeout_s_max: u64,
    /// Size of a result's text in bytes; the head and the tail of a longer output are kept
    #[arg(long, value_name = "BYTES", default_value_t = 16 * 1024)]
    pub output_bytes_max: usize,
    /// Size in bytes up to which a longer output is kept as a file
    #[arg(long, value_name = "BYTES", default_value_t = 64 * 1024 * 1024)]
    pub file_bytes_max: u64,
    /// Size in bytes of all such files together; the oldest make room
    #[arg(long, value_name = "BYTES", default_value_t = 256 * 1024 * 1024)]
    pub command_output_kept_bytes_max: u64,
    /// Directory outside of the workspace for these files; commands may read it. Default: a private
    /// one until the end
    #[arg(long, value_name = "DIR")]
    pub output_dir: Option<PathBuf>,
    /// Commands that may run at the same time; more wait for their turn
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    pub jobs_max: usize,
    /// Background jobs that may run at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 8)]
    pub background_max: usize,
    #[command(flatten)]
    pub command: CommandLimits,
    /// A host that commands may name although its address lies on this machine or in its network,
    /// for example localhost:5432. Repeatable
    #[arg(long, value_name = "HOST[:PORT]", value_parser = HostRule::parse)]
    pub private_host: Vec<HostRule>,
    /// Serve without namespaces for processes, mounts and System V memory, also where the system
    /// gives them
    #[arg(long)]
    pub without_namespaces: bool,
    /// A service of the owner's that commands may ask for by name. Repeatable
    #[arg(long, value_name = "NAME", value_enum)]
    pub open: Vec<Service>,
    /// Serves nobody: says in one line what this system holds of the box, as JSON.
    #[arg(long, hide = true)]
    pub try_box: bool,
    /// Serves inside of the namespaces; the server starts itself with it.
    #[arg(long, hide = true)]
    pub inside: bool,
    /// The folder for cgroups, as a descriptor that the inner server inherits.
    #[arg(long, hide = true)]
    pub cgroup_fd: Option<i32>,
    /// The cgroup of the server itself, below that folder.
    #[arg(long, hide = true)]
    pub cgroup_home: Option<String>,
    /// Watches over one job; the server starts itself with it.
    #[arg(long, hide = true)]
    pub supervise: bool,
    /// What commands call `ssh` where the owner's agent is open to them.
    #[arg(long, hide = true)]
    pub ssh_client: bool,
    /// Its words.
    #[arg(last = true, hide = true, requires = "ssh_client")]
    pub ssh_words: Vec<OsString>,
    /// Serves over HTTP on a loopback port, for conformance tests.
    #[cfg(feature = "http")]
    #[arg(long, hide = true)]
    pub http: bool,
}

/// The limits of one server.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub timeout_s: u64,
    pub timeout_s_max: u64,
    pub output_bytes_max: usize,
    pub file_bytes_max: u64,
    pub kept_bytes_max: u64,
    pub jobs_max: usize,
    pub background_max: usize,
    pub command: CommandLimits,
}

/// What the arguments mean: every path exists and is canonical, no grant overlaps what is
/// protected.
#[derive(Clone, Debug)]
pub struct Settings {
    pub workspace: PathBuf,
    pub protect: Vec<PathBuf>,
    pub read_only: Vec<PathBuf>,
    pub output_dir: Option<PathBuf>,
    pub openings: Openings,
    pub home: Option<Parts>,
    pub home_bytes_max: u64,
    pub private_hosts: Vec<HostRule>,
    /// Open to every command that names it, whatever the host says of the call.
    pub open: Vec<Service>,
    pub limits: Limits,
    #[cfg(feature = "http")]
    pub http: bool,
}

impl Settings {
    pub fn new(args: &Args) -> Result<Self, StartError> {
        let workspace = workspace(args.workspace.as_deref())?;
        let protect: Vec<PathBuf> =
            args.protect.iter().map(|path| canonical_even_if_missing(path)).collect();
        refuse_too_wide(&workspace, &protect)?;
        let mut read_only = Vec::new();
        for path in &args.read_only {
            let canonical = path
                .canonicalize()
                .map_err(|source| StartError::ReadOnly { path: path.clone(), source })?;
            read_only.push(canonical);
        }
        let output_dir =
            args.output_dir.as_deref().map(|path| output_dir(path, &workspace)).transpose()?;
        let essential =
            ESSENTIAL_PATHS.iter().filter_map(|path| Path::new(path).canonicalize().ok());
        for granted in essential.chain(read_only.iter().cloned()).chain(output_dir.clone()) {
            if let Some(protected) =
                protect.iter().find(|protected| protected.starts_with(&granted))
            {
                return Err(StartError::Overlap { protected: protected.clone(), granted });
            }
        }
        let openings = Openings::new(&args.open_read, &args.open_write, &workspace, &protect)?;
        Ok(Self {
            protect,
            read_only,
            openings,
            home: args.home.as_deref().map(|path| home_of(path, &workspace)).transpose()?,
            home_bytes_max: home_bytes_max(args)?,
            workspace,
            output_dir,
            private_hosts: args.private_host.clone(),
            open: args.open.clone(),
            limits: limits(args)?,
            #[cfg(feature = "http")]
            http: args.http,
        })
    }
}

fn workspace(given: Option<&Path>) -> Result<PathBuf, StartError> {
    let path = match (given, env::var_os("CLAW_WORKSPACE").filter(|value| !value.is_empty())) {
        (Some(path), _) => path.to_owned(),
        (None, Some(path)) => path.into(),
        (None, None) => PathBuf::from("."),
    };
    let canonical = path
        .canonicalize()
        .map_err(|source| StartError::Workspace { path: path.clone(), source })?;
    if !fs::metadata(&canonical).is_ok_and(|meta| meta.is_dir()) {
        return Err(StartError::NotADirectory(path));
    }
    Ok(canonical)
}

/// What a workspace may never hold, whoever starts us: the user's own home, claw's, `/`, and what
/// is protected. A host that starts servers in such a folder gets told so here instead of handing
/// out everything.
fn refuse_too_wide(workspace: &Path, protect: &[PathBuf]) -> Result<(), StartError> {
    let homes = homes().into_iter().map(|home| home.path);
    let all = homes.chain([PathBuf::from("/")]).chain(protect.iter().cloned());
    match all.into_iter().find(|inside| inside.starts_with(workspace)) {
        Some(inside) => Err(StartError::TooWide { workspace: workspace.to_owned(), inside }),
        None => Ok(()),
    }
}

/// Makes the folder where it is missing, for its owner alone.
fn output_dir(path: &Path, workspace: &Path) -> Result<PathBuf, StartError> {
    let wrong = |source| StartError::OutputDir { path: path.to_owned(), source };
    make_private(path).map_err(wrong)?;
    let canonical = path.canonicalize().map_err(wrong)?;
    if !canonical.is_dir() {
        return Err(wrong(io::ErrorKind::NotADirectory.into()));
    }
    if canonical.starts_with(workspace) || workspace.starts_with(&canonical) {
        return Err(StartError::OutputInside { path: canonical, workspace: workspace.to_owned() });
    }
    Ok(canonical)
}

/// Makes the folder of commands' HOME where it is missing.
fn home_of(path: &Path, workspace: &Path) -> Result<Parts, StartError> {
    let wrong = |source| StartError::Home { path: path.to_owned(), source };
    let parts = home::prepare(path).map_err(wrong)?;
    if parts.home.starts_with(workspace) || workspace.starts_with(&parts.home) {
        let (path, workspace) = (path.to_owned(), workspace.to_owned());
        return Err(StartError::HomeInside { path, workspace });
    }
    Ok(parts)
}

fn home_bytes_max(args: &Args) -> Result<u64, StartError> {
    let bytes = args.command_home_bytes_max;
    home::BYTES_MAX_RANGE
        .contains(&bytes)
        .then_some(bytes)
        .ok_or(StartError::Limit("--command-home-bytes-max must be between 1048576 and 2^50"))
}

fn limits(args: &Args) -> Result<Limits, StartError> {
    if args.timeout_s == 0 || args.timeout_s > args.timeout_s_max {
        return Err(StartError::Limit(
            "--timeout-s must be at least 1 and at most --timeout-s-max",
        ));
    }
    if args.output_bytes_max < OUTPUT_BYTES_MIN {
        return Err(StartError::Limit("--output-bytes-max must be at least 2048"));
    }
    if args.jobs_max == 0
        || args.jobs_max > 1024
        || args.background_max == 0
        || args.background_max > 1024
    {
        return Err(StartError::Limit(
            "--jobs-max and --background-max must be between 1 and 1024",
        ));
    }
    if args.command_output_kept_bytes_max < 64 * 1024 {
        return Err(StartError::Limit("--command-output-kept-bytes-max must be at least 65536"));
    }
    Ok(Limits {
        timeout_s: args.timeout_s,
        timeout_s_max: args.timeout_s_max,
        output_bytes_max: args.output_bytes_max,
        file_bytes_max: args.file_bytes_max,
        kept_bytes_max: args.command_output_kept_bytes_max,
        jobs_max: args.jobs_max,
        background_max: args.background_max,
        command: args.command.checked().map_err(StartError::Limit)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(workspace: &Path) -> Args {
        Args {
            workspace: Some(workspace.to_owned()),
            protect: Vec::new(),
            read_only: Vec::new(),
            timeout_s: 120,
            timeout_s_max: 600,
            output_bytes_max: 16 * 1024,
            file_bytes_max: 1024,
            command_output_kept_bytes_max: 65_536,
            output_dir: None,
            open_read: Vec::new(),
            open_write: Vec::new(),
            home: None,
            command_home_bytes_max: home::BYTES_MAX_DEFAULT,
            jobs_max: 8,
            background_max: 8,
            command: CommandLimits::default(),
            private_host: Vec::new(),
            without_namespaces: false,
            try_box: false,
            inside: false,
            cgroup_fd: None,
            cgroup_home: None,
            supervise: false,
            open: Vec::new(),
            ssh_client: false,
            ssh_words: Vec::new(),
            #[cfg(feature = "http")]
            http: false,
        }
    }

    #[test]
    fn the_root_and_what_holds_a_protected_directory_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(Settings::new(&args(Path::new("/"))), Err(StartError::TooWide { .. })));
        let mut wide = args(dir.path());
        wide.protect = vec![dir.path().join("not/yet/there")];
        assert!(matches!(Settings::new(&wide), Err(StartError::TooWide { .. })));
        wide.protect = vec![dir.path().to_owned()];
        assert!(matches!(Settings::new(&wide), Err(StartError::TooWide { .. })));
    }

    #[test]
    fn a_workspace_inside_the_protected_directory_is_fine() {
        let home = tempfile::tempdir().unwrap();
        let workspace = home.path().join("workspace");
        fs::create_dir(&workspace).unwrap();
        let mut inside = args(&workspace);
        inside.protect = vec![home.path().to_owned()];
        assert!(Settings::new(&inside).is_ok());
    }

    #[test]
    fn a_protected_directory_among_the_system_files_or_below_read_only_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let tools = tempfile::tempdir().unwrap();
        let mut overlap = args(dir.path());
        overlap.protect = vec!["/usr/share/claw-home".into()];
        assert!(matches!(Settings::new(&overlap), Err(StartError::Overlap { .. })));
        overlap.protect = vec![tools.path().join("home")];
        overlap.read_only = vec![tools.path().to_owned()];
        assert!(matches!(Settings::new(&overlap), Err(StartError::Overlap { .. })));
    }

    #[test]
    fn a_link_does_not_hide_that_the_workspace_is_too_wide() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink("/", &link).unwrap();
        assert!(matches!(Settings::new(&args(&link)), Err(StartError::TooWide { .. })));
    }

    #[test]
    fn limits_that_make_no_sense_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let mut bad = args(dir.path());
        bad.timeout_s = 601;
        assert!(matches!(Settings::new(&bad), Err(StartError::Limit(_))));
        let mut small = args(dir.path());
        small.output_bytes_max = 10;
        assert!(matches!(Settings::new(&small), Err(StartError::Limit(_))));
    }
}
