//! What an answer to several calls leaves standing: a mode of the session, given once, or for a job
//! or a client each of them permanently. Must not know how a list is made, or doors.

use std::collections::BTreeMap;

use super::Calls;
use super::approvals::{DecideError, Standing, found};
use crate::domain::{Answer, ApprovalId, ApprovalState, CallList, Choice, ListedCall, Scope, Term};
use crate::store::{ApprovalRow, CallRow};

pub(super) enum ListStanding {
    Nothing,
    Once(Box<Standing>),
    Each(BTreeMap<ApprovalId, Standing>),
}

impl ListStanding {
    /// What the yes to this call leaves, behind which so many are left. A mode is given last: what
    /// was shown runs by the yes to it.
    pub(super) fn of(&self, item: &ListedCall, left: usize) -> Option<&Standing> {
        match self {
            Self::Nothing => None,
            Self::Once(standing) => (left == 0).then_some(standing),
            Self::Each(standings) => standings.get(&item.approval),
        }
    }
}

/// "Always, for this job" or "for this client" of several calls, if each of them offers it.
pub(super) fn always_for_asker(joined: &[ApprovalRow]) -> Option<Choice> {
    let asks = |row: &ApprovalRow| {
        let effect = row.question.effect.as_ref()?;
        match (effect.for_job, effect.for_client) {
            (true, _) => Some("job"),
            (false, true) => Some("client"),
            (false, false) => None,
        }
    };
    let asker = asks(joined.first()?)?;
    let always = joined.iter().map(|row| {
        let mut choices = row.question.choices.iter().filter(|_| asks(row) == Some(asker));
        choices.find(|choice| is_always(&choice.answer))
    });
    let always: Option<Vec<&Choice>> = always.collect();
    let label = format!(
        "all {} of them, and from now on each of them with exactly these arguments, for this {asker}",
        joined.len()
    );
    always?.first().map(|choice| Choice { label, ..(*choice).clone() })
}

/// Exactly this call, permanently.
pub(super) fn is_always(answer: &Answer) -> bool {
    matches!(answer, Answer::Allow { term: Term::Always, scope: Scope::Exact })
}

impl Calls {
    /// What an answer to a list would leave, checked against the calls that were shown.
    pub(super) async fn list_standing(
        &self,
        approval: &ApprovalRow,
        row: &CallRow,
        list: &CallList,
        answer: &Answer,
    ) -> Result<ListStanding, DecideError> {
        if let (Answer::Allow { scope: Scope::Mode { mode }, .. }, Some(session)) =
            (answer, &approval.question.session)
        {
            let mode = self.new_mode(*mode, session, &row.principal, Some(&approval.id)).await?;
            let standing = Standing::mode(mode, self.reach_of_open_calls().await);
            return Ok(ListStanding::Once(Box::new(standing)));
        }
        if !is_always(answer) {
            return Ok(ListStanding::Nothing);
        }
        let mut each = BTreeMap::new();
        for item in &list.items {
            let Some((question, call)) = self.store.read(|tx| found(tx, &item.approval))? else {
                continue;
            };
            if question.state == ApprovalState::Waiting
                && let Some(standing) = self.grant_of(&question, &call, answer).await?
            {
                each.insert(item.approval.clone(), standing);
            }
        }
        Ok(ListStanding::Each(each))
    }
}
