//! The table of arrows: which room may name which, by which paths, and which crate which. Must not
//! know how it is held.

/// Room → the rooms that it may name. Every room may name `domain` and itself.
///
/// A room that is a crate of its own (`CRATES`) can name none of these, and those in `crates/core`
/// can name neither `doors` nor `cli`: Cargo holds that.
///
/// Beside the plan: `killpoint` is nothing in a release, so whoever commits or sends may name it;
/// `durable` is how every room writes a file; the command line reads the rooms' own types
/// (`config`, `store`, `model`, …) to show them, behind `app`, which builds them; `logging` masks
/// secrets and keeps the lines that the hub's servers write.
pub const ARROWS: &[(&str, &[&str])] = &[
    ("main", &["config", "logging"]),
    ("lib", &[]),
    (
        "cli",
        &[
            "app",
            "calls",
            "catalog",
            "chat_commands",
            "clients",
            "config",
            "doors",
            "durable",
            "gate",
            "heartbeats",
            "hub",
            "mail",
            "model",
            "policy",
            "redact",
            "router",
            "session",
            "store",
            "snapshot",
            "turn",
            "undo",
            "workspace",
        ],
    ),
    (
        "app",
        &[
            "calls",
            "catalog",
            "clients",
            "config",
            "chat_commands",
            "door_context",
            "gate",
            "heartbeats",
            "hub",
            "jobs",
            "logging",
            "mail",
            "model",
            "policy",
            "redact",
            "router",
            "serve",
            "session",
            "snapshot",
            "store",
            "turn",
            "undo",
            "workspace",
        ],
    ),
    ("config", &["durable"]),
    (
        "doors",
        &[
            "chat_commands",
            "clients",
            "config",
            "door_context",
            "heartbeats",
            "jobs",
            "killpoint",
            "mail",
            "router",
            "session",
            "workspace",
        ],
    ),
    (
        "door_context",
        &["chat_commands", "clients", "heartbeats", "jobs", "mail", "router", "session"],
    ),
    ("mail", &["killpoint", "store"]),
    ("router", &["calls", "catalog", "gate", "killpoint", "mail", "redact", "session", "store"]),
    (
        "chat_commands",
        &[
            "calls",
            "config",
            "gate",
            "hub",
            "redact",
            "router",
            "session",
            "store",
            "turn",
            "undo",
            "workspace",
        ],
    ),
    (
        "clients",
        &["config", "durable", "gate", "hub", "killpoint", "mail", "session", "store", "turn"],
    ),
    ("heartbeats", &["config", "gate", "killpoint", "session", "store"]),
    ("jobs", &["gate", "killpoint", "store"]),
    ("session", &["calls", "config", "gate", "killpoint", "mail", "store", "turn"]),
    ("turn", &["gate", "model", "redact"]),
    ("model", &["config"]),
    ("redact", &[]),
    ("catalog", &["config", "hub", "redact", "store"]),
    ("calls", &["catalog", "hub", "killpoint", "policy", "redact", "store", "workspace"]),
    ("gate", &["calls", "catalog", "hub", "killpoint", "policy", "redact", "store", "undo"]),
    ("logging", &["hub", "redact"]),
    ("workspace", &[]),
    ("undo", &["durable", "killpoint", "snapshot", "store"]),
];

/// Arrows of which only these paths are allowed.
pub const NARROW: &[(&str, &str, &str)] = &[
    // A door drives the sessions that it shows, and knows nothing of how.
    ("doors", "session", "session::Worker"),
    ("doors", "session", "session::Ran"),
    // A door owns its section of `claw.toml`.
    ("doors", "config", "config::ConfigError"),
    ("doors", "config", "config::DoorSection"),
    ("doors", "config", "config::DoorSections"),
    ("doors", "config", "config::DoorTexts"),
    ("doors", "config", "config::Env"),
    ("doors", "config", "config::MAIN"),
    ("doors", "config", "config::ServeSection"),
    ("chat_commands", "workspace", "workspace::is_there"),
    ("chat_commands", "calls", "calls::modes"),
    ("chat_commands", "calls", "calls::openings"),
    // An owner's order about the notes.
    ("chat_commands", "calls", "calls::Order"),
    ("chat_commands", "calls", "calls::FrozenOrder"),
    ("chat_commands", "calls", "calls::job_words"),
    ("chat_commands", "config", "config::Prices"),
    ("chat_commands", "session", "session::TURN_IS_OPEN"),
    ("session", "config", "config::Prices"),
    ("session", "config", "config::HeartbeatBudget"),
    ("session", "config", "config::HeartbeatBudgets"),
    ("session", "config", "config::end_of_day"),
    ("session", "config", "config::ServeSection"),
    // A client waits for the end of its calls, and another process goes on with them.
    ("clients", "config", "config::ServeSection"),
    // The name of a request to a server that is no call of a tool.
    ("clients", "hub", "hub::Method"),
    ("clients", "mail", "mail::Instance"),
    ("clients", "session", "session::Ending"),
    // The one word by which a model says that there is nothing to tell.
    ("heartbeats", "session", "session::NOTHING_TO_TELL"),
    ("catalog", "config", "config::Tools"),
    // What the store keeps of a call, the gate is told by the calls.
    ("gate", "store", "store::CallRow"),
    ("gate", "store", "store::StoreError"),
];

/// Crate of ours → the crates of ours that it may depend on. What stands in `src/` may name all.
/// The command line knows no door, so that a change in one compiles nothing of it anew.
pub const CRATES: &[(&str, &[&str])] = &[
    ("crates/bot-api", &["core", "domain", "doors"]),
    (
        "crates/cli",
        &[
            "bot-api",
            "core",
            "doors",
            "kit",
            "mcp-bash",
            "mcp-filesystem",
            "mcp-memory",
            "mcp-scheduler",
            "server-kit",
            "terminal",
        ],
    ),
    (
        "crates/core",
        &[
            "domain",
            "hub",
            "kit",
            "mcp-bash",
            "mcp-scheduler",
            "policy",
            "snapshot",
            "store",
            "toml-fault",
            "tool-search",
        ],
    ),
    ("crates/domain", &[]),
    ("crates/doors", &["core", "kit"]),
    ("crates/hub", &["domain", "kit"]),
    ("crates/kit", &[]),
    ("crates/policy", &["domain", "kit", "toml-fault"]),
    ("crates/server-kit", &[]),
    ("crates/snapshot", &["domain", "kit"]),
    ("crates/store", &["domain", "kit"]),
    ("crates/terminal", &["core", "doors"]),
    ("crates/test-kit", &["domain"]),
    ("crates/toml-fault", &[]),
    ("crates/tool-search", &[]),
    // No door knows another one.
    ("doors/acp", &["core", "doors", "kit"]),
    ("doors/console", &["core", "doors", "kit", "terminal"]),
    ("doors/mcp", &["core", "doors", "kit", "server-kit"]),
    ("doors/telegram", &["bot-api", "core", "doors", "kit", "telegram-render"]),
    ("doors/telegram/render", &["bot-api", "core", "doors"]),
    // The servers run behind any host, and know nothing else of claw.
    ("mcp-servers/bash", &["kit", "server-kit"]),
    ("mcp-servers/filesystem", &["kit", "server-kit"]),
    ("mcp-servers/memory", &["kit", "server-kit"]),
    ("mcp-servers/scheduler", &["kit", "server-kit"]),
];

/// The crates of ours that `src/` names as modules, `use crate::policy`.
pub const CRATE_ROOMS: &[&str] =
    &["domain", "durable", "hub", "killpoint", "policy", "snapshot", "store"];
