//! Services of the owner's behind sockets, each opened to single commands that ask for it by name:
//! Docker, and `ssh` with the owner's agent. No command gets a Unix socket for that, because with
//! one it would reach every other, too: neither seccomp nor Landlock knows which. The server stands
//! between (`outside` reaches what the box closes; `docker` and `ssh` carry it). Must not know MCP,
//! or who opens what.

mod closing;
mod docker;
mod outside;
mod ssh;
pub mod ssh_client;
mod ssh_settings;
mod ssh_words;

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::net::UnixStream;

pub use closing::{CLOSED, Closings, ServiceUse};
pub use outside::Outside;

use crate::confine::Enforcement;
use crate::network::{self, HostAccount, Proxy};

/// What a command may ask for by name, where the owner has opened it.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    JsonSchema,
    clap::ValueEnum,
)]
#[schemars(inline)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    /// `ssh` to a host, signed in by the owner's agent.
    SshAgent,
    /// The owner's Docker, at DOCKER_HOST.
    Docker,
}

impl Service {
    pub fn name(self) -> &'static str {
        match self {
            Self::SshAgent => "ssh-agent",
            Self::Docker => "docker",
        }
    }

    /// What is said to a model whose command needs it, or has named it where it is closed.
    pub fn how_to_open(self) -> String {
        let (name, what) = match self {
            Self::SshAgent => (
                "ssh-agent",
                "The box keeps the owner's ssh agent and keys closed, because they sign in as the owner",
            ),
            Self::Docker => (
                "docker",
                "The box keeps Docker's socket closed, because whoever reaches it is root on this machine",
            ),
        };
        let then = match self {
            Self::SshAgent => {
                "opens: [\"ssh-agent\"], needs: \"network\" and the host, such as hosts: [\"github.com:22\"]"
            }
            Self::Docker => "opens: [\"docker\"] and needs: \"network\"",
        };
        format!(
            "{what}. The owner can open it: `claw open {name} --for 1h`, or open = [\"{name}\"] under [box] in claw.toml. \
             Then call again with {then}; each use is asked about."
        )
    }
}

/// Variables by which the server learns where the sockets are. No command gets them.
pub const VARIABLES: &[&str] = &["SSH_AUTH_SOCK", "DOCKER_HOST", "XDG_RUNTIME_DIR"];

/// Where the owner's sockets are.
#[derive(Clone, Debug, Default)]
pub struct Sockets {
    ssh_agent: Option<PathBuf>,
    docker: Option<PathBuf>,
}

impl Sockets {
    /// From variables of this name. Docker's socket is the one that DOCKER_HOST names, the
    /// system's, or that of a Docker without root.
    pub fn find(variable: impl Fn(&str) -> Option<String>) -> Self {
        let named =
            |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let docker = match variable("DOCKER_HOST").filter(|host| !host.is_empty()) {
            Some(host) => host.strip_prefix("unix://").map(PathBuf::from),
            None => {
                let system = PathBuf::from("/var/run/docker.sock");
                let own = named("XDG_RUNTIME_DIR").map(|folder| folder.join("docker.sock"));
                let own = own.filter(|own| own.exists() && !system.exists());
                Some(own.unwrap_or(system))
            }
        };
        Self { ssh_agent: named("SSH_AUTH_SOCK"), docker: docker.filter(|path| path.is_absolute()) }
    }

    pub fn of_process() -> Self {
        Self::find(|name| std::env::var(name).ok())
    }

    /// The socket, if it is there; otherwise a sentence without its full stop.
    pub fn of(&self, service: Service) -> Result<&Path, String> {
        let (path, unset) = match service {
            Service::SshAgent => {
                (&self.ssh_agent, "SSH_AUTH_SOCK is not set where claw was started")
            }
            Service::Docker => (&self.docker, "DOCKER_HOST names no Unix socket"),
        };
        let path = path.as_deref().ok_or_else(|| unset.to_owned())?;
        if path.exists() { Ok(path) } else { Err(format!("there is no {}", path.display())) }
    }
}

/// How the server reaches services for commands. Lives as long as the server.
pub struct Services {
    /// The thread outside of the box. What carries a service to a command holds it, too.
    outside: Arc<Outside>,
    /// Where the services were when the server began.
    sockets: Sockets,
    /// `None` where there is no `ssh`.
    ssh: Option<ssh::Program>,
    /// Who uses one now.
    closings: Closings,
}

/// What one command has of them.
pub struct Served {
    docker: Option<(docker::Docker, ServiceUse)>,
    ssh: Option<(Arc<ssh::Ssh>, ServiceUse)>,
    /// The line for its supervisor.
    pub spec: ServiceSpec,
}

/// What a supervisor has to know of the services of its command.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ServiceSpec {
    pub docker: bool,
    pub ssh: Option<SshSpec>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SshSpec {
    /// What stands in the place of `ssh`: a program in a folder of its own.
    pub program: PathBuf,
    /// By which the command shows that it is the one that may.
    pub token: String,
    /// Where the server listens; `None`: the supervisor makes a socket in the command's network.
    pub port: Option<u16>,
}

impl Services {
    /// Must be called before the box closes. `told` is a folder that commands read; `search` holds
    /// no folder that a command can write to.
    pub fn start(told: &Path, search: &[PathBuf]) -> io::Result<Self> {
        let ssh = ssh::Program::prepare(told, search)?;
        let (outside, sockets) = (Arc::new(Outside::start()), Sockets::of_process());
        Ok(Self { outside, sockets, ssh, closings: Closings::default() })
    }

    /// Who uses what, and what is closed again.
    pub fn closings(&self) -> &Closings {
        &self.closings
    }

    /// What a command gets that names these. The error is for the model.
    pub async fn serve(
        &self,
        opens: &[ServiceUse],
        proxy: Option<&Arc<Proxy>>,
        enforcement: Enforcement,
    ) -> Result<Served, String> {
        let mut served = Served { docker: None, ssh: None, spec: ServiceSpec::default() };
        for opened in opens {
            let service = opened.service;
            if opened.is_closed() {
                return Err(format!("{} was closed before it began", service.name()));
            }
            let socket = self.sockets.of(service);
            let socket = socket
                .map_err(|why| format!("{} cannot be reached: {why}", service.name()))?
                .to_owned();
            match service {
                Service::Docker if !enforcement.own_networks => {
                    return Err("this system gives commands no network of their own, so docker cannot be opened to one of them alone".into());
                }
                Service::Docker => {
                    let docker = docker::Docker::new(self.outside.clone(), socket);
                    served.docker = Some((docker, opened.clone()));
                    served.spec.docker = true;
                }
                Service::SshAgent => {
                    let program =
                        self.ssh.as_ref().ok_or("there is no program `ssh` on this system")?;
                    let (ssh, spec) =
                        ssh::Ssh::new(self.outside.clone(), program, socket, proxy.cloned())
                            .await
                            .map_err(|error| format!("ssh-agent cannot be opened: {error}"))?;
                    served.ssh = Some((Arc::new(ssh), opened.clone()));
                    served.spec.ssh = Some(spec);
                }
            }
        }
        Ok(served)
    }
}

impl Served {
    /// Serves until the future is dropped, with the command's proxy, if it has one. `line` leads to
    /// the supervisor, which hands out the sockets that it makes.
    pub async fn serve(&self, line: &UnixStream, proxy: Option<&Arc<Proxy>>) {
        let awaits_ssh = self.spec.ssh.as_ref().is_some_and(|ssh| ssh.port.is_none());
        // In this order the supervisor hands them out. Without a socket it says in its report why
        // there is none.
        let of_proxy = network::handed_out(line, proxy.is_some()).await;
        let of_docker = network::handed_out(line, self.docker.is_some()).await;
        let of_ssh = network::handed_out(line, awaits_ssh).await;
        let proxied = async {
            if let (Some(proxy), Some(listener)) = (proxy, of_proxy) {
                proxy.serve(listener).await;
            }
        };
        // What serves owns its listener, so that nobody connects to one that was closed.
        let docker = async {
            if let (Some((docker, opened)), Some(listener)) = (&self.docker, of_docker) {
                opened.while_open(docker.serve(listener)).await;
            }
        };
        let ssh = async {
            if let Some((ssh, opened)) = &self.ssh {
                opened.while_open(ssh.serve(of_ssh)).await;
            }
        };
        tokio::join!(proxied, docker, ssh);
    }

    /// What was reached over ssh where no proxy counts that: in words, and for programs.
    pub fn reached(&self) -> Option<(Vec<String>, Vec<HostAccount>)> {
        self.ssh.as_ref().and_then(|(ssh, _)| ssh.reached())
    }

    /// Waits until a service is closed that was not told yet. Gives it, and a sentence about it.
    pub async fn closed(&self, told: &[Service]) -> (Service, String) {
        let closed = async |opened: Option<&ServiceUse>| match opened {
            Some(opened) if !told.contains(&opened.service) => opened.closed().await,
            _ => std::future::pending().await,
        };
        tokio::select! {
            closed = closed(self.docker.as_ref().map(|(_, opened)| opened)) => closed,
            closed = closed(self.ssh.as_ref().map(|(_, opened)| opened)) => closed,
        }
    }
}

/// How a command is told of what it has, at these ports of its loopback.
pub fn variables(
    spec: &ServiceSpec,
    docker: Option<u16>,
    ssh: Option<u16>,
) -> Vec<(&'static str, OsString)> {
    let mut variables = docker.map(docker::variables).unwrap_or_default();
    if let (Some(of), Some(port)) = (&spec.ssh, ssh) {
        variables.extend(ssh_client::variables(port, &of.token, &of.program));
    }
    variables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dockers_socket_is_the_named_one_and_no_host_of_a_network() {
        let find = |host: &str| Sockets::find(|name| (name == "DOCKER_HOST").then(|| host.into()));
        assert_eq!(find("unix:///run/x.sock").docker.as_deref(), Some(Path::new("/run/x.sock")));
        for odd in ["tcp://10.0.0.1:2375", "ssh://me@host", "unix://x.sock"] {
            assert_eq!(find(odd).docker, None, "{odd}");
        }
        assert_eq!(find("").docker.as_deref(), Some(Path::new("/var/run/docker.sock")));
        let why = find("").of(Service::SshAgent).unwrap_err();
        assert!(why.contains("SSH_AUTH_SOCK"), "{why}");
    }
}
