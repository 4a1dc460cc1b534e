//! What of the owner's machine can be opened to commands by name. Must not know how it is reached,
//! or who has opened it.

use serde::{Deserialize, Serialize};

use crate::text_forms::text_forms;

/// A service of the owner's, behind a socket that the box keeps closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Opening {
    /// `ssh` to a host, signed in by the owner's agent. The keys stay where they are.
    SshAgent,
    /// The socket of Docker.
    Docker,
}

text_forms!(Opening {
    SshAgent = "ssh-agent",
    Docker = "docker",
});

impl Opening {
    /// What it costs that it is open, in a sentence without its full stop.
    pub fn cost(self) -> &'static str {
        match self {
            Self::SshAgent => {
                "a command that you let use it signs in as you on the hosts it reaches"
            }
            Self::Docker => "a command that you let use it is root on this machine",
        }
    }

    /// What a command does that uses it, behind "it".
    pub fn deed(self) -> &'static str {
        match self {
            Self::SshAgent => "signs in as you by ssh",
            Self::Docker => "uses Docker",
        }
    }

    /// What the owner reads beside the yes.
    pub fn warning(self) -> &'static str {
        match self {
            Self::SshAgent => "ssh-agent: there it can do all you can",
            Self::Docker => "docker: it is root on this machine",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text forms stand in stores, in settings and in calls.
    #[test]
    fn the_text_forms_lead_back() {
        for opening in Opening::ALL {
            assert_eq!(Opening::parse(opening.as_str()), Some(opening));
            assert_eq!(serde_json::to_value(opening).unwrap(), opening.as_str());
        }
        assert_eq!((Opening::parse("Docker"), Opening::parse("")), (None, None));
    }
}
