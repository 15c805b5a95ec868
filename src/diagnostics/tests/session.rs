//! The findings from revision to revision equal those of a full check of every file.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::diagnostics::{Finding, Findings, check_file};
use crate::fixture::Fixture;
use crate::tests::edits::{self, Random};
use crate::text::CancelToken;
use crate::text::{FilePath, TextRange, work};
use crate::workspace::{Change, Snapshot};

const WORKSPACE: &str = "
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Nodes, path: 'nodes/%{fqdn}.yaml'}
  - {name: Roles, path: 'roles/%{role}.yaml'}
  - {name: Common, paths: [common.yaml, more.yaml, elsewhere.yaml]}
#- /data/nodes/one.yaml
profile::a: \"%{lookup('profile::b')}\"
list: [1]
other: \"x %{alias('list')}\"
shared: &s {deep: \"%{lookup('profile::c.sub')}\"}
user: [*s]
#- /data/roles/web.yaml
profile::b: \"%{lookup('profile::c.sub')}\"
list: {a: 1}
far: \"%{lookup('nowhere')}\"
near: \"%{lookup('net_x')}\"
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
net_a: 1
net_b: 1
";

const PIECES: &[&str] = &[
    "\n",
    "\nlist: [2]\n",
    "*s",
    "&s ",
    "\nlist: *s\n",
    "\nprofile::c: {<<: *s, sub: &s [1]}\n",
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
    "\nnet_c: 1\n",
    "\nnet_d: \"%{lookup('net_y')}\"\n",
    "\n---\n",
];

/// Texts of hiera.yaml: as it was, with other levels, half typed.
const CONFIGS: &[&str] = &[
    "version: 5\nhierarchy:\n  - {name: Roles, path: 'roles/%{role}.yaml'}\n  - {name: Common, paths: [common.yaml, more.yaml]}\n",
    "version: 5\nhierarchy:\n  - {name: Common, path: common.yaml}\n  - {name: Nodes, path: 'nodes/%{fqdn}.yaml'}\n",
    "# 1\nversion: 5\nhierarchy:\n  - {name: All, glob: '**/*.yaml'}\n",
    "version: 5\nhierarchy:\n  - {name: Roles, path: 'roles/%{role\n",
];

fn told<F: Borrow<Finding>>(snapshot: &Snapshot, findings: &[F]) -> String {
    let place = |span: crate::text::Span| {
        format!("{:?} {:?}", snapshot.path_of(span.file), snapshot.span_bytes(span))
    };
    let one = |finding: &Finding| {
        let related: Vec<_> = finding
            .related
            .iter()
            .map(|related| format!("{} {}", place(related.span), related.message))
            .collect();
        format!(
            "{} {:?} {} {} {related:?}\n",
            finding.rule.code,
            finding.severity,
            place(finding.span),
            finding.message
        )
    };
    findings.iter().map(|finding| one(finding.borrow())).collect()
}

#[test]
fn incremental_results_equal_new_ones() {
    let mut random = Random::new(20_261_121);
    let (mut deferred, mut ahead) = (0, 0);
    for _ in 0..edits::rounds(60) {
        let mut fixture = Fixture::new(WORKSPACE);
        let rules = fixture.settings.rules.clone();
        let paths: Vec<FilePath> = ["nodes/one", "roles/web", "common", "more"]
            .map(|name| FilePath::new(&format!("/data/{name}.yaml")))
            .into();
        let original: Vec<String> = paths
            .iter()
            .map(|path| fixture.snapshot.file(path).unwrap().text().unwrap().to_str().into_owned())
            .collect();
        for (path, text) in paths.iter().zip(&original).filter(|_| !random.one_in(4)) {
            fixture.workspace.apply(Change::Open(path.clone(), text.to_owned()));
        }
        let mut findings = Findings::default();
        let mut known: HashMap<FilePath, Vec<Arc<Finding>>> = HashMap::new();
        for step in 0..edits::STEPS {
            let n = random.below(paths.len());
            let path = &paths[n];
            let text = fixture.workspace.open_text(path).map(|text| text.to_str().into_owned());
            let (range, insert) =
                edits::edit(&mut random, text.as_ref().unwrap_or(&original[n]), PIECES);
            let edited = |text: &str| {
                format!("{}{insert}{}", &text[..range.start as usize], &text[range.end as usize..])
            };
            let change = match (text, random.below(9)) {
                // Some files stay closed for a while.
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
            // A round may have several changes.
            if random.below(3) != 0 {
                let snapshot = fixture.workspace.snapshot();
                // Some rounds are cancelled before their end.
                let left = AtomicUsize::new(if random.below(3) == 0 {
                    random.below(40)
                } else {
                    usize::MAX
                });
                let is_cancelled = move || {
                    left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                        left.checked_sub(1)
                    })
                    .is_err()
                };
                let stopped = snapshot.clone().with_cancel_token(CancelToken::new(is_cancelled));
                known.extend(findings.update(&stopped, &rules));
                deferred += usize::from(findings.has_deferred());
                while findings.has_deferred() && random.below(3) != 0 {
                    known.extend(findings.update(&snapshot, &rules));
                }
                let idle = AtomicUsize::new(random.below(8));
                findings.after_publish(&|| {
                    idle.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                        left.checked_sub(1)
                    })
                    .is_ok()
                });
                if random.below(3) == 0 {
                    let left = AtomicUsize::new(random.below(60));
                    let is_cancelled = move || {
                        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                            left.checked_sub(1)
                        })
                        .is_err()
                    };
                    let pieces = AtomicUsize::new(random.below(4));
                    let has_time = || {
                        pieces
                            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
                                left.checked_sub(1)
                            })
                            .is_ok()
                    };
                    findings.look_ahead(CancelToken::new(is_cancelled), &has_time);
                    ahead += usize::from(!findings.has_more_ahead());
                }
                for path in paths.iter().filter(|_| !findings.has_deferred()) {
                    let told_now = known.get(path).map_or(&[][..], Vec::as_slice);
                    let is_open = snapshot.open_files().any(|open| open == path);
                    let anew =
                        if is_open { check_file(&snapshot, path, &rules) } else { Vec::new() };
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
    assert!(deferred > 10, "only {deferred} rounds were left off");
    assert!(ahead > 10, "only {ahead} times all files were looked at ahead");
}

/// Manifests are edited beside the data that they read: the findings of the data follow.
#[test]
fn edits_of_manifests_update_findings_of_data() {
    const FILES: &[&str] = &[
        "/modules/profile/manifests/init.pp",
        "/modules/profile/manifests/web.pp",
        "/modules/profile/types/port.pp",
        "/manifests/site.pp",
        "/data/common.yaml",
        "/data/more.yaml",
    ];
    const WITH_CODE: &str = "
profile::a: 1
profile::web::port: 80
profile::vhost::x: 1
profile::lost::x: ~
profile::web_old::x: 1
profile_old::x: 1
profile::web:colon: 1
plain: \"%{lookup('profile::a')}\"
classes: [profile, 'profile::web']
#- /.hiera-ls.yaml
rules: {missing-parameter: warning}
#- /Puppetfile
mod 'puppetlabs-apt'
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Common, paths: [common.yaml, more.yaml]}
#- /data/more.yaml
other: 2
profile::a: ~
profile::web::b: [\"%{lookup('other')}\"]
#- /modules/profile/manifests/init.pp
class profile(Integer $a, Profile::Port $b = lookup('plain')) {}
#- /modules/profile/manifests/web.pp
class profile::web($port = 80) inherits profile { include profile }
#- /modules/profile/types/port.pp
type Profile::Port = Integer[1, 100]
#- /manifests/site.pp
node default { class { 'profile': a => 2 } }
node a { lookup('classes', Array, 'unique').include }
";
    const CODE_PIECES: &[&str] = &[
        "class profile::lost(String $x) {}\n",
        "class profile::web_old($x) {}\n",
        "class profile_old($x) {}\n",
        "define profile::vhost($x) {}\n",
        "lookup('other')",
        "hiera(\"oth${x}\")",
        "lookup($x)",
        "Profile::Port ",
        "$a, ",
        "String ",
        "$z = undef, ",
        "include profile::web",
        "class { 'profile::web': port => 1 }\n",
        "include \"profile::${x}\"\n",
        "class { $k: x => 1 }\n",
        "\nprofile::a: zz\n",
        "lookup('other', Hash, 'hash')\n",
        "lookup('profile::web::port', {merge => unique})",
        "hiera_include('other')\n",
        "profile::web::port: ~\n",
        "\nother: {a: 1}\n",
        "\nother: [profile::web]\n",
        "\nlookup_options: {other: {merge: hash}}\n",
        "{",
        "}",
        "(",
        "'",
        "\n",
        "profile::web::z: 1\n",
        "\nother: \"%{lookup('profile::b')}\"\n",
        "x",
    ];
    let mut random = Random::new(20_261_122);
    let mut changes = 0;
    for _ in 0..edits::rounds(60) {
        let mut fixture = Fixture::new(WITH_CODE);
        let rules = fixture.settings.rules.clone();
        let paths: Vec<FilePath> = FILES.iter().map(|path| FilePath::new(path)).collect();
        for path in &paths {
            let text = fixture.snapshot.file(path).unwrap().text().unwrap().to_str().into_owned();
            fixture.workspace.apply(Change::Open(path.clone(), text));
        }
        let mut findings = Findings::default();
        let mut known: HashMap<FilePath, Vec<Arc<Finding>>> = HashMap::new();
        for _ in 0..edits::STEPS {
            let path = &paths[random.below(paths.len())];
            let text = fixture.workspace.open_text(path).unwrap().to_str().into_owned();
            let (range, insert) = edits::edit(&mut random, &text, CODE_PIECES);
            fixture.workspace.apply(Change::Edit(path.clone(), vec![(range, insert.to_owned())]));
            let snapshot = fixture.workspace.snapshot();
            let before = known.clone();
            known.extend(findings.update(&snapshot, &rules));
            while findings.has_deferred() {
                known.extend(findings.update(&snapshot, &rules));
            }
            findings.after_publish(&|| true);
            for path in &paths {
                let told_now = told(&snapshot, known.get(path).map_or(&[][..], Vec::as_slice));
                let anew = told(&snapshot, &check_file(&snapshot, path, &rules));
                assert_eq!(told_now, anew, "{path} after {range:?} {insert:?}");
                let was = before.get(path).map_or(0, Vec::len);
                changes += usize::from(was != known.get(path).map_or(0, Vec::len));
            }
        }
    }
    assert!(changes > 100, "findings changed only {changes} times");
}

#[test]
fn looking_ahead_comes_to_an_end() {
    let text = |keys: usize| {
        (0..keys).map(|n| format!("k{n}: \"%{{lookup('other')}}\"\n")).collect::<String>()
    };
    let files: String = (0..40).map(|n| format!("#- /data/f{n}.yaml\n{}", text(5))).collect();
    let mut fixture = Fixture::new(&format!(
        "#- /hiera.yaml\nversion: 5\nhierarchy: [{{name: All, glob: '*.yaml'}}]\n{files}"
    ));
    let (rules, path) = (fixture.settings.rules.clone(), FilePath::new("/data/f0.yaml"));
    fixture.workspace.apply(Change::Open(path.clone(), text(5)));
    let mut findings = Findings::default();
    let mut look_ahead = |snapshot: &Snapshot| {
        findings.update(snapshot, &rules);
        findings.after_publish(&|| true);
        let mut times = 0;
        // There is never time for more than one file.
        while findings.has_more_ahead() && times < 1_000 {
            findings.look_ahead(CancelToken::default(), &|| false);
            times += 1;
        }
        times
    };
    assert_eq!(
        look_ahead(&fixture.workspace.snapshot()),
        40,
        "each file once, and the open one is passed over"
    );
    fixture.workspace.apply(Change::Replace(
        path,
        format!("lookup_options: {{'^k': {{merge: unique}}}}\n{}", text(9)),
    ));
    let again = look_ahead(&fixture.workspace.snapshot());
    assert!((1..=40).contains(&again), "{again} times");
    assert_eq!(look_ahead(&fixture.workspace.snapshot()), 0);
}

#[test]
fn many_changed_keys_are_not_searched_one_by_one_in_each_closed_file() {
    let entries = |keys: std::ops::Range<usize>, value: &str| {
        keys.map(|n| format!("k{n}: {value}\n")).collect::<String>()
    };
    let files: String =
        (0..40).map(|n| format!("#- /data/f{n}.yaml\n{}", entries(n..n + 3, "1"))).collect();
    let mut fixture = Fixture::new(&format!(
        "#- /hiera.yaml\nversion: 5\nhierarchy: [{{name: All, glob: '*.yaml'}}]\n#- /data/large.yaml\n{}{files}",
        entries(0..400, "1")
    ));
    let (rules, path) = (fixture.settings.rules.clone(), FilePath::new("/data/large.yaml"));
    fixture.workspace.apply(Change::Open(path.clone(), entries(0..400, "1")));
    let mut findings = Findings::default();
    findings.update(&fixture.workspace.snapshot(), &rules);
    findings.after_publish(&|| true);
    findings.look_ahead(CancelToken::default(), &|| true);
    assert!(!findings.has_more_ahead());
    fixture.workspace.apply(Change::Replace(path, entries(0..400, "[2]")));
    findings.update(&fixture.workspace.snapshot(), &rules);
    findings.after_publish(&|| true);
    work::take();
    findings.look_ahead(CancelToken::default(), &|| true);
    let counts = work::take();
    // Each closed file is one part.
    assert_eq!((counts.steps, counts.checked), (40, 40));
}

/// Edits of a function's source, and of a type that it uses, reach the findings in hiera.yaml.
#[test]
fn edits_of_a_levels_function_reach_the_config() {
    let text = "
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Store, lookup_key: store::find, options: {port: 1}}
#- /modules/store/functions/find.pp
function store::find(String $key, Store::Options $options, $context) { }
#- /modules/store/types/options.pp
type Store::Options = Struct[{port => Integer}]
";
    let mut fixture = Fixture::new(text);
    let mut findings = Findings::default();
    let rules = Default::default();
    let config = FilePath::new("/hiera.yaml");
    let mut all = Vec::new();
    let mut codes = |fixture: &Fixture| {
        let snapshot = fixture.workspace.snapshot();
        let mut told = findings.update(&snapshot, &rules);
        while findings.has_deferred() {
            told.extend(findings.update(&snapshot, &rules));
        }
        let expected = check_file(&snapshot, &config, &rules);
        if let Some((_, now)) = told.into_iter().find(|(path, _)| *path == config) {
            all = now;
        }
        assert_eq!(self::told(&snapshot, &all), self::told(&snapshot, &expected));
        all.iter().map(|finding| finding.rule.code).collect::<Vec<_>>()
    };
    assert!(codes(&fixture).is_empty());
    let edits = [
        (
            "functions/find.pp",
            "function store::find(String $key, $options) { }",
            "backend-signature",
        ),
        ("functions/find.pp", "function store::other() { }", "unknown-backend"),
        (
            "functions/find.pp",
            "function store::find($k, Store::Options $o, $c) >> Hash { }",
            "backend-return-type",
        ),
        ("functions/find.pp", "function store::find($k, Store::Options $o, $c) { }", ""),
        ("types/options.pp", "type Store::Options = Struct[{port => String}]", "backend-options"),
    ];
    for (file, text, code) in edits {
        let path = FilePath::new(&format!("/modules/store/{file}"));
        fixture.workspace.apply(Change::Open(path, text.into()));
        let expected: Vec<&str> = Some(code).filter(|code| !code.is_empty()).into_iter().collect();
        assert_eq!(codes(&fixture), expected, "{file}: {text}");
    }
}

#[test]
fn a_long_file_has_its_first_findings_before_all_parts_are_checked() {
    use std::fmt::Write as _;
    let text = (0..2_500).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "k{number}: \"%{{lookup('nowhere')}}\"");
        text
    });
    let mut fixture = Fixture::new(&format!("#- /data/common.yaml\n{text}"));
    let (mut findings, rules) = (Findings::default(), Default::default());
    findings.update(&fixture.workspace.snapshot(), &rules);
    let path = FilePath::new("/data/common.yaml");
    fixture.workspace.apply(Change::Open(path.clone(), text));
    let snapshot = fixture.workspace.snapshot();
    let mut update = || {
        let told = findings.update(&snapshot, &rules);
        let count = told.iter().find(|(of, _)| *of == path).map(|(_, found)| found.len());
        (count, findings.has_deferred())
    };
    assert_eq!(update(), (Some(250), true));
    assert_eq!(update(), (Some(1_000), true), "three times as many as before");
    assert_eq!(update(), (Some(2_500), false));
    let mut pulled = Findings::of_all_files();
    let told = pulled.update(&snapshot, &rules);
    let counts: Vec<usize> = told.iter().filter(|it| it.0 == path).map(|it| it.1.len()).collect();
    assert_eq!(counts, [2_500], "a client that asks takes the first answer for all");
}

/// A text with findings of rules that need no other file in its first and last entry, and with a
/// finding about each other entry.
fn long_text() -> String {
    use std::fmt::Write as _;
    let entries = (0..400).fold(String::new(), |mut text, number| {
        let _ = writeln!(text, "k{number}: \"%{{lookup('nowhere')}}\"");
        text
    });
    format!(
        "first: \"%{{odd('x')}}\" # hiera-ls: ignore[unknown-function]\n\
         {entries}# hiera-ls: ignore[unknown-key]\nlast: \"%{{odd('x')}}\"\n"
    )
}

#[test]
fn the_first_findings_need_no_index_and_no_other_file() {
    let mut fixture = Fixture::new(&format!(
        "#- /data/common.yaml\n{}#- /data/more.yaml\na: 1\nb: 2\n",
        long_text()
    ));
    let path = FilePath::new("/data/common.yaml");
    fixture.workspace.apply(Change::Open(path.clone(), long_text()));
    let (snapshot, rules) = (fixture.workspace.snapshot(), fixture.settings.rules.clone());
    assert!(!snapshot.is_soon_indexed());
    let mut findings = Findings::default();
    work::take();
    let first = findings.first_findings(&snapshot, &rules);
    let counts = work::take();
    assert_eq!((counts.indexed, counts.lookups, counts.checked), (0, 0, 0));
    assert_eq!(counts.read, 402, "the entries of the one file");
    let [(of, found)] = &*first else { panic!("{first:?}") };
    let codes: Vec<&str> = found.iter().map(|finding| finding.rule.code).collect();
    assert_eq!((of, &*codes), (&path, &["unknown-function"][..]), "but the accepted one");
    let anew = check_file(&snapshot, &path, &rules);
    assert!(found.iter().all(|first| anew.iter().any(|it| it.span == first.span)));
    findings.update(&snapshot, &rules);
    assert!(findings.first_findings(&snapshot, &rules).is_empty(), "the file is checked already");
}

#[test]
fn findings_that_need_no_other_file_stay_while_the_others_come() {
    let mut fixture = Fixture::new(&format!("#- /data/common.yaml\n{}", long_text()));
    let path = FilePath::new("/data/common.yaml");
    fixture.workspace.apply(Change::Open(path.clone(), long_text()));
    let (snapshot, rules) = (fixture.workspace.snapshot(), fixture.settings.rules.clone());
    let mut findings = Findings::default();
    let mut portions = 0;
    loop {
        let told = findings.update(&snapshot, &rules);
        let Some((_, found)) = told.into_iter().find(|(of, _)| *of == path) else { continue };
        portions += 1;
        let has = |code: &str| found.iter().any(|finding| finding.rule.code == code);
        assert!(has("unknown-function"), "that of the last entry");
        let is_all = !findings.has_deferred();
        assert_eq!(has("unused-ignore"), is_all, "it is known when all parts are checked");
        if is_all {
            assert_eq!(
                self::told(&snapshot, &found),
                self::told(&snapshot, &check_file(&snapshot, &path, &rules))
            );
            break;
        }
    }
    assert!(portions > 1);
}

#[test]
fn an_edit_moves_the_related_places_of_findings_in_other_files() {
    let mut fixture = Fixture::new(
        "
#- levels Node Role Common
#- node web01 role=web
#- /data/nodes/web01.yaml
a: \"%{lookup('b')}\"
#- /data/roles/web.yaml
b: \"%{lookup('c')}\"
#- /data/common.yaml
c: \"%{lookup('a')}\"
",
    );
    let paths = ["nodes/web01", "roles/web", "common"]
        .map(|name| FilePath::new(&format!("/data/{name}.yaml")));
    for path in &paths {
        let text = fixture.snapshot.file(path).unwrap().text().unwrap().to_str().into_owned();
        fixture.workspace.apply(Change::Open(path.clone(), text));
    }
    let (mut findings, rules) = (Findings::default(), fixture.settings.rules.clone());
    let snapshot = fixture.workspace.snapshot();
    findings.update(&snapshot, &rules);
    for edited in &paths[1..] {
        let comment = vec![(TextRange::new_empty(0), "# moves\n".to_owned())];
        fixture.workspace.apply(Change::Edit(edited.clone(), comment));
        let snapshot = fixture.workspace.snapshot();
        let updated = findings.update(&snapshot, &rules);
        let (_, found) =
            updated.iter().find(|(path, _)| *path == paths[0]).expect("it is published");
        assert_eq!(
            told(&snapshot, found),
            told(&snapshot, &check_file(&snapshot, &paths[0], &rules))
        );
    }
}
