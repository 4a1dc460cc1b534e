//! `claw init`: asks for a model and a bot, tries both, and writes them down, all at the end or
//! nothing. Owns the order; must not know how one of them is asked for.

mod listener;
mod model;
mod person;
mod telegram;

use std::process::ExitCode;
use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use super::fail::UserError;
use super::{fail, out};
use crate::bot_api::settings::{set_allowed_chats, set_bot_token};
use crate::config::{self, ConfigDraft, DoorSections, ExistingSettings};
use person::Person;
use telegram::Bot;

/// How long the bot may take to say that it is ready.
const FAREWELL: Duration = Duration::from_secs(15);

/// What is to be written, and who is told.
struct Plan {
    draft: ConfigDraft,
    bot: Option<Bot>,
    /// Whether a bot is set, new or as before.
    has_bot: bool,
}

pub async fn run(doors: &DoorSections) -> anyhow::Result<ExitCode> {
    if !Person::is_there() {
        let file = config::locate_home()?.claw_toml();
        return Err(UserError::because(format!(
            "`claw init` asks questions, so it needs a terminal; without one, set a provider's \
             key such as ANTHROPIC_API_KEY, TELEGRAM_BOT_TOKEN and CLAW_ALLOWED_CHATS, or write \
             {} yourself",
            file.display()
        )));
    }
    let mut interrupts = Interrupts::new()?;
    let seen = ExistingSettings::load(doors)?;
    let Plan { draft, bot, has_bot } = tokio::select! {
        plan = converse(&seen) => plan?,
        () = interrupts.next() => {
            out::err_line("\nStopped; nothing was written.");
            return Ok(ExitCode::from(fail::INTERRUPTED));
        }
    };
    if draft.is_changed() {
        let file = seen.home.claw_toml();
        draft.write(seen)?;
        out::line(&format!("Written: {} (only you can read it).", file.display()))?;
    } else {
        out::line("All is as it was; nothing was written.")?;
    }
    if let Some(bot) = bot {
        tokio::select! {
            said = bot.says_hello() => said?,
            () = tokio::time::sleep(FAREWELL) => out::line("The bot could not say hello; it will answer all the same.")?,
            () = interrupts.next() => {}
        }
    }
    what_comes_next(has_bot)?;
    Ok(ExitCode::from(fail::DONE))
}

async fn converse(seen: &ExistingSettings) -> anyhow::Result<Plan> {
    let mut person = Person::default();
    out::line(&format!(
        "claw init asks for a model and a Telegram bot, tries both, and writes {} at the end. \
         Ctrl-C leaves all as it is.\n",
        seen.home.claw_toml().display()
    ))?;
    let mut draft = ConfigDraft::of(seen)?;
    let model = model::ask(&mut person, seen).await?;
    let taken_out = match &model {
        Some(answer) => draft.set_model(&answer.keys())?,
        None => Vec::new(),
    };
    out::line("")?;
    let bot = telegram::ask(&mut person, seen).await?;
    if let Some(bot) = &bot {
        if let Some(token) = &bot.new_token {
            set_bot_token(&mut draft, token)?;
        }
        if let Some(owner) = bot.new_owner {
            set_allowed_chats(&mut draft, &[owner])?;
        }
    }
    if draft.is_changed() {
        summarise(seen, (model.as_ref(), &taken_out), bot.as_ref())?;
        if !person.agrees("Write this?", true).await? {
            return Err(UserError::because(
                "nothing was written; run `claw init` again to answer otherwise",
            ));
        }
    }
    let has_bot = bot.is_some();
    Ok(Plan { draft, bot: bot.filter(|bot| bot.new_owner.is_some()), has_bot })
}

fn summarise(
    seen: &ExistingSettings,
    (model, taken_out): (Option<&model::ModelAnswer>, &[&str]),
    bot: Option<&Bot>,
) -> Result<(), out::Unwritten> {
    out::line(&format!("\n{}:", seen.home.claw_toml().display()))?;
    if let Some(answer) = model {
        out::line(&format!("  [model]     {}", answer.summary()))?;
    }
    if !taken_out.is_empty() {
        let keys = taken_out.join(", ");
        out::line(&format!("              taken out, as set for the model before: {keys}"))?;
    }
    if let Some(summary) = bot.and_then(Bot::summary) {
        out::line(&format!("  [telegram]  {summary}"))?;
    }
    Ok(())
}

fn what_comes_next(has_bot: bool) -> Result<(), out::Unwritten> {
    out::line("\nNext:\n  claw chat              talk to it in this terminal")?;
    out::line(if has_bot {
        "  claw service install   let the bot answer, also after a restart (`claw gateway`: as \
         long as this terminal is open)"
    } else {
        "  claw init              again, when you want it in Telegram"
    })
}

/// What ends a conversation from outside.
struct Interrupts([tokio::signal::unix::Signal; 4]);

impl Interrupts {
    fn new() -> std::io::Result<Self> {
        // Ctrl-\, too: it would leave the terminal showing nothing of what is typed.
        let ends = [
            SignalKind::interrupt(),
            SignalKind::terminate(),
            SignalKind::hangup(),
            SignalKind::quit(),
        ];
        let [interrupt, terminate, hangup, quit] = ends.map(signal);
        Ok(Self([interrupt?, terminate?, hangup?, quit?]))
    }

    async fn next(&mut self) {
        let [interrupt, terminate, hangup, quit] = &mut self.0;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = hangup.recv() => {}
            _ = quit.recv() => {}
        }
    }
}
