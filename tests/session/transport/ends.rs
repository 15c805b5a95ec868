//! How a session ends: at once, with a status, and with a word where the client is lost.

use std::process::{Command, Stdio};

use serde_json::json;

use super::client::{Server, frame, ping};

fn method(name: &str) -> Vec<u8> {
    frame(json!({"jsonrpc": "2.0", "method": name}).to_string())
}

/// A server that has answered something, so that all its parts run.
fn running() -> Server {
    let mut server = Server::initialized(None);
    server.write(&ping("running"));
    server.answers_until("running");
    server
}

#[test]
fn exit_after_shutdown_is_a_success() {
    let mut server = running();
    server.send(&json!({"jsonrpc": "2.0", "id": "s", "method": "shutdown"}));
    server.answers_until("s");
    server.write(&method("exit"));
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn exit_without_shutdown_is_a_failure() {
    let mut server = running();
    server.write(&method("exit"));
    assert_eq!(server.end(), (Some(1), String::new()));
}

#[test]
fn answers_are_written_before_the_end_of_input_ends_the_session() {
    let mut server = running();
    server.write(&[ping("a"), ping("b")].concat());
    drop(server.stdin.take());
    // Requests that wait for each other are answered in any order.
    let (before, _) = server.answers_until("a");
    match before.as_slice() {
        [] => drop(server.answers_until("b")),
        [other] => assert_eq!(other["id"], "b"),
        more => panic!("answers to what was not asked: {more:?}"),
    }
    assert!(server.read().is_none());
    assert_eq!(server.end(), (Some(0), String::new()));
}

#[test]
fn an_input_that_ends_within_a_message_is_a_failure_with_a_word() {
    for (bytes, word) in [
        (&b"Content-Length: 50\r\n\r\n{"[..], "within a message"),
        (b"Content-Le", "within a message"),
        (b"{\"jsonrpc\":\"2.0\"}\n", "no message"),
    ] {
        let mut server = running();
        server.write(bytes);
        drop(server.stdin.take());
        let (status, words) = server.end();
        assert_eq!(status, Some(2), "{words}");
        assert!(words.starts_with("hiera-ls: ") && words.contains(word), "{words}");
    }
}

/// The editor is killed while answers are computed: both pipes are closed, without `shutdown` or
/// `exit`.
#[test]
fn a_client_that_dies_with_answers_in_flight_ends_the_server() {
    let mut server = Server::initialized(None);
    for n in 0..200 {
        server.write(&ping(&n.to_string()));
    }
    drop((server.stdin.take(), server.stdout.take()));
    let (status, words) = server.end();
    // Where all answers fit into the pipe before it is closed, the end of the input comes first.
    assert!(matches!(status, Some(0 | 2)), "{words}");
    assert_eq!(status == Some(2), words.starts_with("hiera-ls: "), "{words}");
}

#[cfg(unix)]
#[test]
fn a_client_that_reads_no_more_ends_the_server() {
    let mut server = running();
    drop(server.stdout.take());
    // Standard input stays open, and no answer is under way.
    let (status, words) = server.end();
    assert_eq!(status, Some(2));
    assert!(words.contains("standard output"), "{words}");
}

/// Writes bytes until all are written, or the reader takes no more for half a second.
#[cfg(unix)]
fn write_accepted(mut pipe: impl std::io::Write + std::os::fd::AsFd, mut bytes: &[u8]) {
    rustix::io::ioctl_fionbio(&pipe, true).expect("a pipe can be set so");
    let mut refusals = 0;
    while !bytes.is_empty() && refusals < 50 {
        match pipe.write(bytes) {
            Ok(count) => (bytes, refusals) = (&bytes[count..], 0),
            Err(error) => {
                assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
                refusals += 1;
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        }
    }
}

/// The client closes standard input, and keeps standard output without reading it.
#[cfg(unix)]
#[test]
fn a_client_that_ends_its_input_and_reads_no_answer_ends_the_server() {
    // With few requests, answers wait for the output. With many requests, the server does not read
    // the input to its end.
    let end = |requests: usize| {
        let mut server = running();
        let pings: Vec<u8> = (0..requests).flat_map(|n| ping(&format!("{n:05}"))).collect();
        write_accepted(server.stdin.as_mut().expect("standard input is open"), &pings);
        drop(server.stdin.take());
        server.end()
    };
    let cases =
        [3_000, 30_000].map(|requests| (requests, std::thread::spawn(move || end(requests))));
    for (requests, ending) in cases {
        let (status, words) = ending.join().expect("no panic");
        assert_eq!(status, Some(2), "{requests}: {words}");
        assert!(words.contains("nothing reads standard output"), "{requests}: {words}");
    }
}

#[cfg(unix)]
#[test]
fn a_client_whose_process_ends_takes_the_server_along() {
    let mut client = Command::new("sleep").arg("600").spawn().expect("sleep is there");
    let mut server = Server::initialized(Some(client.id()));
    server.write(&ping("alive"));
    server.answers_until("alive");
    client.kill().expect("it can be ended");
    client.wait().expect("it can be waited for");
    let (status, words) = server.end();
    assert_eq!(status, Some(2));
    assert!(words.contains("process"), "{words}");
}

#[cfg(unix)]
#[test]
fn a_client_whose_process_has_ended_before_is_noticed() {
    let mut client = Command::new("true").spawn().expect("true is there");
    client.wait().expect("it can be waited for");
    let server = Server::initialized(Some(client.id()));
    assert_eq!(server.end().0, Some(2));
}

/// Without memory for the stack of a thread the program cannot run: it prints a message.
#[cfg(target_os = "linux")]
#[test]
fn no_room_for_threads_is_a_failure_with_a_word() {
    for limit in [200_000, 300_000, 500_000, 900_000, 1_200_000] {
        for command in ["server", "check ."] {
            let script = format!("ulimit -v {limit}; exec \"$0\" {command}");
            let mut limited = Command::new("sh");
            limited.args(["-c", &script, env!("CARGO_BIN_EXE_hiera-ls")]);
            limited.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/control-repo"));
            let mut server = Server::spawn(limited.stdin(Stdio::piped()));
            // A server that could start after all reads this message, and ends.
            let stdin = server.stdin.as_mut().expect("it is a pipe");
            let _ = std::io::Write::write_all(stdin, &method("exit"));
            drop(server.stdin.take());
            let (status, words) = server.end();
            let has_started = matches!(status, Some(0 | 1));
            assert!(
                has_started || status == Some(2),
                "{command} in {limit} KiB: {status:?} {words}"
            );
            assert!(
                has_started || words.contains("hiera-ls: "),
                "{command} in {limit} KiB: {words}"
            );
            if limit == 200_000 {
                assert_eq!(status, Some(2), "{words}");
            }
        }
    }
}
