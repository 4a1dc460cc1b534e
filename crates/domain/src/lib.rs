//! The nouns that every room speaks: ids, messages, calls, events, questions, what comes in and
//! what goes out. Owns no state. Must not know: files, sockets, SQL, clocks, async.

mod agent;
mod answer;
mod approval;
pub mod audit_kind;
mod blame;
mod call;
mod call_id;
mod call_list;
pub mod canonical;
mod checked_name;
mod client;
mod command;
mod command_line;
mod compaction;
mod denied_by;
pub mod depth;
mod draft_message;
mod effect;
pub mod escape;
mod event;
mod hidden;
mod ids;
mod image;
mod inbound;
pub mod inherit;
mod input;
mod level;
mod live;
pub mod login_answer;
mod message;
mod mode;
mod model;
mod named;
mod opening;
mod origin;
mod outbound;
mod own_server;
mod owner_question;
mod posted;
mod principal;
mod project_file;
mod prompt_account;
mod proposal;
mod recalled;
mod reminder_answer;
mod rule_words;
pub mod secret;
mod shell_folder;
mod shell_variables;
pub mod spoken_time;
mod text_forms;
mod tool_name;
mod tool_room;
mod trust;
mod turn_call_state;
mod turn_id;

pub use agent::AgentCard;
pub use answer::{Answer, Choice, Question, Scope, Term};
pub use approval::{ApprovalState, Approvers, GrantEffect};
pub use blame::{Blame, Blamed};
pub use call::{CallState, ImageRef, LEFT, Outcome, ToolCall, ToolOutput};
pub use call_id::{CallId, CallOwner, PauseCause};
pub use call_list::{CallList, ListedCall};
pub use client::{
    CLIENT_SESSIONS, ClientName, InvalidClientName, InvalidClientSession, client_name_of,
    client_of, client_of_call, client_of_calls, client_of_session, may_answer_about,
};
pub use command::ChatCommand;
pub use command_line::{MAIN_AGENT, claw, command_line};
pub use compaction::{Compaction, CutResult, KeptWords};
pub use denied_by::DeniedBy;
pub use draft_message::{DraftMessage, RunningCall};
pub use effect::Effect;
pub use event::{Event, EventBody, LoadedBy, Spent, TurnEnd};
pub use hidden::{hidden_shown, is_hidden};
pub use ids::{Address, ApprovalId, InvalidSessionId, SESSION_ID_MAX_BYTES, SessionId};
pub use image::{IMAGE_BYTES_MAX, image_mime};
pub use inbound::{Inbound, InboundBody};
pub use input::{
    Form, FormField, Input, InputKind, InputOption, InvalidForm, TEXT_CHARS_MAX, TextFormat,
    form_of,
};
pub use level::{HeldLevels, Level};
pub use live::{Live, LiveSink, unseen};
pub use message::{Block, Message, Role, ToolUse, text_of};
pub use mode::Mode;
pub use model::{Finish, ToolSpec, Usage, first_sentence, required_of};
pub use named::{NAMED_MAX, Named, NamedState, is_like_uri, named_in};
pub use opening::Opening;
pub use origin::Origin;
pub use outbound::{LATE_REMINDER, Outbound, OutboundBody};
pub use own_server::{
    CLAW_ITSELF, OWN_SERVERS, OwnServer, OwnServerName, STOP_ALL_JOBS, TOOL_SEARCH,
};
pub use owner_question::{
    OwnerAnswer, OwnerQuestion, OwnerQuestionAbout, OwnerQuestionKind, OwnerQuestionState,
};
pub use posted::{PostedQuestion, PostedState};
pub use principal::{
    heartbeat_job, heartbeat_named, heartbeat_of, heartbeat_session, is_alone_with_claw,
    is_heartbeat_session, job_of, job_principal, person, telegram_principal, telegram_session,
};
pub use project_file::{ProjectFile, ProjectSeen, ProjectText};
pub use prompt_account::{
    DIGEST_DIGITS, PromptAccount, PromptCut, PromptPart, PromptText, PromptTools,
};
pub use proposal::{Action, Proposal, Staged};
pub use recalled::RecalledNote;
pub use reminder_answer::ReminderAnswer;
pub use rule_words::rule_words;
pub use shell_folder::{ShellFolder, ShellStands};
pub use shell_variables::{ShellKeeps, ShellPart, ShellVariables};
pub use tool_name::tool_for_person;
pub use tool_room::{LoadedTools, ToolFinder, ToolRoom, definition_bytes, definition_tokens};
pub use trust::{BELIEVED, ToolHints, Trust};
pub use turn_call_state::TurnCallState;
pub use turn_id::{InvalidTurnId, TurnId};

/// Milliseconds since 1970-01-01T00:00:00Z.
pub type UnixMillis = i64;
