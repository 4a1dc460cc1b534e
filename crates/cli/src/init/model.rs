//! Which model answers: asked, tried at its provider, asked again. Must not know how its wire
//! looks, or where the answer is written.

use secrecy::{ExposeSecret as _, SecretString};

use super::person::Person;
use crate::config::model::{Agent, ModelSection};
use crate::config::{ExistingSettings, ModelKeys};
use crate::domain::escape;
use crate::fail::UserError;
use crate::model::{
    ModelError, RetryPolicy, Trial, address_of, choose, key_variables, usual_model,
};
use crate::out;

/// How many names of models are shown.
const NAMES_SHOWN: usize = 12;
const OLLAMA: &str = "http://127.0.0.1:11434";

/// Who answers from now on. The demo is "whatever is there later": nothing is written for it.
pub struct ModelAnswer {
    agent: Agent,
    base_url: Option<String>,
    model: Option<String>,
    key: Option<SecretString>,
}

impl ModelAnswer {
    pub fn keys(&self) -> ModelKeys<'_> {
        let Self { agent, base_url, model, key } = self;
        ModelKeys {
            agent: *agent,
            base_url: base_url.as_deref(),
            model: model.as_deref(),
            key: key.as_ref(),
        }
    }

    /// Without the key.
    pub fn summary(&self) -> String {
        let text = |text: &Option<String>, before: &str| {
            text.as_deref()
                .map(|text| format!("{before}{}", escape::visible(text)))
                .unwrap_or_default()
        };
        let key = if self.key.is_some() { ", with its key" } else { "" };
        format!("{}{}{}{key}", self.agent, text(&self.model, ", "), text(&self.base_url, " at "))
    }

    /// What would stand in the file.
    fn section(&self, seen: &ExistingSettings) -> ModelSection {
        seen.model.answered_by(&self.keys())
    }
}

/// `None` if nothing is to be written.
pub async fn ask(
    person: &mut Person,
    seen: &ExistingSettings,
) -> anyhow::Result<Option<ModelAnswer>> {
    if seen.names_a_model(key_variables()) && keeps(person, seen).await? {
        return Ok(None);
    }
    loop {
        let Some(mut answer) = choice(person).await? else { return Ok(None) };
        if complete(person, seen, &mut answer).await? {
            return Ok(Some(answer));
        }
    }
}

/// Shows who answers now, and whether that works.
async fn keeps(person: &mut Person, seen: &ExistingSettings) -> anyhow::Result<bool> {
    let variables = seen.variables();
    let works = match choose(&seen.model, &variables, RetryPolicy::default()).await {
        Ok(chosen) => {
            out::line(&format!("Model now: {}", out::clean(&chosen.why)))?;
            match Trial::of(&seen.model, &variables).await? {
                Some(trial) => works(&trial, chosen.model.model()).await,
                None => Ok(()),
            }
        }
        Err(error) => Err(error.to_string()),
    };
    match &works {
        Ok(()) => out::line("It works.")?,
        Err(why) => out::line(&format!("It does not work: {}", out::clean(why)))?,
    };
    if person.agrees("Keep it?", works.is_ok()).await? {
        return Ok(true);
    }
    let before = seen.model_variables();
    if before.is_empty() {
        return Ok(false);
    }
    Err(UserError::because(format!(
        "{} of this environment goes before claw.toml, so nothing that is written would count: \
         unset it and run `claw init` again",
        before.join(" and ")
    )))
}

async fn choice(person: &mut Person) -> anyhow::Result<Option<ModelAnswer>> {
    out::line(
        "Which model shall answer?\n  1  Claude, by Anthropic\n  2  OpenAI\n  3  Gemini, by \
         Google\n  4  another server that speaks OpenAI's chat completions: DeepSeek, Groq, \
         OpenRouter, llama.cpp, vLLM, …\n  5  Ollama, on this machine or another\n  6  later: \
         until then the built-in demo answers, which is no language model",
    )?;
    loop {
        let typed = person.ask("Number: ").await?.to_ascii_lowercase();
        let (agent, base_url) = match typed.as_str() {
            "1" | "claude" | "anthropic" => (Agent::Claude, None),
            // With its address, so that the key goes to nobody else, whatever else is set.
            "2" | "openai" => (Agent::OpenAiCompatible, address_of("openai").map(str::to_owned)),
            "3" | "gemini" | "google" => (Agent::Gemini, None),
            "4" | "openai-compatible" | "other" => {
                (Agent::OpenAiCompatible, Some(address(person, None).await?))
            }
            "5" | "ollama" => (Agent::Ollama, Some(address(person, Some(OLLAMA)).await?)),
            "6" | "later" | "demo" => return Ok(None),
            _ => {
                out::line("Please type a number from 1 to 6.")?;
                continue;
            }
        };
        let answer = ModelAnswer { agent, base_url, model: None, key: None };
        return Ok(Some(answer));
    }
}

async fn address(person: &mut Person, usual: Option<&str>) -> anyhow::Result<String> {
    let hint = usual.map_or("such as https://api.groq.com/openai/v1".to_owned(), |usual| {
        format!("Enter: {usual}")
    });
    loop {
        let typed = person.ask(&format!("Its address ({hint}): ")).await?;
        let typed = if typed.is_empty() { usual.unwrap_or_default().to_owned() } else { typed };
        let section = ModelSection { base_url: Some(typed.clone()), ..ModelSection::default() };
        match section.validate() {
            Ok(()) if !typed.contains('@') => return Ok(typed),
            Ok(()) => out::line(
                "An address must not hold a user name or password; the key is asked for by itself.",
            )?,
            Err(_) => out::line("Please type an address that begins with https:// or http://.")?,
        };
    }
}

/// Asks for the key and the model's name, and tries them. False goes back to the choice.
async fn complete(
    person: &mut Person,
    seen: &ExistingSettings,
    answer: &mut ModelAnswer,
) -> anyhow::Result<bool> {
    let mut key_is_wanted = answer.agent != Agent::Ollama;
    loop {
        if key_is_wanted {
            answer.key = key(person, answer.agent, answer.base_url.as_deref()).await?;
        }
        let why = match tried(person, seen, answer).await? {
            Ok(()) => return Ok(true),
            Err(why) => why,
        };
        out::line(&format!("That does not work: {}", out::clean(&why)))?;
        let has_address = answer.base_url.is_some();
        let address_too = if has_address { " `address`: another address;" } else { "" };
        key_is_wanted = answer.agent != Agent::Ollama;
        let question = format!(
            "Enter: try again;{address_too} `other`: another model; `keep`: write it down all the \
             same: "
        );
        // Somebody may type the right key at once, which nobody may see.
        let typed = if key_is_wanted {
            person.ask_secret(&question).await?.expose_secret().to_owned()
        } else {
            person.ask(&question).await?
        };
        match typed.as_str() {
            "address" if has_address => {
                let usual = (answer.agent == Agent::Ollama).then_some(OLLAMA);
                answer.base_url = Some(address(person, usual).await?);
                // The key that was typed is tried there first.
                key_is_wanted = false;
                continue;
            }
            "keep" if answer.model.is_some() || usual_model(&answer.section(seen)).is_some() => {
                return Ok(true);
            }
            "keep" => answer.model = Some(named(person, &[]).await?),
            "other" => return Ok(false),
            _ => continue,
        }
        return Ok(true);
    }
}

async fn key(
    person: &mut Person,
    agent: Agent,
    base_url: Option<&str>,
) -> anyhow::Result<Option<SecretString>> {
    let is_known = base_url.is_none()
        || usual_model(&ModelSection {
            agent: Some(agent),
            base_url: base_url.map(str::to_owned),
            ..ModelSection::default()
        })
        .is_some();
    let hint = if is_known { "it is not shown" } else { "it is not shown; Enter if it needs none" };
    loop {
        let typed = person.ask_secret(&format!("Its key ({hint}): ")).await?;
        let text = typed.expose_secret();
        if text.chars().any(|c| !c.is_ascii_graphic()) {
            out::line("A key is one word of plain characters; this holds something else.")?;
        } else if text.is_empty() && is_known {
            out::line("It needs one: you get it in your account there.")?;
        } else {
            return Ok((!text.is_empty()).then_some(typed));
        }
    }
}

/// What is wrong, as a sentence.
async fn tried(
    person: &mut Person,
    seen: &ExistingSettings,
    answer: &mut ModelAnswer,
) -> anyhow::Result<Result<(), String>> {
    out::line("Trying it…")?;
    let trial = match Trial::of(&answer.section(seen), &seen.variables()).await {
        Ok(Some(trial)) => trial,
        Ok(None) => return Ok(Ok(())),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let names = match trial.names().await {
        Ok(names) => names,
        Err(error) => return Ok(Err(sentence(&error))),
    };
    let listed = names.as_deref().unwrap_or_default();
    let usual = usual_model(&answer.section(seen));
    let fits =
        usual.is_some_and(|usual| listed.is_empty() || listed.iter().any(|name| name == usual));
    if !fits {
        answer.model = Some(match listed {
            [only] => only.clone(),
            [] if answer.agent == Agent::Ollama => {
                return Ok(Err("it has no models yet: get one with `ollama pull NAME`".to_owned()));
            }
            _ => named(person, listed).await?,
        });
    }
    let model = answer.model.as_deref().or(usual).unwrap_or_default().to_owned();
    // With its name it is known whether something was set for it before, which stays then.
    let trial = match Trial::of(&answer.section(seen), &seen.variables()).await {
        Ok(again) => again.unwrap_or(trial),
        Err(error) => return Ok(Err(error.to_string())),
    };
    let proven = names.is_some() && trial.a_list_proves_it();
    if !proven && let Err(error) = trial.ask(&model).await {
        return Ok(Err(sentence(&error)));
    }
    out::line(&format!("It works: {} answers ({}).", escape::visible(&model), trial.provider()))?;
    Ok(Ok(()))
}

/// The same for what is set already.
async fn works(trial: &Trial, model: &str) -> Result<(), String> {
    let names = trial.names().await.map_err(|error| sentence(&error))?;
    // Some lists leave out what answers all the same.
    if names.is_some_and(|names| names.iter().any(|name| name == model)) && trial.a_list_proves_it()
    {
        return Ok(());
    }
    trial.ask(model).await.map_err(|error| sentence(&error))
}

fn sentence(error: &ModelError) -> String {
    match error {
        ModelError::Transient { why, .. } => format!("{why}."),
        other => other.for_person(jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::system())),
    }
}

async fn named(person: &mut Person, names: &[String]) -> anyhow::Result<String> {
    if let Some(first) = names.first() {
        let shown: Vec<String> =
            names.iter().take(NAMES_SHOWN).map(|name| escape::visible(name)).collect();
        let more = names.len().saturating_sub(NAMES_SHOWN);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        out::line(&format!("It offers {}{more}.", shown.join(", ")))?;
        let typed =
            person.ask(&format!("Which model (Enter: {})? ", escape::visible(first))).await?;
        return Ok(if typed.is_empty() { first.clone() } else { typed });
    }
    loop {
        let typed = person.ask("The model's name: ").await?;
        if !typed.is_empty() {
            return Ok(typed);
        }
    }
}
