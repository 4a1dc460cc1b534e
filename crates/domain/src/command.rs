//! What a person can ask of claw itself, with a slash. Must not know how it is typed, who may, or
//! what comes of it.

/// A chat command, the same at every door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatCommand {
    New,
    Stop,
    /// `/stop jobs`.
    StopJobs,
    Status,
    Usage,
    Model,
    Role,
    Tools,
    /// The prompts of tool servers, which are commands.
    Prompts,
    /// A login to a tool server, by a link.
    Login,
    Agents,
    Approvals,
    /// At the console: the list of what is staged, once more.
    Staged,
    Grants,
    /// What ran without a question.
    Digest,
    /// What runs in this session without a question.
    Mode,
    /// The folder, role and mode of this conversation.
    Here,
    AllowedUsers,
    /// What is remembered.
    Memory,
    Remember,
    Forget,
    /// A reminder of words.
    Remind,
    /// What comes when.
    Schedule,
    Undo,
    /// `/undo files`.
    UndoFiles,
    Compact,
    Panic,
    Help,
    Quit,
}
