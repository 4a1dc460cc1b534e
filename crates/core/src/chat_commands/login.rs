//! `/login`: the link at which an owner logs in to a tool server, and the address that they paste
//! afterwards. Owns who may, where, and what they are told. Must not know OAuth, or doors.

use futures::future::BoxFuture;

use super::{ChatCommands, Given, code, is_owner};
use crate::domain::login_answer::{LOGIN_HOST, LOGIN_PATH};
use crate::domain::{escape, is_alone_with_claw};
use crate::gate::Gate;
use crate::hub::login::{
    Earlier, LoginError, LoginRequest, LoginUnderWay, PORT, answer_in, is_answer_alone,
};
use crate::router::{Visitor, sentence};
use crate::store::StoreError;

const NOT_HERE: &str = "Only the owner may log in to a server, and in the private chat with claw \
                        alone.";

impl ChatCommands {
    pub(super) async fn login(&self, given: Given<'_>) -> Result<Option<String>, StoreError> {
        let parts = self.parts();
        let text = match self.login_answer(given.visitor, given.words).await {
            Some(told) => told,
            None if given.words.split_whitespace().any(is_answer_alone) => {
                answers_none(&parts.gate)
            }
            None if may(given.visitor) => begun(&parts.gate, given.words).await,
            None => NOT_HERE.to_owned(),
        };
        given.to.say(&parts.store, text).await
    }

    /// What is said to a message that holds the address at which the browser of a login has ended;
    /// `None` for any other message. Such a message goes nowhere else: it ends here, whoever sent
    /// it. So does a message that is such an address alone, of a login that claw does not wait for.
    /// Told again, it says the same of a login that has succeeded.
    pub fn login_answer<'a>(
        &'a self,
        visitor: &'a Visitor,
        text: &'a str,
    ) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let parts = self.parts();
            let cleared = parts.gate.hub().without_login_answer(text);
            let cleared = cleared.as_deref().unwrap_or(text);
            let Some((name, has_more)) = answer_in(cleared) else {
                return is_answer_alone(cleared).then(|| answers_none(&parts.gate));
            };
            let mut told = match may(visitor) {
                true => finished(&parts.gate, name).await,
                false => {
                    parts.gate.hub().forget_login_answer(name);
                    format!("{NOT_HERE} The address that you sent was not used.")
                }
            };
            if has_more {
                told.push_str(
                    " The other words of your message were not passed on: send them again.",
                );
            }
            Some(told)
        })
    }
}

fn may(visitor: &Visitor) -> bool {
    is_owner(visitor) && is_alone_with_claw(&visitor.principal, &visitor.from)
}

async fn begun(gate: &Gate, words: &str) -> String {
    let mut words = words.split_whitespace();
    let (server, word, more) = (words.next(), words.next(), words.next());
    let is_new = word == Some("new");
    match server {
        None => listed(gate),
        Some(_) if more.is_some() || word.is_some() && !is_new => {
            "`/login SERVER` gives you a link, and `/login SERVER new` another one.".to_owned()
        }
        Some(server) => link(gate, server, is_new).await.unwrap_or_else(|error| {
            let said = said(gate, &error);
            match error {
                LoginError::UnknownServer(_) => format!("{said}. {}", listed(gate)),
                _ => format!("No login to {}: {said}.", code(server)),
            }
        }),
    }
}

fn listed(gate: &Gate) -> String {
    let hub = gate.hub();
    let servers = hub.servers_with_login();
    if servers.is_empty() {
        return "No server in `mcp.json` is at a URL, so there is nothing to log in to.".to_owned();
    }
    let mut text = "`/login SERVER` logs in to a server at a URL:\n\n".to_owned();
    for server in servers {
        let state = if hub.is_logged_in(&server) { "logged in" } else { "no login" };
        text.push_str(&format!("- {}: {state}\n", code(&server)));
    }
    text
}

async fn link(gate: &Gate, server: &str, is_new: bool) -> Result<String, LoginError> {
    let hub = gate.hub();
    let mut interrupted = "";
    if !is_new {
        match hub.earlier_login(server).await? {
            Earlier::Nothing => {}
            Earlier::UnderWay(login) => return Ok(shown(server, &login)),
            Earlier::Done(scopes) => return Ok(done(server, &scopes)),
            Earlier::Interrupted => {
                interrupted = "The last login was interrupted after its code was sent, so it takes \
                               another one.\n\n";
            }
        }
    }
    let redirect = format!("http://{LOGIN_HOST}{PORT}{LOGIN_PATH}");
    let login = hub.begin_login(server, &redirect, &LoginRequest::default()).await?;
    Ok(format!("{interrupted}{}", shown(server, &login)))
}

fn shown(server: &str, login: &LoginUnderWay) -> String {
    let rights = login.scopes();
    let asks = match rights.is_empty() {
        true => String::new(),
        false => {
            let rights: Vec<String> = rights.iter().map(|right| code(right)).collect();
            format!(" It asks for {}.", rights.join(", "))
        }
    };
    // A link is whole, and nothing in it is Markdown.
    let link = login.link().replace('<', "%3C").replace('>', "%3E").replace(' ', "%20");
    format!(
        "To log in to {}, open this link. It leads to {}.{asks}\n\n<{link}>\n\nAt the end your \
         browser shows a page that does not load. Copy the whole address of that page, and send it \
         here. Only claw reads it, no model.",
        code(server),
        code(&login.host()),
    )
}

fn done(server: &str, scopes: &[String]) -> String {
    let rights: Vec<String> = scopes.iter().map(|right| code(right)).collect();
    let rights = match rights.is_empty() {
        true => String::new(),
        false => format!(" Rights: {}.", rights.join(", ")),
    };
    format!("Logged in to {}.{rights}", code(server))
}

async fn finished(gate: &Gate, name: &str) -> String {
    match gate.hub().finish_login(name).await {
        Ok(finished) => done(&finished.server, &finished.scopes),
        Err(error @ LoginError::Part) => sentence(&said(gate, &error)),
        Err(error) => failed(gate, &error),
    }
}

fn failed(gate: &Gate, error: &LoginError) -> String {
    format!("{} `/login SERVER` gives a new link.", sentence(&said(gate, error)))
}

fn answers_none(gate: &Gate) -> String {
    failed(gate, &LoginError::NoSuchLogin)
}

/// It may quote a server.
fn said(gate: &Gate, error: &LoginError) -> String {
    let said = gate.redactor().redact(&error.to_string()).into_owned();
    escape::visible(said.trim_end_matches('.')).replace("\\\\", "\\")
}
