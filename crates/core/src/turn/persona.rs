//! Who the model is told to be, as it is written at this moment. Owns the nouns; must not know
//! where it is written, or how a prompt is made of it.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The texts about the owner: what the agent has noted of them, and what it remembers.
const OF_OWNER: [&str; 2] = ["USER.md", "MEMORY.md"];

/// What the system prompt is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Persona {
    /// In the order of the prompt, none of them empty.
    pub texts: Vec<PersonaText>,
    /// What the agent keeps of it itself, if its tools reach that.
    pub notes: Option<Notes>,
    /// The folder that the tools work in.
    pub workspace: String,
    /// For example `linux x86_64`.
    pub platform: String,
    /// The workspace lies in a git repository.
    pub is_repository: bool,
    /// Programs of the system that commands find, of those that a model would ask for.
    pub programs: Vec<String>,
}

/// One text of the persona.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonaText {
    /// The file that it comes from, where the model should know it.
    pub name: Option<String>,
    pub text: String,
    /// The file, or what else it comes from, for the account of the prompt.
    pub of: String,
    /// Why it is not the whole, as a part of a sentence.
    pub cut: Option<String>,
}

/// The files that the agent may change, by their paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notes {
    pub folder: String,
    /// What it has noted about its owner.
    pub about_owner: Option<String>,
    /// What it wants to remember.
    pub memory: Option<String>,
}

/// The persona, and what was found on the way to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonaSeen {
    pub persona: Persona,
    /// Each file that was looked at, and what is wrong with it, as a sentence for the owner.
    pub files: BTreeMap<String, Option<String>>,
    /// The role that was asked for is none (any more), so this is the persona of everybody.
    pub role_is_gone: bool,
}

/// Gives the persona of a role, or without one, as it is now.
pub type PersonaNow = Arc<dyn Fn(Option<&str>) -> PersonaSeen + Send + Sync>;

/// The persona of every request.
#[derive(Clone)]
pub struct Personas {
    pub now: PersonaNow,
    /// The role of every conversation that has not chosen another one.
    pub default_role: Option<String>,
}

impl Personas {
    /// One that never changes and has no roles.
    pub fn fixed(persona: Persona) -> Self {
        let seen = PersonaSeen { persona, ..PersonaSeen::default() };
        Self { now: Arc::new(move |_| seen.clone()), default_role: None }
    }
}

impl Persona {
    /// The same for somebody else's eyes: without what it says of its owner, and without the files
    /// that it keeps.
    pub fn without_owner(mut self) -> Self {
        self.texts.retain(|text| !OF_OWNER.contains(&text.of.as_str()));
        self.notes = None;
        self
    }

    /// A single text.
    pub fn of(text: &str, workspace: &str, platform: &str) -> Self {
        let (text, of) = (text.to_owned(), "persona".to_owned());
        let texts = vec![PersonaText { text, of, ..PersonaText::default() }];
        let (workspace, platform) = (workspace.to_owned(), platform.to_owned());
        Self { texts, workspace, platform, ..Self::default() }
    }
}
