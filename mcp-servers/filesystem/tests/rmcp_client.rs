//! The rmcp client against the real child, in each of its ways to open a connection: what claw's
//! own hub will do.
#![expect(clippy::disallowed_methods, reason = "a test starts real processes and real clients")]

use rmcp::model::{CallToolRequestParams, ClientConfig, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _};
use serde_json::json;

#[tokio::test]
async fn every_lifecycle_of_the_rmcp_client_works() {
    let modern = vec![ProtocolVersion::V_2026_07_28];
    let modes = [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: modern.clone() },
        ClientLifecycleMode::Auto {
            preferred_versions: modern,
            legacy_version: Some(ProtocolVersion::V_2025_11_25),
        },
    ];
    for mode in modes {
        let temp = tempfile::tempdir().unwrap();
        let mut child = tokio::process::Command::new(env!("CARGO_BIN_EXE_claw-mcp-filesystem"))
            .arg("--workspace")
            .arg(temp.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let transport = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mut config = ClientConfig::default();
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        let client = config.serve_with_lifecycle(transport, mode).await.unwrap();
        assert_eq!(client.list_all_tools().await.unwrap().len(), 10);
        let arguments = json!({"path": "a/b.txt", "content": "hello"}).as_object().unwrap().clone();
        let call = CallToolRequestParams::new("write_file").with_arguments(arguments);
        let result = client.call_tool(call).await.unwrap();
        assert_eq!(result.structured_content.unwrap()["created"], true);
        assert_eq!(std::fs::read_to_string(temp.path().join("a/b.txt")).unwrap(), "hello");
        client.cancel().await.unwrap();
        assert!(child.wait().await.unwrap().success());
    }
}
