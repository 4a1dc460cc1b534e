//! `claw update`, against a stand-in for the place where versions are told.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use crate::program::House;

/// Answers one request and gives what was sent.
fn told(answer: &str) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/claw", listener.local_addr().unwrap());
    let (send, asked) = channel();
    let answer = answer.to_owned();
    std::thread::spawn(move || {
        let (mut line, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let size = line.read(&mut request).unwrap();
        line.write_all(answer.as_bytes()).unwrap();
        send.send(String::from_utf8_lossy(&request[..size]).into_owned()).unwrap_or_default();
    });
    (url, asked)
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn house(url: &str) -> House {
    let house = House::new();
    house.write("claw.toml", &format!("[update]\nurl = \"{url}\"\n"));
    house
}

#[test]
fn it_is_said_whether_there_is_a_newer_version_and_nothing_else_is_sent() {
    let this = env!("CARGO_PKG_VERSION");
    for (version, code, said) in [
        ("v999.1.0".to_owned(), 5, "claw 999.1.0 is there".to_owned()),
        (this.to_owned(), 0, format!("claw {this} is the newest version")),
        ("0.0.1".to_owned(), 0, "the newest version that was published is 0.0.1".to_owned()),
    ] {
        let (url, asked) =
            told(&ok(&format!("{{\"tag_name\": \"{version}\", \"body\": \"\\u001b[31m\"}}")));
        let house = house(&url);
        let ran = house.claw(&["update", "--check"]).expect(code);
        assert!(
            ran.out.contains(&said) && ran.out.contains("To update: ") == (code == 5),
            "{ran:?}"
        );
        let request = asked.recv().unwrap();
        let names: Vec<&str> =
            request.lines().filter_map(|line| Some(line.split_once(": ")?.0)).collect();
        assert!(request.starts_with("GET /claw HTTP/1.1"), "{request}");
        assert!(
            names
                .iter()
                .all(|name| ["user-agent", "accept", "accept-encoding", "host"].contains(name)),
            "{request}"
        );
        assert!(!house.home().join("claw.db").exists(), "nothing is made");
    }
}

#[test]
fn what_is_no_answer_is_one_sentence_and_exit_code_1() {
    let long = "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_owned() + &"x".repeat(3 << 20);
    for (answer, said) in [
        (ok("<html>"), "no version"),
        (ok("{\"tag_name\": \"latest\"}"), "no version"),
        ("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n".to_owned(), "status 404"),
        (
            "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n"
                .to_owned(),
            "leads elsewhere",
        ),
        (long, "more than"),
        (String::new(), "could not be found out"),
    ] {
        let (url, _asked) = told(&answer);
        let ran = house(&url).claw(&["update", "--check"]).expect(1);
        assert!(
            ran.out.is_empty() && ran.err.contains(said) && ran.err.lines().count() == 1,
            "{said}: {ran:?}"
        );
    }
}

#[test]
fn without_an_address_nobody_is_asked() {
    let house = House::new();
    house.claw(&["update", "--check"]).expect_mistake(&["[update]", "claw.toml"]);
    let ran = house.claw(&["update"]).expect(0);
    assert!(
        ran.out.contains("To update: ") && ran.out.contains("cargo build --release"),
        "{ran:?}"
    );
    house.write("claw.toml", "[update]\nurl = \"http://example.org/\"\n");
    house.claw(&["update", "--check"]).expect_mistake(&["update.url", "https://"]);
    house.claw(&["update"]).expect(0);
}
