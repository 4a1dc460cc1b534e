//! What somebody at the keyboard does about open questions: yes, no, both at once, all of a list or
//! single calls of it, a mode. Must not know what is judged afterwards.

use crate::job::Script;
use crate::killing::look::Approval;
use crate::killing::{effects, lists, standing};
use crate::play::{Play, TRIES_MAX, words};

impl Play<'_> {
    /// Answers questions until none is open.
    pub async fn settle(&mut self) -> anyhow::Result<()> {
        for _ in 0..TRIES_MAX {
            let waiting = self.look()?.waiting()?;
            if waiting.is_empty() || self.over {
                return Ok(());
            }
            // A call of an open list is answered with the list, or by somebody who picks it.
            let by_list =
                |one: &Approval| waiting.iter().any(|list| one.list.as_ref() == Some(&list.id));
            for question in waiting.iter().filter(|one| !by_list(one)) {
                match question.is_list() {
                    true => self.answer_list(question).await?,
                    false => self.answer(question).await?,
                }
            }
        }
        self.wrong("questions never end".to_owned());
        Ok(())
    }

    /// Says yes to one of them, whether it is still open or not.
    pub async fn says_yes(&mut self, questions: &[Approval], to: usize) -> anyhow::Result<()> {
        let Some(question) = questions.get(to) else { return Ok(()) };
        self.claw(&words(["approve", &question.id])).await.map(drop)
    }

    /// Says yes to one call of a list, with a mode that answers the others; where no call of it has
    /// anything of a mode, to all of it.
    pub async fn one_and_the_mode(&mut self) -> anyhow::Result<()> {
        let look = self.look()?;
        let waiting = look.waiting()?;
        let mut of_files = look.calls()?;
        of_files.retain(|call| call.server == "filesystem");
        let is_of_files = |one: &Approval| of_files.iter().any(|call| call.id == one.call);
        if let Some(one) = waiting.iter().find(|one| one.list.is_some() && is_of_files(one)) {
            return self.claw(&words(["approve", &one.id, "--mode", "edits"])).await.map(drop);
        }
        let Some(list) = waiting.iter().find(|one| one.is_list()) else { return Ok(()) };
        self.claw(&words(["approve", &list.id])).await.map(drop)
    }

    /// Says no to the first of what waits.
    pub async fn skip_one(&mut self) -> anyhow::Result<()> {
        let waiting = self.look()?.waiting()?;
        let Some(question) = waiting.iter().find(|one| !one.is_list()) else { return Ok(()) };
        self.claw(&words(["deny", &question.id])).await.map(drop)
    }

    async fn answer(&mut self, question: &Approval) -> anyhow::Result<()> {
        let (approve, mut deny) = (words(["approve", &question.id]), words(["deny", &question.id]));
        if !question.staged {
            deny.extend(words(["not", "now"]));
        }
        let dice = if self.script == Script::Random { self.killer.random.below(100) } else { 0 };
        match dice {
            0..60 => self.claw(&approve).await.map(drop),
            60..70 => self.claw(&deny).await.map(drop),
            70..85 => self.both(&approve, &deny).await,
            _ => {
                self.claw(&approve).await?;
                self.claw(&approve).await.map(drop)
            }
        }
    }

    async fn answer_list(&mut self, list: &Approval) -> anyhow::Result<()> {
        let (approve, deny) = (words(["approve", &list.id]), words(["deny", &list.id]));
        let one = self.killer.random.below(list.members.len() as u64) as usize;
        let member = words(["approve", &list.members[one]]);
        let dice = if self.script == Script::Random { self.killer.random.below(100) } else { 0 };
        match dice {
            0..30 => self.claw(&approve).await.map(drop),
            30..40 => self.claw(&deny).await.map(drop),
            40..50 => self.both(&approve, &deny).await,
            50..60 => self.both(&approve, &approve).await,
            60..70 => self.both(&deny, &member).await,
            70..80 => self.one_and_the_mode().await,
            _ => {
                // The others are answered one by one, or with the rest of the list.
                let other = if one == 0 { 2 } else { one };
                self.types_at_the_question(&format!("{} -{other}", one + 1)).await
            }
        }
    }

    pub async fn both(&mut self, one: &[String], two: &[String]) -> anyhow::Result<()> {
        self.says(one)?;
        self.says(two)?;
        let ((_, kill_one), (_, kill_two)) = (self.killer.next(), self.killer.next());
        let (strike_one, strike_two) =
            (self.killer.strike(&kill_one), self.killer.strike(&kill_two));
        let (ended_one, ended_two) = tokio::join!(
            self.house.claw_struck(one, &kill_one, None, strike_one),
            self.house.claw_struck(two, &kill_two, None, strike_two)
        );
        self.note(one, &kill_one, &ended_one?);
        self.note(two, &kill_two, &ended_two?);
        self.looks_for_halves()
    }

    /// Remembers what somebody is about to say yes or no to, and lays out what the
    /// calls of a task need.
    pub fn says(&mut self, args: &[String]) -> anyhow::Result<()> {
        match args[0].as_str() {
            "approve" => {
                let meant = self.meant(&args[1])?;
                self.seen.said_yes.extend(meant);
            }
            "deny" => {
                let meant = self.meant(&args[1])?;
                self.seen.said_no.extend(meant);
            }
            "ask" => {
                let task = args.last().map_or("", String::as_str);
                effects::sow(&self.house.path("work"), task)?;
            }
            "chat" => self.says_numbers()?,
            _ => {}
        }
        Ok(())
    }

    /// The question with this id, and the calls of it that wait, if it is about several.
    fn meant(&self, id: &str) -> anyhow::Result<Vec<String>> {
        let waiting = self.look()?.waiting()?;
        let members = waiting.iter().filter(|one| one.list.as_deref() == Some(id));
        Ok(members.map(|one| one.id.clone()).chain([id.to_owned()]).collect())
    }

    /// Numbers that are typed mean the calls of the list that is open, and a minus means no.
    fn says_numbers(&mut self) -> anyhow::Result<()> {
        let typed = std::fs::read_to_string(self.house.path("typed"))?;
        let numbers: Vec<i64> =
            typed.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        for list in self.look()?.waiting()?.into_iter().filter(Approval::is_list) {
            for number in &numbers {
                let at = usize::try_from(number.abs() - 1).unwrap_or(usize::MAX);
                let Some(member) = list.members.get(at) else { continue };
                let said =
                    if *number > 0 { &mut self.seen.said_yes } else { &mut self.seen.said_no };
                said.insert(member.clone());
            }
        }
        Ok(())
    }

    /// What may not be so at any moment, not even right after a kill.
    pub fn looks_for_halves(&mut self) -> anyhow::Result<()> {
        if !self.house.db().exists() {
            return Ok(());
        }
        let look = self.look()?;
        // Killed before its tables were made.
        let tables = look.count("SELECT count(*) FROM sqlite_schema WHERE name = 'approvals'")?;
        if tables > 0 {
            self.seen.torn.extend(lists::torn(&look)?);
            self.seen.torn.extend(standing::torn(&look)?);
        }
        Ok(())
    }
}
