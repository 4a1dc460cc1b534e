//! A new user: a model's provider and a bot that are there, and no home yet. Must not know what is
//! tested.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::botapi::{BotApi, User};
use crate::program::{House, KEY};
use crate::pty::Pty;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};

pub struct Rig {
    pub telegram: BotApi,
    pub anna: User,
    pub model: Threaded,
    pub house: House,
}

impl Rig {
    /// The model answers with `answers` behind the one that is asked for when it is tried.
    pub fn new(answers: &[&str]) -> Self {
        Self::answering(std::iter::once(&"ok").chain(answers).map(|text| Answer::text(text)))
    }

    /// The model answers with these alone.
    pub fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let telegram = BotApi::start();
        let anna = telegram.user("Anna");
        let model = Threaded::start(Wire::OpenAi, answers);
        model.lists(KEY, &["model-x"]);
        let house = House::bare().with("CLAW_TELEGRAM_API", telegram.url());
        Self { telegram, anna, model, house }
    }

    pub fn init(&self) -> Pty {
        Pty::start(&self.house, &["init"])
    }

    /// Chooses the stand-in as the model, up to its key.
    #[track_caller]
    pub fn chooses_model(&self, pty: &mut Pty) {
        pty.shows("Number: ")
            .types("4")
            .shows("Its address")
            .types(&self.model.base_url)
            .shows("Its key");
    }

    /// Up to "It works".
    #[track_caller]
    pub fn gives_model(&self, pty: &mut Pty) {
        self.chooses_model(pty);
        pty.types(KEY).shows("It works: model-x answers");
    }

    #[track_caller]
    pub fn gives_token(&self, pty: &mut Pty) {
        pty.shows("from @BotFather")
            .types(&self.telegram.token())
            .shows("It is the token of @claw_test_bot");
    }

    /// Anna writes, and says that it is her.
    #[track_caller]
    pub fn is_known(&self, pty: &mut Pty) {
        pty.shows("Now send your bot any message: https://t.me/claw_test_bot");
        self.anna.says(self.anna.private(), "hi there");
        pty.shows(&format!("Anna, id {}", self.anna.id))
            .shows("hi there")
            .shows("Is this you? [y/N]")
            .types("y");
    }

    pub fn claw_toml(&self) -> PathBuf {
        self.house.home().join("claw.toml")
    }

    /// Key and token were never shown, and stand in no file but this.
    #[track_caller]
    pub fn secrets_are_only_in_claw_toml(&self, shown: &str) {
        for secret in [KEY.to_owned(), self.telegram.token()] {
            let half = &secret[secret.len() / 2..];
            assert!(!shown.contains(half), "a secret was shown: {shown}");
            let holding: Vec<PathBuf> = files(&self.house.user_home())
                .into_iter()
                .filter(|file| holds(file, half))
                .collect();
            assert_eq!(holding, [self.claw_toml()]);
        }
        assert_eq!(self.claw_toml().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(self.house.home().metadata().unwrap().permissions().mode() & 0o777, 0o700);
    }
}

fn holds(file: &Path, text: &str) -> bool {
    fs::read(file).unwrap().windows(text.len()).any(|piece| piece == text.as_bytes())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
