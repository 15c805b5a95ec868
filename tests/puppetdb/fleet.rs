//! The nodes that the tests store, and the repository that reads their facts.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hiera_ls::text::hex_digits;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::real::{PuppetDb, server};
use crate::support::{copy, hiera_ls, in_package, scratch};

/// How many nodes are stored besides those of the sample repository.
const MADE_UP: usize = 200;

/// The server with the nodes of `tests/control-repo`, and others whose names end in `made.example.net`:
/// the facts of the last two of these are 8 and 400 days old. `None` without the packages.
pub fn filled_server() -> Option<&'static PuppetDb> {
    static FILLED: OnceLock<()> = OnceLock::new();
    let server = server()?;
    FILLED.get_or_init(|| {
        let mut nodes = sample_nodes();
        nodes.extend((0..MADE_UP).map(|number| {
            let name = format!("web-{number:03}.made.example.net");
            let facts = json!({"kernel": "Linux", "os": {"family": "Debian"}, "trusted": trusted(&name), "id": hex_id(&name)});
            (name, facts)
        }));
        let gone = "gone.example.net".to_owned();
        nodes.push((gone.clone(), json!({"kernel": "Linux"})));
        server.store(&nodes);
        server.deactivate(&gone);
        server.make_old("web-198.made.example.net", 8);
        server.make_old("web-199.made.example.net", 400);
    });
    Some(server)
}

/// 64 hexadecimal digits, which no compression makes shorter than 32 bytes.
fn hex_id(name: &str) -> String {
    hex_digits(&Sha256::digest(name))
}

/// What Puppet's server adds to the facts that it stores.
fn trusted(name: &str) -> Value {
    let (hostname, domain) = name.split_once('.').expect("a full name");
    json!({"authenticated": "remote", "certname": name, "hostname": hostname, "domain": domain, "extensions": {"pp_role": "web"}, "external": {}})
}

/// The nodes of the sample repository, with their facts.
fn sample_nodes() -> Vec<(String, Value)> {
    let folder = in_package("tests/control-repo/spec/facts");
    let files = fs::read_dir(folder).expect("it is there").flatten();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("it can be read");
        let facts: Value = serde_json::from_str(&text).expect("it is JSON");
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("it is UTF-8").to_owned();
        // Some files hold the facts as `facter` prints them.
        let mut values = facts.get("values").unwrap_or(&facts).clone();
        values["trusted"] = trusted(&name);
        (name, values)
    };
    files.map(|file| read(file.path())).collect()
}

/// A copy of the sample repository without its facts, in a folder that has a cache folder beside it.
pub fn repository(name: &str) -> PathBuf {
    let root = scratch(name).join("repository");
    copy(&in_package("tests/control-repo"), &root);
    fs::remove_dir_all(root.join("spec")).expect("it is there");
    let settings = root.join(".hiera-ls.yaml");
    let text = fs::read_to_string(&settings).expect("it is there");
    let text = text.replace("  sources: [\"spec/facts/*.json\"]\n", "");
    fs::write(settings, text).expect("it can be written");
    root
}

/// A repository whose data reads a long fact of each node. The server's part of the handshake has 3,434
/// bytes, and the answer some 9,500.
pub fn repository_with_long_answer(name: &str) -> PathBuf {
    let root = repository(name);
    let path = root.join("data/common.yaml");
    let text = fs::read_to_string(&path).expect("it is there");
    fs::write(path, text + "puppetdb::id: '%{facts.id}'\n").expect("it can be written");
    root
}

/// How many bytes of the server end within the answer for such a repository.
pub const WITHIN_ANSWER: usize = 6144;

/// The folder of the cache of a repository.
pub fn cache_of(root: &Path) -> PathBuf {
    root.with_file_name("cache")
}

/// The program with a cache beside the repository in which it runs.
pub fn program(root: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = hiera_ls(arguments);
    command.current_dir(root).env("XDG_CACHE_HOME", cache_of(root));
    // hiera-ls does not use a proxy that the environment names.
    command.env("https_proxy", "http://127.0.0.1:1").env("http_proxy", "http://127.0.0.1:1");
    command
}

/// The arguments that name a PuppetDB, and files of its folder by their names.
pub fn asking(server: &PuppetDb, url: &str, ca: &str, client: Option<&str>) -> Vec<String> {
    let mut arguments = vec!["--puppetdb".to_owned(), url.to_owned()];
    arguments.extend(["--puppetdb-ca".to_owned(), server.pem(ca)]);
    if let Some(client) = client {
        arguments.extend(["--puppetdb-cert".to_owned(), server.pem(&format!("{client}.pem"))]);
        arguments.extend(["--puppetdb-key".to_owned(), server.pem(&format!("{client}.key"))]);
    }
    arguments
}
