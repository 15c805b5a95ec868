//! What is told from revision to revision is what looking at every file again would tell.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::diagnostics::{Finding, Findings, check_file};
use crate::fixture::Fixture;
use crate::hiera::Wanted;
use crate::tests::edits::{self, Random};
use crate::text::FilePath;
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

/// Texts of hiera.yaml: as it was, with other levels, half typed.
const CONFIGS: &[&str] = &[
    "version: 5\nhierarchy:\n  - {name: Roles, path: 'roles/%{role}.yaml'}\n  - {name: Common, paths: [common.yaml, more.yaml]}\n",
    "version: 5\nhierarchy:\n  - {name: Common, path: common.yaml}\n  - {name: Nodes, path: 'nodes/%{fqdn}.yaml'}\n",
    "# 1\nversion: 5\nhierarchy:\n  - {name: All, glob: '**/*.yaml'}\n",
    "version: 5\nhierarchy:\n  - {name: Roles, path: 'roles/%{role\n",
];

fn told(snapshot: &Snapshot, findings: &[Finding]) -> String {
    let place = |span: crate::text::Span| format!("{:?} {:?}", snapshot.path(span.file), snapshot.place(span));
    let one = |finding: &Finding| {
        let related: Vec<_> =
            finding.related.iter().map(|related| format!("{} {}", place(related.span), related.message)).collect();
        format!("{} {:?} {} {} {related:?}\n", finding.rule.code, finding.severity, place(finding.span), finding.message)
    };
    findings.iter().map(one).collect()
}

#[test]
fn what_is_told_is_what_looking_anew_tells() {
    let mut random = Random::new(20_261_121);
    let (mut put_off, mut ahead) = (0, 0);
    for _ in 0..edits::rounds(60) {
        let mut fixture = Fixture::new(WORKSPACE);
        let rules = fixture.settings.rules.clone();
        let paths: Vec<FilePath> =
            ["nodes/one", "roles/web", "common", "more"].map(|name| FilePath::new(&format!("/data/{name}.yaml"))).into();
        let original: Vec<String> =
            paths.iter().map(|path| fixture.snapshot.file(path).unwrap().text().unwrap().to_str().into_owned()).collect();
        for (path, text) in paths.iter().zip(&original).filter(|_| !random.one_in(4)) {
            fixture.workspace.apply(Change::Open(path.clone(), text.to_owned()));
        }
        let mut findings = Findings::default();
        let mut known: HashMap<FilePath, Vec<Finding>> = HashMap::new();
        for step in 0..edits::STEPS {
            let n = random.below(paths.len());
            let path = &paths[n];
            let text = fixture.workspace.open_text(path).map(|text| text.to_str().into_owned());
            let (range, insert) = edits::edit(&mut random, text.as_ref().unwrap_or(&original[n]), PIECES);
            let edited = |text: &str| format!("{}{insert}{}", &text[..range.start as usize], &text[range.end as usize..]);
            let change = match (text, random.below(9)) {
                // Some stay closed for a while.
                (None, 4..) => continue,
                (None, 3) => Change::Open(path.clone(), edited(&original[n])),
                (None, _) => Change::Open(path.clone(), original[n].clone()),
                (_, 0) => Change::Replace(path.clone(), original[n].clone()),
                (_, 1) if step > 5 => Change::Close(path.clone()),
                _ => Change::Edit(path.clone(), vec![(range, insert.to_owned())]),
            };
            let closes = matches!(change, Change::Close(_));
            fixture.workspace.apply(change);
            if random.one_in(12) {
                let config = FilePath::new("/hiera.yaml");
                fixture.workspace.apply(match random.below(CONFIGS.len() + 1) {
                    0 => Change::Close(config),
                    n => Change::Open(config, CONFIGS[n - 1].to_owned()),
                });
            }
            // Several changes may be one round.
            if random.below(3) != 0 {
                let snapshot = fixture.workspace.snapshot();
                // Of some rounds nobody waits for the end.
                let left = AtomicUsize::new(if random.below(3) == 0 { random.below(40) } else { usize::MAX });
                let is_wanted =
                    move || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
                let stopped = snapshot.clone().while_wanted(Wanted::as_long_as(is_wanted));
                known.extend(findings.update(&stopped, &rules));
                put_off += usize::from(findings.has_more_to_do());
                while findings.has_more_to_do() && random.below(3) != 0 {
                    known.extend(findings.update(&snapshot, &rules));
                }
                let idle = AtomicUsize::new(random.below(8));
                findings.tidy(&|| idle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok());
                if random.below(3) == 0 {
                    let left = AtomicUsize::new(random.below(60));
                    let is_lull =
                        move || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
                    let pieces = AtomicUsize::new(random.below(4));
                    let has_time =
                        || pieces.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
                    findings.look_ahead(Wanted::as_long_as(is_lull), &has_time);
                    ahead += usize::from(!findings.has_more_ahead());
                }
                for path in paths.iter().filter(|_| !findings.has_more_to_do()) {
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
            if closes && random.one_in(2) {
                fixture.workspace.apply(Change::Open(path.clone(), original[n].clone()));
            }
        }
    }
    assert!(put_off > 10, "only {put_off} rounds were left off");
    assert!(ahead > 10, "only {ahead} times all files were looked at ahead");
}

#[test]
fn looking_ahead_comes_to_an_end() {
    let text = |keys: usize| (0..keys).map(|n| format!("k{n}: \"%{{lookup('other')}}\"\n")).collect::<String>();
    let files: String = (0..40).map(|n| format!("#- /data/f{n}.yaml\n{}", text(5))).collect();
    let mut fixture = Fixture::new(&format!("#- /hiera.yaml\nversion: 5\nhierarchy: [{{name: All, glob: '*.yaml'}}]\n{files}"));
    let (rules, path) = (fixture.settings.rules.clone(), FilePath::new("/data/f0.yaml"));
    fixture.workspace.apply(Change::Open(path.clone(), text(5)));
    let mut findings = Findings::default();
    let mut look_ahead = |snapshot: &Snapshot| {
        findings.update(snapshot, &rules);
        findings.tidy(&|| true);
        let mut times = 0;
        // There is never time for more than one file.
        while findings.has_more_ahead() && times < 1_000 {
            findings.look_ahead(Wanted::default(), &|| false);
            times += 1;
        }
        times
    };
    assert_eq!(look_ahead(&fixture.workspace.snapshot()), 40, "each file once, and the open one is passed over");
    fixture.workspace.apply(Change::Replace(path, format!("lookup_options: {{'^k': {{merge: unique}}}}\n{}", text(9))));
    let again = look_ahead(&fixture.workspace.snapshot());
    assert!((1..=40).contains(&again), "{again} times");
    assert_eq!(look_ahead(&fixture.workspace.snapshot()), 0);
}
