//! The verdict on one call: hard denies, the strictest rule, the class default. Pure: no files, no
//! clock, no grants. Must not know who asked before, what was granted, or how a verdict is carried
//! out.

mod classes;
mod deny;
pub mod level;
pub mod mode;
mod notes;
pub mod openings;
mod parts;
mod private;
mod rules;
pub mod shape;
pub mod shell;
pub mod variables;

use std::cell::OnceCell;
use std::path::Path;

use serde_json::{Value, json};

pub use classes::{Class, is_own_reader};
pub use claw_kit::obeyed;
pub use deny::Denial;
pub use rules::Decision;
pub use rules::file::PolicyError;

use classes::Classes;
use claw_domain::{DeniedBy, HeldLevels, Level, Origin, OwnServerName, canonical, rule_words};
use parts::Parts;
use rules::{Rule, file};

/// Raised whenever a built-in table or hard deny changes, so that frozen calls are judged again.
const BUILTIN_VERSION: u32 = 9;

/// Everything that a verdict may depend on.
#[derive(Clone, Copy, Debug)]
pub struct Facts<'a> {
    /// The server's name as `mcp.json` gives it.
    pub server: &'a str,
    /// Which of our own servers this is, by its launch command; `None` for a stranger, whatever its
    /// name.
    pub builtin: Option<OwnServerName>,
    pub tool: &'a str,
    pub arguments: &'a Value,
    pub origin: Origin,
    /// The name of the MCP client that calls, if one does.
    pub client: Option<&'a str>,
    /// The tool's `destructiveHint`, if it states one (MCP, tool annotations). `true` raises safe
    /// to mutating; nothing else that a server says about itself counts.
    pub destructive_hint: Option<bool>,
    /// What the operating system holds of the box of our bash server. Where it does not hold a
    /// command's level, the command is asked about.
    pub held: HeldLevels,
    /// Names of variables that the owner calls harmless, beside those that claw knows.
    pub harmless_variables: &'a [String],
    /// Where the tools work.
    pub workspace: &'a Path,
    /// Claw's home.
    pub home: &'a Path,
    /// The home of the user that claw runs as.
    pub user_home: &'a Path,
}

/// What the policy says about a call. `rule` names a line of `policy.toml`, a class
/// (`class.mutating`) or a built-in rule (`builtin.pipe-to-shell`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Allow { rule: String, why: String },
    Ask { rule: String, why: String },
    Deny { by: DeniedBy, rule: String, why: String, instead: String },
}

impl From<Denial> for Verdict {
    fn from(denial: Denial) -> Self {
        let Denial { rule, why, instead } = denial;
        Self::Deny { by: DeniedBy::HardDeny { rule: rule.clone() }, rule, why, instead }
    }
}

/// The owner's rules and classes on top of the built-in ones. Immutable.
#[derive(Clone, Debug)]
pub struct Policy {
    rules: Vec<Rule>,
    classes: Classes,
    version: String,
}

impl Policy {
    /// `text` is the content of `policy.toml`, `None` where there is none. An error must stop the
    /// start.
    pub fn load(text: Option<&str>) -> Result<Self, PolicyError> {
        let (rules, classes) = file::read(text.unwrap_or_default())?;
        let version = version(&rules, &classes);
        Ok(Self { rules, classes, version })
    }

    /// The same with the rules of one agent in addition; of rules and classes that fit, the
    /// strictest counts. `name` is the file's name for people.
    pub fn with(mut self, name: &str, text: &str) -> Result<Self, PolicyError> {
        let (rules, classes) = file::read(text)?;
        let renamed = |rule: Rule| Rule { id: rule.id.replacen("policy.toml", name, 1), ..rule };
        self.rules.extend(rules.into_iter().map(renamed));
        self.classes.table.extend(classes.table);
        self.classes.idempotent.extend(classes.idempotent);
        self.classes.bash_reads_ask |= classes.bash_reads_ask;
        self.version = version(&self.rules, &self.classes);
        Ok(self)
    }

    /// A digest over everything that decides: rules, classes, and the version of the built-in part.
    /// A call that was frozen under another version is judged again.
    pub fn version(&self) -> String {
        self.version.clone()
    }

    /// How many rules the owner wrote.
    pub fn rules_count(&self) -> usize {
        self.rules.len()
    }

    pub fn class(&self, builtin: Option<OwnServerName>, server: &str, tool: &str) -> Class {
        self.classes.class(builtin, server, tool)
    }

    /// Whether the owner's `[classes]` speak about this tool of a server of others.
    pub fn names_class(&self, server: &str, tool: &str) -> bool {
        self.classes.names(server, tool)
    }

    /// Whether our own configuration says that running the tool twice is the same as once. A
    /// server's word never counts.
    pub fn is_idempotent(&self, builtin: Option<OwnServerName>, server: &str, tool: &str) -> bool {
        self.classes.is_idempotent(builtin, server, tool)
    }

    /// Whether running this call may change files of the workspace, so that these are remembered
    /// before. What certainly does not: our own readers, commands at a level that cannot write
    /// where the system holds it, and strangers' tools that the owner has classed as safe and
    /// whose server does not call them destructive.
    pub fn may_change_workspace(&self, facts: &Facts<'_>) -> bool {
        match facts.builtin {
            Some(OwnServerName::Bash) => {
                let only_looks = facts.held.levels && level::of(facts) == Some(Level::Read);
                ["run", "start"].contains(&facts.tool) && !only_looks
            }
            // It has no way to the workspace.
            Some(OwnServerName::Memory) => false,
            builtin => {
                self.class(builtin, facts.server, facts.tool) != Class::Safe
                    || facts.destructive_hint == Some(true)
            }
        }
    }

    /// What no rule and no grant unlocks. Checked again just before a call is forwarded.
    pub fn hard_deny(&self, facts: &Facts<'_>) -> Option<Denial> {
        match deny::judge(facts) {
            deny::Finding::Denied(denial) => Some(denial),
            deny::Finding::Clear | deny::Finding::Unreadable => notes::judge(facts),
        }
    }

    /// Hard denies, then the strictest matching rule (deny > ask > allow; of equals the first),
    /// then the class default: safe → allow, mutating → ask, dangerous → deny. An allowance is
    /// turned into a question where the shell text cannot be read or the shell has no box.
    pub fn judge(&self, facts: &Facts<'_>) -> Verdict {
        let unreadable = match deny::judge(facts) {
            deny::Finding::Denied(denial) => return denial.into(),
            deny::Finding::Unreadable => true,
            deny::Finding::Clear => false,
        };
        if let Some(denial) = notes::judge(facts) {
            return denial.into();
        }
        let parts = parts::of(facts);
        let verdict = match self.by_rule(facts, &parts) {
            Some(verdict) => verdict,
            None if self.lets_look(facts) => {
                let why = format!("level read: {}", level::says(Level::Read, facts));
                return Verdict::Allow { rule: "builtin.level-read".to_owned(), why };
            }
            None => self.by_class(facts),
        };
        let Verdict::Allow { rule, .. } = &verdict else { return verdict };
        let allows = rule_words(rule);
        if parts == Parts::Unreadable {
            let why = format!("{allows} would allow it, but claw cannot tell which files it names");
            return Verdict::Ask { rule: "builtin.unreadable-paths".to_owned(), why };
        }
        if unreadable {
            let why =
                format!("{allows} would allow it, but claw cannot read this shell text to its end");
            return Verdict::Ask { rule: "builtin.unreadable-shell".to_owned(), why };
        }
        if !variables::are_harmless(facts) && !self.lets_look(facts) && !self.speaks_of_them(rule) {
            let names = variables::strange_words(facts);
            let why =
                format!("{allows} would allow it, but {names} may change what its programs do");
            return Verdict::Ask { rule: "builtin.variables".to_owned(), why };
        }
        let opened = openings::named(facts);
        if let Some(opening) = opened.iter().flatten().next() {
            let why = format!("{allows} would allow it, but {}", opening.cost());
            return Verdict::Ask { rule: "builtin.opening".to_owned(), why };
        }
        let runs_commands =
            facts.builtin == Some(OwnServerName::Bash) && !is_own_reader(facts.builtin, facts.tool);
        if runs_commands && !facts.held.files {
            let why = format!(
                "{allows} would allow it, but this system cannot keep commands inside the workspace"
            );
            return Verdict::Ask { rule: "builtin.no-box".to_owned(), why };
        }
        verdict
    }

    /// Whether a command runs without a question because it can only look: the owner's own words
    /// led to it, it asks for level `read`, the operating system holds that, no rule speaks about
    /// it, and the owner has not said `bash_reads = "ask"`. Its text need not be understood.
    fn lets_look(&self, facts: &Facts<'_>) -> bool {
        level::of(facts) == Some(Level::Read)
            && facts.held.levels
            && facts.origin == Origin::Owner
            && !self.classes.bash_reads_ask
    }

    /// Whether the rule of this name is about the variables of a command.
    fn speaks_of_them(&self, rule: &str) -> bool {
        let is_it = |one: &&Rule| one.id == *rule;
        let rule = self.rules.iter().find(is_it);
        rule.is_some_and(|rule| rule.args.iter().any(|arg| arg.name == variables::VARIABLES))
    }

    /// A call over several files meets a rule that asks or denies if one of its files does, by
    /// whichever tool such a file is changed, and one that allows if all of them do.
    fn by_rule(&self, facts: &Facts<'_>, parts: &Parts) -> Option<Verdict> {
        let parts = parts.each();
        // Only where such a rule is looked at.
        let strict = OnceCell::new();
        let strict = || strict.get_or_init(|| parts::strict(facts, parts));
        let from = (facts.origin, facts.client);
        let fits = |rule: &&Rule| {
            let of_part = |(tool, arguments): &(&str, Value)| {
                rule.is_match(facts.server, tool, arguments, from)
            };
            rule.is_match(facts.server, facts.tool, facts.arguments, from)
                || match rule.decision {
                    Decision::Allow => !parts.is_empty() && parts.iter().all(of_part),
                    Decision::Ask | Decision::Deny => parts.iter().chain(strict()).any(of_part),
                }
        };
        // `max_by_key` gives the last of equals; the reversed order makes that the first in the
        // file.
        let strictest = self.rules.iter().filter(fits).rev().max_by_key(|rule| rule.decision)?;
        let (rule, why) = (strictest.id.clone(), strictest.why.clone());
        Some(match strictest.decision {
            Decision::Allow => Verdict::Allow { rule, why },
            Decision::Ask => Verdict::Ask { rule, why },
            Decision::Deny => {
                let instead = format!("find another way, or ask the owner to change {rule}");
                Verdict::Deny { by: DeniedBy::Rule { rule: rule.clone() }, rule, why, instead }
            }
        })
    }

    fn by_class(&self, facts: &Facts<'_>) -> Verdict {
        let class = self.class(facts.builtin, facts.server, facts.tool);
        let name = format!("{}/{}", facts.server, facts.tool);
        if class == Class::Safe && facts.destructive_hint == Some(true) {
            let why = format!("{name} is classed as safe, but the server calls it destructive");
            return Verdict::Ask { rule: "class.destructive-hint".to_owned(), why };
        }
        let rule = format!("class.{}", class.as_str());
        let gives_notes = class == Class::Safe
            && facts.builtin == Some(OwnServerName::Memory)
            && !classes::only_proposes(facts.builtin, facts.tool);
        if gives_notes && is_of_others(facts.origin) {
            let why = format!("{name} gives what only the owner may know, and somebody else asks");
            return Verdict::Ask { rule: "class.private".to_owned(), why };
        }
        if class == Class::Safe
            && facts.origin == Origin::McpClient
            && let Some(what) = private::shows(facts)
        {
            let why = format!("{name} would show {what}, and a client asks");
            return Verdict::Ask { rule: "class.private".to_owned(), why };
        }
        match class {
            Class::Safe => {
                let does = match classes::only_proposes(facts.builtin, facts.tool) {
                    true => "only proposes: nothing comes of it without the owner's yes",
                    false => "only reads",
                };
                Verdict::Allow { rule, why: format!("{name} {does}") }
            }
            Class::Mutating => {
                let why = match (level::of(facts), mode::why_never(facts)) {
                    (Some(level), Some(never)) if facts.held.levels => {
                        format!("{never}; {}", level::says(level, facts))
                    }
                    (Some(level), None) if facts.held.levels => level::says(level, facts),
                    (_, Some(never)) => never,
                    _ => format!("{name} can change something"),
                };
                let why = match mode::is_kept_by_variables(facts) {
                    true => format!("{why}; {}", variables::why_no_mode(facts)),
                    false => why,
                };
                Verdict::Ask { rule, why }
            }
            Class::Dangerous => {
                let instead = format!(
                    "ask the owner for a rule in policy.toml that allows or asks for {name}"
                );
                let by = DeniedBy::Class { rule: rule.clone() };
                Verdict::Deny { by, rule, why: format!("{name} is classed as dangerous"), instead }
            }
        }
    }
}

/// Whether somebody else than the owner hears what comes of the call.
fn is_of_others(origin: Origin) -> bool {
    matches!(origin, Origin::Forwarded | Origin::McpClient)
}

fn version(rules: &[Rule], classes: &Classes) -> String {
    let pair = |glob: &classes::ToolGlob| format!("{}/{}", glob.server.text, glob.tool.text);
    let table: Vec<Value> =
        classes.table.iter().map(|(glob, class)| json!([pair(glob), class])).collect();
    let idempotent: Vec<String> = classes.idempotent.iter().map(pair).collect();
    let rules: Vec<Value> = rules.iter().map(Rule::effective).collect();
    canonical::digest(&json!({
        "builtin": BUILTIN_VERSION, "rules": rules, "classes": table, "idempotent": idempotent,
        "bash_reads_ask": classes.bash_reads_ask,
    }))
}

#[cfg(test)]
mod tests;
