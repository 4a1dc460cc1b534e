//! Hands the persona as it is written to whoever makes a request of it. Must not know what a prompt
//! looks like.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::{App, LiveSettings};
use crate::chat_commands::Roles;
use crate::config::{self, FILE_KIB_MAX, MAIN, MEMORY, PersonaFile, PersonaVersions, USER};
use crate::domain::{AgentCard, OwnServerName};
use crate::hub::Hub;
use crate::store::now_ms;
use crate::turn::persona::{Notes, Persona, PersonaSeen, PersonaText, Personas};
use crate::workspace::repository_of;

/// Under what it is remembered that the owner knows of versions that cannot be kept.
const VERSIONS: &str = "versions of the persona";
/// The texts that were kept last, by their files, so that a request reads no folder for it.
type Kept = Mutex<BTreeMap<PathBuf, String>>;
/// Where the programs of the system are.
const SYSTEM: [&str; 2] = ["/usr", "/bin"];
/// What a model may want to know of before it tries.
const PROGRAMS: [&str; 16] = [
    "git", "rg", "jq", "make", "cmake", "gcc", "clang", "cargo", "go", "node", "npm", "python3",
    "pytest", "java", "docker", "sqlite3",
];
/// The file whose text needs no name in front of it: it says who is spoken to.
const UNNAMED: &str = "SOUL.md";

impl App {
    /// Keeps the agent's own files as they are now, before one of them is changed. What is wrong,
    /// as a sentence.
    pub fn keep_persona(&self) -> Option<String> {
        let files = self.settings().persona.read(None).files;
        keep(self.gate.calls().claw(), &self.persona_versions(), &Kept::default(), &files)
    }

    /// What the files of the persona were before.
    pub fn persona_versions(&self) -> PersonaVersions {
        PersonaVersions::new(self.config.home.persona_versions(), self.settings().prompt)
    }
}

/// The personas of a home, read anew for each request.
pub(super) fn personas(app: &App) -> Personas {
    let (config, gate, versions) = (&app.config, app.gate.clone(), app.persona_versions());
    let settings = app.settings().persona.clone();
    let default_role = settings.default_role.clone();
    let workspace = config.workspace.display().to_string();
    let name = introduction(&config.agent);
    let platform = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    // Looked at once, so that all requests of a process begin with the same bytes.
    let is_repository = repository_of(&config.workspace, &config.user_home).is_some();
    let programs = programs(config.env.get("PATH").unwrap_or_default());
    let kept = Mutex::default();
    let now = move |role: Option<&str>| {
        let read = settings.read(role);
        let notes = has_file_tools(gate.hub()).then(|| notes(&settings, &read));
        let mut files: BTreeMap<_, _> = read
            .files
            .iter()
            .map(|file| (file.path.display().to_string(), file.fault.clone()))
            .collect();
        files.insert(VERSIONS.to_owned(), keep(gate.calls().claw(), &versions, &kept, &read.files));
        let role_is_gone = read.role_is_gone;
        let (workspace, platform) = (workspace.clone(), platform.clone());
        PersonaSeen {
            persona: Persona {
                texts: texts(name.clone(), read),
                notes,
                workspace,
                platform,
                is_repository,
                programs: programs.clone(),
            },
            files,
            role_is_gone,
        }
    };
    Personas { now: Arc::new(now), default_role }
}

/// What can be chosen by `/role`.
pub(super) fn roles(settings: &LiveSettings) -> Roles {
    let persona = &settings.persona;
    let known =
        persona.roles.iter().map(|(name, role)| (name.clone(), role.description.clone())).collect();
    Roles { known, default: persona.default_role.clone() }
}

/// Keeps the files as versions, as far as they are not what was kept last. What is wrong, as a
/// sentence.
fn keep(
    claw: &str,
    versions: &PersonaVersions,
    kept: &Kept,
    files: &[PersonaFile],
) -> Option<String> {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let mut fault = None;
    for file in files {
        if kept.get(&file.path) == Some(&file.text) {
            continue;
        }
        match versions.keep(file, now_ms()) {
            Ok(()) => drop(kept.insert(file.path.clone(), file.text.clone())),
            Err(error) => {
                fault = Some(format!(
                    "What the files of the persona were before cannot be kept ({error}); \
                     `{claw} persona history` lists what is kept."
                ));
            }
        }
    }
    fault
}

/// Those of the programs on this path that lie among the system's, where every command may run
/// them. The bash server names the others, which it alone knows, in the description of its tools.
fn programs(path: &str) -> Vec<String> {
    let of_system = |folder: &&Path| SYSTEM.iter().any(|system| folder.starts_with(system));
    let folders: Vec<&Path> = path.split(':').map(Path::new).filter(of_system).collect();
    let is_there = |name: &&&str| folders.iter().any(|folder| folder.join(name).is_file());
    PROGRAMS.iter().filter(is_there).map(|name| (*name).to_owned()).collect()
}

/// Whether our filesystem server is among the servers: nobody else can reach the folder.
fn has_file_tools(hub: &Hub) -> bool {
    let servers = hub.servers();
    servers.iter().any(|server| {
        !server.disabled && hub.builtin(&server.name) == Some(OwnServerName::Filesystem)
    })
}

/// What the settings say of the agent, if there is something to say.
fn introduction(card: &AgentCard) -> String {
    let mut said = String::new();
    if card.name != MAIN {
        said.push_str(&format!("You are the agent `{}`", card.name));
        said.push_str(if card.description.is_empty() { "." } else { ": " });
    }
    said.push_str(&card.description);
    if !card.capabilities.is_empty() {
        said.push_str(&format!(" What you are for: {}.", card.capabilities.join(", ")));
    }
    said.trim().to_owned()
}

fn texts(introduction: String, read: config::PersonaRead) -> Vec<PersonaText> {
    let file = |file: config::PersonaFile| PersonaText {
        name: (file.name != UNNAMED).then(|| file.name.to_owned()),
        text: file.text,
        of: file.name.to_owned(),
        cut: file.is_cut.then(|| format!("longer than {FILE_KIB_MAX} KiB")),
    };
    let unnamed =
        |text, of: &str| PersonaText { text, of: of.to_owned(), ..PersonaText::default() };
    let all = std::iter::once(unnamed(introduction, "agent"))
        .chain(read.files.into_iter().map(file))
        .chain([unnamed(read.instructions, "role")]);
    all.filter(|text| !text.text.is_empty()).collect()
}

/// A file of the agent's whose place a role's has taken is not named: what is written there would
/// not be read.
fn notes(settings: &config::PersonaSources, read: &config::PersonaRead) -> Notes {
    let path = |name: &str| {
        let replaced = read.files.iter().any(|file| file.name == name && file.of_role.is_some());
        (!replaced).then(|| settings.folder.join(name).display().to_string())
    };
    Notes {
        folder: settings.folder.display().to_string(),
        about_owner: path(USER),
        memory: path(MEMORY),
    }
}
