//! The user's programs that lie outside of the system's folders: found by what is on the user's
//! PATH, given to commands for reading and executing. Owns which folders those are and why one is
//! left out. Must not know how the box is closed.
//!
//! A folder of PATH is followed to where it really is, and so are the links in it. What a version
//! manager keeps elsewhere comes with it (`managers`). Nothing is given that is, holds or lies in a
//! place of credentials, of the user's home as a whole, or one that commands write to.

mod managers;
mod named;

use std::collections::{BTreeSet, HashMap};
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use crate::confine::PROGRAMS;
use crate::credentials;
use crate::openings::CannotOpen;
use managers::{MANAGERS, Manager};

pub use managers::VARIABLES;

/// The most entries of one folder of PATH that are looked at.
const ENTRIES_MAX: usize = 16_384;
/// As many links in a row as the kernel follows.
const LINKS_MAX: usize = 40;

/// Beside a folder `bin`: what its programs load.
const BESIDE_BIN: &[&str] = &["lib", "lib64", "libexec", "include", "share", "pyvenv.cfg"];

/// What commands get beside the system's programs.
#[derive(Debug, Default)]
pub struct Toolchains {
    /// The folders of PATH outside of the system's, in order.
    pub search: Vec<PathBuf>,
    /// Real folders and files, for reading and executing.
    pub readable: Vec<PathBuf>,
    /// Variables by which programs find what is the user's.
    pub variables: Vec<(OsString, OsString)>,
    /// What was fetched already and commands may use: the user's folder, and the one below their
    /// HOME that takes links to it.
    pub shared: Vec<SharedFolder>,
    /// Folders of PATH that commands do not get, and why.
    pub left_out: Vec<(PathBuf, LeftOut)>,
}

/// A folder of the user's whose parts appear below the HOME of commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedFolder {
    pub from: PathBuf,
    /// Below HOME.
    pub to: PathBuf,
    pub how: How,
}

/// How a part of the user's appears below the HOME of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// A single file, copied.
    Copy,
    /// A link to the whole.
    Link,
    /// So many levels of folders are made anew; what lies below them are links.
    Links(usize),
}

/// Why a folder of PATH is kept from commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// It is relative, or there is none.
    Missing,
    /// Commands can write to it.
    Writable,
    /// It is the user's whole home, or holds it.
    Home,
    /// It holds or lies in what is protected or signs in as the user.
    Closed,
}

impl LeftOut {
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => CannotOpen::Missing.words(),
            Self::Writable => "commands can write to it",
            Self::Home => CannotOpen::Home.words(),
            Self::Closed => CannotOpen::Closed.words(),
        }
    }
}

/// What is looked at.
pub struct Surroundings<'a> {
    /// PATH.
    pub path: OsString,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where commands can write.
    pub writable: &'a [PathBuf],
    /// What no command may reach.
    pub protect: &'a [PathBuf],
    /// A variable of the user.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl Surroundings<'_> {
    /// Those of this process.
    pub fn of_process<'a>(writable: &'a [PathBuf], protect: &'a [PathBuf]) -> Surroundings<'a> {
        let home = env::home_dir().filter(|home| home.is_absolute());
        Surroundings {
            path: env::var_os("PATH").unwrap_or_default(),
            home: home.map(|home| home.canonicalize().unwrap_or(home)),
            writable,
            protect,
            variable: &|name| env::var_os(name).filter(|value| !value.is_empty()),
        }
    }
}

impl Toolchains {
    pub fn find(around: &Surroundings<'_>) -> Self {
        let mut search = Search::new(around);
        for dir in env::split_paths(&around.path) {
            search.look_at(dir);
        }
        for manager in MANAGERS {
            search.add_manager(manager);
        }
        search.add_named_homes();
        search.found.readable.sort();
        search.found.readable.dedup();
        search.found
    }

    /// The names of those that a model would ask for.
    pub fn named(&self) -> Vec<String> {
        named::among(&self.search)
    }
}

/// Folders of programs below a user's home that people put on PATH: those that are there and not on
/// it. A service that was started without the user's PATH misses them.
pub fn not_on_path(around: &Surroundings<'_>) -> Vec<PathBuf> {
    let on_path: Vec<PathBuf> =
        env::split_paths(&around.path).filter_map(|dir| dir.canonicalize().ok()).collect();
    let usual = |home: &PathBuf| managers::USUAL_FOLDERS.map(|name| home.join(name));
    let there = around.home.iter().flat_map(usual).filter(|dir| dir.is_dir());
    there.filter(|dir| !dir.canonicalize().is_ok_and(|real| on_path.contains(&real))).collect()
}

/// A search that is under way.
struct Search<'a> {
    around: &'a Surroundings<'a>,
    system: Vec<PathBuf>,
    credentials: Vec<PathBuf>,
    /// The names of programs that were seen.
    programs: BTreeSet<OsString>,
    /// Real places to which PATH leads.
    reached: BTreeSet<PathBuf>,
    /// Real folders whose entries were looked at: PATH names some of them twice.
    looked_at: BTreeSet<PathBuf>,
    /// Where folders are that links name. Thousands of links of a system lead to a few folders.
    real_folders: HashMap<PathBuf, Option<PathBuf>>,
    found: Toolchains,
}

impl<'a> Search<'a> {
    fn new(around: &'a Surroundings<'a>) -> Self {
        let system = PROGRAMS.iter().filter_map(|path| Path::new(path).canonicalize().ok());
        let mut credentials: Vec<PathBuf> =
            around.home.iter().flat_map(|home| credentials::below(home)).collect();
        if let Some(cargo) = (around.variable)("CARGO_HOME").map(PathBuf::from) {
            credentials.extend(credentials::OF_CARGO.iter().map(|name| cargo.join(name)));
        }
        Self {
            around,
            system: system.collect(),
            credentials,
            programs: BTreeSet::new(),
            reached: BTreeSet::new(),
            looked_at: BTreeSet::new(),
            real_folders: HashMap::new(),
            found: Toolchains::default(),
        }
    }

    fn is_of_system(&self, real: &Path) -> bool {
        self.system.iter().any(|folder| real.starts_with(folder))
    }

    /// Why commands must not have this real path.
    fn refused(&self, real: &Path) -> Option<LeftOut> {
        let within = |folders: &[PathBuf]| folders.iter().any(|folder| real.starts_with(folder));
        if within(self.around.writable) {
            return Some(LeftOut::Writable);
        }
        if self.around.home.as_ref().is_some_and(|home| home.starts_with(real)) {
            return Some(LeftOut::Home);
        }
        let mut closed = self.credentials.iter().chain(self.around.protect);
        closed.any(|closed| credentials::overlap(real, closed)).then_some(LeftOut::Closed)
    }

    /// Gives a place with all below it, if it is there and may be given.
    fn give(&mut self, path: &Path) -> bool {
        let Ok(real) = path.canonicalize() else { return false };
        if self.is_of_system(&real) || self.found.readable.iter().any(|had| real.starts_with(had)) {
            return true;
        }
        let free = self.refused(&real).is_none();
        if free {
            self.found.readable.push(real);
        }
        free
    }

    /// One folder of PATH.
    fn look_at(&mut self, dir: PathBuf) {
        let real =
            Some(&dir).filter(|dir| dir.is_absolute()).and_then(|dir| dir.canonicalize().ok());
        let Some(real) = real.filter(|real| real.is_dir()) else {
            return self.leave_out(dir, LeftOut::Missing);
        };
        if !self.is_of_system(&real) {
            if let Some(why) = self.refused(&real) {
                return self.leave_out(dir, why);
            }
            self.give(&real);
            self.give_beside(&real);
            self.reached.insert(real.clone());
            if !self.found.search.contains(&dir) {
                self.found.search.push(dir);
            }
        }
        if !self.looked_at.insert(real.clone()) {
            return;
        }
        for entry in fs::read_dir(&real).into_iter().flatten().flatten().take(ENTRIES_MAX) {
            self.programs.insert(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                self.follow(entry.path());
            }
        }
    }

    fn leave_out(&mut self, dir: PathBuf, why: LeftOut) {
        if !self.found.left_out.iter().any(|(known, _)| *known == dir) {
            self.found.left_out.push((dir, why));
        }
    }

    /// A link to a program: its file, and what lies beside that.
    fn follow(&mut self, link: PathBuf) {
        let Some(real) = self.end_of(link) else { return };
        if self.is_of_system(&real) || self.refused(&real).is_some() || !real.is_file() {
            return;
        }
        self.give(&real);
        if let Some(folder) = real.parent() {
            self.give_beside(folder);
        }
        self.reached.insert(real);
    }

    /// Where a link leads that lies in a real folder, as `canonicalize` says. That would look up
    /// every folder on the way for every link.
    fn end_of(&mut self, link: PathBuf) -> Option<PathBuf> {
        let mut path = link;
        for _ in 0..LINKS_MAX {
            let Ok(target) = fs::read_link(&path) else { return Some(path) };
            let named = path.parent()?.join(target);
            let name = named.file_name()?;
            path = self.real_folder(named.parent()?)?.join(name);
        }
        None
    }

    fn real_folder(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.real_folders.get(folder) {
            return known.clone();
        }
        let real = folder.canonicalize().ok();
        self.real_folders.insert(folder.to_owned(), real.clone());
        real
    }

    /// What the programs of a folder `bin` load from the folders beside it. A Go or a Java is given
    /// whole. Not where other things lie there, too: in the home, in `.local`, in the root of a
    /// version manager.
    fn give_beside(&mut self, bin: &Path) {
        let Some(prefix) = bin.parent().filter(|_| bin.file_name() == Some(OsStr::new("bin")))
        else {
            return;
        };
        let is_shared = |home: &PathBuf| {
            prefix == home
                || prefix == home.join(".local")
                || MANAGERS.iter().any(|manager| prefix == home.join(manager.default))
        };
        if self.around.home.as_ref().is_some_and(is_shared) {
            return;
        }
        let is_go = prefix.join("pkg/tool").is_dir() && prefix.join("VERSION").is_file();
        let is_java = prefix.join("lib/modules").is_file() && prefix.join("release").is_file();
        if is_go || is_java {
            self.give(prefix);
            return;
        }
        for name in BESIDE_BIN {
            self.give(&prefix.join(name));
        }
    }

    /// What a version manager keeps, if PATH leads to it or holds its program.
    fn add_manager(&mut self, manager: &Manager) {
        let set = manager.variable.and_then(|name| (self.around.variable)(name));
        let usual = || Some(self.around.home.as_ref()?.join(manager.default));
        let Some(root) = set.map(PathBuf::from).or_else(usual) else { return };
        let Some(real) = root.canonicalize().ok().filter(|_| root.is_absolute()) else { return };
        let has = |name: &&str| self.programs.contains(OsStr::new(name));
        if !manager.programs.iter().any(has)
            && !self.reached.iter().any(|path| path.starts_with(&real))
        {
            return;
        }
        let given: Vec<bool> =
            manager.parts.iter().map(|part| self.give(&real.join(part))).collect();
        if !given.contains(&true) {
            return;
        }
        if let (Some(name), true) = (manager.variable, manager.is_told) {
            self.found.variables.push((name.into(), root.into()));
        }
        for shared in manager.shared {
            let from = real.join(shared.from);
            if from.exists() {
                let to = PathBuf::from(shared.to);
                self.found.shared.push(SharedFolder { from, to, how: shared.how });
            }
        }
        if let Some(proxy) = manager.proxy.map(|below| real.join(below)).filter(|dir| dir.is_dir())
        {
            let value = format!("file://{},https://proxy.golang.org,direct", proxy.display());
            self.found.variables.push(("GOPROXY".into(), value.into()));
        }
    }

    /// Folders that only a variable names, if they are what the variable says; and what `pip
    /// install --user` has put beside `~/.local/bin`.
    fn add_named_homes(&mut self) {
        if let Some(local) = self.around.home.as_ref().map(|home| home.join(".local")) {
            let libraries = fs::read_dir(local.join("lib")).into_iter().flatten().flatten();
            let of_python = |name: &OsStr| name.to_string_lossy().starts_with("python3");
            let given = libraries.filter(|entry| of_python(&entry.file_name())).filter(|entry| {
                self.reached.contains(&local.join("bin")) && self.give(&entry.path())
            });
            if given.count() > 0 {
                self.found.variables.push(("PYTHONUSERBASE".into(), local.into()));
            }
        }
        for (name, program) in [("JAVA_HOME", "bin/java"), ("GOROOT", "bin/go")] {
            let Some(value) = (self.around.variable)(name) else { continue };
            let root = PathBuf::from(&value);
            if root.is_absolute() && root.join(program).is_file() && self.give(&root) {
                self.found.variables.push((name.into(), value));
            }
        }
        for name in managers::WORDS {
            if let Some(value) = (self.around.variable)(name) {
                self.found.variables.push(((*name).into(), value));
            }
        }
    }
}

#[cfg(test)]
mod tests;
