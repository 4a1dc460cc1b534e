//! What the doctor says of the persona and its roles: which files count, and which cannot be read
//! whole. Must not know what they say.

use std::collections::BTreeMap;

use super::Report;
use crate::config::{PersonaFile, PersonaSources};

pub(super) fn look(persona: &PersonaSources, report: &mut Report) {
    let own = persona.read(None);
    let names: Vec<String> = own.files.iter().map(|file| file.path.display().to_string()).collect();
    let names = if names.is_empty() { "no file is there yet".to_owned() } else { names.join(", ") };
    report.good("persona", format!("{}: {names}", persona.folder.display()));
    let of_roles = persona.roles.keys().flat_map(|name| persona.read(Some(name)).files);
    // A file that several roles share is one finding.
    let files: BTreeMap<_, PersonaFile> =
        own.files.into_iter().chain(of_roles).map(|file| (file.path.clone(), file)).collect();
    for (path, file) in files {
        if let Some(fault) = file.fault {
            report.bad(format!("persona:{}", file.name), format!("{fault} ({})", path.display()));
        }
    }
    if !persona.roles.is_empty() {
        let names: Vec<&str> = persona.roles.keys().map(String::as_str).collect();
        let usual = persona
            .default_role
            .as_ref()
            .map(|name| format!("; the default is {name}"))
            .unwrap_or_default();
        report.good("roles", format!("{}{usual}", names.join(", ")));
    }
}
