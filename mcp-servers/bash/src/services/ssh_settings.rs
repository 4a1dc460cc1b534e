//! What the owner's `~/.ssh/config` says of a host, read as data: where the host is, as whom, by
//! which of the agent's keys, and by which known key it is recognised. Whatever would start a
//! program, open a way of its own or load something is never taken. Must not know how `ssh` is
//! started.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::ssh_words::plain;

/// Bounds of what is read for one connection.
const FILE_BYTES_MAX: u64 = 256 * 1024;
const FILES_MAX: usize = 64;
const DEPTH_MAX: usize = 4;
/// How many files of keys are named to `ssh`, and how many of known hosts.
const KEYS_MAX: usize = 16;

/// What decides how a host is reached. Without it another host might be reached than is meant, so
/// that a host which uses it is reached by nobody.
const WAYS: &[&str] = &["proxycommand", "proxyjump"];

/// Left out without a word: they change nothing of where it goes or who signs in, and claw says
/// them itself where they matter.
const NO_MATTER: &[&str] = &[
    "addkeystoagent",
    "addressfamily",
    "batchmode",
    "checkhostip",
    "compression",
    "connectionattempts",
    "connecttimeout",
    "controlmaster",
    "controlpath",
    "controlpersist",
    "escapechar",
    "forwardagent",
    "forwardx11",
    "forwardx11trusted",
    "gssapiauthentication",
    "gssapidelegatecredentials",
    "hashknownhosts",
    "ignoreunknown",
    "ipqos",
    "kbdinteractiveauthentication",
    "loglevel",
    "passwordauthentication",
    "permitlocalcommand",
    "preferredauthentications",
    "proxyusefdpass",
    "pubkeyauthentication",
    "rekeylimit",
    "requesttty",
    "sendenv",
    "serveralivecountmax",
    "serveraliveinterval",
    "setenv",
    "stricthostkeychecking",
    "tcpkeepalive",
    "updatehostkeys",
    "usekeychain",
    "verifyhostkeydns",
    "visualhostkey",
];

/// What holds for one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSettings {
    pub host_name: Option<String>,
    pub user: Option<String>,
    pub port: Option<u16>,
    /// Public keys: the agent signs with the private ones that fit, and nobody else has these.
    pub keys: Vec<PathBuf>,
    /// Whether the agent's other keys are left alone.
    pub only_these_keys: bool,
    pub host_key_alias: Option<String>,
    pub known_hosts: Vec<PathBuf>,
    /// Keywords that are meant for this host, or may be, and were not taken.
    pub left_out: Vec<String>,
    first: Vec<&'static str>,
}

/// Where the settings are.
#[derive(Clone, Debug)]
pub struct Places {
    pub home: PathBuf,
    /// `~/.ssh`; what is included from elsewhere is left out.
    pub folder: PathBuf,
}

impl Places {
    pub fn of(home: &Path) -> Self {
        Self { home: home.to_owned(), folder: home.join(".ssh") }
    }

    /// Reads the owner's settings for this name. Looks at files, so it belongs where these can be
    /// seen.
    ///
    /// # Errors
    /// What of the file keeps claw from connecting, for a model and for its owner.
    pub fn settings(&self, host: &str) -> Result<HostSettings, String> {
        let mut reader = Reader { places: self, host, files: 0, found: HostSettings::default() };
        reader.file(&self.folder.join("config"), 0, true)?;
        Ok(reader.found)
    }
}

struct Reader<'a> {
    places: &'a Places,
    host: &'a str,
    files: usize,
    found: HostSettings,
}

impl Reader<'_> {
    /// `is_meant`: whether the place that includes it is about this host.
    fn file(&mut self, path: &Path, depth: usize, is_meant: bool) -> Result<(), String> {
        let Ok(meta) = fs::metadata(path) else { return Ok(()) };
        self.files += 1;
        if self.files > FILES_MAX || depth > DEPTH_MAX || meta.len() > FILE_BYTES_MAX {
            return Err(format!("{} is too much to read", self.shown(path)));
        }
        if !meta.is_file() || others_write(&meta) {
            return Err(format!(
                "{} is no file that its owner alone can write, which ssh refuses, too",
                self.shown(path)
            ));
        }
        let bytes = fs::read(path)
            .map_err(|error| format!("{} cannot be read: {error}", self.shown(path)))?;
        let text = String::from_utf8_lossy(&bytes);
        let mut applies = is_meant;
        for (number, line) in text.lines().enumerate() {
            let wrong = || format!("line {} of {} cannot be read", number + 1, self.shown(path));
            let Some((keyword, arguments)) = split(line).ok_or_else(wrong)? else { continue };
            match keyword.as_str() {
                "host" => applies = is_meant && is_of(&arguments, self.host),
                "match" => {
                    let all = arguments.len() == 1 && arguments[0].eq_ignore_ascii_case("all");
                    // What else it asks for may start a program (`exec`), or depends on more than
                    // the name.
                    applies = is_meant && all;
                    if is_meant && !all {
                        self.leave_out("Match");
                    }
                }
                "include" if applies => self.include(&arguments, depth)?,
                "include" => {}
                _ if applies => self.take(&keyword, &arguments)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn include(&mut self, patterns: &[String], depth: usize) -> Result<(), String> {
        for pattern in patterns {
            let path = self.path(pattern).unwrap_or_else(|| self.places.folder.join(pattern));
            let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { continue };
            let own = self.places.folder.canonicalize().ok();
            let lies_in = |path: &Path| {
                path.canonicalize()
                    .ok()
                    .zip(own.as_ref())
                    .is_some_and(|(real, own)| real.starts_with(own))
            };
            if !lies_in(folder) {
                self.leave_out(&format!("Include {pattern}"));
                continue;
            }
            let name = name.to_string_lossy();
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
            let hidden = |found: &String| found.starts_with('.') && !name.starts_with('.');
            let mut names: Vec<String> =
                names.filter(|found| fits(&name, found) && !hidden(found)).collect();
            names.sort();
            for found in names.iter().map(|found| folder.join(found)) {
                match lies_in(&found) {
                    true => self.file(&found, depth + 1, true)?,
                    false => self.leave_out(&format!("Include {pattern}")),
                }
            }
        }
        Ok(())
    }

    /// The first word about a thing counts, ssh_config(5).
    fn take(&mut self, keyword: &str, arguments: &[String]) -> Result<(), String> {
        let one = arguments.first().map(String::as_str).unwrap_or_default();
        let is_none = one.eq_ignore_ascii_case("none");
        if WAYS.contains(&keyword) {
            // Whichever of them comes first counts.
            if self.is_first(WAYS[0]) && !is_none {
                return Err(format!(
                    "host `{}` uses {} in ~/.ssh/config, which claw does not run; the owner can run this outside of claw, or name a \
                     host that is reached directly",
                    self.host,
                    shown_keyword(keyword)
                ));
            }
            return Ok(());
        }
        match keyword {
            "hostname" if self.is_first(keyword) => {
                let name = one.replace("%h", self.host).replace("%%", "%");
                let name = Some(name).filter(|name| plain(name, ".-_:"));
                self.found.host_name = Some(name.ok_or_else(|| self.odd("HostName", one))?);
            }
            "user" if self.is_first(keyword) => {
                let user = Some(one).filter(|user| plain(user, ".-_"));
                self.found.user = Some(user.ok_or_else(|| self.odd("User", one))?.to_owned());
            }
            "port" if self.is_first(keyword) => {
                let port = one.parse().ok().filter(|port| *port > 0);
                self.found.port = Some(port.ok_or_else(|| self.odd("Port", one))?);
            }
            "hostkeyalias" if self.is_first(keyword) => {
                let alias = Some(one).filter(|alias| plain(alias, ".-_:[]"));
                let alias = alias.ok_or_else(|| self.odd("HostKeyAlias", one))?;
                self.found.host_key_alias = Some(alias.to_owned());
            }
            "identitiesonly" if self.is_first(keyword) => {
                self.found.only_these_keys = matches!(one, "yes" | "true");
            }
            "identityfile" => self.key(one),
            "userknownhostsfile" if self.is_first(keyword) => {
                for file in arguments.iter().take(KEYS_MAX) {
                    match self.path(file) {
                        Some(path) => self.found.known_hosts.push(path),
                        None => self.leave_out(&format!("UserKnownHostsFile {file}")),
                    }
                }
            }
            "hostname" | "user" | "port" | "hostkeyalias" | "identitiesonly"
            | "userknownhostsfile" => {}
            _ if NO_MATTER.contains(&keyword) => {}
            other => self.leave_out(&shown_keyword(other)),
        }
        Ok(())
    }

    /// A key is named by its public half: `ssh` outside of the box would sign with a private one
    /// that the agent does not have.
    fn key(&mut self, written: &str) {
        if self.found.keys.len() >= KEYS_MAX || written.eq_ignore_ascii_case("none") {
            return;
        }
        let public = self.path(written).map(|path| match path.extension() {
            Some(extension) if extension == "pub" => path,
            _ => {
                let mut name = path.into_os_string();
                name.push(".pub");
                PathBuf::from(name)
            }
        });
        match public.filter(|path| path.is_file()) {
            Some(path) if !self.found.keys.contains(&path) => self.found.keys.push(path),
            Some(_) => {}
            None => self.leave_out(&format!("IdentityFile {written} (no .pub file beside it)")),
        }
    }

    fn is_first(&mut self, keyword: &str) -> bool {
        let known = KEYWORDS.iter().find(|known| **known == keyword);
        let Some(known) = known else { return true };
        let is_first = !self.found.first.contains(known);
        self.found.first.push(known);
        is_first
    }

    fn odd(&self, keyword: &str, value: &str) -> String {
        let shown: String = value.chars().take(80).collect();
        format!(
            "{keyword} of host `{}` in ~/.ssh/config is {shown:?}, which claw does not take",
            self.host
        )
    }

    fn leave_out(&mut self, what: &str) {
        let what: String = what.chars().filter(|c| !c.is_control()).take(120).collect();
        if !self.found.left_out.contains(&what) && self.found.left_out.len() < KEYS_MAX {
            self.found.left_out.push(what);
        }
    }

    /// `~/…` and `/…`, without anything that `ssh` would expand.
    fn path(&self, written: &str) -> Option<PathBuf> {
        let path = match written.strip_prefix("~/").or_else(|| written.strip_prefix("%d/")) {
            Some(rest) => self.places.home.join(rest),
            None => PathBuf::from(written),
        };
        let is_plain =
            !written.contains(['"', '\\', '$']) && !written.chars().any(char::is_control);
        let has_token = written.strip_prefix("%d/").unwrap_or(written).contains('%');
        (path.is_absolute() && is_plain && !has_token).then_some(path)
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.places.home)
            .map_or_else(|_| path.display().to_string(), |rest| format!("~/{}", rest.display()))
    }
}

/// Of which the first counts.
const KEYWORDS: &[&str] =
    &["hostname", "user", "port", "hostkeyalias", "identitiesonly", "userknownhostsfile", WAYS[0]];

/// As ssh_config(5) writes it, as far as it is about what is refused.
fn shown_keyword(keyword: &str) -> String {
    let written = ["ProxyCommand", "ProxyJump", "IdentityAgent", "LocalCommand"];
    let more = ["RemoteForward", "KnownHostsCommand", "PKCS11Provider", "RemoteCommand"];
    let known = written.iter().chain(&more).find(|known| known.eq_ignore_ascii_case(keyword));
    known.map_or_else(|| keyword.to_owned(), |known| (*known).to_owned())
}

fn others_write(meta: &Metadata) -> bool {
    let (own, owner) = (rustix::process::getuid().as_raw(), meta.uid());
    meta.mode() & 0o022 != 0 || (owner != own && owner != 0)
}

/// The keyword in small letters, and its arguments. `Some(None)` for a line that says nothing;
/// `None` for one whose quotes do not end.
fn split(line: &str) -> Option<Option<(String, Vec<String>)>> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Some(None);
    }
    let end = line.find(|c: char| c.is_whitespace() || c == '=').unwrap_or(line.len());
    let (keyword, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let rest = rest.strip_prefix('=').unwrap_or(rest);
    Some(Some((keyword.to_ascii_lowercase(), words(rest)?)))
}

fn words(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => word.get_or_insert_default().push(c),
            None if c == '"' || c == '\'' => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            None if c == '#' && word.is_none() => return Some(words),
            None => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Whether one of these patterns fits, and none with a `!`.
fn is_of(patterns: &[String], host: &str) -> bool {
    let is_barred = |pattern: &String| pattern.strip_prefix('!').is_some_and(|bar| fits(bar, host));
    patterns.iter().any(|pattern| fits(pattern, host)) && !patterns.iter().any(is_barred)
}

/// `*` and `?`, ssh_config(5), "PATTERNS". Only the last star is tried again, so that no pattern
/// takes longer than its length times the name's.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    let (mut at, mut of, mut star) = (0, 0, None);
    while of < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, of));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[of] => (at, of) = (at + 1, of + 1),
            _ => match star {
                Some((place, taken)) => {
                    (at, of, star) = (place + 1, taken + 1, Some((place, taken + 1)));
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
#[path = "ssh_settings_tests.rs"]
mod tests;
