//! The version managers that claw knows: where each keeps its programs, and which of that holds no
//! credentials. A table; must not know how it is used.

use super::How;

/// One manager.
pub(super) struct Manager {
    /// The variable that names its root.
    pub(super) variable: Option<&'static str>,
    /// Its root below the user's home.
    pub(super) default: &'static str,
    /// What of its root commands may read and execute; `""` is all of it.
    pub(super) parts: &'static [&'static str],
    /// Programs that need it, wherever they lie themselves.
    pub(super) programs: &'static [&'static str],
    /// Commands get the variable, with the user's root.
    pub(super) is_told: bool,
    /// What appears below the HOME of commands.
    pub(super) shared: &'static [SharedPart],
    /// A store of fetched Go modules, which Go reads like a server.
    pub(super) proxy: Option<&'static str>,
}

pub(super) struct SharedPart {
    pub(super) from: &'static str,
    pub(super) to: &'static str,
    pub(super) how: How,
}

/// Variables of the user that decide what is found, and that claw hands to this server. Each is a
/// path, or a word such as the name of a toolchain.
pub const VARIABLES: &[&str] = &[
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "CARGO_HOME",
    "NVM_DIR",
    "FNM_DIR",
    "VOLTA_HOME",
    "PYENV_ROOT",
    "PYENV_VERSION",
    "PIPX_HOME",
    "UV_PYTHON_INSTALL_DIR",
    "RBENV_ROOT",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "BUN_INSTALL",
    "DENO_INSTALL",
    "PNPM_HOME",
    "SDKMAN_DIR",
    "ASDF_DATA_DIR",
    "MISE_DATA_DIR",
];

/// Below the user's home.
pub(super) const USUAL_FOLDERS: [&str; 10] = [
    ".cargo/bin",
    ".local/bin",
    "bin",
    "go/bin",
    ".pyenv/shims",
    ".rbenv/shims",
    ".volta/bin",
    ".bun/bin",
    ".deno/bin",
    ".asdf/shims",
];

/// Those that are handed on as they are.
pub(super) const WORDS: &[&str] = &["RUSTUP_TOOLCHAIN", "PYENV_VERSION"];

const NONE: Manager = Manager {
    variable: None,
    default: "",
    parts: &[""],
    programs: &[],
    is_told: false,
    shared: &[],
    proxy: None,
};

pub(super) const MANAGERS: &[Manager] = &[
    // rustup writes into its home; that of commands has links to the user's toolchains.
    Manager {
        variable: Some("RUSTUP_HOME"),
        default: ".rustup",
        parts: &["toolchains", "settings.toml"],
        programs: &["rustup"],
        shared: &[
            SharedPart { from: "toolchains", to: ".rustup/toolchains", how: How::Links(1) },
            SharedPart { from: "settings.toml", to: ".rustup/settings.toml", how: How::Copy },
        ],
        ..NONE
    },
    // Not `config.toml` and `credentials.toml`, which hold tokens, and not `git`, whose addresses
    // may hold some.
    Manager {
        variable: Some("CARGO_HOME"),
        default: ".cargo",
        parts: &["bin", "registry"],
        programs: &["cargo"],
        shared: &[
            SharedPart { from: "registry/index", to: ".cargo/registry/index", how: How::Links(8) },
            SharedPart { from: "registry/cache", to: ".cargo/registry/cache", how: How::Links(2) },
            SharedPart { from: "registry/src", to: ".cargo/registry/src", how: How::Links(2) },
        ],
        ..NONE
    },
    Manager {
        variable: Some("NVM_DIR"),
        default: ".nvm",
        parts: &["versions", "alias", "nvm.sh", "nvm-exec"],
        is_told: true,
        ..NONE
    },
    Manager {
        variable: Some("FNM_DIR"),
        default: ".local/share/fnm",
        parts: &["node-versions", "aliases"],
        is_told: true,
        ..NONE
    },
    Manager {
        variable: Some("VOLTA_HOME"),
        default: ".volta",
        parts: &["bin", "tools", "hooks.json"],
        is_told: true,
        ..NONE
    },
    Manager { variable: Some("PNPM_HOME"), default: ".local/share/pnpm", ..NONE },
    Manager { variable: Some("PYENV_ROOT"), default: ".pyenv", is_told: true, ..NONE },
    // Not `credentials`, beside them.
    Manager {
        default: ".local/share/uv",
        parts: &["python", "tools"],
        programs: &["uv"],
        shared: &[SharedPart { from: "python", to: ".local/share/uv/python", how: How::Links(1) }],
        ..NONE
    },
    Manager {
        variable: Some("UV_PYTHON_INSTALL_DIR"),
        default: ".local/share/uv/python",
        programs: &["uv"],
        shared: &[SharedPart { from: "", to: ".local/share/uv/python", how: How::Links(1) }],
        ..NONE
    },
    Manager {
        variable: Some("PIPX_HOME"),
        default: ".local/share/pipx",
        parts: &["venvs", "shared"],
        ..NONE
    },
    Manager { variable: Some("RBENV_ROOT"), default: ".rbenv", is_told: true, ..NONE },
    Manager {
        variable: Some("GOPATH"),
        default: "go",
        parts: &["bin", "pkg/mod"],
        programs: &["go"],
        proxy: Some("pkg/mod/cache/download"),
        ..NONE
    },
    Manager { variable: Some("BUN_INSTALL"), default: ".bun", parts: &["bin"], ..NONE },
    Manager { variable: Some("DENO_INSTALL"), default: ".deno", parts: &["bin"], ..NONE },
    Manager {
        variable: Some("SDKMAN_DIR"),
        default: ".sdkman",
        parts: &["candidates"],
        is_told: true,
        ..NONE
    },
    Manager {
        variable: Some("ASDF_DATA_DIR"),
        default: ".asdf",
        parts: &["bin", "shims", "installs", "plugins", "lib", "libexec", "asdf.sh"],
        is_told: true,
        ..NONE
    },
    Manager {
        variable: Some("MISE_DATA_DIR"),
        default: ".local/share/mise",
        parts: &["shims", "installs", "plugins"],
        is_told: true,
        ..NONE
    },
];
