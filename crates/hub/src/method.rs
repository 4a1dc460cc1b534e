//! What a permit may ask of a server besides its tools: to read a resource, to list its resources,
//! to give a prompt. Owns the names under which these are judged, which are MCP's own and no
//! tool's, and their requests. Must not know who allowed one.

use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ReadResourceRequest,
    ReadResourceRequestParams,
};
use serde_json::{Value, json};

/// One of them. A call of it has the method's name in the place of a tool's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    ReadResource,
    /// All pages of resources and of their templates. The words that are searched for stay here.
    ListResources,
    GetPrompt,
}

impl Method {
    /// In the order in which they are shown.
    pub const ALL: [Self; 3] = [Self::ReadResource, Self::ListResources, Self::GetPrompt];

    /// The method with this name. A server's tool never has one: it would be left out.
    pub fn named(tool: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == tool)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadResource => "resources/read",
            Self::ListResources => "resources/list",
            Self::GetPrompt => "prompts/get",
        }
    }

    /// JSON Schema of what it is asked with.
    pub fn input_schema(self) -> Value {
        let text = json!({"type": "string", "minLength": 1});
        let (properties, required) = match self {
            Self::ReadResource => (json!({"uri": text}), json!(["uri"])),
            Self::ListResources => (json!({"search": {"type": "string"}}), json!([])),
            Self::GetPrompt => {
                let arguments =
                    json!({"type": "object", "additionalProperties": {"type": "string"}});
                (json!({"name": text, "arguments": arguments}), json!(["name"]))
            }
        };
        json!({"type": "object", "properties": properties, "required": required,
            "additionalProperties": false})
    }

    /// The one request that it is. `None` where it is several, or an argument is missing.
    pub(crate) fn request(self, arguments: &Value) -> Option<ClientRequest> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        match self {
            Self::ReadResource => {
                let params = ReadResourceRequestParams::new(text("uri")?);
                Some(ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params)))
            }
            Self::GetPrompt => {
                let mut params = GetPromptRequestParams::new(text("name")?);
                if let Some(given) = arguments.get("arguments").and_then(Value::as_object) {
                    params = params.with_arguments(given.clone());
                }
                Some(ClientRequest::GetPromptRequest(GetPromptRequest::new(params)))
            }
            Self::ListResources => None,
        }
    }
}
