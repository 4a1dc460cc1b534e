//! Written messages while questions are open: whether one answers a question, and what its writer
//! is told if it does not. Owns which question is meant; must not know how words are read, or what
//! an answer does.

use super::context::GatewayContext;
use super::tap_notice;
use crate::api::incoming::ChatMessage;
use crate::domain::{
    Answer, ApprovalId, CallList, Origin, Question, Scope, SessionId, Term, escape,
};
use crate::doors::call_list;
use crate::doors::input_answers::{self, ReadInput, read_input};
use crate::doors::list_answers::{ReadList, in_words, read_list};
use crate::doors::typed::{Typed, typed};
use crate::mail::{AskedQuestion, MailError, PostedQuestion};
use crate::router::Visitor;

/// So many open questions are named when a word could answer any of them.
const NAMED_MAX: usize = 5;

/// What became of a message.
pub(super) enum Meant {
    /// It was an answer. All that it does is done, and said.
    Answered,
    /// It was an answer, to no question; its writer reads why.
    ToNothing(String),
    /// A message, and what its writer has to know of the open questions.
    Message(Option<String>),
}

/// An open question of a conversation, and the message that shows it there, if it is shown.
struct Open {
    row: AskedQuestion,
    shown: Option<PostedQuestion>,
}

/// Reads a message that is no command, in a conversation in which questions may be open.
pub(super) async fn read(
    ctx: &GatewayContext,
    msg: &ChatMessage,
    visitor: &Visitor,
    session: &SessionId,
    key: (i64, i64),
) -> Result<Meant, MailError> {
    let named = named(ctx, msg, visitor)?;
    let open = open(ctx, visitor, session)?;
    let text = unaddressed(ctx, msg);
    let value = value_meant(&open, named.as_ref()).and_then(|question| {
        let aimed = named.is_some();
        may_answer(ctx, msg, visitor, named.as_ref())
            .then(|| read_input(text, question, aimed))
            .flatten()
    });
    let answer = match (value, typed(text)) {
        (Some(ReadInput::Answer(answer)), _) => Some(answer),
        (Some(ReadInput::Unclear(sentence)), _) => return Ok(Meant::ToNothing(sentence)),
        (Some(ReadInput::NotAnAnswer), _) => None,
        _ if !may_answer(ctx, msg, visitor, named.as_ref()) => None,
        (None, Typed::Remark) => match read_list(text, &list_meant(&open, named.as_ref())) {
            ReadList::Answer(answer) => Some(answer),
            ReadList::Unclear(sentence) => return Ok(Meant::ToNothing(sentence)),
            ReadList::NotAnAnswer => None,
        },
        (None, Typed::Yes) => Some(Answer::Allow { term: Term::Once, scope: Scope::Exact }),
        (None, Typed::No { word }) => Some(Answer::Deny { word }),
    };
    let Some(answer) = answer else {
        return Ok(Meant::Message(told(ctx, visitor, session, &open)?));
    };
    let meant = match named {
        Some(named) => open.iter().find(|open| open.row.id == named),
        None => match &open[..] {
            [] => return Ok(Meant::Message(None)),
            [one] => match &one.shown {
                Some(shown) if was_seen(shown, msg) => Some(one),
                _ => {
                    let text = format!(
                        "What you wrote came before the question about {}, so it is no answer. \
                         Look at the question, and tap a button or write yes or no.",
                        about(&one.row)
                    );
                    return Ok(Meant::Message(Some(text)));
                }
            },
            many => {
                return Ok(Meant::ToNothing(which_one(many)));
            }
        },
    };
    let Some(meant) = meant else {
        return Ok(Meant::ToNothing("This question is closed.".to_owned()));
    };
    let text = match &meant.row.question.list {
        Some(list) => in_words(&answer, list),
        None if meant.row.question.input.is_some() => {
            format!("{}.", input_answers::in_words(&answer, &meant.row.question))
        }
        None => format!("{} {}", tap_notice::in_words(&answer, false), about(&meant.row)),
    };
    let told = (session.clone(), Some(text));
    ctx.router.answer_of_update(visitor, &meant.row.id, &answer, key, told).await?;
    Ok(Meant::Answered)
}

/// The list that numbers are about: the question that is named, or the only one that is open. An
/// empty one where that is none, which no text answers.
fn list_meant(open: &[Open], named: Option<&ApprovalId>) -> CallList {
    let meant = match (named, open) {
        (Some(named), _) => open.iter().find(|open| open.row.id == *named),
        (None, [one]) => Some(one),
        (None, _) => None,
    };
    meant.and_then(|open| open.row.question.list.clone()).unwrap_or_default()
}

/// The question for a value that a text may answer: the one that is named, or the only one open.
fn value_meant<'o>(open: &'o [Open], named: Option<&ApprovalId>) -> Option<&'o Question> {
    let meant = match (named, open) {
        (Some(named), _) => open.iter().find(|open| open.row.id == *named),
        (None, [one]) => Some(one),
        (None, _) => None,
    };
    meant.map(|open| &open.row.question).filter(|question| question.input.is_some())
}

/// Only what an owner has written as it is now, alone and to nobody else. Where a question is
/// named, nothing else may be.
fn may_answer(
    ctx: &GatewayContext,
    msg: &ChatMessage,
    visitor: &Visitor,
    named: Option<&ApprovalId>,
) -> bool {
    let alone = msg.files.is_empty() && msg.words.is_none() && msg.album.is_none();
    // In a topic everything replies to the topic's beginning.
    let to_another = msg.reply.as_ref().is_some_and(|to| msg.place.thread != Some(to.id));
    let elsewhere = to_another || msg.elsewhere.is_some();
    ctx.is_owner(msg.user)
        && visitor.origin == Origin::Owner
        && !msg.forwarded
        && !msg.edited
        && alone
        && (named.is_some() || !elsewhere)
}

/// The question whose message this one replies to.
fn named(
    ctx: &GatewayContext,
    msg: &ChatMessage,
    visitor: &Visitor,
) -> Result<Option<ApprovalId>, MailError> {
    let Some(to) = &msg.reply else { return Ok(None) };
    let posted = ctx.mail.posted_at(&visitor.from, to.id)?;
    Ok(posted.map(|posted| posted.approval))
}

/// The questions that wait in a session, and those of others that are shown where it is. What was
/// staged is not among them: it takes a tap.
fn open(
    ctx: &GatewayContext,
    visitor: &Visitor,
    session: &SessionId,
) -> Result<Vec<Open>, MailError> {
    let mut shown = ctx.mail.posted_open_at(&visitor.from)?;
    let rows = ctx.mail.open_questions(Some(session))?;
    let mut open = Vec::new();
    for row in rows {
        let at = shown.iter().position(|posted| posted.approval == row.id);
        open.push(Open { row, shown: at.map(|at| shown.swap_remove(at)) });
    }
    for posted in shown {
        if let Some(row) = ctx.mail.asked_question(&posted.approval)? {
            open.push(Open { row, shown: Some(posted) });
        }
    }
    open.retain(|open| open.row.question.staged.is_none());
    Ok(open)
}

/// Whether a message was written when the question could be seen: it stands behind it, and a second
/// has begun since. Both times are Telegram's.
fn was_seen(shown: &PostedQuestion, msg: &ChatMessage) -> bool {
    msg.id > shown.message && msg.at_s > shown.sent_s
}

/// What the writer of a message has to know: that it waits, and for what. Said of the first message
/// that waits.
fn told(
    ctx: &GatewayContext,
    visitor: &Visitor,
    session: &SessionId,
    open: &[Open],
) -> Result<Option<String>, MailError> {
    let own: Vec<&Open> =
        open.iter().filter(|open| open.row.question.session.as_ref() == Some(session)).collect();
    if own.is_empty() || ctx.mail.queued_messages(session)? > 0 {
        return Ok(None);
    }
    Ok(Some(match own[..] {
        _ if visitor.origin != Origin::Owner => {
            "Your message goes in when the owner has answered an open question.".to_owned()
        }
        [one] if one.row.question.input.is_some() => format!(
            "Your message goes in when the question of {} is answered: tap a button, or reply to \
             its message.",
            about(&one.row)
        ),
        [one] => format!(
            "Your message goes in when the question about {} is answered. It is still open: tap a \
             button, or write yes or no.",
            about(&one.row)
        ),
        _ => format!(
            "Your message goes in when {} open questions are answered: tap their buttons.",
            own.len()
        ),
    }))
}

/// What is written to the bot, without its name, which a group needs.
fn unaddressed<'a>(ctx: &GatewayContext, msg: &'a ChatMessage) -> &'a str {
    let name = format!("@{}", ctx.me.username);
    let text = msg.text.trim();
    if msg.private {
        return text;
    }
    let is_name = |word: Option<&str>| word.is_some_and(|word| word.eq_ignore_ascii_case(&name));
    let after = is_name(text.get(..name.len())).then(|| text.get(name.len()..)).flatten();
    let from = text.len().saturating_sub(name.len());
    let before = is_name(text.get(from..)).then(|| text.get(..from)).flatten();
    match after.filter(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
        Some(rest) => rest.trim_start_matches([',', ':']),
        None => before.unwrap_or(text),
    }
}

/// Asks which of several questions is meant, the oldest named first.
fn which_one(open: &[Open]) -> String {
    let mut named: Vec<String> = open.iter().take(NAMED_MAX).map(|open| about(&open.row)).collect();
    if open.len() > NAMED_MAX {
        named.push(format!("{} more", open.len() - NAMED_MAX));
    }
    format!(
        "Which one? {} questions are open here, so this answers none of them: {}. Reply with yes \
         or no to the message of the one that you mean, or tap its buttons.",
        open.len(),
        named.join(", ")
    )
}

/// A question in a sentence.
fn about(row: &AskedQuestion) -> String {
    if row.question.list.is_some() {
        return call_list::about(&row.question);
    }
    let call = format!("{}/{}", row.question.server, row.question.tool);
    format!("`{}`", escape::visible(&call).replace('`', "'"))
}
