//! `hiera-ls keys`: the keys of the data, and their readers.

use super::{CONFIG, at, repo};
use crate::support::json_lines;

const FILES: [(&str, &str); 6] = [
    CONFIG,
    (
        "data/common.yaml",
        "web::port: 80\nweb::prot: 80\nusers: {a: 1}\nold: &x 1\ngone: 1\nsite: '%{lookup(\"name\")}'\nname: north\nntp::a: 1\n",
    ),
    ("Puppetfile", "mod 'puppetlabs-ntp', '1.0.0'\n"),
    ("manifests/site.pp", "$users = lookup('users', Hash, 'deep')\n$site = lookup('site')\n"),
    (
        "modules/web/manifests/init.pp",
        "class web(\n  Integer $port,\n  $owner = 'root',\n  $key,\n) {}\n",
    ),
    ("modules/web/manifests/vhost.pp", "define web::vhost($port) {}\n"),
];

#[test]
fn keys_are_listed_with_their_readers() {
    let root = repo("cli-keys", &FILES);
    let (status, out, _) = at(&root, &["keys"], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "gone       nothing; 1 definition
name       tokens in data; 1 definition
ntp::a     unknown: module ntp is not here, a Puppetfile installs it; 1 definition
old        nothing; 1 definition
site       calls in code; 1 definition
users      calls in code; 1 definition
web::port  parameter of class web, modules/web/manifests/init.pp:2; 1 definition
web::prot  nothing: class web has no such parameter; 1 definition
"
    );
    let (status, out, _) = at(&root, &["keys", "--unread"], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "gone       nothing; 1 definition
    data/common.yaml:5
web::prot  nothing: class web has no such parameter; 1 definition
    data/common.yaml:2
",
        "an alias may use what carries an anchor"
    );
    let (_, out, _) = at(&root, &["keys", "--unread", "--format", "json"], "");
    let lines = json_lines("keys", &out);
    assert_eq!(lines.len(), 2);
    assert_eq!(lines[1]["reader"], "no-parameter");
    assert_eq!(lines[1]["definitions"][0]["line"], 2);
}

#[test]
fn the_readers_of_a_key_are_listed() {
    let root = repo("cli-keys-readers", &FILES);
    let readers = |key: &str| at(&root, &["keys", "--readers", key], "");
    assert_eq!(readers("users").1, "manifests/site.pp:1  lookup, merge deep\n");
    assert_eq!(readers("name").1, "data/common.yaml:6  token in 'site'\n");
    assert_eq!(readers("web::port").1, "modules/web/manifests/init.pp:2  parameter of class web\n");
    let (status, out, err) = readers("gone");
    assert_eq!((status, out.as_str()), (1, ""));
    assert!(err.contains("nothing here reads 'gone'"), "{err}");
    let (_, out, _) = at(&root, &["keys", "--readers", "users", "--format", "json"], "");
    let lines = json_lines("keys", &out);
    assert_eq!(lines[0]["merge"], "deep");
    assert_eq!(lines[0]["place"]["path"], "manifests/site.pp");
}

#[test]
fn the_parameters_of_a_class_are_listed() {
    let root = repo("cli-keys-class", &FILES);
    let (status, out, _) = at(&root, &["keys", "--class", "web"], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "web::port   Integer: set in 1 file
    data/common.yaml:1
web::owner  Any: its default
web::key    Any: required, and set nowhere here
"
    );
    let (status, _, err) = at(&root, &["keys", "--class", "web::vhost"], "");
    assert_eq!(status, 1);
    assert!(err.contains("no class 'web::vhost' is here"), "{err}");
}

#[test]
fn the_classes_and_their_unset_parameters_are_listed() {
    let root = repo("cli-keys-classes", &FILES);
    let (status, out, _) = at(&root, &["keys", "--classes"], "");
    assert_eq!(status, 0);
    assert_eq!(out, "web  3 parameters, 1 set in data, 1 required and set nowhere here\n");
    let (status, out, _) = at(&root, &["keys", "--unset"], "");
    assert_eq!(status, 0);
    assert_eq!(
        out,
        "web::owner  Any: its default\nweb::key    Any: required, and set nowhere here\n"
    );
    let empty = ("modules/bare/manifests/init.pp", "class bare {}\n");
    let root = repo("cli-keys-bare", &[&FILES[..], &[empty]].concat());
    let (status, out, err) = at(&root, &["keys", "--class", "bare"], "");
    assert_eq!((status, out.as_str()), (0, ""));
    assert!(err.contains("the class 'bare' has no parameters"), "{err}");
}
