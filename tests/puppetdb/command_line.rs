//! Commands that ask PuppetDB.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::Ordering;

use crate::fleet::{
    WITHIN_ANSWER, asking, cache_of, filled_server, program, repository,
    repository_with_long_answer,
};
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
    let (reason, kept) = text
        .trim_end()
        .rsplit_once("; ")
        .unwrap_or_else(|| panic!("the message does not tell what is used: {stderr:?}"));
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
    let age = told
        .strip_prefix(&format!("{}\n  its answer of ", server.url()))
        .and_then(|rest| rest.split_once(" s ago has 203 nodes\n"));
    assert!(age.is_some_and(|(age, _)| age.parse::<u8>().is_ok()), "{told}");
    assert!(told.contains("facts.tenants") && !told.contains("failed"), "{told}");

    // The cache holds only the facts that the data reads, in files that only the user can read.
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
    let root = repository_with_long_answer("puppetdb-faults");
    let proxy = Proxy::start(server.tls);
    let url = format!("https://{HOST}:{}", proxy.port);
    let patient = asking(server, &url, "ca.pem", Some("client"));
    let impatient = [&patient[..], &["--puppetdb-timeout".to_owned(), "5".to_owned()]].concat();
    let ask = |fault: Fault| {
        proxy.set(fault);
        nodes(&root, if fault == Fault::None { &patient } else { &impatient })
    };
    let (names, stderr) = ask(Fault::None);
    assert_eq!((names.len(), &*stderr), (203, ""));
    assert!(!names.contains(&"gone.example.net".to_owned()), "it is deactivated");
    let mut told = Vec::new();
    for fault in [
        Fault::Down,
        Fault::Stall,
        Fault::StallAfter(WITHIN_ANSWER),
        Fault::CutAfter(WITHIN_ANSWER),
    ] {
        let (served, stderr) = ask(fault);
        assert_eq!(served, names, "{fault:?}");
        assert_ne!(stderr, "", "{fault:?}: PuppetDB has answered");
        let (reason, kept) = reason(&stderr, server, &url);
        assert!(kept.ends_with(" ago is used, 203 nodes"), "{kept}");
        told.push(format!("{fault:?}: {reason}"));
    }
    expect_test::expect![[r#"
        Down: URL has ended the connection without an answer
        Stall: no connection to URL within 5 s
        StallAfter(6144): URL has sent nothing for 5 s after 0 nodes
        CutAfter(6144): URL broke off after 0 nodes
    "#]]
    .assert_eq(&(told.join("\n") + "\n"));
    let (served, stderr) = ask(Fault::None);
    assert_eq!((served, &*stderr), (names, ""));
}

#[test]
fn commands_that_ask_at_the_same_time_have_all_nodes() {
    let Some(server) = filled_server() else { return };
    let root = repository("puppetdb-at-once");
    let asking = asking(server, &server.url(), "ca.pem", Some("client"));
    let all: Vec<(usize, String)> = std::thread::scope(|scope| {
        let ask = || {
            let (names, stderr) = nodes(&root, &asking);
            (names.len(), stderr)
        };
        let running: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        running.into_iter().map(|command| command.join().expect("it ends")).collect()
    });
    assert_eq!(all, vec![(203, String::new()); 8]);
}

#[test]
fn a_condition_narrows_the_active_nodes() {
    let Some(server) = filled_server() else { return };
    let root = repository("puppetdb-query");
    let ask = |query: &str| {
        let mut asking = asking(server, &server.url(), "ca.pem", Some("client"));
        asking.extend(["--puppetdb-query".to_owned(), query.to_owned()]);
        nodes(&root, &asking)
    };
    let names = |text: &[&str]| text.iter().map(|name| format!("{name}.example.net")).collect();
    let ten: Vec<String> =
        (0..10).map(|number| format!("web-00{number}.made.example.net")).collect();
    let expected: [(&str, Vec<String>); 5] = [
        (r#"certname ~ "^web-00" and facts.os.family = "Debian""#, ten.clone()),
        (r#"["and", ["~", "certname", "^web-00"], ["=", "facts.os.family", "Debian"]]"#, ten),
        // hiera-ls takes the user's query as one condition, even with an `or` in it.
        (
            "certname = 'gone.example.net' or certname = 'web-001.made.example.net'",
            names(&["web-001.made"]),
        ),
        ("resources { type = 'Class' }", Vec::new()),
        (r#"["in", "certname", ["array", ["db-01.oslo.example.net"]]]"#, names(&["db-01.oslo"])),
    ];
    for (query, nodes) in expected {
        assert_eq!(ask(query), (nodes, String::new()), "{query}");
    }
    let mut told = Vec::new();
    for query in [
        "facts.os.family == 'Debian'",
        "nodes[certname] { }",
        "colour = 'red'",
        r#"["=", "colour", "red"]"#,
        r#"["=", "certname""#,
    ] {
        let (found, stderr) = ask(query);
        assert_eq!(found, [""; 0], "{query}");
        told.push(reason(&stderr, server, &server.url()).0);
    }
    expect_test::expect![[r##"
        URL refuses the condition of `nodes.puppetdb.query`, whose first line is 2: PQL parse error at line 2, column 18: facts.os.family == 'Debian' ^ Expected one of: [ false true #"[0-9]+" - ' " #"\s+"
        URL refuses the condition of `nodes.puppetdb.query`, whose first line is 2: PQL parse error at line 2, column 6: nodes[certname] { } ^ Expected one of: { #"\s+" is not null is null in !~ != = > < <= >= ~> ~
        URL refuses the condition of `nodes.puppetdb.query`: 'colour' is not a queryable object for inventory. Known queryable objects are 'certname', 'environment', 'facts', 'timestamp', and 'trusted'
        URL refuses the condition of `nodes.puppetdb.query`: 'colour' is not a queryable object for inventory. Known queryable objects are 'certname', 'environment', 'facts', 'timestamp', and 'trusted'
        `nodes.puppetdb.query` begins as a condition in JSON, but EOF while parsing a list at line 1 column 16
    "##]]
    .assert_eq(&(told.join("\n") + "\n"));
}

#[test]
fn nodes_with_old_facts_are_left_out_and_counted() {
    let Some(server) = filled_server() else { return };
    let root = repository("puppetdb-age");
    let old = ["web-198.made.example.net", "web-199.made.example.net"];
    let ask = |age: &str| {
        let mut asking = asking(server, &server.url(), "ca.pem", Some("client"));
        asking.extend(["--puppetdb-max-age".to_owned(), age.to_owned()]);
        let config: Vec<&str> =
            std::iter::once("config").chain(asking.iter().map(String::as_str)).collect();
        let (names, stderr) = nodes(&root, &asking);
        (names, stderr, run(&mut program(&root, &config), "").stdout)
    };
    let (week, told, page) = ask("7d");
    assert_eq!(week.len(), 201);
    assert!(!old.iter().any(|name| week.iter().any(|known| known == name)), "{week:?}");
    let sentence =
        format!("left out as their facts are older than 7 d: 2 nodes ({}, {})\n", old[0], old[1]);
    assert_eq!(told, format!("hiera-ls: setting 'nodes.puppetdb': {sentence}"));
    assert!(page.contains(&format!(" has 201 nodes\n  {sentence}")), "{page}");
    // The times of facts change with each run of an agent: the cache keeps no times.
    let rows = fs::read_dir(cache_of(&root).join("hiera-ls/puppetdb")).expect("it is there");
    for file in
        rows.flatten().filter(|file| file.path().extension().is_some_and(|it| it == "jsonl"))
    {
        let text = fs::read_to_string(file.path()).expect("it can be read");
        assert!(text.lines().count() == 201 && !text.contains("timestamp"), "{text}");
    }
    let (year, told, _) = ask("365d");
    assert_eq!(year.len(), 202);
    assert!(told.contains(&format!(": 1 node ({})", old[1])), "{told}");
    let (all, told, page) = ask("1000d");
    assert_eq!((all.len(), told.as_str()), (203, ""));
    assert!(!page.contains("left out"), "{page}");
}

#[test]
fn a_token_is_in_no_output_and_no_file() {
    let Some(server) = filled_server() else { return };
    let root = repository("puppetdb-token");
    let token = root.with_file_name("token");
    fs::write(&token, "t0ken-of-the-user\n").expect("it can be written");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).expect("it is ours");
    let mut arguments = asking(server, &server.url(), "ca.pem", Some("client"));
    let path = token.to_str().expect("it is UTF-8").to_owned();
    arguments.extend(["--puppetdb-token-file".to_owned(), path.clone()]);
    let (names, stderr) = nodes(&root, &arguments);
    assert_eq!(names.len(), 203, "{stderr}");
    let expected = format!("other users can read the token in {path}: `chmod 600` hides it\n");
    assert_eq!(stderr, format!("hiera-ls: setting 'nodes.puppetdb': {expected}"));
    let logging: Vec<&str> = ["check", "--log", "trace"]
        .into_iter()
        .chain(arguments.iter().map(String::as_str))
        .collect();
    let logged = run(&mut program(&root, &logging), "");
    assert!(!logged.stderr.is_empty());
    let files = fs::read_dir(cache_of(&root).join("hiera-ls/puppetdb")).expect("it is there");
    let files =
        files.flatten().map(|file| fs::read_to_string(file.path()).expect("it can be read"));
    for text in [logged.stdout, logged.stderr].into_iter().chain(files) {
        assert!(!text.contains("t0ken"), "{text}");
    }
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
