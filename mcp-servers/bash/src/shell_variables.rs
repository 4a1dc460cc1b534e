//! With which exported variables the shell of a command has ended, for a host whose next
//! command is to have them. Owns how bash's own words are read and compared. Must not know
//! what a host makes of it.
//!
//! The shell itself says them (`declare -px`), because the kernel knows only those with which it
//! has begun. So a program of the command can say others in its place. What it wins is that they
//! are shown: a host must not take them for more than something that a command has written.

use std::collections::{BTreeMap, BTreeSet};

use claw_kit::variables::{Room, is_counted, is_name, is_owned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an interactive shell asks for the next line. No command here is typed, and what makes an
/// environment (`activate`) sets them for nothing.
const PROMPTS: &[&str] = &["PS1", "VIRTUAL_ENV_PROMPT", "CONDA_PROMPT_MODIFIER"];

/// What the shell began with, by name.
pub type InitialVariables = BTreeMap<Vec<u8>, Vec<u8>>;

/// What has become of a shell's exported variables since it began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct VariablesLeft {
    /// Those that are new or have another value.
    pub set: BTreeMap<String, String>,
    /// Those that are not exported any more.
    pub unset: BTreeSet<String>,
    /// Names of those that have changed and that no call can give: too long, too many, no text, or
    /// the shell's or the box's own.
    pub withheld: BTreeSet<String>,
    /// Whether nothing of it could be read.
    pub unreadable: bool,
}

impl VariablesLeft {
    /// The same for a model; `None` where nothing has changed. No value is said: it may be long.
    pub fn sentence(&self) -> Option<String> {
        if self.unreadable {
            return Some("Which variables the shell has exported cannot be read.".to_owned());
        }
        let named = |names: &mut dyn Iterator<Item = &String>| {
            names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
        };
        let mut said = Vec::new();
        if !self.set.is_empty() {
            said.push(format!("The shell has exported {}.", named(&mut self.set.keys())));
        }
        if !self.unset.is_empty() {
            said.push(format!(
                "The shell does not export {} any more.",
                named(&mut self.unset.iter())
            ));
        }
        if !self.withheld.is_empty() {
            said.push(format!(
                "No next command can be given {} as it is here: too long, no text, or set by the \
                 shell or its box.",
                named(&mut self.withheld.iter())
            ));
        }
        (!said.is_empty()).then(|| said.join(" "))
    }
}

/// What has changed: `said` are the shell's words, `given` is what it began with, and `by_call`
/// what of that the call had given.
pub fn compare(
    said: &[u8],
    given: &InitialVariables,
    by_call: &BTreeMap<String, String>,
) -> Option<VariablesLeft> {
    let Some(exported) = read(said) else {
        return Some(VariablesLeft { unreadable: true, ..VariablesLeft::default() });
    };
    let mut left = VariablesLeft::default();
    for name in given.keys() {
        let Ok(name) = std::str::from_utf8(name) else { continue };
        if !exported.contains_key(name) && is_name(name) && !is_owned(name) {
            left.unset.insert(name.to_owned());
        }
    }
    // What a next command would be given beside what has changed.
    let mut room = Room::default();
    for (name, value) in by_call {
        if exported.get(name).is_some_and(|now| now == value.as_bytes()) {
            room.take(name, value);
        }
    }
    for (name, value) in exported {
        let is_passed = is_counted(&name) || PROMPTS.contains(&name.as_str());
        if given.get(name.as_bytes()) == Some(&value) || is_passed {
            continue;
        }
        match String::from_utf8(value) {
            Ok(value) if is_name(&name) && !is_owned(&name) && room.take(&name, &value) => {
                left.set.insert(name, value);
            }
            _ => {
                left.withheld.insert(name);
            }
        }
    }
    (left != VariablesLeft::default()).then_some(left)
}

/// The exported variables that have a value, as `declare -px` of bash 4.4 to 5.3 prints them: a
/// line each, the value between double quotes or, where it holds what cannot be printed, as `$'…'`.
/// `None` for anything else. What no program is given is left out: arrays, names of other names.
fn read(said: &[u8]) -> Option<BTreeMap<String, Vec<u8>>> {
    let mut rest = said;
    let mut exported = BTreeMap::new();
    let mut seen = BTreeSet::new();
    while !rest.is_empty() {
        rest = rest.strip_prefix(b"declare -")?;
        let flags = until(&mut rest, b" ")?;
        let is_plain = flags.iter().all(u8::is_ascii_alphabetic) && flags.contains(&b'x');
        let length = rest.iter().position(|byte| matches!(byte, b'=' | b'\n'))?;
        let (name, behind) = rest.split_at(length);
        let name = std::str::from_utf8(name).ok()?.to_owned();
        rest = behind;
        // The shell says each name once.
        if !is_plain || !is_word(&name) || !seen.insert(name.clone()) {
            return None;
        }
        if let Some(behind) = rest.strip_prefix(b"=") {
            rest = behind;
            let is_one = !flags.iter().any(|flag| matches!(flag, b'a' | b'A' | b'n'));
            let value = if rest.starts_with(b"(") { array(&mut rest)? } else { text(&mut rest)? };
            if is_one {
                exported.insert(name, value);
            }
        }
        rest = rest.strip_prefix(b"\n")?;
    }
    // There is always a PWD.
    (!seen.is_empty()).then_some(exported)
}

/// A name as bash has it, however long.
fn is_word(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.bytes().all(plain)
}

fn until<'a>(rest: &mut &'a [u8], end: &[u8]) -> Option<&'a [u8]> {
    let length = rest.windows(end.len()).position(|window| window == end)?;
    let (found, behind) = rest.split_at(length);
    *rest = behind.get(end.len()..)?;
    Some(found)
}

fn text(rest: &mut &[u8]) -> Option<Vec<u8>> {
    if let Some(behind) = rest.strip_prefix(b"\"") {
        *rest = behind;
        return double_quoted(rest);
    }
    *rest = rest.strip_prefix(b"$'")?;
    ansi_quoted(rest)
}

/// The elements of an array, which are of no use to anybody.
fn array(rest: &mut &[u8]) -> Option<Vec<u8>> {
    *rest = rest.strip_prefix(b"(")?;
    loop {
        if rest.starts_with(b"\"") || rest.starts_with(b"$'") {
            text(rest)?;
            continue;
        }
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        match byte {
            b')' => return Some(Vec::new()),
            b'\n' => return None,
            _ => {}
        }
    }
}

/// Up to the closing quote. Bash puts a backslash before these four and nothing else.
fn double_quoted(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    loop {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        match byte {
            b'"' => return Some(value),
            b'\\' => {
                let (byte, behind) = rest.split_first()?;
                *rest = behind;
                if !matches!(byte, b'"' | b'\\' | b'$' | b'`') {
                    return None;
                }
                value.push(*byte);
            }
            b'$' | b'`' => return None,
            byte => value.push(*byte),
        }
    }
}

/// Up to the closing quote: the names of control characters, and three octal digits.
fn ansi_quoted(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    loop {
        let (byte, behind) = rest.split_first()?;
        *rest = behind;
        if *byte == b'\'' {
            return Some(value);
        }
        if *byte != b'\\' {
            value.push(*byte);
            continue;
        }
        let (byte, behind) = rest.split_first()?;
        let named = match byte {
            b'a' => 0x07,
            b'b' => 0x08,
            b'E' | b'e' => 0x1b,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'\\' | b'\'' | b'"' | b'?' => *byte,
            b'0'..=b'3' => {
                let digits = std::str::from_utf8(rest.get(..3)?).ok()?;
                *rest = rest.get(3..)?;
                value.push(u8::from_str_radix(digits, 8).ok().filter(|byte| *byte != 0)?);
                continue;
            }
            _ => return None,
        };
        *rest = behind;
        value.push(named);
    }
}

#[cfg(test)]
mod tests;
