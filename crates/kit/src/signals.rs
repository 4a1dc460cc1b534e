//! The names of signals, for a sentence about how a program ended. Must not know who started it.

/// A signal whose number is the same on every system, signal(7).
pub fn name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        _ => return None,
    })
}

/// The signal of which a shell tells by this exit code, because it has ended the shell's last
/// program: 128 and its number (POSIX, 2.8.2). A program may give such a code by itself, too.
pub fn told_by_shell(exit_code: i64) -> Option<&'static str> {
    name(i32::try_from(exit_code.checked_sub(128)?).ok()?)
}

/// An exit code inside of a sentence.
pub fn exit_code(code: i64) -> String {
    match told_by_shell(code) {
        Some(signal) => format!("exit code {code}, which is how a shell tells of {signal},"),
        None => format!("exit code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{exit_code, told_by_shell};

    #[test]
    fn an_exit_code_says_what_a_shell_means_by_it() {
        assert_eq!(exit_code(3), "exit code 3");
        assert_eq!(exit_code(139), "exit code 139, which is how a shell tells of SIGSEGV,");
    }

    #[test]
    fn a_shell_tells_of_signals_alone() {
        assert_eq!(told_by_shell(139), Some("SIGSEGV"));
        assert_eq!(told_by_shell(137), Some("SIGKILL"));
        for other in [0, 1, 11, 127, 128, 255, -1, i64::MIN, i64::MAX] {
            assert_eq!(told_by_shell(other), None, "{other}");
        }
    }
}
