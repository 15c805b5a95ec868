//! A server for an editor that asks PuppetDB.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::fleet::{
    WITHIN_ANSWER, cache_of, filled_server, program, repository, repository_with_long_answer,
};
use crate::proxy::{Fault, Proxy};
use crate::real::{HOST, PuppetDb, wait_until};
use crate::support::file_uri;
use crate::transport_client::Server;

/// A session, and the messages that the server has shown.
struct Session {
    server: Server,
    shown: Vec<String>,
    progress: Vec<Value>,
    count: usize,
}

impl Session {
    fn start(root: &Path, puppetdb: &PuppetDb, url: &str, timeout: u64) -> Session {
        Session::start_with(root, puppetdb, (url, timeout), &json!({}))
    }

    /// Starts a session with more settings of `nodes.puppetdb`.
    fn start_with(
        root: &Path,
        puppetdb: &PuppetDb,
        (url, timeout): (&str, u64),
        more: &Value,
    ) -> Session {
        let server = Server::spawn(&mut program(root, &["server"]));
        let mut session = Session { server, shown: Vec::new(), progress: Vec::new(), count: 0 };
        let mut puppetdb = json!({
            "url": url, "timeout": timeout, "ca": puppetdb.pem("ca.pem"),
            "cert": puppetdb.pem("client.pem"), "key": puppetdb.pem("client.key"),
        });
        for (name, value) in more.as_object().into_iter().flatten() {
            puppetdb[name] = value.clone();
        }
        let params = json!({
            "processId": null, "rootUri": file_uri(root),
            "capabilities": {"window": {"workDoneProgress": true}},
            "initializationOptions": {"nodes": {"puppetdb": puppetdb}},
        });
        session.ask("initialize", &params);
        session.notify("initialized", &json!({}));
        session
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.server.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.count += 1;
        let id = format!("request {}", self.count);
        self.server.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let message = self.server.read().expect("the server goes on");
            match message["method"].as_str() {
                Some("window/showMessage") => {
                    let text = message["params"]["message"].as_str().expect("it is a text");
                    self.shown.push(text.to_owned());
                }
                Some("$/progress") => self.progress.push(message["params"].clone()),
                Some(_) if message.get("id").is_some() => {
                    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": null});
                    self.server.send(&answer);
                }
                None if message["id"] == id => return message["result"].clone(),
                _ => {}
            }
        }
    }

    fn node_count(&mut self) -> usize {
        let answer = self.ask("hiera/nodes", &json!({}));
        let nodes = answer["nodes"].as_array().expect("it lists nodes");
        nodes
            .iter()
            .filter(|node| node["source"].as_str().is_some_and(|it| it.contains("puppetdb/")))
            .count()
    }

    fn hover(&mut self, root: &Path) -> String {
        let uri = file_uri(root.join("data/common.yaml"));
        let text = fs::read_to_string(root.join("data/common.yaml")).expect("it is there");
        let line = text.lines().position(|line| line.starts_with("company:")).expect("it has one");
        let place =
            json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": 2}});
        let hover = self.ask("textDocument/hover", &place);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    fn open(&mut self, root: &Path) {
        let path = root.join("data/common.yaml");
        let text = fs::read_to_string(&path).expect("it is there");
        let document =
            json!({"uri": file_uri(&path), "languageId": "yaml", "version": 1, "text": text});
        self.notify("textDocument/didOpen", &json!({"textDocument": document}));
    }
}

fn rows_of(root: &Path) -> String {
    let folder = cache_of(root).join("hiera-ls/puppetdb");
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let rows = files.filter(|path| path.extension().is_some_and(|it| it == "jsonl"));
    rows.map(|path| fs::read_to_string(path).unwrap_or_default()).collect()
}

#[test]
fn requests_are_answered_while_puppetdb_is_slow_and_nodes_come_when_it_answers() {
    let Some(puppetdb) = filled_server() else { return };
    let root = repository_with_long_answer("puppetdb-editor");
    let proxy = Proxy::start(puppetdb.tls);
    let url = format!("https://{HOST}:{}", proxy.port);
    proxy.set(Fault::StallAfter(WITHIN_ANSWER));
    // The timeout is far longer than the test: an answer that waited for PuppetDB would not come.
    let mut session = Session::start(&root, puppetdb, &url, 3600);
    session.open(&root);
    wait_until("PuppetDB is asked", || {
        proxy.connections.load(std::sync::atomic::Ordering::SeqCst) > 0
    });
    for _ in 0..20 {
        assert!(session.hover(&root).contains("Fjordkaffe"));
        assert_eq!(session.node_count(), 0);
    }
    proxy.set(Fault::None);
    wait_until("its nodes are there", || session.node_count() == 203);
    assert_eq!(session.shown, [""; 0]);
    let is_of = |message: &Value, kind: &str| {
        message["token"] == "hiera-ls/puppetdb" && message["value"]["kind"] == kind
    };
    for kind in ["begin", "end"] {
        assert!(session.progress.iter().any(|message| is_of(message, kind)), "{kind}");
    }

    // The server asks PuppetDB for a fact that data reads from now on.
    assert!(!rows_of(&root).contains("facts.kernel"));
    let path = root.join("data/common.yaml");
    let text = fs::read_to_string(&path).expect("it is there");
    let text = text + "puppetdb::new: '%{facts.kernel}'\n";
    fs::write(&path, &text).expect("it can be written");
    let document = json!({"uri": file_uri(&path), "version": 2});
    let change = json!({"textDocument": document, "contentChanges": [{"text": text}]});
    session.notify("textDocument/didChange", &change);
    session.notify("textDocument/didSave", &json!({"textDocument": document}));
    wait_until("the new fact is there", || {
        assert!(session.hover(&root).contains("Fjordkaffe"));
        rows_of(&root).contains("\"facts.kernel\":\"Linux\"")
    });
    assert_eq!(session.node_count(), 203);
}

#[test]
fn sessions_that_start_at_the_same_time_have_all_nodes() {
    let Some(puppetdb) = filled_server() else { return };
    let root = repository("puppetdb-editors");
    let start = |_| Session::start(&root, puppetdb, &puppetdb.url(), 60);
    let mut sessions: Vec<Session> = (0..4).map(start).collect();
    for session in &mut sessions {
        wait_until("its nodes are there", || session.node_count() == 203);
    }
}

#[test]
fn the_last_answer_serves_a_session_while_puppetdb_is_down() {
    let Some(puppetdb) = filled_server() else { return };
    let root = repository("puppetdb-editor-down");
    let proxy = Proxy::start(puppetdb.tls);
    let url = format!("https://{HOST}:{}", proxy.port);
    let mut first = Session::start(&root, puppetdb, &url, 60);
    wait_until("its nodes are there", || first.node_count() == 203);
    drop(first);
    proxy.set(Fault::Down);
    let mut second = Session::start(&root, puppetdb, &url, 60);
    assert_eq!(second.node_count(), 203, "the first answer of the session has them");
    wait_until("the failure is told", || {
        second.node_count();
        !second.shown.is_empty()
    });
    let text = &second.shown[0];
    let start = format!(
        "hiera-ls: PuppetDB: {url} has ended the connection without an answer; its answer of "
    );
    assert!(text.starts_with(&start) && text.ends_with(" ago is used, 203 nodes"), "{text}");
    assert_eq!(second.node_count(), 203);
}

#[test]
fn nodes_that_are_left_out_are_told_once() {
    let Some(puppetdb) = filled_server() else { return };
    let root = repository("puppetdb-editor-age");
    let settings = json!({"query": "certname ~ 'web-1'", "maxAge": "100d"});
    let mut session = Session::start_with(&root, puppetdb, (&puppetdb.url(), 60), &settings);
    session.open(&root);
    wait_until("its nodes are there", || session.node_count() == 99);
    let sentence =
        "left out as their facts are older than 100 d: 1 node (web-199.made.example.net)";
    assert_eq!(session.shown, [format!("hiera-ls: PuppetDB: {sentence}")]);
}
