//! An agent as a person is told of it. Must not know its settings or how it is run.

/// One of the agents of a home.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentCard {
    pub name: String,
    /// A sentence.
    pub description: String,
    /// What it is for, a few words each.
    pub capabilities: Vec<String>,
}
