//! Where claw keeps what must not lie in its home: the key of the audit and the newest head of it.
//! Must not know what they say.

use std::path::{Path, PathBuf};

use super::env::Env;

/// The credential of systemd (`LoadCredential=claw-audit-key:…`) that takes the place of the key's
/// file.
const CREDENTIAL: &str = "claw-audit-key";

/// The places outside of the home, none of which need be there yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptApart {
    /// `$XDG_STATE_HOME/claw`, else `.local/state/claw` in the user's home. None where neither is
    /// known.
    pub folder: Option<PathBuf>,
    /// `$CREDENTIALS_DIRECTORY/claw-audit-key`, if that is there.
    pub credential: Option<PathBuf>,
}

impl KeptApart {
    pub(super) fn of(env: &Env, user_home: Option<&Path>) -> Self {
        let absolute =
            |name: &str| env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
        // The XDG Base Directory Specification has relative paths ignored.
        let state = absolute("XDG_STATE_HOME").or_else(|| Some(user_home?.join(".local/state")));
        let credential = absolute("CREDENTIALS_DIRECTORY").map(|folder| folder.join(CREDENTIAL));
        Self {
            folder: state.map(|state| state.join("claw")),
            credential: credential.filter(|file| file.is_file()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_folder_is_the_one_that_is_set_or_the_usual_one() {
        let folder = |variables: &[(&str, &str)]| {
            let env: Env = variables.iter().copied().collect();
            KeptApart::of(&env, Some(Path::new("/home/me"))).folder.unwrap()
        };
        assert_eq!(folder(&[]), Path::new("/home/me/.local/state/claw"));
        assert_eq!(folder(&[("XDG_STATE_HOME", "/state")]), Path::new("/state/claw"));
        assert_eq!(
            folder(&[("XDG_STATE_HOME", "relative")]),
            Path::new("/home/me/.local/state/claw")
        );
        assert_eq!(
            KeptApart::of(&std::iter::empty::<(&str, &str)>().collect(), None),
            KeptApart::default()
        );
    }

    #[test]
    fn a_credential_counts_only_if_it_is_there() {
        let dir = tempfile::tempdir().unwrap();
        let env: Env =
            [("CREDENTIALS_DIRECTORY", dir.path().to_str().unwrap())].into_iter().collect();
        assert_eq!(KeptApart::of(&env, None).credential, None);
        let file = dir.path().join(CREDENTIAL);
        std::fs::write(&file, "k").unwrap();
        assert_eq!(KeptApart::of(&env, None).credential, Some(file));
    }
}
