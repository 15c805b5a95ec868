use expect_test::{Expect, expect};

use super::*;
use crate::fixture::Fixture;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::puppet::print;

/// Compares the alternatives for the key `k` in `data/common.yaml`, a line each, where `known` is
/// known and so many lookups are made at most.
fn check(text: &str, known: &[(&str, &str)], mut lookups: usize, expect: Expect) {
    let fixture = Fixture::new(text);
    let snapshot = &fixture.snapshot;
    let environment = &snapshot.environments().all[0];
    let view = snapshot.view(environment);
    let lookup = |scope: &Scope, _: Option<usize>| {
        Resolver::new(snapshot.lookup_context(environment, &view, scope))
            .lookup(&LookupKey::of_root("k"), None)
    };
    let question = FleetQuestion {
        snapshot,
        environment,
        root: "k",
        lookup: &lookup,
        ends_at_first: false,
        is_enough: &|_| false,
        asked: None,
    };
    let mut scope = Scope::open("test");
    scope.assume_values(
        &known.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
    );
    let first = lookup(&scope, None);
    let cases =
        find_alternatives(&question, &scope, &first, &|value| value == "foreign", &mut lookups);
    let line = |case: &Case| {
        let when: Vec<String> =
            case.when.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let Some(found) = &case.resolution else { return format!("{when:?}: not looked up\n") };
        let value = match found.value.as_ref().expect("no lookup fails") {
            Some(value) => print::print_inline(value, &print::PrintOptions::default()),
            None => "none".into(),
        };
        let open = found.unsettled.len();
        let open = if open == 0 { String::new() } else { format!(", {open} open") };
        format!("{when:?}: {value}{open}\n")
    };
    expect.assert_eq(&cases.iter().map(line).collect::<String>());
}

const SYSTEMS: &str = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Release, path: 'os/%{os.name}-%{os.release.major}.yaml'}
- {name: System, path: 'os/%{facts.os.name}.yaml'}
- {name: Common, path: common.yaml}
#- /data/roles/web.yaml
k: web
#- /data/os/RedHat-9.yaml
k: el9
#- /data/os/RedHat-8.yaml
k: el8
#- /data/os/RedHat.yaml
k: el
#- /data/os/Debian.yaml
other: 1
#- /data/common.yaml
k: common
";

#[test]
fn each_file_that_unknown_variables_lead_to_is_an_alternative() {
    check(
        SYSTEMS,
        &[],
        100,
        expect![[r#"
        ["role = web"]: web
        ["os.name = RedHat", "os.release.major = 8"]: el8
        ["os.name = RedHat", "os.release.major = 9"]: el9
        ["facts.os.name = RedHat"]: el
        []: common
    "#]],
    );
}

#[test]
fn what_is_known_leaves_fewer_alternatives() {
    check(
        SYSTEMS,
        &[("role", "db"), ("facts.os.name", "RedHat"), ("os.name", "RedHat")],
        100,
        expect![[r#"
            ["os.release.major = 8"]: el8
            ["os.release.major = 9"]: el9
            []: el
        "#]],
    );
    check(SYSTEMS, &[("role", "web")], 100, expect![[r#""#]]);
}

#[test]
fn what_is_not_looked_up_is_said() {
    check(
        SYSTEMS,
        &[],
        2,
        expect![[r#"
        ["role = web"]: web
        ["os.name = RedHat", "os.release.major = 8"]: el8
        ["os.name = RedHat", "os.release.major = 9"]: not looked up
        []: common, 1 open
    "#]],
    );
    check(SYSTEMS, &[], 0, expect![""]);
    let many: String =
        (0..MAX_BRANCHES + 2).map(|n| format!("#- /data/roles/r{n:02}.yaml\nk: {n}\n")).collect();
    check(
        &format!("{SYSTEMS}{many}"),
        &[("os.name", "X"), ("facts.os.name", "X")],
        100,
        expect![[r#"
            ["role = r00"]: 0
            ["role = r01"]: 1
            ["role = r02"]: 2
            ["role = r03"]: 3
            ["role = r04"]: 4
            ["role = r05"]: 5
            ["role = r06"]: 6
            ["role = r07"]: 7
            ["role = r08"]: 8
            ["role = r09"]: 9
            ["role = r10"]: 10
            ["role = r11"]: 11
            ["role = r12"]: not looked up
            ["role = r13"]: not looked up
            ["role = web"]: not looked up
            []: common
        "#]],
    );
}

#[test]
fn a_merge_has_every_combination() {
    let text = SYSTEMS.replace("k: common", "lookup_options: {k: {merge: unique}}\nk: common");
    check(
        &text,
        &[("os.release.major", "9"), ("facts.os.release.major", "9")],
        100,
        expect![[r#"
            ["role = web", "os.name = RedHat"]: [web, el9, el, common]
            ["role = web", "facts.os.name = RedHat-8"]: [web, el8, common]
            ["role = web", "facts.os.name = RedHat"]: [web, el9, el, common]
            ["role = web"]: [web, common]
            ["os.name = RedHat"]: [el9, el, common]
            ["facts.os.name = RedHat-8"]: [el8, common]
            ["facts.os.name = RedHat"]: [el9, el, common]
            []: [common]
        "#]],
    );
}

#[test]
fn variables_side_by_side_are_one() {
    let text = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Platform, paths: ['%{site}/%{platform}%{version}.yaml', 'all/%{platform}%{version}.yaml', 'all/%{platform}.yaml']}
- {name: Common, path: common.yaml}
#- /data/bgo/el8.yaml
k: bgo8
#- /data/all/el8.yaml
k: el8
#- /data/all/el9.yaml
k: el9
#- /data/common.yaml
k: common
";
    check(
        text,
        &[("site", "bgo")],
        100,
        expect![[r#"
        ["%{platform}%{version} = el8"]: bgo8
        ["%{platform}%{version} = el9"]: el9
        []: common
    "#]],
    );
    check(
        text,
        &[],
        100,
        expect![[r#"
            ["%{platform}%{version} = el8", "site = bgo"]: bgo8
            ["%{platform}%{version} = el8"]: el8
            ["%{platform}%{version} = el9"]: el9
            []: common
        "#]],
    );
    check(
        text,
        &[("platform", "el")],
        100,
        expect![[r#"
            ["version = 8", "site = bgo"]: bgo8
            ["version = 8"]: el8
            ["version = 9"]: el9
            []: common
        "#]],
    );
}

#[test]
fn what_has_no_name_is_no_alternative() {
    let text = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Mapped, mapped_paths: [list, it, 'x/%{it}.yaml']}
- {name: Common, path: common.yaml}
#- /data/x/a.yaml
k: a
#- /data/common.yaml
k: common
";
    check(text, &[], 100, expect![[r#""#]]);
    let foreign = SYSTEMS.replace("roles/web", "roles/foreign");
    check(&foreign, &[("os.name", "X"), ("facts.os.name", "X")], 100, expect![[r#""#]]);
}

#[test]
fn an_asterisk_in_a_mapped_path_is_a_character() {
    let unsettled = |folder: &str| {
        let text = format!(
            "
#- /hiera.yaml
version: 5
hierarchy:
- {{name: Mapped, mapped_paths: [list, it, 'x*/%{{it}}.yaml']}}
- {{name: Common, path: common.yaml}}
- {{name: Last, path: 'x1/%{{it}}.yaml'}}
#- /data/{folder}/a.yaml
k: a
#- /data/common.yaml
k: common
"
        );
        let snapshot = Fixture::new(&text).snapshot;
        let environment = &snapshot.environments().all[0];
        let (view, scope) = (snapshot.view(environment), Scope::open("test"));
        let resolver = Resolver::new(snapshot.lookup_context(environment, &view, &scope));
        resolver.lookup(&LookupKey::of_root("k"), None).unsettled.len()
    };
    assert_eq!((unsettled("x*"), unsettled("x1")), (1, 0));
}

/// Of nodes with each combination of values, those that files are named after and another one, the
/// first case that holds has the answer of a lookup for that node.
#[test]
fn the_first_case_that_holds_is_the_answer_of_each_node() {
    let merged = SYSTEMS.replace("k: common", "lookup_options: {k: {merge: unique}}\nk: common");
    for text in [SYSTEMS, &merged] {
        let fixture = Fixture::new(text);
        let snapshot = &fixture.snapshot;
        let environment = &snapshot.environments().all[0];
        let view = snapshot.view(environment);
        let lookup = |scope: &Scope, _: Option<usize>| {
            let context = snapshot.lookup_context(environment, &view, scope);
            Resolver::new(context).lookup(&LookupKey::of_root("k"), None)
        };
        let question = FleetQuestion {
            snapshot,
            environment,
            root: "k",
            lookup: &lookup,
            ends_at_first: false,
            is_enough: &|_| false,
            asked: None,
        };
        let unknown = Scope::open("test");
        let cases =
            find_alternatives(&question, &unknown, &lookup(&unknown, None), &|_| false, &mut 100);
        let mut values = std::collections::BTreeSet::new();
        for role in ["web", "db"] {
            for name in ["RedHat", "Debian", "Suse"] {
                for major in ["8", "9", "10"] {
                    let mut node = Scope::new_closed("node", []);
                    let pairs = [
                        ("role", role),
                        ("os.name", name),
                        ("facts.os.name", name),
                        ("os.release.major", major),
                    ];
                    let all: Bindings = pairs
                        .iter()
                        .map(|(name, value)| ((*name).into(), (*value).into()))
                        .collect();
                    node.assume_values(&all);
                    let holds = |case: &&Case| {
                        case.when.iter().all(|(name, value)| all.get(name) == Some(value))
                    };
                    let case = cases.iter().find(holds).expect("the last one holds");
                    let stated = case.resolution.as_ref().expect("it was looked up");
                    let (stated, own) = (&stated.value, lookup(&node, None).value);
                    assert_eq!(stated.as_ref().ok(), own.as_ref().ok(), "{all:?} in {text}");
                    values.insert(format!(
                        "{:?}",
                        own.map(|value| value.map(|it| it.to_text().into_owned()))
                    ));
                }
            }
        }
        assert!(values.len() > 4, "the values differ: {values:?}");
    }
}

#[test]
fn a_key_that_a_token_asks_for_is_looked_up_once_more_where_no_file_has_it() {
    let text =
        SYSTEMS.replace("k: common", "k: \"<%{lookup('x')}>\"") + "#- /data/roles/db.yaml\nx: 1\n";
    check(
        &text,
        &[("os.name", "X"), ("facts.os.name", "X")],
        100,
        expect![[r#"
        ["role = web"]: web
        ["role = db"]: <1>
        []: <>
    "#]],
    );
}

#[test]
fn the_locations_of_a_case_are_open_for_the_files_that_it_leaves_open() {
    let fixture = Fixture::new(SYSTEMS);
    let snapshot = &fixture.snapshot;
    let environment = &snapshot.environments().all[0];
    let view = snapshot.view(environment);
    let lookup = |scope: &Scope, _: Option<usize>| {
        Resolver::new(snapshot.lookup_context(environment, &view, scope))
            .lookup(&LookupKey::of_root("k"), None)
    };
    let question = FleetQuestion {
        snapshot,
        environment,
        root: "k",
        lookup: &lookup,
        ends_at_first: false,
        is_enough: &|_| false,
        asked: None,
    };
    let scope = Scope::open("test");
    let open_after = |mut lookups: usize| {
        let first = lookup(&scope, None);
        let cases = find_alternatives(&question, &scope, &first, &|_| false, &mut lookups);
        let last = cases.into_iter().next_back().expect("there are cases");
        let resolution = last.resolution.expect("it was looked up");
        let of_step = |outcome: &Outcome| match outcome {
            Outcome::Undetermined { candidates, .. } => candidates.clone(),
            _ => Vec::new(),
        };
        let candidates = resolution.steps.iter().flat_map(|step| of_step(&step.outcome));
        let candidates: Vec<String> = candidates.map(|file| file.path.to_string()).collect();
        (resolution.unsettled.len(), candidates)
    };
    assert_eq!(open_after(2), (1, vec!["/data/os/RedHat.yaml".to_owned()]));
    assert_eq!(open_after(100), (0, Vec::new()));
}
