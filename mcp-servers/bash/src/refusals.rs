//! What the box keeps closed, in a sentence that names what would open it: for whoever reads that a
//! command was refused. Must not know how the box is closed.

use std::path::{Path, PathBuf};

use crate::credentials;
use crate::level::{Level, has_refusal};

/// Words by which programs speak of a service that lies behind a Unix socket, and what is said of
/// it.
const SERVICES: &[(&[&str], &str)] = &[
    (
        &["docker.sock", "docker daemon", "Docker daemon", "podman.sock"],
        "The box keeps Docker's socket closed at every level, because whoever reaches it is root on this machine. Ask the owner to run it.",
    ),
    (
        &["authentication agent", "Permission denied (publickey", "SSH_AUTH_SOCK"],
        "The box keeps the owner's ssh agent and keys closed at every level, because they sign in as the owner. Ask the owner to do it.",
    ),
    (
        &["system bus", "session bus", "DBUS_SESSION_BUS_ADDRESS", "Failed to connect to bus"],
        "The box keeps D-Bus closed at every level, because services of the system act through it for the owner. Ask the owner to do it.",
    ),
];

/// What a server has to know to explain a refusal.
#[derive(Clone, Debug)]
pub struct Refusals {
    /// The owner's home.
    home: Option<PathBuf>,
    /// What commands have of it.
    open: Vec<PathBuf>,
}

impl Refusals {
    pub fn new(open: Vec<PathBuf>) -> Self {
        let home = std::env::home_dir().filter(|home| home.is_absolute());
        Self { home: home.map(|home| home.canonicalize().unwrap_or(home)), open }
    }

    /// What a failed command has met, if that can be said: the level or the opening that would
    /// allow it.
    pub fn sentence(&self, level: Level, output: &str) -> Option<String> {
        let says = |words: &[&str]| words.iter().any(|word| output.contains(word));
        if let Some((_, sentence)) = SERVICES.iter().find(|(words, _)| says(words)) {
            return Some((*sentence).to_owned());
        }
        self.closed_path(output)
            .map(|path| self.of_path(&path))
            .or_else(|| level.refusal(output).map(str::to_owned))
    }

    /// A path of the owner's home, in a line that says that something was refused.
    fn closed_path(&self, output: &str) -> Option<PathBuf> {
        let home = self.home.as_deref()?;
        let between = |c: char| c.is_whitespace() || "'\"`‘’“”():,;[]".contains(c);
        output
            .lines()
            .filter(|line| has_refusal(line))
            .flat_map(|line| line.split(between))
            .map(Path::new)
            .find(|path| {
                path.starts_with(home) && !self.open.iter().any(|open| path.starts_with(open))
            })
            .map(Path::to_owned)
    }

    fn of_path(&self, path: &Path) -> String {
        let shown = path.display();
        let home = self.home.as_deref().unwrap_or(Path::new("/"));
        let is_secret =
            credentials::below(home).iter().any(|secret| credentials::overlap(path, secret));
        if is_secret {
            return format!(
                "The box keeps {shown} closed at every level: it signs in as the owner, or holds what does."
            );
        }
        format!(
            "The box keeps {shown} closed. The owner can open its folder to commands by the arguments of the bash server in mcp.json: \
             \"--open-read\", \"DIR\", or \"--open-write\", \"DIR\". Say so, and go on without it."
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusals() -> Refusals {
        let open = vec!["/home/me/project".into(), "/home/me/.cargo/bin".into()];
        Refusals { home: Some("/home/me".into()), open }
    }

    #[test]
    fn what_no_level_opens_is_said_with_what_would_open_it() {
        let say = |output: &str| refusals().sentence(Level::Write, output).unwrap_or_default();
        for output in [
            "cat: /home/me/Documents/letter.txt: Permission denied",
            "ls: cannot open directory '/home/me/Documents': Permission denied",
            "PermissionError: [Errno 13] Permission denied: '/home/me/Documents/x'",
        ] {
            let said = say(output);
            assert!(said.contains("/home/me/Documents") && said.contains("--open-read"), "{said}");
        }
        let said = say("cat: /home/me/.ssh/id: Permission denied");
        assert!(said.contains("at every level") && !said.contains("--open"), "{said}");
        let docker = "permission denied while trying to connect to the Docker daemon socket at \
                      unix:///var/run/docker.sock";
        assert!(say(docker).contains("root on this machine"), "{}", say(docker));
        assert!(say("git@host: Permission denied (publickey).").contains("ssh agent"));
    }

    #[test]
    fn a_refusal_inside_of_the_workspace_names_the_level() {
        let output = "rm: cannot remove '/home/me/project/x': Permission denied";
        let said = refusals().sentence(Level::Read, output).unwrap();
        assert!(said.contains("needs: \"write\""), "{said}");
        assert_eq!(refusals().sentence(Level::Write, output), None);
        // A path without a refusal in its line says nothing.
        assert_eq!(refusals().sentence(Level::Write, "/home/me/Documents: no such file"), None);
    }
}
