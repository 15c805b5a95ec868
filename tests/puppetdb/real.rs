//! A real PuppetDB with its PostgreSQL, of the system's packages: on loopback, below one folder, and
//! gone with the process of the tests.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::{self, on_path};

const JAR: &str = "/usr/share/puppetdb/puppetdb.jar";
const BOOTSTRAP: &str = "/etc/puppetdb/bootstrap.cfg";
/// What the names of the servers' folders begin with, before the number of the process.
const PREFIX: &str = "hiera-ls-puppetdb-";
/// The name in the server's certificate.
pub const HOST: &str = "localhost";
/// The name in the certificate of the client that the server lets in.
const CLIENT: &str = "client.example.net";
/// How long a server may take to start; on a loaded machine it takes minutes.
const PATIENCE: Duration = Duration::from_secs(180);

/// A running server.
pub struct PuppetDb {
    pub folder: PathBuf,
    /// The port without TLS.
    pub plain: u16,
    /// The port with TLS, for clients with a certificate.
    pub tls: u16,
    /// The port of the server's PostgreSQL.
    database: u16,
}

/// The server of all tests; `None` without the packages.
pub fn server() -> Option<&'static PuppetDb> {
    static SERVER: OnceLock<Option<PuppetDb>> = OnceLock::new();
    let server = SERVER.get_or_init(|| match obstacle() {
        None => Some(PuppetDb::start()),
        Some(_) => None,
    });
    if server.is_none() {
        support::missing("puppetdb", &obstacle().unwrap_or_default());
    }
    server.as_ref()
}

/// Removes the folders of processes that have ended.
fn remove_old(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        if process.is_some_and(|number| !Path::new("/proc").join(number).exists()) {
            // The folder stays where this user may not remove it.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn obstacle() -> Option<String> {
    let missing = [JAR, BOOTSTRAP].into_iter().find(|path| !Path::new(path).exists());
    let program = ["java", "openssl", "setpriv"].into_iter().find(|program| !on_path(program));
    missing
        .map(|path| format!("there is no {path}"))
        .or_else(|| program.map(|program| format!("no {program} on PATH")))
        .or_else(|| postgres().is_none().then(|| "there is no PostgreSQL".to_owned()))
}

/// The folder of PostgreSQL's programs.
fn postgres() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(|entry| Some(entry.ok()?.path().join("bin")));
    folders.filter(|folder| folder.join("initdb").exists()).max()
}

/// A command that runs as this user where the tests run as root, which PostgreSQL refuses, and that
/// ends with the thread that starts it.
fn command_of(user: &str, program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    if is_root() {
        command.arg(format!("--reuid={user}")).arg(format!("--regid={user}")).arg("--clear-groups");
    }
    command.args(["--pdeathsig", "KILL"]).arg(program).stdin(Stdio::null());
    command
}

fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").is_ok_and(|text| text.contains("\nUid:\t0\t"))
}

fn run(command: &mut Command) {
    let done = support::run(command, "");
    assert_eq!(done.status, Some(0), "{command:?}: {}{}", done.stdout, done.stderr);
}

fn free_ports<const N: usize>() -> [u16; N] {
    let sockets = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").expect("a port is free"));
    sockets.map(|socket| socket.local_addr().expect("it has an address").port())
}

/// Waits until a condition holds.
pub fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

impl PuppetDb {
    fn start() -> PuppetDb {
        // The other users must be able to reach the server's folder. They cannot reach every folder
        // below a home.
        let parent = std::env::temp_dir();
        remove_old(&parent);
        let folder = parent.join(format!("{PREFIX}{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder can be made");
        let [database, plain, tls] = free_ports();
        let server = PuppetDb { folder, plain, tls, database };
        make_certificates(&server.folder);
        // The servers end with the thread that starts them. The thread of one test ends before
        // other tests do.
        let (sender, started) = std::sync::mpsc::channel();
        let (folder, ports) = (server.folder.clone(), [database, plain, tls]);
        std::thread::spawn(move || {
            let mut postgres = start_postgres(&folder, database);
            let mut puppetdb = start_puppetdb(&folder, ports);
            let _ = sender.send(());
            let _ = puppetdb.wait();
            let _ = postgres.wait();
        });
        started.recv().expect("both can be started");
        wait_until("PuppetDB answers", || {
            server.get("/pdb/query/v4/nodes?limit=1").is_some_and(|(status, _)| status == 200)
        });
        server
    }

    /// The address for clients with a certificate.
    pub fn url(&self) -> String {
        format!("https://{HOST}:{}", self.tls)
    }

    /// A certificate or a key.
    pub fn pem(&self, name: &str) -> String {
        self.folder.join("ssl").join(name).to_str().expect("it is UTF-8").to_owned()
    }

    fn get(&self, path: &str) -> Option<(u16, String)> {
        self.http(&format!("GET {path} HTTP/1.0\r\nAccept: application/json\r\n\r\n"))
    }

    fn http(&self, request: &str) -> Option<(u16, String)> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.plain)).ok()?;
        stream.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let status = answer.split(' ').nth(1)?.parse().ok()?;
        Some((status, answer.split_once("\r\n\r\n")?.1.to_owned()))
    }

    fn send_command(&self, command: &str, version: u8, certname: &str, payload: &Value) {
        let body = payload.to_string();
        let time = payload["producer_timestamp"].as_str().expect("it has one");
        let request = format!(
            "POST /pdb/cmd/v1?command={command}&version={version}&certname={certname}&producer-timestamp={time} HTTP/1.0\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let answer = self.http(&request);
        assert!(answer.as_ref().is_some_and(|(status, _)| *status == 200), "{answer:?}");
    }

    /// Stores the facts of nodes.
    pub fn store(&self, nodes: &[(String, Value)]) {
        for (certname, facts) in nodes {
            let payload = json!({
                "certname": certname, "environment": "production", "values": facts,
                "producer_timestamp": "2026-01-01T00:00:00.000Z", "producer": "test",
            });
            self.send_command("replace_facts", 5, certname, &payload);
        }
        for (certname, _) in nodes {
            wait_until(certname, || self.knows(certname, false));
        }
    }

    /// Deactivates a node.
    pub fn deactivate(&self, certname: &str) {
        let time = "2026-01-02T00:00:00.000Z";
        let payload = json!({"certname": certname, "producer_timestamp": time});
        self.send_command("deactivate_node", 3, certname, &payload);
        wait_until(certname, || self.knows(certname, true));
    }

    /// Gives the facts of a node an age in days: PuppetDB itself stamps them when they come.
    pub fn make_old(&self, certname: &str, days: u32) {
        let text = format!(
            "UPDATE factsets SET timestamp = now() - interval '{days} days' WHERE certname = '{certname}'"
        );
        assert!(ask_postgres(self.database, "puppetdb", &text));
    }

    /// Whether a node is stored, and deactivated or not.
    fn knows(&self, certname: &str, is_deactivated: bool) -> bool {
        let node = self.get(&format!("/pdb/query/v4/nodes/{certname}"));
        let node = node.filter(|(status, _)| *status == 200);
        let node: Option<Value> = node.and_then(|(_, body)| serde_json::from_str(&body).ok());
        node.is_some_and(|node| node["deactivated"].is_string() == is_deactivated)
    }
}

fn start_postgres(folder: &Path, port: u16) -> Child {
    let programs = postgres().expect("it is there");
    let data = folder.join("postgres");
    fs::create_dir(&data).expect("a folder can be made");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).expect("it is ours");
    own("postgres", &[&data]);
    let mut initdb = command_of("postgres", &programs.join("initdb"));
    initdb.arg("-D").arg(&data).args(["-U", "puppetdb", "-A", "trust", "-E", "UTF8", "--no-sync"]);
    run(initdb.args(["--locale", "C.UTF-8"]).current_dir(folder));
    let log = fs::File::create(folder.join("postgres.log")).expect("a file can be made");
    let mut server = command_of("postgres", &programs.join("postgres"));
    server.arg("-D").arg(&data).arg("-p").arg(port.to_string());
    for option in ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"] {
        server.arg("-c").arg(option);
    }
    let errors = log.try_clone().expect("it can be shared");
    let server = server.current_dir(folder).stdout(log).stderr(errors).spawn().expect("it starts");
    wait_until("PostgreSQL answers", || ask_postgres(port, "postgres", "SELECT 1"));
    assert!(ask_postgres(port, "postgres", "CREATE DATABASE puppetdb"));
    assert!(ask_postgres(port, "puppetdb", "CREATE EXTENSION pg_trgm"));
    server
}

/// Runs a statement in a database. Returns whether that worked.
fn ask_postgres(port: u16, database: &str, text: &str) -> bool {
    let psql = postgres().expect("it is there").join("psql");
    let mut command = Command::new(psql);
    let port = port.to_string();
    command.args(["-h", "127.0.0.1", "-p", &port, "-U", "puppetdb", "-qd", database, "-c", text]);
    support::run(&mut command, "").status == Some(0)
}

fn start_puppetdb(folder: &Path, [database, plain, tls]: [u16; 3]) -> Child {
    let (conf, var, ssl) = (folder.join("conf.d"), folder.join("var"), folder.join("ssl"));
    fs::create_dir(&conf).expect("a folder can be made");
    fs::create_dir(&var).expect("a folder can be made");
    let write =
        |name: &str, text: String| fs::write(conf.join(name), text).expect("it can be written");
    let (var_path, ssl_path, root) = (var.display(), ssl.display(), folder.display());
    write(
        "config.ini",
        format!(
            "[global]\nvardir = {var_path}\nlogging-config = {root}/logback.xml\n[command-processing]\nthreads = 2\n[puppetdb]\ndisable-update-checking = true\ncertificate-allowlist = {root}/allowed\n"
        ),
    );
    write(
        "database.ini",
        format!(
            "[database]\nsubname = //127.0.0.1:{database}/puppetdb\nusername = puppetdb\npassword = none\ngc-interval = 0\nnode-ttl = 0s\n"
        ),
    );
    write(
        "jetty.ini",
        format!(
            "[jetty]\nhost = 127.0.0.1\nport = {plain}\nssl-host = 127.0.0.1\nssl-port = {tls}\nssl-key = {ssl_path}/server.key\nssl-cert = {ssl_path}/server.pem\nssl-ca-cert = {ssl_path}/ca.pem\n"
        ),
    );
    write("auth.conf", "authorization: {version: 1, rules: [{match-request: {path: \"/\", type: path}, allow-unauthenticated: true, sort-order: 1, name: all}]}\n".into());
    fs::write(folder.join("allowed"), format!("{CLIENT}\n")).expect("it can be written");
    let appender = "<appender name=\"E\" class=\"ch.qos.logback.core.ConsoleAppender\"><encoder><pattern>%d %p %c %m%n</pattern></encoder></appender>";
    let logging = format!(
        "<configuration>{appender}<root level=\"warn\"><appender-ref ref=\"E\"/></root></configuration>"
    );
    fs::write(folder.join("logback.xml"), logging).expect("it can be written");
    fs::write(folder.join("restart"), "0").expect("it can be written");
    let names = ["config.ini", "database.ini", "jetty.ini", "auth.conf"];
    let files = names.map(|name| conf.join(name));
    let mut owned: Vec<PathBuf> = vec![conf.clone(), var, ssl.clone(), folder.join("restart")];
    owned.extend(files);
    owned.extend(fs::read_dir(&ssl).expect("it is there").flatten().map(|entry| entry.path()));
    own("puppetdb", &owned.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let log = fs::File::create(folder.join("puppetdb.log")).expect("a file can be made");
    let errors = log.try_clone().expect("it can be shared");
    // The jar is Clojure's source text, which is compiled at each start.
    let mut java = command_of("puppetdb", Path::new("java"));
    java.args(["-Xmx384m", "-XX:TieredStopAtLevel=1", "-Djava.security.egd=file:/dev/urandom"]);
    java.args(["-cp", JAR, "clojure.main", "-m", "puppetlabs.puppetdb.core", "services"]);
    java.arg("--config").arg(&conf).args(["--bootstrap-config", BOOTSTRAP]);
    java.arg("--restart-file").arg(folder.join("restart"));
    java.current_dir(folder).stdout(log).stderr(errors).spawn().expect("it starts")
}

/// Gives files to the user that a server runs as.
fn own(user: &str, paths: &[&Path]) {
    if is_root() {
        run(Command::new("chown").arg(user).args(paths));
    }
}

/// Makes a CA with the certificates of a server and of two clients, and a CA that the server does
/// not know with that of another client, in the formats of Puppet.
fn make_certificates(folder: &Path) {
    let ssl = folder.join("ssl");
    fs::create_dir(&ssl).expect("a folder can be made");
    let openssl = |arguments: &[&str]| {
        run(Command::new("openssl").args(arguments).current_dir(&ssl));
    };
    let subject = |name: &str| format!("/CN={name}");
    for (ca, title) in [("ca", "Puppet CA: test"), ("foreign-ca", "Puppet CA: foreign")] {
        let (key, pem) = (format!("{ca}.key"), format!("{ca}.pem"));
        let made = [
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-days",
            "30",
            "-subj",
            &subject(title),
        ];
        openssl(&[&made[..], &["-keyout", &key, "-out", &pem]].concat());
    }
    for (ca, file, name) in [
        ("ca", "server", HOST),
        ("ca", "client", CLIENT),
        ("ca", "other", "other.example.net"),
        ("foreign-ca", "foreign", CLIENT),
    ] {
        let [key, pem, request, extensions] =
            ["key", "pem", "csr", "ext"].map(|kind| format!("{file}.{kind}"));
        let text = format!("subjectAltName=DNS:{name}\nextendedKeyUsage=serverAuth,clientAuth\n");
        fs::write(ssl.join(&extensions), text).expect("it can be written");
        openssl(&[
            "req",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-subj",
            &subject(name),
            "-keyout",
            &key,
            "-out",
            &request,
        ]);
        let (ca_pem, ca_key) = (format!("{ca}.pem"), format!("{ca}.key"));
        openssl(&[
            "x509",
            "-req",
            "-in",
            &request,
            "-CA",
            &ca_pem,
            "-CAkey",
            &ca_key,
            "-CAcreateserial",
            "-days",
            "30",
            "-extfile",
            &extensions,
            "-out",
            &pem,
        ]);
    }
}
