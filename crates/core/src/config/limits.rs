//! The `[limits]` section of `claw.toml`: every limit is on by default, has its unit in its name,
//! and a range. Must not know who keeps to them.

use serde::Deserialize;

use super::range::within;

const GIB: u64 = 1024 * 1024 * 1024;

/// What a turn, a call, a question and a session may take.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Requests to a model within one turn.
    pub model_steps_max: u32,
    /// Seconds that a turn may take; time waiting for a human does not count.
    pub turn_time_s: u64,
    /// Deaths of the process in the same step of a turn, after which the owner is asked before it
    /// is tried again.
    pub deaths_of_turn_max: u32,
    /// Seconds without a byte from a model.
    pub model_timeout_s: u64,
    /// Seconds that a tool call may take.
    pub tool_timeout_s: u64,
    /// Tool calls of one session that run at the same time.
    pub tool_calls_parallel_max: u32,
    /// Milliseconds that a request to a model waits, once, for a server whose tools are not known
    /// yet.
    pub server_wait_ms: u64,
    /// Seconds that the start of a server may take, from its place among those that start;
    /// `MCP_TIMEOUT` overrides it.
    pub server_start_s: u64,
    /// Seconds until a server over HTTP has taken claw's connection.
    pub server_connect_s: u64,
    /// Requests that wait for one server over HTTP at the same time; more wait for their turn.
    pub server_requests_max: u32,
    /// Bytes of one message of a server; a longer one is dropped, and what it answered is unknown.
    pub server_message_bytes_max: u64,
    /// Seconds from the link of a login to a server until its answer.
    pub login_time_s: u64,
    /// Bytes of a tool's result that the model gets; the whole is kept.
    pub tool_result_bytes: u64,
    /// Bytes of what a tool server says about itself that the model gets; 0 is none.
    pub server_instructions_bytes: u64,
    /// Seconds that a question stays open.
    pub question_time_s: u64,
    /// Seconds that the mode of a session lasts whose owner writes nothing there.
    pub mode_idle_time_s: u64,
    /// Days back in which three equal yeses count, until a question offers the grant that would
    /// have spared them; 0 offers none.
    pub grant_offer_days: u32,
    /// Seconds after which the store is looked at for what other programs wrote, although the
    /// system has told of nothing.
    pub store_look_s: u64,
    /// Lines of a daily digest in a chat.
    pub digest_lines_max: u32,
    /// Folders beside the configured workspace that conversations of one process work in at once.
    pub folders_at_once_max: u32,
    /// Seconds after which the servers of such a folder end in which nobody works.
    pub folder_idle_time_s: u64,
    /// Actions that tools may stage in one turn.
    pub staged_actions_max: u32,
    /// Rounds of one call in which its server asks for input; more are refused.
    pub input_rounds_max: u32,
    /// Turns that scheduled jobs begin in one minute; more wait.
    pub job_turns_minute_max: u32,
    /// Messages that wait in one session.
    pub queued_messages_max: u32,
    /// Estimated tokens of the window that is sent to a model, from which on its oldest part is
    /// summarised.
    pub window_tokens: u64,
    /// The same in messages, of persons, of the model and of tools; 0 is no limit.
    pub window_messages: u32,
    /// Seconds without a word, after which a conversation goes on from a summary; 0 is never.
    pub idle_window_s: u64,
    /// Processes and threads of one command.
    pub command_processes_max: u64,
    /// Bytes of memory of one command, its processes together.
    pub command_memory_bytes_max: u64,
    /// Bytes of one file that a command writes.
    pub command_file_bytes_max: u64,
    /// Bytes of the outputs of commands that are kept, all together.
    pub command_output_kept_bytes_max: u64,
    /// Bytes at which the HOME of the commands of one workspace is emptied after a command.
    pub command_home_bytes_max: u64,
    /// Files that one process of a command may have open.
    pub command_open_files_max: u64,
    /// Bytes that a command leaves free on the file systems of the workspace and of its temporary
    /// folder; 0 is no limit.
    pub command_disk_free_bytes_min: u64,
    /// Files, folders and links of a workspace that is remembered before a turn changes it; what
    /// `.gitignore` names does not count.
    pub undo_files_max: u64,
    /// Bytes of all files of such a workspace together.
    pub undo_bytes_max: u64,
    /// Bytes of one file that is remembered; a larger one is left as it is by an undo.
    pub undo_file_bytes_max: u64,
    /// Identical calls in a row without progress, after which the turn stops.
    pub identical_calls_max: u32,
    /// Tokens in and out in one day of the owner, over all sessions.
    pub tokens_day_max: u64,
    /// US cents in one day of the owner, over all sessions, as far as `[prices]` knows; none if it
    /// is left out.
    pub usd_cents_day_max: Option<u64>,
}

/// The longest start that may be allowed, in seconds.
pub(super) const SERVER_START_S_MAX: u64 = 3600;

impl Default for Limits {
    fn default() -> Self {
        Self {
            model_steps_max: 20,
            turn_time_s: 900,
            deaths_of_turn_max: 2,
            model_timeout_s: 90,
            tool_timeout_s: 120,
            tool_calls_parallel_max: 8,
            server_wait_ms: 1500,
            server_start_s: 60,
            server_connect_s: 10,
            server_requests_max: 16,
            server_message_bytes_max: 16 * 1024 * 1024,
            login_time_s: 3600,
            tool_result_bytes: 16_384,
            server_instructions_bytes: 2048,
            question_time_s: 14_400,
            mode_idle_time_s: 28_800,
            grant_offer_days: 7,
            store_look_s: 5,
            digest_lines_max: 12,
            folders_at_once_max: 4,
            folder_idle_time_s: 900,
            staged_actions_max: 10,
            input_rounds_max: 8,
            job_turns_minute_max: 5,
            queued_messages_max: 64,
            window_tokens: 100_000,
            window_messages: 1_500,
            idle_window_s: 3_600,
            command_processes_max: 1024,
            command_memory_bytes_max: 8 * GIB,
            command_file_bytes_max: 10 * GIB,
            command_output_kept_bytes_max: GIB / 4,
            command_home_bytes_max: 10 * GIB,
            command_open_files_max: 65_536,
            command_disk_free_bytes_min: GIB / 2,
            undo_files_max: 50_000,
            undo_bytes_max: GIB / 2,
            undo_file_bytes_max: GIB / 16,
            identical_calls_max: 3,
            tokens_day_max: 50_000_000,
            usd_cents_day_max: None,
        }
    }
}

impl Limits {
    /// Those that a running claw can follow, and the others as they are in `self`: our own servers
    /// are told of them when they start, or something of that size was made.
    pub fn following(&self, new: &Self) -> Self {
        Self {
            tool_timeout_s: self.tool_timeout_s,
            tool_calls_parallel_max: self.tool_calls_parallel_max,
            server_start_s: self.server_start_s,
            server_connect_s: self.server_connect_s,
            server_requests_max: self.server_requests_max,
            server_message_bytes_max: self.server_message_bytes_max,
            store_look_s: self.store_look_s,
            login_time_s: self.login_time_s,
            command_processes_max: self.command_processes_max,
            command_memory_bytes_max: self.command_memory_bytes_max,
            command_file_bytes_max: self.command_file_bytes_max,
            command_output_kept_bytes_max: self.command_output_kept_bytes_max,
            command_home_bytes_max: self.command_home_bytes_max,
            command_open_files_max: self.command_open_files_max,
            ..new.clone()
        }
    }

    /// Whether a key of this section counts from the next start alone.
    pub(super) fn is_for_starts(key: &str) -> bool {
        const FOR_STARTS: [&str; 8] = [
            "tool_timeout_s",
            "tool_calls_parallel_max",
            "server_start_s",
            "server_connect_s",
            "server_requests_max",
            "server_message_bytes_max",
            "store_look_s",
            "login_time_s",
        ];
        key.starts_with("command_") || FOR_STARTS.contains(&key)
    }

    /// The first key outside of its range, and what is wrong with it.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        const DAY_S: u64 = 86_400;
        within(
            "limits",
            [
                ("model_steps_max", u64::from(self.model_steps_max), 1, 1000),
                ("turn_time_s", self.turn_time_s, 1, DAY_S),
                ("deaths_of_turn_max", u64::from(self.deaths_of_turn_max), 1, 1_000_000),
                ("model_timeout_s", self.model_timeout_s, 1, 3600),
                ("tool_timeout_s", self.tool_timeout_s, 1, DAY_S),
                ("tool_calls_parallel_max", u64::from(self.tool_calls_parallel_max), 1, 64),
                ("server_wait_ms", self.server_wait_ms, 0, 60_000),
                ("server_start_s", self.server_start_s, 1, SERVER_START_S_MAX),
                ("server_connect_s", self.server_connect_s, 1, 600),
                ("server_requests_max", u64::from(self.server_requests_max), 1, 1000),
                ("server_message_bytes_max", self.server_message_bytes_max, 64 * 1024, 1 << 30),
                ("login_time_s", self.login_time_s, 60, DAY_S),
                ("tool_result_bytes", self.tool_result_bytes, 1024, 16 * 1024 * 1024),
                ("server_instructions_bytes", self.server_instructions_bytes, 0, 64 * 1024),
                ("question_time_s", self.question_time_s, 10, 30 * DAY_S),
                ("mode_idle_time_s", self.mode_idle_time_s, 1, 30 * DAY_S),
                ("grant_offer_days", u64::from(self.grant_offer_days), 0, 90),
                ("store_look_s", self.store_look_s, 1, 3600),
                ("digest_lines_max", u64::from(self.digest_lines_max), 1, 40),
                ("folders_at_once_max", u64::from(self.folders_at_once_max), 1, 64),
                ("folder_idle_time_s", self.folder_idle_time_s, 1, DAY_S),
                ("staged_actions_max", u64::from(self.staged_actions_max), 1, 50),
                ("input_rounds_max", u64::from(self.input_rounds_max), 1, 100),
                ("job_turns_minute_max", u64::from(self.job_turns_minute_max), 1, 600),
                ("queued_messages_max", u64::from(self.queued_messages_max), 1, 10_000),
                ("window_tokens", self.window_tokens, 1000, 100_000_000),
                ("window_messages", u64::from(self.window_messages), 0, 1_000_000),
                ("idle_window_s", self.idle_window_s, 0, 365 * DAY_S),
                ("command_processes_max", self.command_processes_max, 16, 4_194_304),
                (
                    "command_memory_bytes_max",
                    self.command_memory_bytes_max,
                    16 * 1024 * 1024,
                    1 << 50,
                ),
                ("command_file_bytes_max", self.command_file_bytes_max, 1024, 1 << 50),
                (
                    "command_output_kept_bytes_max",
                    self.command_output_kept_bytes_max,
                    64 * 1024,
                    1 << 50,
                ),
                ("command_home_bytes_max", self.command_home_bytes_max, 1 << 20, 1 << 50),
                ("command_open_files_max", self.command_open_files_max, 64, 1_048_576),
                ("command_disk_free_bytes_min", self.command_disk_free_bytes_min, 0, 1 << 50),
                ("undo_files_max", self.undo_files_max, 1, 10_000_000),
                ("undo_bytes_max", self.undo_bytes_max, 1024, 1 << 50),
                ("undo_file_bytes_max", self.undo_file_bytes_max, 1024, 1 << 50),
                ("identical_calls_max", u64::from(self.identical_calls_max), 1, 1000),
                ("tokens_day_max", self.tokens_day_max, 1000, 1_000_000_000_000),
                ("usd_cents_day_max", self.usd_cents_day_max.unwrap_or(1), 1, 100_000_000),
            ],
        )?;
        if self.tool_timeout_s > self.turn_time_s {
            let message = format!(
                "`limits.tool_timeout_s` ({}) is longer than a whole turn, `limits.turn_time_s` ({})",
                self.tool_timeout_s, self.turn_time_s
            );
            // One of the two may be left out.
            let is_usual = self.tool_timeout_s == Self::default().tool_timeout_s;
            return Err((if is_usual { "turn_time_s" } else { "tool_timeout_s" }, message));
        }
        Ok(())
    }
}
