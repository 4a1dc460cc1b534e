//! Reads what `strace -f -y -xx` has written: one finished system call after the other. Must not
//! know what a call means.

use std::collections::HashMap;

/// A system call that succeeded.
#[derive(Debug)]
pub struct Syscall {
    pub name: String,
    /// As strace prints them, strings in hexadecimal.
    pub args: Vec<String>,
    /// What is behind ` = `.
    pub result: String,
    /// How many calls had finished when this one began.
    pub began: usize,
}

/// All calls of one program in the order of their ends. Failed ones are left out.
pub fn read(text: &str) -> anyhow::Result<Vec<Syscall>> {
    let mut open: HashMap<&str, (String, usize)> = HashMap::new();
    let mut calls: Vec<Syscall> = Vec::new();
    for line in text.lines() {
        let Some((pid, rest)) = line.split_once(' ') else { continue };
        let rest = rest.trim_start();
        if rest.starts_with("+++") || rest.starts_with("---") {
            continue;
        }
        if let Some(begun) = rest.strip_suffix(" <unfinished ...>") {
            open.insert(pid, (begun.to_owned(), calls.len()));
            continue;
        }
        let (whole, began) = match rest.strip_prefix("<... ") {
            None => (rest.to_owned(), calls.len()),
            Some(resumed) => {
                let (_, tail) = resumed
                    .split_once(" resumed>")
                    .ok_or_else(|| anyhow::anyhow!("not read: {line}"))?;
                let (begun, began) =
                    open.remove(pid).ok_or_else(|| anyhow::anyhow!("never begun: {line}"))?;
                (format!("{begun}{tail}"), began)
            }
        };
        let Some((call, result)) = whole.rsplit_once(" = ") else { continue };
        if result.starts_with('-') || result.starts_with('?') {
            continue;
        }
        let Some((name, args)) = call.split_once('(') else { continue };
        let args = args.trim_end().strip_suffix(')').unwrap_or(args);
        calls.push(Syscall {
            name: name.to_owned(),
            args: split(args),
            result: result.to_owned(),
            began,
        });
    }
    Ok(calls)
}

/// At the commas that are in no bracket. Strings are hexadecimal and hold none.
fn split(args: &str) -> Vec<String> {
    let (mut depth, mut found, mut start) = (0_usize, Vec::new(), 0);
    for (at, c) in args.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                found.push(args[start..at].trim().to_owned());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(args[start..].trim().to_owned());
    found
}

/// The bytes of `"\x41\x42"`. None if strace has cut them.
pub fn bytes(text: &str) -> Option<Vec<u8>> {
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    let pairs = inner.split("\\x").skip(1);
    pairs.map(|pair| u8::from_str_radix(pair, 16).ok()).collect()
}

/// The path of `9<\x2f\x61>`, unless the file has no name any more.
pub fn path_of(descriptor: &str) -> Option<String> {
    let (_, path) = descriptor.split_once('<')?;
    let path = path.strip_suffix('>')?;
    let pairs = path.split("\\x").skip(1);
    let bytes: Option<Vec<u8>> = pairs.map(|pair| u8::from_str_radix(pair, 16).ok()).collect();
    String::from_utf8(bytes?).ok()
}

/// The path under which strace names a file that was opened without one (open(2), `O_TMPFILE`).
pub fn unnamed_of(descriptor: &str) -> Option<String> {
    path_of(descriptor.strip_suffix("(deleted)")?)
}

/// A path argument, relative to the folder of `at` if it is not absolute.
pub fn path_at(at: Option<&str>, path: &str) -> Option<String> {
    let path = String::from_utf8(bytes(path)?).ok()?;
    if path.starts_with('/') {
        return Some(path);
    }
    Some(format!("{}/{path}", path_of(at?)?))
}

/// The pieces of `[{iov_base="…", iov_len=1}, …]`, joined.
pub fn gathered(vector: &str) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for piece in vector.split("iov_base=").skip(1) {
        all.extend(bytes(piece.split_once(", iov_len")?.0)?);
    }
    Some(all)
}
