//! Commands that ask PuppetDB.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::fleet::{asking, cache_of, filled_server, program, repository};
use crate::proxy::{Fault, Proxy};
use crate::real::{HOST, PuppetDb};
use crate::support::{Run, in_package, run};

/// The names of the nodes that `hiera-ls nodes` lists, and what it says on standard error.
fn nodes(root: &Path, asking: &[String]) -> (Vec<String>, String) {
    let arguments: Vec<&str> =
        ["nodes", "--json"].into_iter().chain(asking.iter().map(String::as_str)).collect();
    let run = run(&mut program(root, &arguments), "");
    assert_eq!(run.status, Some(0), "{}", run.stderr);
    let names = run.stdout.lines().filter(|line| line.contains("puppetdb/")).map(|line| {
        let node: serde_json::Value = serde_json::from_str(line).expect("it is JSON");
        node["name"].as_str().expect("it has one").to_owned()
    });
    (names.collect(), run.stderr)
}

/// The reason in a message, with the addresses and files of this run replaced, and the rest of the
/// message.
fn reason<'a>(stderr: &'a str, server: &PuppetDb, url: &str) -> (String, &'a str) {
    let text = stderr.strip_prefix("hiera-ls: setting 'nodes.puppetdb': ").unwrap_or(stderr);
    let (reason, kept) = text.trim_end().rsplit_once("; ").expect("it tells what is used");
    let folder = server.folder.join("ssl");
    let reason = reason.replace(url, "URL").replace(folder.to_str().expect("it is UTF-8"), "SSL");
    (reason, kept)
}

#[test]
fn nodes_of_puppetdb_get_the_values_of_their_facts_files() {
    let Some(server) = filled_server() else { return };
    let root = repository("puppetdb-values");
    let asking = asking(server, &server.url(), "ca.pem", Some("client"));
    let with_nodes = |names: &str| -> Run {
        let fixed = ["dump", "--nodes", names];
        let arguments: Vec<&str> =
            fixed.into_iter().chain(asking.iter().map(String::as_str)).collect();
        run(&mut program(&root, &arguments), "")
    };
    let names = "db-01.oslo.example.net,web-01.kyoto.example.net,web-01.oslo.example.net";
    let sample = in_package("tests/control-repo");
    let of_files = run(&mut program(&sample, &["dump", "--nodes", names]), "");
    let of_puppetdb = with_nodes(names);
    assert_eq!(of_files.status, Some(0), "{}", of_files.stderr);
    assert!(of_files.stdout.lines().count() >= 3, "{}", of_files.stdout);
    assert_eq!(of_puppetdb.stdout, of_files.stdout, "{}", of_puppetdb.stderr);

    let arguments: Vec<&str> =
        std::iter::once("config").chain(asking.iter().map(String::as_str)).collect();
    let page = run(&mut program(&root, &arguments), "").stdout;
    let (_, told) = page.split_once("\nPuppetDB at ").expect("a part about PuppetDB");
    assert!(
        told.starts_with(&format!("{}\n  its answer of 0 s ago has 203 nodes\n", server.url())),
        "{told}"
    );
    assert!(told.contains("facts.tenants") && !told.contains("failed"), "{told}");

    // Of the facts the cache has those that the data reads, for the user alone.
    let folder = cache_of(&root).join("hiera-ls/puppetdb");
    let files: Vec<_> = fs::read_dir(&folder).expect("it is there").flatten().collect();
    assert_eq!(files.len(), 2, "{files:?}");
    let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let mut rows = 0;
    for file in files {
        let (path, text) = (file.path(), fs::read_to_string(file.path()).expect("it can be read"));
        assert_eq!(mode(&path), 0o600, "{path:?}");
        assert!(!text.contains("augeas") && !text.contains("gone.example.net"), "{text}");
        rows += text.lines().filter(|line| line.contains("facts.tenants\":[")).count();
    }
    assert_eq!(rows, 3, "the sample's nodes have tenants, and others have none");
}

#[test]
fn a_server_or_a_client_that_is_another_is_told_and_has_no_nodes() {
    let Some(server) = filled_server() else { return };
    let root = repository("puppetdb-refused");
    let (tls, plain) = (server.url(), format!("http://{HOST}:{}", server.plain));
    let (by_address, tls_as_plain) =
        (format!("https://127.0.0.1:{}", server.tls), format!("http://{HOST}:{}", server.tls));
    let plain_as_tls = format!("https://{HOST}:{}", server.plain);
    let wrong_path = format!("{tls}/nowhere");
    let mut told = Vec::new();
    for (url, ca, client) in [
        (&tls, "ca.pem", None),
        (&tls, "ca.pem", Some("foreign")),
        (&tls, "ca.pem", Some("other")),
        (&tls, "foreign-ca.pem", Some("client")),
        (&by_address, "ca.pem", Some("client")),
        (&tls_as_plain, "ca.pem", None),
        (&plain_as_tls, "ca.pem", Some("client")),
        (&wrong_path, "ca.pem", Some("client")),
    ] {
        let (names, stderr) = nodes(&root, &asking(server, url, ca, client));
        assert_eq!(names, [""; 0], "{url}");
        let (reason, kept) = reason(&stderr, server, url);
        assert_eq!(kept, "no earlier answer of it is kept, so that no nodes come from it");
        told.push(reason);
    }
    expect_test::expect![[r#"
        URL wants a client certificate (`nodes.puppetdb.cert`, `nodes.puppetdb.key`)
        URL does not accept the certificate SSL/foreign.pem: CertificateUnknown
        URL refuses this client: Permission denied: The client certificate name other.example.net doesnt appear in the certificate allowlist. Is your master's (or other PuppetDB client's) certname listed in PuppetDB's certificate-allowlist file?
        the certificate of URL is not signed by SSL/foreign-ca.pem
        the certificate of URL is for other names: localhost
        URL does not speak HTTP; perhaps it is https
        URL does not speak TLS; perhaps it is http
        there is no PuppetDB at URL: it does not know /pdb/query/v4
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
    let (names, stderr) = nodes(&root, &asking(server, &plain, "ca.pem", None));
    assert_eq!(names.len(), 203, "{stderr}");
}

#[test]
fn the_last_answer_serves_while_the_server_is_down_slow_or_breaks_off() {
    let Some(server) = filled_server() else { return };
    let root = repository("puppetdb-faults");
    let proxy = Proxy::start(server.tls);
    let url = format!("https://{HOST}:{}", proxy.port);
    let asking = asking(server, &url, "ca.pem", Some("client"));
    let ask = |fault: Fault| {
        proxy.set(fault);
        nodes(&root, &asking)
    };
    let (names, stderr) = ask(Fault::None);
    assert_eq!((names.len(), &*stderr), (203, ""));
    assert!(!names.contains(&"gone.example.net".to_owned()), "it is deactivated");
    let mut told = Vec::new();
    for fault in [
        Fault::Down,
        Fault::Stall,
        // Behind the handshake, within the compressed answer.
        Fault::StallAfter(4096),
        Fault::CutAfter(4096),
    ] {
        let (served, stderr) = ask(fault);
        assert_eq!(served, names, "{fault:?}");
        let (reason, kept) = reason(&stderr, server, &url);
        assert!(kept.ends_with(" ago is used, 203 nodes"), "{kept}");
        told.push(format!("{fault:?}: {reason}"));
    }
    expect_test::expect![[r#"
        Down: URL has ended the connection without an answer
        Stall: no connection to URL within 2 s
        StallAfter(4096): URL has sent nothing for 2 s after 0 nodes
        CutAfter(4096): URL broke off after 0 nodes
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
    let (served, stderr) = ask(Fault::None);
    assert_eq!((served, &*stderr), (names, ""));
}

#[test]
fn no_file_of_a_repository_makes_a_connection() {
    let root = repository("puppetdb-of-repository");
    let proxy = Proxy::start(1);
    let settings = root.join(".hiera-ls.yaml");
    let text = fs::read_to_string(&settings).expect("it is there");
    let url = format!("http://{HOST}:{}", proxy.port);
    let text = text.replace("nodes:\n", &format!("nodes:\n  puppetdb: {{url: '{url}'}}\n"));
    fs::write(&settings, text).expect("it can be written");
    let (names, stderr) = nodes(&root, &[]);
    assert_eq!(names, [""; 0]);
    let expected = "hiera-ls: .hiera-ls.yaml: setting 'nodes.puppetdb': is refused here: only the user may have a connection made, no file of the repository\n";
    assert_eq!(stderr, expected);
    let shown = run(&mut program(&root, &["check", "--show-settings"]), "").stdout;
    let line = shown.lines().find(|line| line.contains("nodes.puppetdb.url"));
    assert!(line.is_some_and(|line| !line.contains(&url)), "it is not in force: {line:?}");
    assert_eq!(proxy.connections.load(Ordering::SeqCst), 0);
    assert!(!cache_of(&root).exists());
}
