//! The description of the tool `run` for a model: the rules of the levels, the user's programs, the
//! limits. Must not know how a tool is listed or run.
//!
//! OpenAI refuses a tool whose description has more than 1,024 characters. So the description has
//! the rules in short, and the parameters that they are about have them in full.

use crate::args::Limits;
use crate::confine::Enforcement;

const LEVELS: &str = "`needs` says what it may do: `read` (the default) looks and changes nothing, \
    `write` changes the workspace, `network` also reaches the network";

/// Of the tool itself.
pub(crate) fn tool(limits: &Limits, enforcement: Enforcement) -> String {
    let levels = match (enforcement.keeps_files(), enforcement.held().levels) {
        (false, _) => "Every command is asked about here. ".to_owned(),
        (true, false) => format!(
            "{LEVELS}. This system cannot hold all of that, so every command is asked about. "
        ),
        (true, true) => format!(
            "{LEVELS}, and the operating system holds it to that. Take `read` first: it is rarely \
             asked about. What a command tries beyond its level fails with words like \
             \"Permission denied\", and the result names the level that it needs. "
        ),
    };
    format!(
        "Run a shell command (bash) in the workspace and return its exit code and its output, \
         standard output and standard error together. {levels}It has no terminal, no input and a \
         cleared environment. It is killed after timeout_s seconds (default {}, at most {}). \
         Background processes are killed when it ends: what is to stay is started with the tool \
         `start`. Of output over {} bytes you get head and tail, and the name of a file outside of \
         the workspace that has all of it and that commands can read, until newer ones need the \
         room.",
        limits.timeout_s, limits.timeout_s_max, limits.output_bytes_max
    )
}

/// Of the parameter `command`.
pub(crate) fn command(programs: &[String]) -> String {
    let programs = match programs {
        [] => String::new(),
        some => format!(" Programs of the user's that it finds: {}.", some.join(", ")),
    };
    format!(
        "The command line, as you would type it into bash. Standard input is empty. HOME is a \
         folder for caches that is not the user's.{programs}"
    )
}

/// Of the parameter `needs`; `None` where no level is held, and the words of the type do.
pub(crate) fn needs(enforcement: Enforcement) -> Option<String> {
    let named = if enforcement.own_networks {
        "; name its `hosts`, and it reaches these alone"
    } else {
        ""
    };
    let words = format!(
        "What the command has to do; say the least that it needs. `read` (the default): look at \
         the workspace and run any program, script or pipe that only looks; $TMPDIR is writable, \
         and nothing else; no network. `write`, where files of the workspace change (edit, build, \
         commit): also change the workspace and the caches in HOME, but not what others run or \
         obey on sight (.git/config, hooks, .envrc, AGENTS.md, CI, ~/.gitconfig); no network. \
         `network`, where something is fetched or sent: also reach the network{named}, and change \
         what others obey, as a switch, pull, merge or rebase does where branches differ in it. \
         The user's own home and Unix sockets are refused at every level; what the owner has \
         opened is named in `opens`."
    );
    enforcement.keeps_files().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::CommandLimits;

    const FULL: Enforcement = Enforcement {
        landlock_abi: 7,
        seccomp: true,
        namespaces: true,
        own_networks: true,
        own_mounts: true,
        sealed: true,
    };

    #[test]
    fn it_fits_the_strictest_wire_with_the_longest_numbers_and_says_what_is_held() {
        let limits = Limits {
            timeout_s: u64::MAX,
            timeout_s_max: u64::MAX,
            output_bytes_max: usize::MAX,
            file_bytes_max: 0,
            kept_bytes_max: 0,
            jobs_max: 1,
            background_max: 1,
            command: CommandLimits::default(),
        };
        let signals = Enforcement { landlock_abi: 4, namespaces: false, ..FULL };
        for (enforcement, held, asked) in [
            (FULL, true, "rarely asked about"),
            (signals, false, "so every command is asked about"),
            (Enforcement::NONE, false, "Every command is asked about here"),
        ] {
            let said = tool(&limits, enforcement);
            assert!(said.chars().count() <= 1024, "{}: {said}", said.chars().count());
            assert_eq!(said.contains("operating system holds"), held, "{said}");
            assert!(said.contains(asked), "{said}");
        }
        assert_eq!(needs(Enforcement::NONE), None);
        assert!(needs(FULL).unwrap().contains("`hosts`"));
        assert!(!needs(Enforcement { own_networks: false, ..FULL }).unwrap().contains("`hosts`"));
    }
}
