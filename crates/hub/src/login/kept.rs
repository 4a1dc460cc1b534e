//! The login to one server, as it is kept: a file of its own, its owner's alone, which counts for
//! one URL. Owns that every token is known as a secret before it is used. Must not know how a login
//! comes about.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use claw_kit::durable;
use rmcp::transport::auth::{AuthError, AuthorizationMetadata, CredentialStore, StoredCredentials};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::file;
use super::pasted;
use super::pending::{self, PendingFile};
use super::strength;
use crate::names::safe_name;
use crate::settings::SecretSink;

/// A token that ends sooner, or within a tenth of its life, is renewed before it is used.
const ENDS_SOON_S: u64 = 60;
/// Another process renews the same login; it has the same limits.
const LOCK_TIMEOUT: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What stands in the file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StoredLogin {
    /// The entry's, when the owner logged in.
    pub(super) url: String,
    /// Where the browser was sent back to.
    pub(super) redirect: String,
    pub(super) client_secret: Option<String>,
    /// What was refused for want of a right. The next login asks for it.
    #[serde(default)]
    pub(super) wanted: Vec<String>,
    pub(super) credentials: Option<StoredCredentials>,
    /// The `state` of the login that gave them, so that a claw that was killed between this file
    /// and the end of the other one knows that it was done.
    #[serde(default)]
    pub(super) login: Option<String>,
}

impl StoredLogin {
    /// One field of what the server has given.
    fn given(&self, key: &str) -> Option<Value> {
        let given = self.credentials.as_ref()?.token_response.as_ref()?;
        serde_json::to_value(given).ok()?.get(key).cloned()
    }

    /// Why its tokens cannot be used.
    fn fault(&self) -> Option<String> {
        let given = self.credentials.as_ref()?.token_response.as_ref()?;
        strength::fault_of_answer(&serde_json::to_value(given).ok()?)
    }

    pub(super) fn access_token(&self) -> Option<String> {
        self.token("access_token")
    }

    /// `access_token` or `refresh_token`.
    pub(super) fn token(&self, key: &str) -> Option<String> {
        Some(self.given(key)?.as_str()?.to_owned())
    }

    /// Whether this is who has given the tokens.
    pub(super) fn is_of(&self, now: &AuthorizationMetadata) -> bool {
        let issuer = self.credentials.as_ref().and_then(|had| had.issuer.as_ref());
        issuer.is_some() && issuer == now.issuer.as_ref()
    }

    /// Whether its access token ends soon, as far as the server has said when.
    pub(super) fn ends_soon(&self) -> bool {
        let ends_soon = || {
            let length = self.given("expires_in")?.as_u64()?;
            let ends = self.credentials.as_ref()?.token_received_at?.checked_add(length)?;
            Some(ends <= now_s().saturating_add(ENDS_SOON_S.min(length / 10)))
        };
        ends_soon().unwrap_or(false)
    }
}

/// Seconds since 1970.
pub(super) fn now_s() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// The file of one server.
#[derive(Clone)]
pub(super) struct Shelf {
    path: PathBuf,
    url: String,
    secrets: SecretSink,
}

impl Shelf {
    pub(super) fn new(folder: &Path, server: &str, url: &str, secrets: SecretSink) -> Self {
        // Two servers whose names differ in case alone are refused by the manifest.
        let name = safe_name(server).to_ascii_lowercase();
        let path = folder.join(format!("{name}.json"));
        Self { path, url: url.to_owned(), secrets }
    }

    /// What is kept for this URL. Another process may have written it since the last look, so its
    /// secrets are made known here, before anybody can use them.
    ///
    /// # Errors
    /// The file cannot be read, is none of claw's, or holds what cannot be kept secret.
    pub(super) fn read(&self) -> Result<Option<StoredLogin>, String> {
        let kept: Option<StoredLogin> = file::read(&self.path)?;
        let mut kept = kept.filter(|kept| kept.url == self.url);
        // Of a claw that took such tokens: the login is over.
        if let Some(kept) = &mut kept
            && kept.fault().is_some()
        {
            kept.credentials = None;
        }
        if let Some(kept) = &kept {
            (self.secrets)(secrets_of(kept))?;
        }
        Ok(kept)
    }

    /// The file of a login that is under way, which may take this long.
    pub(super) fn pending(&self, time: Duration) -> PendingFile {
        let path = self.file_of_kind(pending::KIND);
        PendingFile::new(path, &self.url, time, self.secrets.clone())
    }

    /// A file of the same server beside this one.
    pub(super) fn file_of_kind(&self, kind: &str) -> PathBuf {
        self.path.with_extension(kind)
    }

    pub(super) fn is_there(&self) -> bool {
        matches!(self.read(), Ok(Some(kept)) if kept.access_token().is_some())
    }

    /// # Errors
    /// Its tokens cannot be kept secret, or the file cannot be written.
    pub(super) fn write(&self, kept: &StoredLogin) -> Result<(), String> {
        if let Some(why) = kept.fault() {
            return Err(why);
        }
        // First known, then used or written.
        (self.secrets)(secrets_of(kept))?;
        file::write(&self.path, kept)
    }

    /// Makes a code known as a secret. Its authorization server has chosen it: a plain word is not
    /// looked for.
    pub(super) fn learn_code(&self, code: &str) -> Result<(), String> {
        if !strength::can_be_masked(code) {
            return Ok(());
        }
        (self.secrets)(vec![("code".to_owned(), code.to_owned())])
    }

    /// Changes what is kept, if something is.
    pub(super) fn change(&self, change: impl FnOnce(&mut StoredLogin)) -> Result<(), String> {
        let Some(mut kept) = self.read()? else { return Ok(()) };
        change(&mut kept);
        self.write(&kept)
    }

    /// False if there was none.
    pub(super) fn remove(&self) -> Result<bool, String> {
        file::remove(&self.path)
    }

    /// Keeps other processes from renewing the same login until the drop.
    pub(super) async fn lock(&self) -> Result<File, String> {
        let path = self.path.with_extension("lock");
        let failed = |error: &dyn std::fmt::Display| {
            format!("{} cannot be locked ({error})", path.display())
        };
        if let Some(folder) = self.path.parent() {
            durable::create_dirs(folder, 0o700).map_err(|error| failed(&error))?;
        }
        let mut open = OpenOptions::new();
        open.create(true).truncate(false).write(true).mode(0o600);
        let file = open.open(&path).map_err(|error| failed(&error))?;
        let wait = async {
            loop {
                match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                    Ok(()) => return Ok(()),
                    Err(Errno::WOULDBLOCK) => tokio::time::sleep(LOOK_EVERY).await,
                    Err(error) => return Err(failed(&error)),
                }
            }
        };
        match tokio::time::timeout(LOCK_TIMEOUT, wait).await {
            Ok(locked) => locked.map(|()| file),
            Err(_) => Err("another claw renews the same login and does not end".to_owned()),
        }
    }
}

/// Every secret of one login, with the names by which the redactor knows them.
fn secrets_of(kept: &StoredLogin) -> Vec<(String, String)> {
    let is_of_use = kept.fault().is_none();
    let given = |key| Some((key, kept.given(key)?.as_str()?.to_owned()));
    let given = strength::TOKENS.map(given).into_iter().flatten().filter(|_| is_of_use);
    let secret = kept.client_secret.clone().map(|secret| ("client_secret", secret));
    let known = given.chain(secret).filter(|(_, value)| strength::can_be_known(value));
    known.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Every secret of the logins in a folder, also of those that are under way. One that cannot be
/// read holds none that is used.
pub fn secrets_in(folder: &Path) -> Vec<(String, String)> {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let secrets = |path: PathBuf| match path.extension().and_then(|kind| kind.to_str()) {
        Some("json") => file::read(&path).ok().flatten().map(|kept| secrets_of(&kept)),
        Some(pending::KIND) => Some(pending::secrets_of(&path)),
        Some(pasted::KIND) => Some(pasted::secrets_of(&path)),
        _ => None,
    };
    files.filter_map(|file| secrets(file.path())).flatten().collect()
}

#[async_trait]
impl CredentialStore for Shelf {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let kept = self.read().map_err(AuthError::CredentialStoreError)?;
        Ok(kept.and_then(|kept| kept.credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.change(|kept| kept.credentials = Some(credentials))
            .map_err(AuthError::CredentialStoreError)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.change(|kept| kept.credentials = None).map_err(AuthError::CredentialStoreError)
    }

    /// It would be refused again each time.
    async fn on_refresh_token_rejected(&self, _: &StoredCredentials) -> Result<(), AuthError> {
        self.clear().await
    }
}
