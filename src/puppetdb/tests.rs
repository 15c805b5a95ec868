//! Answers of servers that are no PuppetDB, or fail. `tests/puppetdb` asks a real one.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::*;
use crate::disk::{FileSystem as _, OsFs};

const ROW: &str = r#"{"certname":"a.example.net","environment":"production"}"#;

/// Reads a request, and returns its head and its body.
fn read_request(client: &TcpStream) -> (String, String) {
    let mut reader = BufReader::new(client);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).expect("it is a request");
        head.push_str(&line);
        match line.trim().to_ascii_lowercase().split_once(": ") {
            Some(("content-length", text)) => length = text.parse().expect("a number"),
            None if line.trim().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).expect("it has a body");
    (head, String::from_utf8(body).expect("it is JSON"))
}

/// Asks a server that answers one request with these bytes, and keeps the connection open after them
/// where it `stalls`. Returns the result, without the address.
fn ask_server(answer: &[u8], stalls: bool, max_size: u64) -> Result<Refreshed, String> {
    ask_closing_server(0, answer, stalls, max_size)
}

/// Asks as `ask_server` does; the server closes so many connections before it answers.
fn ask_closing_server(
    closed: usize,
    answer: &[u8],
    stalls: bool,
    max_size: u64,
) -> Result<Refreshed, String> {
    let server = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let url = format!("http://{}", server.local_addr().expect("it has an address"));
    let number = server.local_addr().expect("it has one").port();
    let cache =
        std::env::temp_dir().join(format!("hiera-ls-asked-{}-{number}", std::process::id()));
    let cache = FilePath::new(cache.to_str().expect("it is UTF-8"));
    let source = Puppetdb {
        kept: KeptAnswer::new(&cache, &url, &PuppetdbConfig::default(), &[]),
        config: PuppetdbConfig { timeout: Some(Duration::from_secs(1)), ..Default::default() },
        url: url.clone(),
    };
    let result = std::thread::scope(|scope| {
        let serving = scope.spawn(|| {
            for _ in 0..closed {
                read_request(&server.accept().expect("it is asked").0);
            }
            if closed == client::ATTEMPTS {
                return;
            }
            let (mut client, _) = server.accept().expect("it is asked");
            let (_, body) = read_request(&client);
            assert!(body.contains(r#""facts.os.family""#), "{body}");
            client.write_all(answer).expect("it reads");
            if stalls {
                let _ = client.read(&mut [0]); // until it gives up
            }
        });
        let result = source.refresh(&["facts.os.family".to_owned()], max_size, &|_| {});
        serving.join().expect("the request is as expected");
        result
    });
    let is_kept = OsFs.entry(&source.kept.rows()).is_some();
    assert_eq!(is_kept, result.is_ok(), "of a failed request nothing is kept");
    std::fs::remove_dir_all(cache.as_str()).expect("it is there");
    result.map_err(|reason| {
        let reason =
            reason.strip_suffix("; no earlier answer of it is kept, so that no nodes come from it");
        reason.expect("it tells what is kept").replace(&url, "URL")
    })
}

fn answer(status: &str, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nLocation: /dashboard\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// An answer in chunks, which has its proper end where it `ends`.
fn chunked(body: &str, ends: bool) -> Vec<u8> {
    let end = if ends { "0\r\n\r\n" } else { "" };
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{length:x}\r\n{body}\r\n{end}")
        .into_bytes()
}

/// The effect of an answer of so many nodes.
fn complete(nodes: usize) -> Refreshed {
    Refreshed { nodes, notes: Vec::new() }
}

const ENOUGH: u64 = 1 << 20;

#[test]
fn a_complete_answer_is_kept() {
    for bytes in
        [answer("200 OK", &format!("[{ROW},\n{ROW}]\n")), chunked(&format!("[{ROW},{ROW}]"), true)]
    {
        assert_eq!(ask_server(&bytes, false, ENOUGH), Ok(complete(2)));
    }
}

#[test]
fn a_request_whose_connection_is_closed_is_sent_again() {
    let bytes = answer("200 OK", &format!("[{ROW}]"));
    let found = ask_closing_server(client::ATTEMPTS - 1, &bytes, false, ENOUGH);
    assert_eq!(found, Ok(complete(1)));
}

/// A server that answers before it has read the request closes the connection while the request is
/// sent, often before it is sent completely. Other systems may drop what has arrived by then.
#[cfg(target_os = "linux")]
#[test]
fn a_refusal_that_arrives_before_the_request_is_sent_is_read() {
    let bytes = answer("403 Forbidden", "Permission denied");
    for _ in 0..200 {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", server.local_addr().expect("it has an address"));
        let result = std::thread::scope(|scope| {
            scope.spawn(|| server.accept().expect("it is asked").0.write_all(&bytes));
            let query = "x".repeat(1 << 20);
            client::ask(&url, &PuppetdbConfig::default(), &query, ENOUGH, &mut |_| Ok(()))
        });
        assert_eq!(result, Err(format!("{url} refuses this client: Permission denied")));
    }
}

#[test]
fn an_answer_that_breaks_off_is_none() {
    let half = format!("[{ROW},{ROW},{}", &ROW[..20]);
    let told = [
        // The database has gone: for HTTP the answer is complete.
        ask_server(&chunked(&half, true), false, ENOUGH),
        ask_server(&chunked(&half, false), false, ENOUGH),
        ask_server(&chunked(&half, false), true, ENOUGH),
        ask_closing_server(client::ATTEMPTS, b"", false, ENOUGH),
        ask_server(b"", true, ENOUGH),
        ask_server(&chunked("", false)[..40], true, ENOUGH),
    ];
    let words = [
        "URL broke off after 2 nodes",
        "URL broke off after 2 nodes",
        "URL has sent nothing for 1 s after 2 nodes",
        "URL has ended the connection without an answer",
        "URL has sent nothing for 1 s",
        "URL has sent nothing for 1 s",
    ];
    assert_eq!(told, words.map(|text| Err(text.to_owned())));
}

#[test]
fn an_answer_that_is_no_list_of_nodes_is_told_by_its_status() {
    let told = |status: &str, body: &str| {
        ask_server(&answer(status, body), false, ENOUGH).expect_err("it is no list of nodes")
    };
    let found = [
        told("302 Found", ""),
        told("400 Bad Request", "Unknown field"),
        told("403 Forbidden", "Permission denied: the name is not in the allowlist"),
        told("404 Not Found", "<html>"),
        told("500 Server Error", "Connection refused."),
        told("503 Service Unavailable", "<html>"),
        told("200 OK", "<html>"),
        told("200 OK", r#"{"error": "x"}"#),
        told("200 OK", r#"[{"name": "x"}]"#),
        told("200 OK", &format!("[{ROW}] x")),
    ];
    expect_test::expect![[r#"
        there is no PuppetDB at URL: it sends the reader on to /dashboard
        URL answers 400: Unknown field
        URL refuses this client: Permission denied: the name is not in the allowlist
        there is no PuppetDB at URL: it does not know /pdb/query/v4
        URL does not reach its database: Connection refused.
        URL is not ready: a web page
        URL answers no list of nodes: expected value at line 1 column 1
        URL answers no list of nodes: invalid type: map, expected a list of nodes at line 1 column 1
        URL answers no list of nodes: missing field `certname` at line 1 column 13
        URL answers no list of nodes: trailing characters at line 1 column 59
    "#]]
    .assert_eq(&(found.join("\n") + "\n"));
}

#[test]
fn a_long_refusal_is_quoted_up_to_the_limit() {
    let long = "x".repeat(1000);
    let told =
        ask_server(&answer("400 Bad Request", &long), false, ENOUGH).expect_err("it is refused");
    assert_eq!(told, format!("URL answers 400: {}", "x".repeat(300)));
}

#[test]
fn an_answer_beyond_the_limit_is_not_kept() {
    let body = format!("[{ROW},{ROW}]");
    let limit = body.len() as u64 - 1;
    let told = ask_server(&answer("200 OK", &body), false, limit).expect_err("it is too long");
    assert_eq!(told, format!("the answer of URL is longer than {limit} bytes (`maxFileSize`)"));
}

#[test]
fn files_for_tls_that_are_wrong_are_told_without_their_text() {
    let folder = std::env::temp_dir().join(format!("hiera-ls-pem-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).expect("a scratch file");
        FilePath::new(folder.join(name).to_str().expect("it is UTF-8"))
    };
    let long = write("long", &"x".repeat((1 << 20) + 1));
    let bad = write("bad", "-----BEGIN CERTIFICATE-----\n!secret\n-----END CERTIFICATE-----\n");
    let none = write("none", "secret\n");
    let cache = FilePath::new(folder.to_str().expect("it is UTF-8"));
    let told = |ca: Option<&FilePath>, cert: Option<&FilePath>| {
        let url = "https://localhost:1".to_owned();
        let (ca, cert) = (ca.cloned(), cert.cloned());
        let config = PuppetdbConfig { ca, cert, ..PuppetdbConfig::default() };
        let kept = KeptAnswer::new(&cache, &url, &config, &[]);
        let source = Puppetdb { url, config, kept };
        let reason = source.refresh(&[], ENOUGH, &|_| {}).expect_err("nothing serves there");
        let reason = reason.split("; ").next().unwrap_or_default();
        reason.replace(cache.as_str(), "DIR").replace('\\', "/")
    };
    let missing = cache.join("missing");
    let found = [
        told(None, None),
        told(Some(&long), None),
        told(Some(&bad), None),
        told(Some(&none), None),
        told(Some(&missing), None).split(": ").next().unwrap_or_default().to_owned(),
    ];
    std::fs::remove_dir_all(&folder).expect("it is there");
    let expected = [
        "its CA is not named (`nodes.puppetdb.ca`): Puppet's is certs/ca.pem in `puppet config print ssldir`",
        "DIR/long cannot be read: 1048577 bytes are too many",
        "DIR/bad is no PEM file",
        "there is no certificate in DIR/none",
        "DIR/missing cannot be read",
    ];
    assert_eq!(found, expected);
}

#[cfg(unix)]
#[test]
fn a_token_is_sent_to_this_machine_or_over_tls_and_never_quoted() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = std::env::temp_dir().join(format!("hiera-ls-token-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a scratch folder");
    let folder = FilePath::new(folder.to_str().expect("it is UTF-8"));
    let write = |name: &str, text: &str, mode: u32| {
        let path = folder.join(name);
        std::fs::write(path.as_str(), text).expect("a scratch file");
        let mode = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(path.as_str(), mode).expect("it is ours");
        path
    };
    let ask = |url: &str, token: &FilePath| {
        let token_file = Some(token.clone());
        let config = PuppetdbConfig { token_file, ..PuppetdbConfig::default() };
        let kept = KeptAnswer::new(&folder, url, &config, &[]);
        let source = Puppetdb { url: url.to_owned(), config, kept };
        source.refresh(&[], ENOUGH, &|_| {}).map_err(|reason| {
            let reason = reason.split("; ").next().unwrap_or_default();
            reason.replace(folder.as_str(), "DIR").replace(url, "URL")
        })
    };
    let serve = |status: &str, token: &FilePath| {
        let server = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let url = format!("http://{}", server.local_addr().expect("it has an address"));
        std::thread::scope(|scope| {
            let serving = scope.spawn(|| {
                let (mut client, _) = server.accept().expect("it is asked");
                let (head, _) = read_request(&client);
                let body = if status == "200 OK" { format!("[{ROW}]") } else { "no".to_owned() };
                client.write_all(&answer(status, &body)).expect("it reads");
                head
            });
            let result = ask(&url, token);
            (result, serving.join().expect("the request is as expected"))
        })
    };
    let (private, shared) = (write("t", "word-1\n", 0o600), write("shared", "word-2", 0o640));
    let wrong = [write("two", "word\nword", 0o600), write("none", " \n", 0o600), folder.join("x")];
    let (first, head) = serve("200 OK", &private);
    let (second, _) = serve("200 OK", &shared);
    let (refused, _) = serve("401 Unauthorized", &private);
    let far = ask("http://puppetdb.example.net:8080", &private);
    let unread = wrong.map(|path| ask("http://localhost:1", &path));
    std::fs::remove_dir_all(folder.as_str()).expect("it is there");
    assert!(head.to_ascii_lowercase().contains("\r\nx-authentication: word-1\r\n"), "{head}");
    assert_eq!(first, Ok(complete(1)));
    let notes = second.expect("it has an answer").notes.join("\n");
    assert_eq!(
        notes.replace(folder.as_str(), "DIR"),
        "other users can read the token in DIR/shared: `chmod 600` hides it"
    );
    let [two, none, missing] = unread.map(|result| result.expect_err("there is no token"));
    assert_eq!(refused, Err("URL does not accept the token in DIR/t: no".to_owned()));
    assert_eq!(far, Err("the token in DIR/t is sent over https alone".to_owned()));
    assert_eq!(
        [two, none],
        ["two", "none"].map(|name| format!("DIR/{name} is no file of a token"))
    );
    assert!(missing.starts_with("DIR/x cannot be read"), "{missing}");
}

#[test]
fn a_token_is_read_for_another_machine_over_tls_alone() {
    let missing = FilePath::new("/nowhere/token");
    let failure = |url| super::client::read_token(url, &missing).expect_err("there is no file");
    let refused = failure("http://puppetdb.example.net/https:");
    assert_eq!(refused, "the token in /nowhere/token is sent over https alone");
    let read = failure("https://puppetdb.example.net:8081");
    assert!(read.starts_with("/nowhere/token cannot be read: "), "{read}");
}

#[test]
fn this_machine_is_named_in_three_ways() {
    for (url, is_this) in [
        ("http://localhost:8080", true),
        ("http://127.0.0.1", true),
        ("http://[::1]:8080/x", true),
        ("http://localhost.example.net", false),
        ("http://puppetdb:8080/localhost", false),
        ("http://[::2]", false),
    ] {
        assert_eq!(client::is_this_machine(url), is_this, "{url}");
    }
}

#[test]
fn a_statement_beyond_the_limit_is_none() {
    let cache = std::env::temp_dir().join(format!("hiera-ls-statement-{}", std::process::id()));
    let cache = FilePath::new(cache.to_str().expect("it is UTF-8"));
    let kept = KeptAnswer::new(&cache, "http://localhost", &PuppetdbConfig::default(), &[]);
    let mut writer = kept.begin_writing().expect("the folder can be made");
    writer.write_row(ROW).expect("the disk has room");
    writer.finish("http://localhost", &[], OldNodes::default()).expect("the disk has room");
    let rows = kept.rows();
    let path = rows.as_str().strip_suffix('l').expect("the statement is a `.json`");
    let text = std::fs::read_to_string(path).expect("it is written");
    let known = kept.has_fields(&[]);
    std::fs::write(path, " ".repeat(1 << 20) + &text).expect("it can be written");
    let too_long = kept.has_fields(&[]);
    std::fs::remove_dir_all(cache.as_str()).expect("it is there");
    assert!(known && !too_long);
}
