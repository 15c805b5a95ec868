//! Malformed messages, and legal ones in rare spellings: the answer to each, and that the request
//! after it is answered.

use std::collections::HashSet;

use serde_json::Value;

use super::client::{Server, frame, ping};

const PARSE: &str = "-32700 null";
const INVALID: &str = "-32600 null";

/// A sent message, and the answers to it as `code id`; `ok id` is a result.
type Row = (Vec<u8>, Vec<String>);

fn row(bytes: impl Into<Vec<u8>>, answers: &[&str]) -> Row {
    (bytes.into(), answers.iter().map(|answer| (*answer).to_owned()).collect())
}

/// Bytes that do not frame a message.
fn frames() -> Vec<Row> {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
    let own = |header: &str| row(format!("{header}\r\n\r\n{body}"), &["-32601 1"]);
    let mut rows = vec![
        own("content-length: 37"),
        own("CONTENT-LENGTH: 37"),
        own("cOnTeNt-LeNgTh:37"),
        own("Content-Length : 37"),
        own("Content-Length:\t37  "),
        own("Content-Length: 037"),
        own("Content-Length: 37\r\nContent-Length: 37"),
        own("Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: 37"),
        own("Content-Length: 37\r\ncontent-TYPE: application/vscode-jsonrpc; charset=UTF8"),
        own("Content-Length: 37\r\nContent-Type: application/vscode-jsonrpc"),
        own("Content-Length: 37\r\nContent-Type: x; charset=\"utf-8\""),
        own("X-Unknown: yes\r\nContent-Length: 37\r\nAnother: 5"),
        own("\r\n\r\nContent-Length: 37"),
        own(" \n\t\nContent-Length: 37"),
        own("note: a line of a log\r\nContent-Length: 37"),
        row(format!("Content-Length: 37\n\n{body}"), &["-32601 1"]),
        row(format!("Content-Length: 37\r\n\n{body}"), &["-32601 1"]),
        row("\r\n\r\n", &[]),
    ];
    for garbage in [
        "garbage",
        "garbage\r\n",
        "garbage\r\n\r\n",
        "several words of garbage\n",
        "\0\0\0\0",
        "\u{feff}",
        "{",
        "{}",
        "[]",
        body,
        "HTTP/1.1 200 OK\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ":\r\n\r\n",
        ": 5\r\n\r\n",
        "Content-Length\r\n\r\n",
        "Content-Length 5\r\n\r\n",
        "Content Length: 5\r\n\r\n",
        "Content-Length: \r\n\r\n{}",
        "Content-Length: five\r\n\r\n{}",
        "Content-Length: -2\r\n\r\n{}",
        "Content-Length: +2\r\n\r\n{}",
        "Content-Length: 2.0\r\n\r\n{}",
        "Content-Length: 2e0\r\n\r\n{}",
        "Content-Length: 0x2\r\n\r\n{}",
        "Content-Length: 2 2\r\n\r\n{}",
        "Content-Length: 2,2\r\n\r\n{}",
        "Content-Length: ٢\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        "Content-Length: 3\r\ncontent-length: 2\r\n\r\n{}",
        "Content-Type: application/vscode-jsonrpc\r\n\r\n{}",
        "X-Unknown: 5\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Type: x; charset=utf-16\r\n\r\n{}",
        "Content-Length: 2\r\nContent-Type: x; charset=latin1\r\n\r\n{}",
        "Content-Length: 2\r\nno header\r\n\r\n{}",
        "Content-Length: 0\r\n\r\n",
        "Content-Length: 1\r\n\r\n{}",
        "Content-Length: 3\r\n\r\n{}",
        "Content-Length: 12\r\n\r\n{}",
        "Content-Length: 40\r\n\r\n{}",
        "Content-Length: 1000\r\n\r\n{}",
        "Content-Length: 268435457\r\n\r\n{}",
        "Content-Length: 18446744073709551615\r\n\r\n{}",
        "Content-Length: 18446744073709551616\r\n\r\n{}",
        "Content-Length: 99999999999999999999999999\r\n\r\n{}",
    ] {
        rows.push(row(garbage, &[PARSE]));
    }
    rows.push(row(b"\xff\xfe\xfd\x80".to_vec(), &[PARSE]));
    rows.push(row("long garbage ".repeat(20_000), &[PARSE]));
    rows.push(row(format!("X: {}\r\n\r\n", "x".repeat(20_000)), &[PARSE]));
    rows
}

/// Bodies that are no JSON.
fn texts() -> Vec<Row> {
    let mut bodies: Vec<Vec<u8>> = [
        " ",
        "\n",
        "{",
        "}",
        "[",
        "]",
        "\"",
        "{\"",
        "{\"jsonrpc\"",
        "{\"jsonrpc\":",
        "{]",
        "[}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",}",
        "{\"jsonrpc\":\"2.0\" \"id\":1}",
        "{'jsonrpc':'2.0'}",
        "{jsonrpc:\"2.0\"}",
        "{\"id\":1}{\"id\":2}",
        "{\"id\":1} x",
        "{\"id\":01}",
        "{\"id\":+1}",
        "{\"id\":1.}",
        "{\"id\":.5}",
        "{\"id\":1e}",
        "{\"id\":NaN}",
        "{\"id\":Infinity}",
        "{\"id\":0x1}",
        "{\"id\":\"\\x\"}",
        "{\"id\":\"\\u12\"}",
        "{\"id\":\"\t\"}",
        "{\"id\":\"\n\"}",
        "{\"id\":\"a",
        "{\"a\":1,,\"b\":2}",
        "[1,]",
        "[,]",
        "nul",
        "True",
        "undefined",
        "// a comment\n{}",
        "{\"a\":1 /* c */}",
        "<xml/>",
        "\u{feff}{}",
        "{\"a\":\u{a0}1}",
    ]
    .map(|text| text.as_bytes().to_vec())
    .to_vec();
    bodies.push(b"{\"a\":\"\xff\"}".to_vec());
    bodies.push(b"{\"a\":\"\xc3\"}".to_vec());
    bodies.push(b"{\"a\":\"\xed\xa0\x80\"}".to_vec());
    bodies.push(b"\xff\xfe{\0}\0".to_vec());
    bodies.push(b"{\"a\":\0}".to_vec());
    bodies.push("[".repeat(100_000).into_bytes());
    bodies.push("{\"a\":".repeat(100_000).into_bytes());
    bodies.into_iter().map(|body| row(frame(body), &[PARSE])).collect()
}

/// JSON that is no request, or one whose parts are wrong or rare.
fn requests() -> Vec<Row> {
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    let mut rows: Vec<(String, &[&str])> = Vec::new();
    for scalar in ["null", "true", "false", "5", "1.5", "\"text\"", "\"\"", "1e999"] {
        rows.push((scalar.into(), &[INVALID]));
    }
    for (id, answer) in [
        ("1", "-32601 1"),
        ("0", "-32601 0"),
        ("-1", "-32601 -1"),
        ("2147483648", "-32601 2147483648"),
        ("9223372036854775807", "-32601 9223372036854775807"),
        ("1.0", "-32601 1"),
        ("1e2", "-32601 100"),
        ("\"\"", "-32601 \"\""),
        ("\"text\"", "-32601 \"text\""),
        ("\"\\u00e9\\n\"", "-32601 \"é\\n\""),
        ("\"\\ud83d\"", "-32601 \"\u{fffd}\""),
        ("1.5", "-32600 1.5"),
        ("-0.5", "-32600 -0.5"),
        ("9223372036854775808", "-32600 9223372036854775808"),
        ("null", INVALID),
        ("true", INVALID),
        ("[]", INVALID),
        ("[1]", INVALID),
        ("{}", INVALID),
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
        let answer: &[&str] = Vec::leak(vec![answer]);
        rows.push((text, answer));
    }
    rows.push((format!(r#"{{"jsonrpc":"2.0","id":{deep},"method":"x"}}"#), &[INVALID]));
    rows.push((format!(r#"{{"jsonrpc":"2.0","id":1,"method":{deep}}}"#), &["-32600 1"]));
    rows.push((
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{deep}}}"#),
        &["-32600 1"],
    ));
    rows.push((format!(r#"{{"jsonrpc":"2.0","method":"x","params":{deep}}}"#), &[INVALID]));
    rows.push((
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","other":{deep}}}"#),
        &["-32601 1"],
    ));
    let fixed: &[(&str, &[&str])] = &[
        ("{}", &[INVALID]),
        (r#"{"jsonrpc":"2.0"}"#, &[INVALID]),
        (r#"{"id":1}"#, &["-32600 1"]),
        (r#"{"jsonrpc":"2.0","id":1}"#, &["-32600 1"]),
        (r#"{"id":1,"method":"x"}"#, &["-32600 1"]),
        (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, &["-32600 1"]),
        (r#"{"jsonrpc":2.0,"id":1,"method":"x"}"#, &["-32600 1"]),
        (r#"{"jsonrpc":null,"id":1,"method":"x"}"#, &["-32600 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, &["-32600 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, &["-32600 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":["x"]}"#, &["-32600 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":""}"#, &["-32601 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x\u0000y"}"#, &["-32601 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"text\u0044ocument\/hover"}"#, &["-32602 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, &["-32601 2"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":5,"method":"x"}"#, &["-32601 1"]),
        (r#"{"method":"x","jsonrpc":"2.0","\u0069d":3}"#, &["-32601 3"]),
        (r#"  {"jsonrpc":"2.0","id":1,"method":"x"}  "#, &["-32601 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":1e999}"#, &["-32600 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":"\ud83d"}"#, &["-32601 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","params":5}"#, &["-32601 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":5,"error":{}}"#, &["-32601 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover"}"#, &["-32602 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":null}"#, &["-32602 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":[]}"#, &["-32602 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/hover","params":{}}"#, &["-32602 1"]),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}"#,
            &["-32600 1"],
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"textDocument/didOpen","params":{}}"#, &["-32600 1"]),
        // A server need not know these requests.
        (r#"{"jsonrpc":"2.0","id":1,"method":"$/foo"}"#, &["-32601 1"]),
        (r#"{"jsonrpc":"2.0","id":"a","method":"$/foo","params":{}}"#, &["-32601 \"a\""]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"$/cancelRequest","params":{"id":1}}"#, &["-32601 1"]),
        (r#"{"jsonrpc":"2.0","id":1,"method":"$/"}"#, &["-32601 1"]),
        // Notifications have no answer, even with wrong parameters.
        (r#"{"jsonrpc":"2.0","method":"$/foo"}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"verbose"}}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"$/cancelRequest"}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1.5}}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"never asked"}}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"foo/bar"}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"foo/bar","params":[1,2]}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"textDocument/hover","params":{}}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{}}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"textDocument/didChange","params":null}"#, &[]),
        (r#"{"jsonrpc":"2.0","method":"textDocument/didClose"}"#, &[]),
        // Responses have no answer either, not even responses to requests that were never made.
        (r#"{"jsonrpc":"2.0","id":99,"result":null}"#, &[]),
        (r#"{"jsonrpc":"2.0","id":99,"result":1,"error":{"code":1,"message":"x"}}"#, &[]),
        (r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#, &[]),
        (r#"{"jsonrpc":"2.0","id":99,"error":5}"#, &[]),
        (r#"{"jsonrpc":"2.0","id":[],"result":null}"#, &[]),
        (r#"{"jsonrpc":"2.0","result":null}"#, &[]),
        (r#"{"id":"x","error":{"code":"x","message":5,"other":1}}"#, &[]),
    ];
    rows.extend(fixed.iter().map(|(text, answers)| ((*text).to_owned(), *answers)));
    rows.into_iter().map(|(text, answers)| row(frame(text), answers)).collect()
}

/// Arrays of messages. One array answers.
fn batches() -> Vec<Row> {
    let request = r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#;
    let other = r#"{"jsonrpc":"2.0","id":"b","method":"$/x"}"#;
    let notification = r#"{"jsonrpc":"2.0","method":"x"}"#;
    let response = r#"{"jsonrpc":"2.0","id":99,"result":null}"#;
    [
        ("[]".to_owned(), INVALID),
        ("[1]".to_owned(), "[-32600 null]"),
        ("[1,\"a\",null]".to_owned(), "[-32600 null, -32600 null, -32600 null]"),
        ("[[]]".to_owned(), "[-32600 null]"),
        (format!("[[{request}]]"), "[-32600 null]"),
        (format!("[{}{}]", "[".repeat(5_000), "]".repeat(5_000)), "[-32600 null]"),
        (format!("[{request}]"), "[-32601 1]"),
        (format!("[{request},{other}]"), "[-32601 1, -32601 \"b\"]"),
        (format!(" [ {notification} , {other} , {{}} ]"), "[-32601 \"b\", -32600 null]"),
        (format!("[{response},{request}]"), "[-32601 1]"),
        (format!("[{notification}]"), ""),
        (format!("[{notification},{response}]"), ""),
        (format!("[{request},]"), PARSE),
        (format!("[{request}"), PARSE),
    ]
    .into_iter()
    .map(|(text, answer)| {
        row(frame(text), if answer.is_empty() { &[] } else { Vec::leak(vec![answer]) })
    })
    .collect()
}

/// The messages of `rows` once more in other legal spellings of their headers, and behind texts
/// that a server ignores.
fn respelled(rows: &[Row]) -> Vec<Row> {
    let respellings: [(&str, &str); 4] = [
        ("Content-Length: ", "content-length:"),
        ("Content-Length: ", "\r\n\r\nContent-Length:   000"),
        ("Content-Length: ", "X-Other: 5\r\nCONTENT-LENGTH : "),
        ("Content-Length: ", "Content-Type: x; charset=UTF-8\r\nContent-Length:\t"),
    ];
    let respell = |(n, (bytes, answers)): (usize, &Row)| {
        let (plain, other) = respellings[n % respellings.len()];
        let rest = bytes.strip_prefix(plain.as_bytes())?;
        Some(([other.as_bytes(), rest].concat(), answers.clone()))
    };
    rows.iter().enumerate().filter_map(respell).collect()
}

/// An answer as a row has it.
fn short(answer: &Value) -> String {
    if let Some(answers) = answer.as_array() {
        return format!("[{}]", answers.iter().map(short).collect::<Vec<_>>().join(", "));
    }
    assert_eq!(answer["jsonrpc"], "2.0", "{answer}");
    let code = match answer.get("error") {
        Some(error) => {
            assert!(error["message"].is_string(), "{answer}");
            error["code"].to_string()
        }
        None => "ok".to_owned(),
    };
    format!("{code} {}", answer["id"])
}

#[test]
fn malformed_messages_are_answered_and_the_session_goes_on() {
    let framed = [texts(), requests(), batches()].concat();
    let rows = [frames(), respelled(&framed), framed].concat();
    let distinct: HashSet<&[u8]> = rows.iter().map(|(bytes, _)| &bytes[..]).collect();
    eprintln!("{} distinct messages", distinct.len());
    assert!(distinct.len() >= 350, "{} distinct messages", distinct.len());
    let mut server = Server::initialized(None);
    for (n, (bytes, expected)) in rows.iter().enumerate() {
        let id = format!("after row {n}");
        server.write(&[bytes, &ping(&id)[..]].concat());
        let (before, answer) = server.answers_until(&id);
        let sent = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]);
        let answers: Vec<String> = before.iter().map(short).collect();
        assert_eq!(answers, *expected, "{sent:?}");
        assert!(answer["result"].is_null(), "{sent:?}: {answer}");
    }
    server.write(&frame(r#"{"jsonrpc":"2.0","id":"s","method":"shutdown"}"#));
    server.answers_until("s");
    server.write(&frame(r#"{"jsonrpc":"2.0","method":"exit"}"#));
    assert_eq!(server.end(), (Some(0), String::new()));
}
