//! What comes by the relay, with a provider on loopback: how often `genai` is handed something, and
//! who may leave a request.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixStream as Client};

use std::io::{Read as _, Write as _};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::*;
use crate::config::model::ToolChoice;
use crate::model::genai::http;

const CHILD: &str = "CLAW_TEST_RELAY";

fn target(base_url: String) -> Target {
    Target {
        wire: Wire::OpenAi,
        provider: "openai".into(),
        model: "m".into(),
        base_url,
        api_key: None,
        key_setting: String::new(),
        address_setting: String::new(),
        model_setting: String::new(),
        max_tokens: None,
        temperature: None,
        timeout: Duration::from_secs(60),
        tool_choice: ToolChoice::Auto,
    }
}

/// Answers one request with these chunks, and says what it was asked.
async fn provider(chunks: Vec<Vec<u8>>) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base_url = format!("http://{}/v1/?key=a%20b", listener.local_addr().unwrap());
    let asked = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"!") {
            assert!(stream.read_buf(&mut request).await.unwrap() > 0);
        }
        let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nx-a: b\r\n\r\n";
        stream.write_all(head).await.unwrap();
        for chunk in chunks {
            let framed = [format!("{:x}\r\n", chunk.len()).as_bytes(), &chunk, b"\r\n"].concat();
            stream.write_all(&framed).await.unwrap();
        }
        stream.write_all(b"0\r\n\r\n").await.unwrap();
        String::from_utf8(request).unwrap()
    });
    (base_url, asked)
}

#[tokio::test]
async fn an_event_that_comes_in_small_chunks_is_handed_on_in_few_pieces() {
    let event = [b"data: ".as_slice(), &vec![b'x'; 4 << 20], b"\n\n"].concat();
    let (base_url, asked) = provider(event.chunks(1400).map(<[u8]>::to_vec).collect()).await;
    let target = target(base_url);
    let relay = Relay::get().unwrap();
    let passage = relay.open(&http::client_for(&target.base_url).unwrap(), &target).unwrap();
    let body = "x".repeat(300_000) + "!";
    let request = relay
        .client()
        .unwrap()
        .post(passage.base_url())
        .header(ERRAND, passage.number())
        .header("x-api-key", "k")
        .body(body.clone());
    let mut answer = request.send().await.unwrap();
    assert_eq!(answer.headers()["x-a"], "b");
    let (mut pieces, mut came) = (0, Vec::new());
    while let Some(piece) = answer.chunk().await.unwrap() {
        pieces += 1;
        came.extend_from_slice(&piece);
    }
    assert!(came == event, "{} bytes came", came.len());
    assert!(pieces < 300, "{pieces} pieces, each of which costs a copy of all before it");
    let asked = asked.await.unwrap();
    let (head, sent) = asked.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/?key=a%20b HTTP/1.1") && sent == body, "{head}");
    assert!(head.contains("x-api-key: k") && head.contains("content-length: 300001"), "{head}");
    assert!(!head.contains(ERRAND) && !head.contains("chunked"), "{head}");
    assert!(passage.error(&target).is_none());
}

/// Only started by the test below: what another process gets.
#[test]
#[ignore = "runs in a process of its own: see a_request_of_another_process_is_sent_away_unread"]
fn another_process() {
    let Ok(name) = std::env::var(CHILD) else { return };
    let mut stream = Client::connect_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap();
    let request = "POST / HTTP/1.1\r\nx-claw-errand: 0\r\ncontent-length: 1\r\n\r\n!";
    let _closed = stream.write_all(request.as_bytes());
    let mut said = Vec::new();
    let _reset = stream.read_to_end(&mut said);
    assert!(said.is_empty(), "{said:?}");
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "only another process shows that it is refused")]
async fn a_request_of_another_process_is_sent_away_unread() {
    let (base_url, asked) = provider(Vec::new()).await;
    let target = target(base_url);
    let relay = Relay::get().unwrap();
    let passage = relay.open(&http::client_for(&target.base_url).unwrap(), &target).unwrap();
    locked(&relay.errands).insert(0, passage.errand.clone());
    let name = relay.name.trim_start_matches('\0').to_owned();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "model::genai::relay::tests::another_process", "--ignored"])
        .env(CHILD, name)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&child.stdout).into_owned();
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
    assert!(!asked.is_finished());
}
