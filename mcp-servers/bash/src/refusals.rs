//! What the box keeps closed, in a sentence that names what would open it: for whoever reads that a
//! command was refused. Must not know how the box is closed.

use std::path::{Path, PathBuf};

use crate::caches;
use crate::credentials;
use crate::level::{Level, has_refusal};
use crate::openings::{self, Openings};
use crate::services::Service;
use crate::wire::CommandAccess;

/// Words by which programs speak of a service that lies behind a Unix socket.
const SERVICES: &[(&[&str], Service)] = &[
    (
        &["docker.sock", "docker daemon", "Docker daemon", "docker API", "podman.sock"],
        Service::Docker,
    ),
    (
        &[
            "authentication agent",
            "Permission denied (publickey",
            "SSH_AUTH_SOCK",
            "Host key verification failed",
            "ssh: connect to host",
            "ssh: Could not resolve hostname",
        ],
        Service::SshAgent,
    ),
];
const D_BUS: &[&str] =
    &["system bus", "session bus", "DBUS_SESSION_BUS_ADDRESS", "Failed to connect to bus"];
const D_BUS_SAYS: &str = "The box keeps D-Bus closed at every level, because services of the system act through it for the owner. Ask the owner to do it.";
const UNKNOWN_HOST: &[&str] = &["Host key verification failed"];
const UNKNOWN_HOST_SAYS: &str = "The host's key is not among those that the owner knows (~/.ssh/known_hosts), or is another one, and claw accepts no new key. \
     Ask the owner to sign in there once, outside of claw.";

/// What a server has to know to explain a refusal.
#[derive(Clone, Debug)]
pub struct Refusals {
    /// The owner's home.
    home: Option<PathBuf>,
    /// That of commands.
    command_home: PathBuf,
    workspace: PathBuf,
    /// What can never be opened.
    protect: Vec<PathBuf>,
    /// What commands have of the owner's.
    open: Vec<PathBuf>,
    /// Of that, the folders that commands only read.
    only_read: Vec<PathBuf>,
}

impl Refusals {
    pub fn new(workspace: &Path, given: &CommandAccess, protect: &[PathBuf]) -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        let mut open = vec![workspace.to_owned(), given.home.clone()];
        open.extend(given.programs.iter().chain(given.opened.all()).cloned());
        Self {
            home: home.map(|home| home.canonicalize().unwrap_or(home)),
            command_home: given.home.clone(),
            workspace: workspace.to_owned(),
            protect: protect.to_owned(),
            open,
            only_read: given.opened.read.clone(),
        }
    }

    /// For a command to which more is open than to its server.
    pub fn with(&self, opened: &Openings) -> Self {
        let mut with = self.clone();
        with.open.extend(opened.all().cloned());
        with.only_read.extend(opened.read.iter().cloned());
        with
    }

    /// What a failed command has met, if that can be said: the level or the opening that would
    /// allow it.
    pub fn sentence(&self, level: Level, opens: &[Service], output: &str) -> Option<String> {
        let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
        if opens.contains(&Service::SshAgent) && says(UNKNOWN_HOST) {
            return Some(UNKNOWN_HOST_SAYS.to_owned());
        }
        let closed = |(_, service): &&(&[&str], Service)| !opens.contains(service);
        if let Some((_, service)) = SERVICES.iter().filter(closed).find(|(words, _)| says(words)) {
            return Some(service.how_to_open());
        }
        if says(D_BUS) {
            return Some(D_BUS_SAYS.to_owned());
        }
        let refused = paths(output, has_refusal);
        if let Some(path) = refused.iter().find(|path| self.is_closed(path)) {
            return Some(self.of_path(path));
        }
        if let Some(path) = self.missing_at_home(output) {
            return Some(self.of_path(&path));
        }
        let only_read = |path: &&PathBuf| self.only_read.iter().any(|open| path.starts_with(open));
        match refused.iter().find(only_read).filter(|_| level > Level::Read) {
            Some(path) => Some(format!(
                "{} is open to commands for reading alone. The owner opens a folder for changes, too, by `claw open --write`, or `open_write` under [box] in claw.toml.",
                path.display()
            )),
            None => level.refusal(output).map(str::to_owned),
        }
    }

    /// What a command that is kept off what programs obey has met in HOME, where that can be said.
    pub fn of_command_home(&self, level: Level, output: &str) -> Option<String> {
        let is_held = |path: &PathBuf| {
            path.strip_prefix(&self.command_home).is_ok_and(|below| !caches::hold(below))
        };
        let path = paths(output, has_refusal).into_iter().find(is_held)?;
        let way = match level {
            Level::Network => "It ran without a question",
            _ => "It ran at level `write`",
        };
        Some(format!(
            "{way}, and such a command changes of HOME only caches ({}), because programs obey the rest \
             on sight; {} is not one. Put it into the workspace or $TMPDIR{}.",
            caches::IN_WORDS,
            path.display(),
            if level == Level::Network { "" } else { ", or call again with needs: \"network\"" },
        ))
    }

    /// A path of the owner's home that commands do not have.
    fn is_closed(&self, path: &Path) -> bool {
        self.home.as_deref().is_some_and(|home| path.starts_with(home) && path != home)
            && !self.open.iter().any(|open| path.starts_with(open))
    }

    /// `~/…` means the HOME of commands: what is not there and is in the owner's home was meant.
    fn missing_at_home(&self, output: &str) -> Option<PathBuf> {
        let home = self.home.as_deref()?;
        let missing = |line: &str| line.contains("No such file") || line.contains("no such file");
        let named = paths(output, missing).into_iter();
        let mut meant =
            named.filter_map(|path| Some(home.join(path.strip_prefix(&self.command_home).ok()?)));
        meant.find(|path| path.symlink_metadata().is_ok() && self.is_closed(path))
    }

    fn of_path(&self, path: &Path) -> String {
        let shown = path.display();
        let home = self.home.as_deref().unwrap_or(Path::new("/"));
        let secrets = credentials::below(home);
        if secrets.iter().chain(&self.protect).any(|secret| path.starts_with(secret)) {
            return format!(
                "The box keeps {shown} closed at every level, and it cannot be opened: it is claw's, signs in as the owner, or holds what does."
            );
        }
        let Some(folder) = self.folder_to_open(path, home) else {
            return format!(
                "The box keeps {shown} closed, and no folder that holds it can be opened to commands. Ask the owner to copy it into the workspace."
            );
        };
        format!(
            "The box keeps {shown} closed. The owner can open {folder} to commands: `claw open {folder} --for 1h` (`--write` for changes, too), or permanently \
             `open_read = [\"{folder}\"]` under [box] in claw.toml (`open_write`; arguments of this server: --open-read, --open-write). Say so, and go \
             on without it."
        )
    }

    /// The outermost folder on the way to a path that may be opened, with `~` for the owner's home.
    fn folder_to_open(&self, path: &Path, home: &Path) -> Option<String> {
        let ways: Vec<&Path> = path.ancestors().take_while(|way| *way != home).collect();
        let may = |way: &&&Path| {
            openings::check_in(way, false, &self.workspace, &self.protect, Some(home)).is_ok()
        };
        let folder = ways.iter().rev().find(may)?;
        Some(format!("~/{}", folder.strip_prefix(home).ok()?.display()))
    }
}

/// The absolute paths in the lines of an output that are about something.
fn paths(output: &str, is_about: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let between = |c: char| c.is_whitespace() || "'\"`‘’“”():,;[]".contains(c);
    let lines = output.lines().filter(|line| is_about(line));
    let words = lines.flat_map(|line| line.split(between));
    words.map(Path::new).filter(|path| path.is_absolute()).map(Path::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// An owner's home, really there, because only a folder that is there can be opened.
    fn home() -> (tempfile::TempDir, PathBuf, Refusals) {
        let base = tempfile::tempdir().unwrap();
        let home = base.path().canonicalize().unwrap().join("me");
        for name in ["Documents/old", ".ssh", ".config/app", "project", "Pictures", ".claw/homes/1"]
        {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        fs::write(home.join("Documents/letter"), "").unwrap();
        fs::write(home.join("notes"), "").unwrap();
        let refusals = Refusals {
            home: Some(home.clone()),
            command_home: home.join(".claw/homes/1"),
            workspace: home.join("project"),
            protect: vec![home.join(".claw")],
            open: ["project", ".cargo/bin", "Pictures", ".claw/homes/1"]
                .map(|name| home.join(name))
                .to_vec(),
            only_read: vec![home.join("Pictures")],
        };
        (base, home, refusals)
    }

    #[test]
    fn a_closed_path_is_said_with_the_folder_that_would_open_it() {
        let (_base, home, refusals) = home();
        let (at, own) = (home.display(), refusals.command_home.display().to_string());
        let say =
            |output: String| refusals.sentence(Level::Write, &[], &output).unwrap_or_default();
        for output in [
            format!("cat: {at}/Documents/letter: Permission denied"),
            format!("ls: cannot open directory '{at}/Documents': Permission denied"),
            format!("PermissionError: [Errno 13] Permission denied: '{at}/Documents/old/x'"),
            format!("cat: {own}/Documents/letter: No such file or directory"),
        ] {
            let said = say(output);
            assert!(said.contains("open_read = [\"~/Documents\"]"), "{said}");
        }
        let said = say(format!("cat: {at}/.config/app/x: Permission denied"));
        assert!(said.contains("open_read = [\"~/.config/app\"]"), "{said}");
        let said = say(format!("cat: {at}/notes: Permission denied"));
        assert!(said.contains("into the workspace") && !said.contains("open_read"), "{said}");
        for closed in [".ssh/id", ".claw/claw.toml"] {
            let said = say(format!("cat: {at}/{closed}: Permission denied"));
            assert!(said.contains("at every level") && !said.contains("open_read"), "{said}");
        }
        assert_eq!(say(format!("cat: {own}/gone: No such file or directory")), "");
        let only_read = say(format!("touch: cannot touch '{at}/Pictures/x': Permission denied"));
        assert!(only_read.contains("open_write"), "{only_read}");
    }

    #[test]
    fn a_service_behind_a_socket_is_said_with_what_it_costs() {
        let (_base, _home, refusals) = home();
        let say = |output: &str| refusals.sentence(Level::Write, &[], output).unwrap_or_default();
        let docker = "permission denied while trying to connect to the Docker daemon socket at \
                      unix:///var/run/docker.sock";
        assert!(say(docker).contains("root on this machine"), "{}", say(docker));
        let denied = "git@host: Permission denied (publickey).";
        assert!(say(denied).contains("claw open ssh-agent --for 1h"), "{}", say(denied));
        // Where it is open, it says something else.
        let opens = [Service::SshAgent];
        assert_eq!(refusals.sentence(Level::Network, &opens, denied), None);
        let unknown = refusals.sentence(Level::Network, &opens, "Host key verification failed.");
        assert!(unknown.is_some_and(|said| said.contains("known_hosts")));
    }

    #[test]
    fn a_refusal_in_home_says_what_a_command_may_change_of_it() {
        let (_base, _home, refusals) = home();
        let own = refusals.command_home.display().to_string();
        let output =
            format!("error: could not lock config file {own}/.gitconfig: Read-only file system");
        let said = refusals.of_command_home(Level::Write, &output).unwrap();
        assert!(said.contains("only caches") && said.contains("needs: \"network\""), "{said}");
        let granted = refusals.of_command_home(Level::Network, &output).unwrap();
        assert!(granted.contains("without a question") && !granted.contains("needs"), "{granted}");
        let output = format!("bash: {own}/.cache/x: Permission denied");
        assert_eq!(refusals.of_command_home(Level::Write, &output), None);
    }

    #[test]
    fn a_refusal_inside_of_the_workspace_names_the_level() {
        let (_base, home, refusals) = home();
        let output = format!("rm: cannot remove '{}/project/x': Permission denied", home.display());
        let said = refusals.sentence(Level::Read, &[], &output).unwrap();
        assert!(said.contains("needs: \"write\""), "{said}");
        assert_eq!(refusals.sentence(Level::Write, &[], &output), None);
        // A path without a refusal in its line says nothing.
        let output = format!("{}/Documents: is open", home.display());
        assert_eq!(refusals.sentence(Level::Write, &[], &output), None);
    }
}
