//! What an editor may ask of claw, request by request, and the conversations that it has open. Must
//! not know how a conversation goes on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v1::schema::{
    AgentCapabilities, CloseSessionRequest, CloseSessionResponse, Implementation,
    InitializeResponse, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest,
    LoadSessionResponse, McpServer, NewSessionRequest, NewSessionResponse, PromptCapabilities,
    PromptRequest, PromptResponse, ResumeSessionRequest, ResumeSessionResponse,
    SessionCapabilities, SessionCloseCapabilities, SessionInfo, SessionListCapabilities,
    SessionResumeCapabilities, SetSessionModeRequest, SetSessionModeResponse,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Client, Error};

use super::talk::{Talk, TalkEvent, TalkParts};
use super::wire_error::{broken, no_conversation, refused};
use super::{AcpDoor, modes, prompt, replay};
use crate::chat_commands::Conversation;
use crate::domain::{Mode, SessionId};
use crate::door_context::Context;
use crate::doors::Door as _;
use crate::doors::clean::clean_line;
use crate::jobs::{JobPlace, Spot};
use crate::mail::Instance;

/// Conversations that one editor has open at once.
const TALKS_MAX: usize = 32;
/// Conversations on one page of a list.
const PAGE: usize = 50;
/// Characters of a folder's own name in the name of its conversations.
const NAME_CHARS_MAX: usize = 24;
/// An editor learns the name of a new conversation by the answer to its request, and may drop what
/// comes about it before it has taken that in, as Zed does. So long the rest waits behind it.
const KNOWN_WITHIN: Duration = Duration::from_millis(100);

/// Opens an instance of this door, for one conversation.
pub type OpenInstance = Arc<dyn Fn() -> anyhow::Result<Instance> + Send + Sync>;

/// Lives as long as the process. An editor is one connection.
pub struct Agent {
    /// Each conversation has a clone.
    context: Context,
    open: OpenInstance,
    /// Those that are open. One goes when the editor closes it, or when another needs its place.
    talks: Mutex<BTreeMap<SessionId, Talk>>,
}

/// What the answers to three requests have in common.
struct Opened {
    session: SessionId,
    mode: Mode,
}

pub fn initialized() -> InitializeResponse {
    let sessions = SessionCapabilities::new()
        .list(SessionListCapabilities::new())
        .resume(SessionResumeCapabilities::new())
        .close(SessionCloseCapabilities::new());
    let capabilities = AgentCapabilities::new()
        .load_session(true)
        .prompt_capabilities(PromptCapabilities::new().embedded_context(true))
        .session_capabilities(sessions);
    InitializeResponse::new(ProtocolVersion::V1)
        .agent_capabilities(capabilities)
        .agent_info(Implementation::new("claw", env!("CARGO_PKG_VERSION")).title("claw".to_owned()))
}

/// The names of this door's conversations begin so.
fn prefix() -> String {
    format!("{}.", AcpDoor::NAME)
}

impl Agent {
    pub fn new(context: Context, open: OpenInstance) -> Self {
        Self { context, open, talks: Mutex::default() }
    }

    fn talks(&self) -> std::sync::MutexGuard<'_, BTreeMap<SessionId, Talk>> {
        self.talks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers first: nothing else is sent of a conversation that its editor does not know yet. Who
    /// sends a prompt knows it.
    pub async fn new_session(
        &self,
        request: NewSessionRequest,
        responder: Responder<NewSessionResponse>,
        editor: ConnectionTo<Client>,
    ) {
        let Opened { session, mode } = match self.begin_talk(&request.cwd, editor).await {
            Ok(opened) => opened,
            // An editor that has gone waits for no answer.
            Err(error) => return drop(responder.respond_with_error(error)),
        };
        let prompted = self.talks().get(&session).map(|talk| talk.prompted.clone());
        let answer = NewSessionResponse::new(session.to_string()).modes(modes::state(mode));
        // As above.
        let _ = responder.respond(answer);
        let Some(prompted) = prompted else { return };
        // Either way the editor knows it then.
        let _ = tokio::time::timeout(KNOWN_WITHIN, prompted.notified()).await;
        // It may have been closed, and opened again, meanwhile.
        let is_this = |talk: &Talk| Arc::ptr_eq(&talk.prompted, &prompted);
        if self.talks().get(&session).is_some_and(is_this) {
            self.tell_what_is_not_taken(&session, &request.mcp_servers);
            self.go_on(&session);
        }
    }

    async fn begin_talk(&self, cwd: &Path, editor: ConnectionTo<Client>) -> Result<Opened, Error> {
        let instance = (self.open)().map_err(|error| broken(format!("{error:#}")))?;
        let session = name(cwd, &instance)?;
        let workspace = self.place(&session, cwd).await?;
        self.open_talk(instance, session, workspace, editor)
    }

    pub async fn load(
        &self,
        request: LoadSessionRequest,
        editor: ConnectionTo<Client>,
    ) -> Result<LoadSessionResponse, Error> {
        let opened = self.reopen(&request.session_id.to_string(), &request.cwd, editor).await?;
        let session = opened.session;
        let (door, said) =
            self.with_talk(session.as_str(), |talk| Ok((talk.door.clone(), talk.said_before())))?;
        // What comes into the log from here on comes by the outbox, too.
        let rows = said.await.map_err(|error| broken(format!("{error:#}")))?;
        let entries = self.context.chat_commands.entries(&session).map_err(broken)?;
        let claw = self.context.claw();
        for update in replay::updates(&entries, (&claw, session.as_str()), door.workspace()) {
            door.update(update);
        }
        rows.into_iter().for_each(|row| door.mark(row));
        self.tell_what_is_not_taken(&session, &request.mcp_servers);
        self.go_on(&session);
        Ok(LoadSessionResponse::new().modes(modes::state(opened.mode)))
    }

    pub async fn resume(
        &self,
        request: ResumeSessionRequest,
        editor: ConnectionTo<Client>,
    ) -> Result<ResumeSessionResponse, Error> {
        let opened = self.reopen(&request.session_id.to_string(), &request.cwd, editor).await?;
        self.tell_what_is_not_taken(&opened.session, &request.mcp_servers);
        self.go_on(&opened.session);
        Ok(ResumeSessionResponse::new().modes(modes::state(opened.mode)))
    }

    /// A conversation of this door that was there before, in the folder that it began in.
    async fn reopen(
        &self,
        written: &str,
        cwd: &Path,
        editor: ConnectionTo<Client>,
    ) -> Result<Opened, Error> {
        let session = SessionId::new(written).map_err(|_| no_conversation(written))?;
        let known = self.context.chat_commands.conversations(&prefix()).map_err(broken)?;
        let known = known.into_iter().find(|known| known.session == session);
        let folder = known.ok_or_else(|| no_conversation(written))?.folder;
        let cwd = cwd.canonicalize().unwrap_or_else(|_| cwd.to_owned());
        // An editor may be open below the repository.
        if !cwd.starts_with(&folder) {
            return Err(refused(format!(
                "The conversation `{session}` works in {}; open that folder, or start a new \
                 conversation here.",
                clean_line(&folder.display().to_string())
            )));
        }
        self.talks().remove(&session);
        let instance = (self.open)().map_err(|error| broken(format!("{error:#}")))?;
        self.open_talk(instance, session, folder, editor)
    }

    /// Lets a session work where the editor does.
    async fn place(&self, session: &SessionId, cwd: &Path) -> Result<PathBuf, Error> {
        if !cwd.is_absolute() {
            return Err(refused("The folder of a conversation has to be a whole path."));
        }
        let placed = (self.context.place)(session.clone(), cwd.to_owned()).await;
        placed.map_err(|why| refused(of_folder(&why)))
    }

    fn open_talk(
        &self,
        instance: Instance,
        session: SessionId,
        workspace: PathBuf,
        editor: ConnectionTo<Client>,
    ) -> Result<Opened, Error> {
        let mut talks = self.talks();
        if talks.len() >= TALKS_MAX {
            let idle = talks.iter().filter(|(_, talk)| talk.is_idle());
            let idlest = idle.min_by_key(|(_, talk)| talk.last()).map(|(name, _)| name.clone());
            // It is kept, and can be opened again.
            if idlest.and_then(|name| talks.remove(&name)).is_none() {
                return Err(refused(format!(
                    "{TALKS_MAX} conversations are at work in this editor; wait until one is done."
                )));
            }
        }
        let (context, of) = (self.context.clone(), session.clone());
        let parts = TalkParts { context, instance, session: of, workspace, editor };
        let talk = Talk::open(parts).map_err(|error| broken(format!("{error:#}")))?;
        let mode = talk.mode();
        talks.insert(session.clone(), talk);
        Ok(Opened { session, mode })
    }

    fn go_on(&self, session: &SessionId) {
        if let Some(talk) = self.talks().get_mut(session) {
            talk.go_on();
        }
    }

    /// A launch command needs the owner's yes, and an editor's settings are none.
    fn tell_what_is_not_taken(&self, session: &SessionId, servers: &[McpServer]) {
        let (false, Some(talk)) =
            (servers.is_empty(), self.talks().get(session).map(|t| t.door.clone()))
        else {
            return;
        };
        talk.say(
            "*The MCP servers of the editor are not started by claw. Write those that it is to use \
             into its own `mcp.json` (`claw doctor` says where that is).*\n\n",
        );
    }

    pub fn list(&self, request: &ListSessionsRequest) -> Result<ListSessionsResponse, Error> {
        let known = self.context.chat_commands.conversations(&prefix()).map_err(broken)?;
        let cwd =
            request.cwd.as_ref().map(|cwd| cwd.canonicalize().unwrap_or_else(|_| cwd.clone()));
        let from: usize = match &request.cursor {
            None => 0,
            Some(cursor) => {
                cursor.parse().map_err(|_| refused("This cursor is none that claw has given."))?
            }
        };
        let mut fits = known
            .into_iter()
            .filter(|known| cwd.as_ref().is_none_or(|cwd| cwd.starts_with(&known.folder)))
            .skip(from);
        let page: Result<Vec<SessionInfo>, Error> =
            fits.by_ref().take(PAGE).map(|known| self.info(known)).collect();
        let next = fits.next().map(|_| (from + PAGE).to_string());
        Ok(ListSessionsResponse::new(page?).next_cursor(next))
    }

    fn info(&self, known: Conversation) -> Result<SessionInfo, Error> {
        let title = self.context.chat_commands.title(&known.session).map_err(broken)?;
        let at = jiff::Timestamp::from_millisecond(known.last_ms).map(|at| at.to_string()).ok();
        let info = SessionInfo::new(known.session.to_string(), known.folder);
        Ok(info.title(title).updated_at(at))
    }

    pub async fn close(&self, request: CloseSessionRequest) -> Result<CloseSessionResponse, Error> {
        let session = self.open_one(&request.session_id.to_string())?;
        let Some(talk) = self.talks().remove(&session) else {
            return Err(no_conversation(session.as_str()));
        };
        // Its end is waited for, so that nothing is cut in the middle.
        talk.stop_and_settle().await.map_err(|error| broken(format!("{error:#}")))?;
        Ok(CloseSessionResponse::new())
    }

    pub fn prompt(&self, request: PromptRequest, responder: Responder<PromptResponse>) {
        let taken = self.with_talk(&request.session_id.to_string(), |talk| {
            prompt::text_of(&request.prompt, talk.door.workspace()).map_err(refused)
        });
        let text = match taken {
            Ok(text) => text,
            // An editor that has gone waits for no answer.
            Err(error) => return drop(responder.respond_with_error(error)),
        };
        let named = prompt::named_of(&request.prompt);
        let session = request.session_id.to_string();
        // A prompt that is refused here drops its responder, which answers with an error; the
        // sentence is told in the conversation.
        let _ = self.with_talk(&session, |talk| {
            let sent = talk.send(TalkEvent::Prompt { text, named, responder });
            sent.inspect_err(|why| talk.door.say(why)).map_err(refused)
        });
    }

    pub fn cancel(&self, session: &str) {
        // A notification has no answer.
        let _ = self.with_talk(session, |talk| talk.send(TalkEvent::Cancel).map_err(refused));
    }

    pub fn set_mode(
        &self,
        request: &SetSessionModeRequest,
        responder: Responder<SetSessionModeResponse>,
    ) {
        let written = request.mode_id.to_string();
        let Some(mode) = Mode::parse(&written) else {
            let error = refused(format!("There is no mode `{}`.", clean_line(&written)));
            // An editor that has gone waits for no answer.
            return drop(responder.respond_with_error(error));
        };
        let session = request.session_id.to_string();
        if let Err(error) = self.open_one(&session) {
            return drop(responder.respond_with_error(error));
        }
        let _ = self.with_talk(&session, |talk| {
            let sent = talk.send(TalkEvent::Mode { mode, responder });
            sent.inspect_err(|why| talk.door.say(why)).map_err(refused)
        });
    }

    fn open_one(&self, written: &str) -> Result<SessionId, Error> {
        let session = SessionId::new(written).map_err(|_| no_conversation(written))?;
        let is_open = self.talks().contains_key(&session);
        is_open.then_some(session).ok_or_else(|| no_conversation(written))
    }

    fn with_talk<T>(
        &self,
        written: &str,
        act: impl FnOnce(&Talk) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let session = self.open_one(written)?;
        let talks = self.talks();
        act(talks.get(&session).ok_or_else(|| no_conversation(written))?)
    }

    /// Where the jobs of a session are seen to, if it is open here.
    pub fn place_of(&self, session: Option<&SessionId>) -> JobPlace {
        let talks = self.talks();
        match session.and_then(|session| Some((session, talks.get(session)?))) {
            Some((session, talk)) => {
                JobPlace::Here(Spot { session: session.clone(), at: talk.address().clone() })
            }
            None => JobPlace::NotMine,
        }
    }

    pub fn wake_all(&self) {
        self.talks().values().for_each(Talk::wake);
    }

    /// Words to every open conversation.
    pub fn say_to_all(&self, text: &str) {
        self.talks().values().for_each(|talk| talk.door.say(text));
    }

    /// Lets go of all of them: what runs is cut, and goes on when it is opened again.
    pub fn end(&self) {
        self.talks().clear();
    }
}

/// The sentence begins with the option of a command line, which nobody has written here.
fn of_folder(why: &str) -> String {
    let why = why.strip_prefix("-C: ").unwrap_or(why);
    format!("claw cannot work in the folder that is open here: {why}")
}

/// A conversation's name: the folder's own, for people, and what nobody else has.
fn name(folder: &Path, instance: &Instance) -> Result<SessionId, Error> {
    let shown = folder.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    let plain = shown.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let shown: String = plain.take(NAME_CHARS_MAX).collect();
    let shown = if shown.is_empty() { "folder" } else { shown.as_str() };
    let own = instance.address().0.rsplit('/').next().unwrap_or_default().to_owned();
    SessionId::new(format!("{}{shown}.{own}", prefix())).map_err(broken)
}
