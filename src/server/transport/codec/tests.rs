//! Streams of bytes, and the messages decoded from them however they are cut into reads.

use super::*;

const REQUEST: &str = r#"{"jsonrpc":"2.0","id":7,"method":"m"}"#;

fn frame(body: &str) -> String {
    format!("Content-Length: {}\r\n\r\n{body}", body.len())
}

/// Returns a codec's output for bytes: the methods of requests, the messages of refusals.
fn decoded(bytes: &[u8], size: usize, limit: usize) -> Vec<String> {
    let mut codec = Codec::with_limit(limit);
    let mut all = Vec::new();
    for piece in bytes.chunks(size) {
        codec.feed(piece);
        while let Some(message) = codec.next() {
            all.push(match message {
                Incoming::Request(request) => request.method().to_owned(),
                Incoming::Refused(refusal) => refusal.to_json(),
                other => format!("{other:?}"),
            });
        }
    }
    all.extend(codec.unfinished_reason().map(str::to_owned));
    all.extend(codec.is_lost().then(|| "lost".to_owned()));
    all
}

/// Checks that bytes give a number of refusals, and that the request after them is understood, for
/// any division into reads.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, refusals: usize) {
    let bytes = [bytes.as_ref(), frame(REQUEST).as_bytes()].concat();
    for size in (1..40).chain([bytes.len()]) {
        let all = decoded(&bytes, size, MAX_MESSAGE);
        let shown = String::from_utf8_lossy(&bytes);
        assert_eq!(all.len(), refusals + 1, "{shown:?} in pieces of {size}: {all:#?}");
        assert!(all[..refusals].iter().all(|one| one.contains("-32700")), "{shown:?}: {all:#?}");
        assert_eq!(all[refusals], "m", "{shown:?} in pieces of {size}");
    }
}

#[test]
fn every_spelling_of_headers_is_read() {
    for header in [
        "Content-Length: 37\r\n",
        "content-length: 37\r\n",
        "CONTENT-LENGTH:37\r\n",
        "Content-Length : 37 \r\n",
        "Content-Length: 37\n",
        "Content-Length: 0000037\r\n",
        "Content-Length: 37\r\nContent-Length: 37\r\n",
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 37\r\n",
        "Content-Length: 37\r\ncontent-type: application/vscode-jsonrpc;charset=\"UTF8\"\r\n",
        "Content-Length: 37\r\nContent-Type: application/json\r\n",
        "X-Other: Content-Length: 99\r\nContent-Length: 37\r\n",
        "\r\n\r\n  Content-Length: 37\r\n",
        "WARNING: a line that looks like a header\r\nContent-Length: 37\r\n",
    ] {
        let end = if header.contains('\r') { "\r\n" } else { "\n" };
        let bytes = format!("{header}{end}{REQUEST}");
        for size in 1..=bytes.len() {
            assert_eq!(decoded(bytes.as_bytes(), size, MAX_MESSAGE), ["m"], "{header:?}");
        }
    }
}

#[test]
fn the_next_message_is_found_after_a_fault() {
    for fault in [
        "garbage",
        "garbage\r\n",
        "garbage garbage: {}\r\n\r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"raw\"}",
        "\u{feff}",
        "Content-Length: x\r\n\r\n{}",
        "Content-Length: -5\r\n\r\n{}",
        "Content-Length: +5\r\n\r\n{}",
        "Content-Length:\r\n\r\n{}",
        "Content-Length: 5.0\r\n\r\n{}",
        "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
        "Content-Type: text/plain\r\n\r\n",
        "Content-Length: 2\r\nContent-Type: x; charset=utf-16\r\n\r\n{}",
        "Content-Length\r\n\r\n",
        "Content-Length: 0\r\n\r\n",
        "Content-Length: 1\r\n\r\n{",
        "Content-Length: 5\r\n\r\n{\"a\":1,\"b\":2}",
        "Content-Length: 20\r\n\r\n{\"a\":1}",
        "Content-Length: 9\r\n\r\n{\"a\":1}",
        "Content-Length: 200\r\n\r\n{\"a\":1}",
        "Content-Length: 99999999999999999999999\r\n\r\n{\"a\":1}",
        "Content-Length: 14\r\n\r\n{\"a\":c,\"b\":cc}",
    ] {
        check(fault, 1);
    }
    check(b"\x00\xff\xfe\x80", 1);
    check(b"Content-Length: 4\r\n\r\n\"\xff\xff\"", 1);
    check("\r\n \t\n", 0);
}

#[test]
fn two_faults_are_two_answers_and_one_fault_is_one() {
    let broken = frame("{\"a\":");
    check(format!("{broken}{broken}"), 2);
    check("garbage".repeat(10_000), 1);
}

#[test]
fn a_body_that_is_too_long_is_passed_over() {
    let long = frame(&format!("\"{}\"", "x".repeat(1_000)));
    let bytes = format!("{long}{}", frame(REQUEST));
    for size in [1, 7, 100, 5_000] {
        let all = decoded(bytes.as_bytes(), size, 500);
        assert!(all.len() == 2 && all[0].contains("too long") && all[1] == "m", "{all:#?}");
    }
}

#[test]
fn a_stream_without_messages_is_given_up() {
    let all = decoded("garbage ".repeat(100).as_bytes(), 10, 500);
    assert!(all[0].contains("-32700"), "{all:#?}");
    assert_eq!(all[1..], ["standard input ended with bytes that are no message", "lost"]);
}

#[test]
fn an_end_within_a_message_is_reported() {
    for bytes in [
        "Content-",
        "Content-Length: 5\r\n",
        "Content-Length: 5\r\n\r\n",
        "Content-Length: 5\r\n\r\n{",
    ] {
        let all = decoded(bytes.as_bytes(), 3, MAX_MESSAGE);
        assert_eq!(all, ["standard input ended within a message"], "{bytes:?}");
    }
    assert_eq!(decoded(b"\r\n", 3, MAX_MESSAGE), Vec::<String>::new());
}
