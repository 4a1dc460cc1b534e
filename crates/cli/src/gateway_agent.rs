//! One agent of the gateway, from its home to its end: its bots, and what runs beside them. What
//! goes wrong with one bot ends no other. Must not know any door by its name.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::gateway::BotAtDoor;
use crate::app::App;
use crate::config::Config;
use crate::doors::entry::GatewayDoor;
use crate::doors::gateway::fleet::Fleet;
use crate::doors::gateway::member::Member;
use crate::out;

/// What an agent is run with.
pub(super) struct AgentAtWork {
    pub(super) fleet: Arc<Fleet>,
    pub(super) bots: Vec<BotAtDoor>,
    /// The doors that run beside its bots.
    pub(super) beside: Vec<GatewayDoor>,
}

impl AgentAtWork {
    /// Runs until the gateway ends, or the last bot has ended by itself.
    ///
    /// # Errors
    /// It cannot be started at all: its settings, its home or its token are wrong.
    pub(super) async fn run(self, config: Config) -> anyhow::Result<()> {
        let app = Arc::new(App::open(config)?);
        crate::tell_migration(&app.store);
        let member = Arc::new(self.member(&app));
        let say = |line: &str| (member.say)(line);
        crate::undo::finish_cut(&app, |line| say(&out::clean(line))).await;
        let notices = app.warnings.iter().chain(&app.config.notices);
        notices.chain(app.heartbeats_fault.as_ref()).for_each(|notice| say(&out::clean(notice)));
        let following = crate::follow_settings::begin_ahead(app.clone());
        let retention = crate::retention::begin(app.clone());
        let mut beside = JoinSet::new();
        for door in &self.beside {
            let (run, fleet, member) = (door.run, self.fleet.clone(), member.clone());
            beside.spawn(async move { run(&fleet, &member).await });
        }
        let done = self.run_bots(&member).await;
        // The gateway context knows the fleet, which must not keep it.
        for bot in &self.bots {
            self.fleet.down(&member.agent, bot.section, "it has ended".to_owned());
        }
        if self.fleet.closing.is_cancelled() {
            // They end in order, too.
            while beside.join_next().await.is_some() {}
        }
        drop(beside);
        following.abort();
        retention.abort();
        app.close().await;
        done
    }

    fn member(&self, app: &Arc<App>) -> Member {
        let agent = app.config.agent.name.clone();
        let whose = if self.fleet.is_many() { format!("{agent}: ") } else { String::new() };
        let (opened, agents) = (app.clone(), self.fleet.clone());
        Member {
            agent,
            texts: app.config.doors.clone(),
            home: app.config.home.path().to_owned(),
            say: Box::new(move |text| out::err_line(&format!("claw: {whose}{text}"))),
            open: Box::new(move || {
                let (app, agents) = (opened.clone(), agents.clone());
                Box::pin(async move { app.door_context(Arc::new(move || agents.shown())).await })
            }),
        }
    }

    /// Runs its bots until all have ended. Gives back what the last one has ended with.
    async fn run_bots(&self, member: &Arc<Member>) -> anyhow::Result<()> {
        let mut bots = JoinSet::new();
        for bot in &self.bots {
            let (run, fleet, member) = (bot.door.run, self.fleet.clone(), member.clone());
            let (section, chat) = (bot.section, bot.chat);
            bots.spawn(async move { (section, chat, run(&fleet, &member).await) });
        }
        let mut last = Ok(());
        while let Some(ended) = bots.join_next().await {
            last = match ended {
                Ok((section, chat, Err(error))) if !bots.is_empty() => {
                    fallen(&self.fleet, &member.agent, &[section], chat, &error);
                    Err(error)
                }
                Ok((_, _, ended)) => ended,
                Err(bug) => Err(anyhow::anyhow!("a bug in claw has ended it: {bug}")),
            };
        }
        last
    }
}

/// Bots of an agent that cannot be at work in this run: in the log, and told by another one.
pub(super) fn fallen(
    fleet: &Fleet,
    name: &str,
    sections: &[&'static str],
    chat: Option<i64>,
    error: &anyhow::Error,
) {
    let why = format!("{error:#}");
    if fleet.is_many() {
        tracing::error!(agent = name, error = why, "an agent is not at work");
        out::err_line(&format!("claw: the agent {name} is not at work: {}", out::clean(&why)));
    }
    sections.iter().for_each(|section| fleet.down(name, section, why.clone()));
    fleet.tell(name, chat, &why);
}
