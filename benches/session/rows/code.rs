//! Manifests beside the data: their index, an edit of a class header, and the hover of a parameter.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Instant;

use serde_json::json;

use crate::Bench;
use crate::client::LineEdit;
use crate::library::workspace;
use crate::report::{Figure, Sample};
use crate::support::file_uri;

/// How many classes a module has.
const CLASSES: usize = 15;
/// How many keys of parameters, and of none, the data file has.
const KEYS: usize = 50;

/// A manifest of some 50 lines, whose third line has a type that an edit changes.
fn manifest(module: usize, class: usize) -> String {
    let mut text = format!(
        "# A class.\nclass m{module}::c{class} (\n  Integer $size = 1, # how large it is\n"
    );
    for number in 0..8 {
        writeln!(text, "  Optional[Array[String[1]]] $list_{number} = lookup('m{module}::list', Array, 'unique', []),").expect("writing to a string");
        writeln!(text, "  Hash[String, Struct[{{port => Integer[1, 65535], Optional[host] => String}}]] $hash_{number} = {{ 'a' => {{ 'port' => {number} }} }},").expect("writing to a string");
    }
    text.push_str(") {\n  include m0::c0\n");
    for number in 0..8 {
        writeln!(text, "  file {{ \"/etc/x{number}/${{title}}\":\n    content => \"${{size}} ${{lookup('plain_{number}')}}\\n\",\n    require => Class['m{module}::c0'],\n  }}").expect("writing to a string");
    }
    text.push_str("}\n");
    text
}

/// Adds modules with so many manifests to a repository, and a data file with keys of them.
fn add(root: &Path, count: usize) -> (std::path::PathBuf, String) {
    for number in 0..count {
        let (module, class) = (number / CLASSES, number % CLASSES);
        let folder = root.join(format!("modules/m{module}/manifests"));
        std::fs::create_dir_all(&folder).expect("the scratch folder can be written to");
        std::fs::write(folder.join(format!("c{class}.pp")), manifest(module, class))
            .expect("the scratch folder can be written to");
    }
    let keys = (0..KEYS).map(|n| format!("m{n}::c0::size: {n}\nplain_{n}: {n}\n"));
    let text = keys.collect::<String>();
    let path = root.join("data/large.yaml");
    std::fs::write(&path, &text).expect("the scratch folder can be written to");
    (path, text)
}

/// The index of all manifests, an edit among them, and hovers.
pub fn code(bench: &Bench) -> Vec<Figure> {
    let count = bench.either(3_000, 1_000);
    let repo = bench.repo(300, 60);
    let (data, text) = add(&repo.root, count);
    let mut figures = vec![index(bench, &repo.root, count)];
    let mut clients = bench.both(&repo.root, &json!({}));
    let (data, header) = (file_uri(&data), repo.root.join("modules/m1/manifests/c0.pp"));
    for client in &mut clients {
        client.open(&data, 1, &text);
        client.open(&file_uri(&header), 1, &manifest(1, 0));
        client.diagnostics(&data, 1);
        client.quiet(std::time::Duration::from_millis(300));
    }
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..bench.either(200, 20) {
        let (old, new) = if n % 2 == 0 { ("Integer", "Boolean") } else { ("Boolean", "Integer") };
        let edit = LineEdit { line: 2, start: 2, end: 2 + old.len(), text: new.to_owned() };
        let [ours, floor] = &mut clients;
        let (_, sent) = ours.change(&file_uri(&header), &edit);
        let told = ours.diagnostics_that(&data, 1, |it| it.has("parameter-type") == (n % 2 == 0));
        times[0].push(told.at - sent);
        let (version, sent) = floor.change(&file_uri(&header), &edit);
        times[1].push(floor.diagnostics(&file_uri(&header), version).at - sent);
    }
    let [ours, floor] = times.map(|times| Sample::times(&times));
    let name = format!("edit of a class header among {count} manifests to findings of open data");
    figures.push(Figure::new(name, ours).beside(floor).at_most_floor(4.0));
    let mut times = [Vec::new(), Vec::new()];
    for n in 0..bench.either(500, 40) {
        // The even lines have the keys of parameters, and the odd lines have the other keys.
        for (offset, times) in times.iter_mut().enumerate() {
            let line = n % KEYS * 2 + offset;
            let (time, answer) = clients[0].ask("textDocument/hover", &data, line, 2);
            assert!(!answer.is_null(), "a hover of line {line} is empty");
            times.push(time);
        }
    }
    let [parameter, plain] = times.map(|times| Sample::times(&times));
    let limit = plain.p50() * 1.2;
    figures.push(Figure::new("hover of a key that no parameter takes", plain));
    figures.push(
        Figure::new("hover of a key with its parameter", parameter)
            .goal("p50 at most 1.2x that without", |ours| ours.p50() <= limit),
    );
    figures
}

/// The first question to the index of the code, whose texts are there.
fn index(bench: &Bench, root: &Path, count: usize) -> Figure {
    let mut times = Vec::new();
    for _ in 0..bench.either(10, 2) {
        let snapshot = workspace(root).snapshot();
        let start = Instant::now();
        let index = snapshot.manifests(&snapshot.environments().all[0]);
        times.push(start.elapsed());
        assert!(index.files().count() >= count, "all manifests are read");
    }
    Figure::new(format!("index of {count} manifests"), Sample::times(&times))
        .goal("p50 at most 300", |ours| ours.p50() <= 300.0)
}
