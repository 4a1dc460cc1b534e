//! Whatever bytes a server sends, in whatever pieces: nothing panics, no more is held than a line
//! may be long, and what is a message arrives.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use proptest::prelude::*;
use rmcp::transport::Transport as _;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, ReadBuf};

use crate::output::read_result;
use crate::rpc::{Bridge, News, RpcState, ServerLog};
use crate::transport::{Limits, Line, LineReader, StdioReceiver, memory};

const LINE_BYTES_MAX: usize = 40;

/// A stream that comes in these pieces.
struct Pieces(VecDeque<Vec<u8>>);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if let Some(mut piece) = self.0.pop_front() {
            let rest = piece.split_off(piece.len().min(into.remaining()));
            into.put_slice(&piece);
            if !rest.is_empty() {
                self.0.push_front(rest);
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// Empty pieces would be the end of the stream.
fn pieces() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let byte = prop_oneof![3 => Just(b'\n'), 1 => Just(b'\r'), 10 => any::<u8>()];
    let short = prop::collection::vec(byte, 1..60);
    // Just below, at and above the limit, and whatever several of them make of a line.
    let run = (b'a'..=b'z', 1..LINE_BYTES_MAX + 5).prop_map(|(byte, length)| vec![byte; length]);
    prop::collection::vec(prop_oneof![2 => short, 3 => run, 1 => Just(b"\n".to_vec())], 0..12)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// What must be read: every line that has an end, with those that are too long marked, and a last
/// one as soon as it is known to be too long.
fn expected(bytes: &[u8]) -> Vec<Option<Vec<u8>>> {
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    let last = lines.pop().unwrap_or_default();
    let mut out: Vec<Option<Vec<u8>>> = Vec::new();
    for line in lines {
        let fits = line.len() <= LINE_BYTES_MAX;
        out.push(fits.then(|| line.strip_suffix(b"\r").unwrap_or(line).to_vec()));
    }
    if last.len() > LINE_BYTES_MAX {
        out.push(None);
    }
    out
}

fn bridge(
    bytes: Vec<Vec<u8>>,
    log: Arc<Mutex<Vec<String>>>,
) -> (Bridge<StdioReceiver>, memory::Peer) {
    let limits = Limits { message_bytes_max: 4096, queue_bytes_max: 1 << 20, requests_max: 16 };
    let (transport, _, peer) = memory::pair(limits);
    let receiver = StdioReceiver::new(Box::new(Pieces(bytes.into())), limits.message_bytes_max);
    let log = Arc::new(move |_: &str, line: &str| log.lock().unwrap().push(line.to_owned()));
    let (state, log) = (Arc::<RpcState>::default(), ServerLog::new("s".into(), log, 10));
    let news = News { list_changed: Arc::new(|| {}), updated: Arc::new(|_| {}) };
    (Bridge::new(Arc::new(transport), receiver, state, log, news, None), peer)
}

/// JSON of any shape, with the words of the protocol more often than chance has them.
fn message() -> impl Strategy<Value = Value> {
    let words = [
        "jsonrpc",
        "id",
        "method",
        "params",
        "result",
        "error",
        "code",
        "message",
        "progressToken",
        "progress",
    ];
    let more = [
        "content",
        "type",
        "text",
        "data",
        "image",
        "resource",
        "blob",
        "uri",
        "mimeType",
        "structuredContent",
    ];
    let methods = [
        "notifications/progress",
        "notifications/message",
        "notifications/tools/list_changed",
        "ping",
        "x/y",
    ];
    let word = prop::sample::select([&words[..], &more[..]].concat());
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
        prop::sample::select(methods.to_vec()).prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(word.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn lines_are_read_as_they_are_in_whatever_pieces_they_come(pieces in pieces()) {
        let whole = pieces.concat();
        let read = run(async {
            let mut reader = LineReader::new(Pieces(pieces.into()), LINE_BYTES_MAX);
            let mut read = Vec::new();
            loop {
                match reader.next().await {
                    Line::Whole => {
                        let _any = reader.json();
                        assert!(reader.line().len() <= LINE_BYTES_MAX);
                        read.push(Some(reader.line().to_vec()));
                    }
                    Line::TooLong => read.push(None),
                    Line::End => return read,
                }
            }
        });
        prop_assert_eq!(read, expected(&whole));
    }

    #[test]
    fn no_line_of_a_server_ends_its_connection(
        garbage in pieces(),
        messages in prop::collection::vec(message(), 0..6),
    ) {
        let log = Arc::new(Mutex::new(Vec::new()));
        let came = run(async {
            let mut bytes = garbage;
            bytes.push(b"\n".to_vec());
            bytes.extend(messages.iter().map(|message| format!("{message}\n").into_bytes()));
            let ping = json!({"jsonrpc": "2.0", "id": "the last one", "method": "ping"});
            bytes.push(format!("{ping}\n").into_bytes());
            let (mut bridge, _peer) = bridge(bytes, log.clone());
            let mut last = None;
            while let Some(message) = bridge.receive().await {
                last = Some(message);
            }
            last
        });
        let came = serde_json::to_value(came.unwrap()).unwrap();
        prop_assert_eq!(&came["id"], &json!("the last one"));
        prop_assert!(log.lock().unwrap().len() <= 10, "more lines than the log takes");
    }

    #[test]
    fn any_result_becomes_an_end_within_its_limits(
        blocks in prop::collection::vec(message(), 0..4),
        structured in message(),
        whole in prop::option::of(message()),
    ) {
        use crate::{Beside, CallEnd};
        let raw = whole.unwrap_or_else(|| json!({"content": blocks, "structuredContent": structured}));
        if let CallEnd::Ended(output, Beside { files, .. }) = read_result(&raw, false, 16, 8) {
            // The text itself, and a sentence for each of what was cut.
            prop_assert!(output.text.len() <= 16 + 200, "{}", output.text);
            prop_assert!(output.structured.is_none_or(|value| value.to_string().len() <= 16));
            prop_assert!(files.iter().all(|file| file.bytes.len() <= 8));
        }
    }
}
