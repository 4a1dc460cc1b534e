//! Whose a note is, where several agents share one folder. Owns what is written for that and what
//! is told of it; must not know who the agents are.

use crate::args::Args;
use crate::note::{Source, one_line};

/// The names of agents, as the host has given them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Whose {
    /// The agent that this server works for; what is written here is its own.
    pub own: Option<String>,
    /// Whose a note is that names no agent.
    of_folder: Option<String>,
}

impl Whose {
    pub fn new(args: &Args) -> Self {
        let name =
            |given: &Option<String>| given.as_deref().map(one_line).filter(|name| !name.is_empty());
        Self { own: name(&args.agent), of_folder: name(&args.folder_agent) }
    }

    /// The other agent whose note it is. `None` for one's own, and where nobody is named.
    pub fn other(&self, source: &Source) -> Option<String> {
        let of = source.agent.as_ref().or(self.of_folder.as_ref())?;
        (Some(of) != self.own.as_ref()).then(|| of.clone())
    }

    /// A source of a note that is written here. Nobody but the host says which agent it is.
    pub fn signed(&self, source: Source) -> Source {
        Source { agent: self.own.clone(), ..source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_is_told_as_anothers_only_where_it_is() {
        let whose = |own: Option<&str>, of_folder: Option<&str>| Whose {
            own: own.map(str::to_owned),
            of_folder: of_folder.map(str::to_owned),
        };
        let by =
            |agent: Option<&str>| Source { agent: agent.map(str::to_owned), ..Source::default() };
        let work = whose(Some("work"), Some("main"));
        assert_eq!(work.other(&by(Some("work"))), None);
        assert_eq!(work.other(&by(Some("home"))).as_deref(), Some("home"));
        assert_eq!(work.other(&by(None)).as_deref(), Some("main"), "from before it was shared");
        assert_eq!(whose(Some("main"), Some("main")).other(&by(None)), None);
        assert_eq!(whose(None, None).other(&by(None)), None);
        assert_eq!(whose(None, None).other(&by(Some("work"))).as_deref(), Some("work"));
    }
}
