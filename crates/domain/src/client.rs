//! The name of an MCP client that calls claw, and what is made of it: its principal, its address,
//! its sessions. Must not know how a client proves its name.

use serde::{Deserialize, Serialize};

use super::checked_name::checked_name;
use super::{Address, CallId, CallOwner, SessionId};

/// The longest name of a client, and the longest own name of one of its sessions, in bytes.
pub const CLIENT_NAME_BYTES_MAX: usize = 32;
/// Before the name, in a principal.
const PRINCIPAL: &str = "mcp:";
/// Before the principal, where it is the owner who has answered in the client.
const OWNER_IN: &str = "owner-in-";
/// Before the name, in an address.
const ADDRESS: &str = "mcp/";
/// Before the name, in the name of a session. The name has no dot, so the rest is unmistakable.
pub const CLIENT_SESSIONS: &str = "mcp.";
/// Behind the name, in the name of the session that holds what a client's calls have changed. No
/// client can name one so, because its names have no underscore.
const CALLS: &str = "_calls";
/// The same for what a client's calls have proposed and the owner's answers to that.
const STAGED: &str = "_staged";

/// The name of an MCP client: 1 to 32 small ASCII letters, digits and `-`, not starting with `-`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ClientName(String);

/// A name outside of the allowed alphabet or length.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a name of a client: use 1 to 32 small letters, digits or `-`, not starting \
     with `-`"
)]
pub struct InvalidClientName(pub String);

impl crate::Blamed for InvalidClientName {
    fn blame(&self) -> crate::Blame {
        crate::Blame::User
    }
}

/// A client has asked for a session that it cannot have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a name of a session: use small letters, digits or `-`, not starting with `-`, \
     at most {1} characters"
)]
pub struct InvalidClientSession(pub String, pub usize);

impl crate::Blamed for InvalidClientSession {
    fn blame(&self) -> crate::Blame {
        crate::Blame::User
    }
}

fn is_plain(name: &str) -> bool {
    let allowed = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    !name.is_empty() && !name.starts_with('-') && name.bytes().all(allowed)
}

impl ClientName {
    pub fn new(name: impl Into<String>) -> Result<Self, InvalidClientName> {
        let name = name.into();
        if is_plain(&name) && name.len() <= CLIENT_NAME_BYTES_MAX {
            return Ok(Self(name));
        }
        Err(InvalidClientName(crate::escape::visible(&name)))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Who it is for grants and the audit.
    pub fn principal(&self) -> String {
        format!("{PRINCIPAL}{self}")
    }

    /// Its owner, who answers in the client where that is configured.
    pub fn owner_in(&self) -> String {
        format!("{OWNER_IN}{PRINCIPAL}{self}")
    }

    /// Whether a call, and so a question about it, is one of this client's.
    pub fn calls(&self, call: &CallId) -> bool {
        client_of_call(call).as_ref() == Some(self)
    }

    /// Where its answers go.
    pub fn address(&self) -> Address {
        Address(format!("{ADDRESS}{self}"))
    }

    /// One of its sessions, by the client's own name for it; without one its usual session.
    pub fn session(&self, own: Option<&str>) -> Result<SessionId, InvalidClientSession> {
        let room = super::SESSION_ID_MAX_BYTES - CLIENT_SESSIONS.len() - self.0.len() - 1;
        let wrong = |own: &str| InvalidClientSession(crate::escape::visible(own), room);
        let name = match own {
            None => format!("{CLIENT_SESSIONS}{self}"),
            Some(own) if is_plain(own) => format!("{CLIENT_SESSIONS}{self}.{own}"),
            Some(own) => return Err(wrong(own)),
        };
        SessionId::new(name).map_err(|_| wrong(own.unwrap_or_default()))
    }

    /// What stands for its own calls where changes of the workspace are remembered by turns.
    pub fn calls_session(&self) -> Option<SessionId> {
        SessionId::new(format!("{CLIENT_SESSIONS}{self}.{CALLS}")).ok()
    }

    /// The session in whose log the owner's answers stand about what its calls have proposed.
    pub fn staged_session(&self) -> Option<SessionId> {
        SessionId::new(format!("{CLIENT_SESSIONS}{self}.{STAGED}")).ok()
    }

    /// Whether a session is this client's.
    pub fn has(&self, session: &SessionId) -> bool {
        client_of_session(session).as_ref() == Some(self)
    }

    /// What the client itself calls one of its sessions; `None` for its usual one.
    pub fn own_name<'s>(&self, session: &'s SessionId) -> Option<&'s str> {
        session
            .as_str()
            .strip_prefix(CLIENT_SESSIONS)?
            .strip_prefix(self.as_str())?
            .strip_prefix('.')
    }
}

/// The client that a principal stands for, if it stands for one.
pub fn client_of(principal: &str) -> Option<ClientName> {
    ClientName::new(client_name_of(principal)?).ok()
}

/// The same, as a part of the principal.
pub fn client_name_of(principal: &str) -> Option<&str> {
    let name = principal.strip_prefix(PRINCIPAL)?;
    (is_plain(name) && name.len() <= CLIENT_NAME_BYTES_MAX).then_some(name)
}

/// The client that has made a call, or in whose session it was made.
pub fn client_of_call(call: &CallId) -> Option<ClientName> {
    match call.owner() {
        CallOwner::Client(principal) => client_of(principal),
        CallOwner::Session(session) => client_of_session(session),
        CallOwner::Claw => None,
    }
}

/// Whether this principal may answer a question about this call, as far as the client says in which
/// its owner is: there only what that client asks for.
pub fn may_answer_about(principal: &str, call: &CallId) -> bool {
    match principal.strip_prefix(OWNER_IN) {
        Some(client) => client_of(client).is_some_and(|client| client.calls(call)),
        None => true,
    }
}

/// The client whose session it is, if it is one's.
pub fn client_of_session(session: &SessionId) -> Option<ClientName> {
    let rest = session.as_str().strip_prefix(CLIENT_SESSIONS)?;
    ClientName::new(rest.split_once('.').map_or(rest, |(name, _)| name)).ok()
}

/// The client whose own calls a name of a session stands for, which has no log.
pub fn client_of_calls(session: &SessionId) -> Option<ClientName> {
    let client = client_of_session(session)?;
    (client.own_name(session) == Some(CALLS)).then_some(client)
}

checked_name!(ClientName, InvalidClientName);

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str) -> ClientName {
        ClientName::new(name).unwrap()
    }

    #[test]
    fn a_name_is_plain_and_short() {
        for bad in ["", "-a", "A", "a.b", "a_b", "a/b", "a:b", "ä", "a b", &"x".repeat(33)] {
            assert!(ClientName::new(bad).is_err(), "{bad:?}");
        }
        for good in ["a", "0-9", &"x".repeat(32)] {
            assert_eq!(client(good).as_str(), good);
        }
    }

    #[test]
    fn what_is_made_of_a_name_leads_back_to_it_alone() {
        let laptop = client("laptop");
        assert_eq!(client_of(&laptop.principal()), Some(laptop.clone()));
        for other in ["mcp:", "mcp:Laptop", "mcp:laptop/7", "telegram:7", "laptop"] {
            assert_eq!(client_of(other), None, "{other}");
        }
        assert_eq!(laptop.address().door(), "mcp");
        let (usual, own) = (laptop.session(None).unwrap(), laptop.session(Some("x-1")).unwrap());
        assert_eq!((usual.as_str(), own.as_str()), ("mcp.laptop", "mcp.laptop.x-1"));
        assert!(laptop.has(&usual) && laptop.has(&own));
        assert_eq!((laptop.own_name(&usual), laptop.own_name(&own)), (None, Some("x-1")));
        for other in ["laptop-2", "lap", "x"] {
            assert!(!client(other).has(&usual) && !client(other).has(&own), "{other}");
        }
        let main = SessionId::new("main").unwrap();
        assert!(!laptop.has(&main) && client_of_session(&main).is_none());
    }

    #[test]
    fn an_owner_in_a_client_answers_what_that_client_asks_for_and_nothing_else() {
        let [laptop, other] = ["laptop", "other"].map(client);
        let call = CallId::Client { principal: laptop.principal(), number: 7 };
        let turn = |session: &str| CallId::Reply {
            session: SessionId::new(session).unwrap(),
            reply_seq: 1,
            block: 0,
        };
        assert!(may_answer_about(&laptop.owner_in(), &call));
        assert!(may_answer_about(&laptop.owner_in(), &turn("mcp.laptop.work")));
        assert!(may_answer_about("telegram:7", &call));
        for foreign in [turn("main"), turn("mcp.laptop-2"), turn("mcp.other")] {
            assert!(!may_answer_about(&laptop.owner_in(), &foreign), "{foreign}");
        }
        assert!(!may_answer_about(&other.owner_in(), &call));
        assert_eq!(client_of(&laptop.owner_in()), None, "an owner is no client");
    }

    #[test]
    fn no_session_of_a_client_is_that_of_its_calls_or_of_another_client() {
        let laptop = client("laptop");
        let calls = laptop.calls_session().unwrap();
        assert_eq!(client_of_calls(&calls), Some(laptop.clone()));
        assert_eq!(client_of_calls(&laptop.session(None).unwrap()), None);
        for bad in ["_calls", "_staged", "", ".", "a.b", "X", "-a", "../x", &"x".repeat(54)] {
            assert!(laptop.session(Some(bad)).is_err(), "{bad:?}");
        }
        let long = client(&"x".repeat(32));
        assert!(long.calls_session().is_some() && long.staged_session().is_some());
        assert!(long.session(Some(&"y".repeat(27))).is_ok());
        assert!(long.session(Some(&"y".repeat(28))).is_err());
    }
}
