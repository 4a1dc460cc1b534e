//! What can be set about an embeddings endpoint. Owns names, units and defaults; must not know how
//! they are used.

use clap::ValueEnum;

/// The environment variable that holds the key unless `--embeddings-key-env` names another.
pub const KEY_VARIABLE: &str = "CLAW_MEMORY_EMBEDDINGS_KEY";

/// How an endpoint is asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Form {
    /// `POST …/v1/embeddings`, as OpenAI and most others have it
    #[default]
    Openai,
    /// `POST …/api/embed`, as Ollama has it
    Ollama,
}

/// The key of an endpoint, which no text shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(pub String);

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

/// When vectors take part in a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Use {
    /// Where they find more than words alone, tried on the notes themselves
    #[default]
    Auto,
    /// Always beside words
    Always,
    /// Without words, to measure them
    Alone,
}

const KIB: u64 = 1024;

/// Where vectors come from, and their bounds. Without `embeddings_url` there are none.
#[derive(clap::Args, Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingsArgs {
    /// These options are made of claw.toml. claw says so itself
    #[arg(long, hide = true)]
    pub embeddings_in_claw_toml: bool,

    /// Base URL of an embeddings endpoint, such as https://api.openai.com/v1 or
    /// http://127.0.0.1:11434 for Ollama. The text of your notes and every query are sent there.
    /// Without it hits are found by words
    #[arg(long, value_name = "URL")]
    pub embeddings_url: Option<String>,

    /// The model's name as the endpoint knows it
    #[arg(long, value_name = "NAME")]
    pub embeddings_model: Option<String>,

    /// How the endpoint is asked
    #[arg(long, value_name = "FORM", value_enum, default_value_t)]
    pub embeddings_form: Form,

    /// The environment variable that holds the endpoint's key
    #[arg(long, value_name = "NAME", default_value = KEY_VARIABLE)]
    pub embeddings_key_env: String,

    /// The key itself, for a program that has it and no environment of its own for this.
    #[arg(skip)]
    pub embeddings_key: Option<Key>,

    /// Numbers of a vector. Default: what the model's first answer has
    #[arg(long, value_name = "COUNT")]
    pub embeddings_dimension: Option<u32>,

    /// When vectors take part in a search
    #[arg(long, value_name = "WHEN", value_enum, default_value_t)]
    pub embeddings_use: Use,

    /// Allow http:// to other machines than this one: anybody on the way can read the notes
    #[arg(long)]
    pub embeddings_allow_http: bool,

    /// Notes of one request
    #[arg(long, value_name = "COUNT", default_value_t = 64)]
    pub embeddings_batch_notes_max: u32,

    /// Text of one note that is sent, in bytes; the rest of a longer one is found by words
    #[arg(long, value_name = "BYTES", default_value_t = 8_000)]
    pub embeddings_note_bytes_max: u32,

    /// The largest answer that is read, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 16 * KIB * KIB)]
    pub embeddings_answer_bytes_max: u64,

    /// How long a search waits for the vector of its query, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 800)]
    pub embeddings_query_time_ms: u64,

    /// How long one request for notes may take, in seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    pub embeddings_batch_time_s: u64,

    /// How long an endpoint that failed is left alone, in seconds
    #[arg(long, value_name = "S", default_value_t = 60)]
    pub embeddings_pause_s: u64,

    /// The file of sketches of vectors, in bytes: of one with 384 numbers it is 64. If there are
    /// more, each search reads all vectors from the disk
    #[arg(long, value_name = "BYTES", default_value_t = 32 * KIB * KIB)]
    pub embeddings_cache_bytes_max: u64,
}

/// The options that are keys of `[memory.embeddings]` in claw.toml.
const KEYS: [&str; 6] = ["url", "model", "form", "dimension", "use", "allow-http"];

impl EmbeddingsArgs {
    /// `--embeddings-NAME` as a message names it: as what its reader sets, in claw or elsewhere.
    pub fn named(&self, name: &str) -> String {
        match (self.embeddings_in_claw_toml, KEYS.contains(&name)) {
            (true, true) => {
                format!("`{}` in `[memory.embeddings]` of claw.toml", name.replace('-', "_"))
            }
            (true, false) => {
                format!("`--embeddings-{name}` in the args of the memory server in mcp.json")
            }
            (false, _) => format!("--embeddings-{name}"),
        }
    }

    /// The same of one that is a key of claw.toml, with the value that it should have. As an option
    /// `true` is said by its name alone.
    pub fn set_to(&self, name: &str, value: &str) -> String {
        let key = name.replace('-', "_");
        match (self.embeddings_in_claw_toml, value) {
            (true, _) => format!("`{key} = {value}` in `[memory.embeddings]` of claw.toml"),
            (false, "true") => format!("--embeddings-{name}"),
            (false, _) => format!("--embeddings-{name} {}", value.trim_matches('"')),
        }
    }
}

impl Default for EmbeddingsArgs {
    fn default() -> Self {
        Self {
            embeddings_in_claw_toml: false,
            embeddings_url: None,
            embeddings_model: None,
            embeddings_form: Form::Openai,
            embeddings_key_env: KEY_VARIABLE.to_owned(),
            embeddings_key: None,
            embeddings_dimension: None,
            embeddings_use: Use::Auto,
            embeddings_allow_http: false,
            embeddings_batch_notes_max: 64,
            embeddings_note_bytes_max: 8_000,
            embeddings_answer_bytes_max: 16 * KIB * KIB,
            embeddings_query_time_ms: 800,
            embeddings_batch_time_s: 60,
            embeddings_pause_s: 60,
            embeddings_cache_bytes_max: 32 * KIB * KIB,
        }
    }
}
