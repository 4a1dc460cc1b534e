//! A fresh home for a measurement, and claw in it. Must not know what is measured.

use std::collections::BTreeMap;
use std::os::unix::fs::DirBuilderExt as _;
use std::sync::Arc;

use claw_core::app::App;
use claw_core::config::{Config, Env, Overrides};
use tempfile::TempDir;

pub struct Home {
    pub dir: TempDir,
}

impl Home {
    pub fn new() -> Self {
        Self { dir: TempDir::new().unwrap() }
    }

    /// The environment of a claw process in this home; nothing else of this machine gets in.
    pub fn env(&self, more: &[(&str, &str)]) -> BTreeMap<String, String> {
        let base = [
            ("HOME", self.dir.path().display().to_string()),
            ("CLAW_HOME", self.dir.path().join("claw").display().to_string()),
            // Not the repository in which the benchmark is started.
            ("CLAW_WORKSPACE", self.dir.path().join("claw/workspace").display().to_string()),
            ("PATH", "/usr/local/bin:/usr/bin:/bin".to_owned()),
        ];
        let more = more.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        base.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(more).collect()
    }

    pub fn write(&self, name: &str, text: &str) {
        let folder = self.dir.path().join("claw");
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }

    /// Claw in this process.
    pub fn app(&self) -> Arc<App> {
        let env: Env = self.env(&[("CLAW_AGENT", "demo")]).into_iter().collect();
        Arc::new(App::open(Config::load_from(env, Overrides::default()).unwrap()).unwrap())
    }
}

pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}
