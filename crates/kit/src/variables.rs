//! The environment variables that a call can give to a command of our bash server: which names, and
//! how many. Pure. Must not know shells, or what a variable means to a program.

use std::collections::BTreeMap;

/// The most variables of one call.
pub const COUNT_MAX: usize = 64;
/// The longest name, in bytes.
pub const NAME_BYTES_MAX: usize = 128;
/// The longest value, in bytes.
pub const VALUE_BYTES_MAX: usize = 4 * 1024;
/// All names and values of one call together, in bytes.
pub const ALL_BYTES_MAX: usize = 16 * 1024;

/// What the shell counts for itself: it differs at every end, and nobody means it.
const COUNTED: &[&str] = &["PWD", "OLDPWD", "SHLVL", "_"];

/// What the shell sets by itself, or reads at its start instead of handing it on, and what the box
/// tells every command: its folders, who it is for, and the way to what is opened.
const OWNED: &[&str] = &[
    "IFS",
    "ENV",
    "SHELLOPTS",
    "POSIXLY_CORRECT",
    "UID",
    "EUID",
    "PPID",
    "HOME",
    "TMPDIR",
    "USER",
    "LOGNAME",
    "GIT_CONFIG_SYSTEM",
    "GIT_SSH_COMMAND",
    "DOCKER_HOST",
    "CLAW_SSH",
    "NODE_USE_ENV_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];
/// `BASH_ENV`, `BASHOPTS`, `BASH_XTRACEFD`, …
const OWNED_PREFIX: &str = "BASH";

/// Whether a shell takes it for the name of a variable: letters, digits and `_`, no digit first.
pub fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.len() <= NAME_BYTES_MAX
        && name.bytes().all(plain)
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit())
}

/// Whether the shell counts it for itself, so that a change of it says nothing.
pub fn is_counted(name: &str) -> bool {
    COUNTED.contains(&name)
}

/// Whether the shell or the box sets it, and no call.
pub fn is_owned(name: &str) -> bool {
    is_counted(name) || OWNED.contains(&name) || name.starts_with(OWNED_PREFIX)
}

/// How much room the variables of one call have left.
#[derive(Clone, Debug)]
pub struct Room {
    count: usize,
    bytes: usize,
}

impl Default for Room {
    fn default() -> Self {
        Self { count: COUNT_MAX, bytes: ALL_BYTES_MAX }
    }
}

impl Room {
    /// Takes the room of one more variable, if there is as much.
    pub fn take(&mut self, name: &str, value: &str) -> bool {
        let bytes = name.len() + value.len();
        let fits = value.len() <= VALUE_BYTES_MAX && self.count > 0 && bytes <= self.bytes;
        if fits {
            self.count -= 1;
            self.bytes -= bytes;
        }
        fits
    }
}

/// Whether a call can give them.
///
/// # Errors
/// What is wrong with the first one that it cannot, and what to do instead, in one or
/// two sentences.
pub fn check(variables: &BTreeMap<String, String>) -> Result<(), String> {
    let mut room = Room::default();
    for (name, value) in variables {
        if !is_name(name) {
            return Err(format!(
                "{name:?} is no name of a variable: at most {NAME_BYTES_MAX} letters, digits and \
                 `_`, no digit first."
            ));
        }
        if is_owned(name) {
            return Err(format!(
                "`{name}` is set by the shell or by its box. Set it in the command itself."
            ));
        }
        if value.contains('\0') {
            return Err(format!(
                "The value of `{name}` holds a NUL character, which no program can be given."
            ));
        }
        if value.len() > VALUE_BYTES_MAX {
            return Err(format!(
                "The value of `{name}` is longer than {VALUE_BYTES_MAX} bytes. Write it to a file."
            ));
        }
        if !room.take(name, value) {
            return Err(format!(
                "A command can be given {COUNT_MAX} variables with {ALL_BYTES_MAX} bytes in all, \
                 and these are more. `unset` those that it does not need."
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(name: &str, value: &str) -> Result<(), String> {
        check(&BTreeMap::from([(name.to_owned(), value.to_owned())]))
    }

    #[test]
    fn only_what_a_shell_takes_for_a_name_is_one() {
        for name in ["A", "_a", "npm_config_x", "A1", &"N".repeat(NAME_BYTES_MAX)] {
            assert_eq!(one(name, "v"), Ok(()), "{name}");
        }
        for name in ["", "1A", "a-b", "a.b", "a b", "A=", "ä", "BASH_FUNC_x%%", "a\n", "a[0]"] {
            assert!(one(name, "v").unwrap_err().contains("is no name"), "{name}");
        }
        assert!(one(&"N".repeat(NAME_BYTES_MAX + 1), "v").is_err());
    }

    #[test]
    fn what_the_shell_or_the_box_sets_no_call_gives() {
        for name in ["PWD", "_", "HOME", "TMPDIR", "BASH_ENV", "BASHOPTS", "SHELLOPTS", "IFS"] {
            assert!(one(name, "v").unwrap_err().contains("set by the shell"), "{name}");
        }
    }

    #[test]
    fn there_are_limits() {
        assert_eq!(one("A", &"x".repeat(VALUE_BYTES_MAX)), Ok(()));
        assert!(one("A", &"x".repeat(VALUE_BYTES_MAX + 1)).unwrap_err().contains("4096 bytes"));
        assert!(one("A", "a\0b").unwrap_err().contains("NUL"));
        let many = |count: usize, value: &str| {
            check(&(0..count).map(|number| (format!("A{number:02}"), value.to_owned())).collect())
        };
        assert_eq!(many(COUNT_MAX, "x"), Ok(()));
        assert!(many(COUNT_MAX + 1, "x").unwrap_err().contains("64 variables"));
        let quarter = "x".repeat(VALUE_BYTES_MAX - 3);
        assert_eq!(many(4, &quarter), Ok(()));
        assert!(many(5, &quarter).unwrap_err().contains("16384 bytes"));
    }
}
