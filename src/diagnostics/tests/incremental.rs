//! What is told from revision to revision is what looking at every file again would tell.

use std::collections::HashMap;

use crate::diagnostics::{Finding, Findings, check_file};
use crate::fixture::Fixture;
use crate::text::{FilePath, Text, TextRange};
use crate::workspace::{Change, Snapshot};

const WORKSPACE: &str = "
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Nodes, path: 'nodes/%{fqdn}.yaml'}
  - {name: Roles, path: 'roles/%{role}.yaml'}
  - {name: Common, paths: [common.yaml, more.yaml]}
#- /data/nodes/one.yaml
profile::a: \"%{lookup('profile::b')}\"
list: [1]
other: \"x %{alias('list')}\"
#- /data/roles/web.yaml
profile::b: \"%{lookup('profile::c.sub')}\"
list: {a: 1}
far: \"%{lookup('nowhere')}\"
#- /data/common.yaml
lookup_options:
  list: {merge: hash}
  '^profile': {merge: first}
profile::c: {sub: 1}
list: {b: 2}
#- /data/more.yaml
profile::c: {sub: \"%{lookup('list')}\"}
dup: 1
dup: 2
";

const PIECES: &[&str] = &[
    "\n",
    "\nlist: [2]\n",
    "\nlist: {c: 3}\n",
    "\nnowhere: 1\n",
    "\nprofile::b: 1\n",
    "%{lookup('profile::a')}",
    "%{lookup('nowhere')}",
    "%{alias('list')}",
    "\nprofile::c: \"%{lookup('profile::a')}\"\n",
    "\nlookup_options: {list: {merge: unique}}\n",
    "\nlookup_options: {'^(': {merge: nope}}\n",
    "#",
    "'",
    "\"",
    ": ",
    "dup",
    "\ndup: 3\n",
    "- ",
    "}",
    "{",
    "x",
    "\nself: \"%{lookup('self')}\"\n",
    "  ",
    "é",
];

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

fn told(snapshot: &Snapshot, findings: &[Finding]) -> String {
    let place = |span: crate::text::Span| format!("{:?} {:?}", snapshot.path(span.file), snapshot.place(span));
    let one = |finding: &Finding| {
        let related: Vec<_> =
            finding.related.iter().map(|related| format!("{} {}", place(related.span), related.message)).collect();
        format!("{} {:?} {} {} {related:?}\n", finding.rule.code, finding.severity, place(finding.span), finding.message)
    };
    findings.iter().map(one).collect()
}

fn edit(random: &mut Random, text: &str) -> (TextRange, &'static str) {
    let mut start = random.below(text.len() + 1);
    let mut end = (start + [0, 0, 0, 1, 6, 30][random.below(6)]).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    (TextRange::from_usize(start..end), if random.below(4) == 0 { "" } else { PIECES[random.below(PIECES.len())] })
}

#[test]
fn what_is_told_is_what_looking_anew_tells() {
    let rounds =
        std::env::var("HIERA_LS_EDITS").ok().and_then(|edits| edits.parse::<usize>().ok()).map_or(60, |edits| edits / 20);
    let mut random = Random(rounds as u64 + 11);
    for _ in 0..rounds {
        let mut fixture = Fixture::new(WORKSPACE);
        let rules = fixture.settings.rules.clone();
        let paths: Vec<FilePath> =
            ["nodes/one", "roles/web", "common", "more"].map(|name| FilePath::new(&format!("/data/{name}.yaml"))).into();
        let original: Vec<String> =
            paths.iter().map(|path| fixture.snapshot.file(path).unwrap().text().unwrap().to_str().into_owned()).collect();
        for (path, text) in paths.iter().zip(&original) {
            fixture.workspace.apply(Change::Open(path.clone(), Text::new(text)));
        }
        let mut findings = Findings::default();
        let mut known: HashMap<FilePath, Vec<Finding>> = HashMap::new();
        for step in 0..20 {
            let n = random.below(paths.len());
            let (path, text) = (&paths[n], fixture.workspace.open_text(&paths[n]).unwrap().to_str().into_owned());
            let (range, insert) = edit(&mut random, &text);
            let change = match random.below(9) {
                0 => Change::Replace(path.clone(), Text::new(&original[n])),
                1 if step > 5 => Change::Close(path.clone()),
                _ => Change::Edit(path.clone(), vec![(range, insert.to_owned())]),
            };
            let closes = matches!(change, Change::Close(_));
            fixture.workspace.apply(change);
            // Several changes may be one round.
            if random.below(3) != 0 {
                let snapshot = fixture.workspace.snapshot();
                known.extend(findings.update(&snapshot, &rules));
                for path in &paths {
                    let told_now = known.get(path).map_or(&[][..], Vec::as_slice);
                    let is_open = snapshot.open_files().any(|open| open == path);
                    let anew = if is_open { check_file(&snapshot, path, &rules) } else { Vec::new() };
                    assert_eq!(
                        told(&snapshot, told_now),
                        told(&snapshot, &anew),
                        "{path} after {range:?} {insert:?} in {}",
                        paths[n]
                    );
                }
            }
            if closes {
                fixture.workspace.apply(Change::Open(path.clone(), Text::new(&original[n])));
            }
        }
    }
}
