//! Files that use each other in a circle: at most pairs, each of them named here.
//!
//! Read off the `use` declarations. A module's own file and the files below it count as one room:
//! between these no use is counted. The rooms of a folder that use each other in a circle are named
//! here, too: a list that may only shrink.

use std::collections::{BTreeMap, BTreeSet};

use crate::architecture::{Source, sources};

/// Pairs of files that may use each other.
const PAIRS: [[&str; 2]; 1] = [
    // The code in a string is read by the reader of code, and a string is part of code.
    ["manifest::lexer", "manifest::strings"],
];

/// Rooms that use each other in a circle: the folder that holds them, and their names.
const ROOM_CIRCLES: [(&str, &[&str]); 6] = [
    ("hiera", &["hierarchy", "sources"]),
    ("ide", &["completion", "hover"]),
    ("manifest", &["lexer", "strings"]),
    ("puppet", &["convert", "print", "rich", "ruby", "types", "value"]),
    ("workspace", &["config", "environments", "files", "index", "manifests", "nodes", "snapshot"]),
    ("workspace::nodes", &["read", "sources"]),
];

type Uses = BTreeMap<String, BTreeSet<String>>;

/// Returns the module that a file of the sources is: `a::b` for `a/b.rs` and `a/b/mod.rs`.
fn module(path: &str) -> String {
    path.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::")
}

/// Returns the paths that a `use` declaration names, without their last braces.
fn expanded(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or(tree).trim().to_owned()];
    };
    let inner = rest.rsplit_once('}').map_or(rest, |(inner, _)| inner);
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for character in inner.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is one").push(character);
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| expanded(&format!("{}{}", before.trim(), part.trim()))).collect()
}

/// Returns the module that a path in the file of `own` leads to, if it is one of these.
fn target(own: &str, path: &str, modules: &BTreeSet<String>) -> Option<String> {
    let mut segments: Vec<&str> = own.split("::").collect();
    let mut rest = path.split("::").peekable();
    if rest.next_if_eq(&"crate").is_some() {
        segments.clear();
    }
    while rest.next_if(|segment| ["super", "self"].contains(segment)).is_some_and(|it| {
        if it == "super" {
            segments.pop();
        }
        true
    }) {}
    segments.extend(rest);
    let prefixes = (1..=segments.len()).rev().map(|length| segments[..length].join("::"));
    prefixes.into_iter().find(|prefix| modules.contains(prefix))
}

/// Returns the files that each file uses.
fn uses(sources: &[Source]) -> Uses {
    let modules: BTreeSet<String> = sources.iter().map(|source| module(&source.path)).collect();
    let is_below = |one: &str, other: &str| one.starts_with(&format!("{other}::"));
    let of = |source: &Source| {
        let own = module(&source.path);
        let declarations = source.code.split("use ").skip(1).filter_map(|it| it.split_once(';'));
        let targets = declarations
            .flat_map(|(tree, _)| expanded(tree))
            .filter_map(|path| target(&own, &path, &modules))
            .filter(|it| *it != own && !is_below(it, &own) && !is_below(&own, it));
        (own.clone(), targets.collect())
    };
    sources.iter().map(of).collect()
}

/// Returns the files that a file comes to, itself only where it is in a circle.
fn reached<'a>(uses: &'a Uses, from: &'a str) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        let targets = uses.get(next).into_iter().flatten().map(String::as_str);
        open.extend(targets.filter(|target| found.insert(*target)));
    }
    found
}

/// Returns the uses between the rooms of a folder: its files, and its folders as a whole.
fn room_uses(uses: &Uses, folder: &str) -> Uses {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}::") };
    let room = |module: &str| {
        let below = module.strip_prefix(&prefix)?;
        below.split("::").next().map(str::to_owned)
    };
    let mut rooms = Uses::new();
    for (module, targets) in uses {
        let Some(own) = room(module) else { continue };
        let others = targets.iter().filter_map(|target| room(target)).filter(|it| *it != own);
        rooms.entry(own.clone()).or_default().extend(others);
    }
    rooms
}

/// Returns the circles, each with its files in order.
fn circles(uses: &Uses) -> BTreeSet<Vec<&str>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> =
        uses.keys().map(|file| (file.as_str(), reached(uses, file))).collect();
    let in_circle = reached.iter().filter(|(file, all)| all.contains(*file));
    in_circle
        .map(|(file, all)| all.iter().filter(|it| reached[*it].contains(file)).copied().collect())
        .collect()
}

#[test]
fn files_use_each_other_in_known_pairs_only() {
    let uses = uses(&sources());
    let known: BTreeSet<Vec<&str>> = PAIRS.iter().map(|pair| pair.to_vec()).collect();
    assert_eq!(circles(&uses), known);
}

#[test]
fn rooms_use_each_other_in_known_circles_only() {
    let uses = uses(&sources());
    let folders: BTreeSet<&str> = uses
        .keys()
        .flat_map(|module| module.match_indices("::").map(|(end, _)| &module[..end]))
        .chain([""])
        .collect();
    let mut found = BTreeSet::new();
    for folder in folders {
        let rooms = room_uses(&uses, folder);
        for circle in circles(&rooms) {
            let names = circle.into_iter().map(str::to_owned).collect::<Vec<_>>();
            found.insert((folder.to_owned(), names));
        }
    }
    let known = ROOM_CIRCLES.map(|(folder, rooms)| {
        (folder.to_owned(), rooms.iter().map(|room| (*room).to_owned()).collect::<Vec<_>>())
    });
    assert_eq!(found, BTreeSet::from(known));
}

#[test]
fn the_check_of_circles_can_fail() {
    let source = |path: &str, code: &str| Source { path: path.into(), code: code.into() };
    let uses = uses(&[
        source("a/mod.rs", "pub use x::X;"),
        source("a/x.rs", "use super::{y::{Y, Z as W}, Other};"),
        source("a/y.rs", "use crate::b::B;\nuse std::sync::Arc;"),
        source("b.rs", "use crate::a::x::X;"),
        source("c.rs", "use crate::b;"),
    ]);
    assert_eq!(circles(&uses), BTreeSet::from([vec!["a::x", "a::y", "b"]]));
    let rooms = room_uses(&uses, "");
    assert_eq!(circles(&rooms), BTreeSet::from([vec!["a", "b"]]));
}
