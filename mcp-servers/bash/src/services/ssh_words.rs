//! The words behind `ssh` that a command may say: a host, a user, a port and what to run there.
//! Pure. Must not know settings or connections.

/// What a command asks `ssh` for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SshRequest {
    pub user: Option<String>,
    pub host: String,
    pub port: Option<u16>,
    pub command: String,
}

impl SshRequest {
    /// Reads the words that git and people use. Every other option could start a program or open a
    /// way of its own here.
    pub fn parse(words: &[String]) -> Result<Self, String> {
        let (mut user, mut port) = (None, None);
        let mut words = words.iter().map(String::as_str);
        let target = loop {
            match words.next() {
                Some("-p") => {
                    port = Some(words.next().and_then(number).ok_or("ssh: -p needs a port")?);
                }
                Some("-l") => user = words.next().map(str::to_owned),
                Some("-o") if words.next() == Some("SendEnv=GIT_PROTOCOL") => {}
                Some("-4" | "-6" | "-T" | "-q" | "-x") => {}
                Some(target) if !target.starts_with('-') => break target,
                _ => return Err(ONLY.to_owned()),
            }
        };
        let host = match target.rsplit_once('@') {
            Some((name, host)) => {
                user = Some(name.to_owned());
                host
            }
            None => target,
        };
        let command = words.collect::<Vec<_>>().join(" ");
        let fits = plain(host, ".-_:") && user.iter().all(|user| plain(user, ".-_"));
        if !fits || command.trim().is_empty() || command.contains('\0') {
            return Err(ONLY.to_owned());
        }
        Ok(Self { user, host: host.to_owned(), port, command })
    }
}

/// What is said of all other words.
const ONLY: &str =
    "in the box `ssh` is `ssh [-p PORT] [USER@]HOST COMMAND`: no other options, no terminal";

fn number(text: &str) -> Option<u16> {
    text.parse().ok().filter(|port| *port > 0)
}

/// Whether a text is no option, no token of `ssh` and nothing that a shell reads.
pub fn plain(text: &str, more: &str) -> bool {
    !text.is_empty()
        && !text.starts_with('-')
        && text.len() <= 253
        && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<SshRequest, String> {
        SshRequest::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn the_words_of_git_are_understood() {
        let asked = |user: Option<&str>, port: Option<u16>| SshRequest {
            user: user.map(str::to_owned),
            host: "github.com".into(),
            port,
            command: "git-receive-pack '/me/x.git'".into(),
        };
        let git = "git-receive-pack '/me/x.git'";
        assert_eq!(parse(&["git@github.com", git]), Ok(asked(Some("git"), None)));
        let words = ["-o", "SendEnv=GIT_PROTOCOL", "-p", "2222", "git@github.com", git];
        assert_eq!(parse(&words), Ok(asked(Some("git"), Some(2222))));
        assert_eq!(
            parse(&["-l", "me", "-4", "github.com", "git-receive-pack", "'/me/x.git'"]),
            Ok(asked(Some("me"), None))
        );
    }

    #[test]
    fn a_word_that_could_start_or_open_something_here_is_refused() {
        let proxy = "ProxyCommand=touch /tmp/x";
        for words in [
            &["-o", proxy, "host", "true"][..],
            &["-oProxyCommand=x", "host", "true"],
            &["-F", "file", "host", "true"],
            &["-L", "1:h:2", "host", "true"],
            &["-R", "1:h:2", "host", "true"],
            &["-A", "host", "true"],
            &["-i", "key", "host", "true"],
            &["-J", "jump", "host", "true"],
            &["-W", "h:1", "host"],
            &["-p", "0", "host", "true"],
            &["-p", "x", "host", "true"],
            &["-l", "-oProxyCommand=x", "host", "true"],
            &["-oProxyCommand=x@host", "true"],
            &["me@-oProxyCommand=x", "true"],
            &["--", "host", "true"],
            &["host"],
            &["host", " "],
            &["ho st", "true"],
            &["$(x)@host", "true"],
            &["host%h", "true"],
            &[],
        ] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }
}
