use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::fixture::Fixture;
use crate::workspace::Snapshot;

/// Compares the kinds of nodes that files at these paths show below these locations.
fn check(locations: &[&str], files: &[&str], expect: Expect) {
    let mut text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n".to_owned();
    for (number, location) in locations.iter().enumerate() {
        writeln!(text, "- {{name: L{number}, path: '{location}'}}").expect("a string");
    }
    for file in files {
        writeln!(text, "#- /data/{file}\nk: 1").expect("a string");
    }
    let snapshot = Fixture::new(&text).snapshot;
    let kinds = snapshot.kinds_of(&snapshot.environments().all[0]);
    let mut out: String = kinds.all.iter().map(|kind| format!("{}\n", kind.name)).collect();
    for (variable, count) in &kinds.open {
        writeln!(out, "{variable} stays open with {count} values").expect("a string");
    }
    assert!(kinds.all.iter().all(|kind| kind.is_kind() && kind.scope.open));
    expect.assert_eq(&out);
}

#[test]
fn variables_of_different_locations_are_combined() {
    check(
        &[
            "roles/%{role}.yaml",
            "os/%{facts.os.family}.yaml",
            "os/%{os.family}.json",
            "common.yaml",
        ],
        &["roles/web.yaml", "roles/db.yaml", "os/Debian.yaml", "os/RedHat.json", "common.yaml"],
        expect![[r#"
            role = db, facts.os.family = Debian
            role = db, facts.os.family = RedHat
            role = web, facts.os.family = Debian
            role = web, facts.os.family = RedHat
        "#]],
    );
}

#[test]
fn variables_of_one_location_have_the_combinations_that_exist() {
    check(
        &["os/%{os.name}-%{os.release.major}.yaml", "os/%{os.name}.yaml"],
        &["os/RedHat-9.yaml", "os/RedHat-8.yaml", "os/Debian-12.yaml", "os/Suse.yaml"],
        expect![[r#"
            os.name = Debian, os.release.major = 12
            os.name = RedHat, os.release.major = 8
            os.name = RedHat, os.release.major = 9
            os.name = Suse
        "#]],
    );
    check(
        &["class/%{class}/%{environment}.yaml"],
        &["class/web/test.yaml", "class/web/production.yaml", "class/db/production.yaml"],
        expect![[r#"
            class = db, environment = production
            class = web, environment = production
            class = web, environment = test
        "#]],
    );
}

#[test]
fn a_file_that_a_more_literal_location_names_shows_no_value() {
    check(
        &["%{role}.yaml", "common.yaml", "%{role}-%{tier}.yaml"],
        &["web.yaml", "web-front.yaml", "common.yaml", "defaults.yaml"],
        expect![[r#"
            role = web, tier = front
        "#]],
    );
}

#[test]
fn a_variable_with_which_there_would_be_too_many_kinds_stays_open() {
    let roles = (0..40).map(|n| format!("roles/r{n:02}.yaml"));
    let sites = (0..30).map(|n| format!("sites/s{n:02}.yaml"));
    let files: Vec<String> = roles.chain(sites).chain(["os/Debian.yaml".to_owned()]).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let locations = ["roles/%{role}.yaml", "sites/%{site}.yaml", "os/%{os.name}.yaml"];
    let mut text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n".to_owned();
    for location in locations {
        writeln!(text, "- {{name: L, path: '{location}'}}").expect("a string");
    }
    for file in &files {
        writeln!(text, "#- /data/{file}\nk: 1").expect("a string");
    }
    let snapshot = Fixture::new(&text).snapshot;
    let kinds = snapshot.kinds_of(&snapshot.environments().all[0]);
    assert_eq!((kinds.all.len(), &kinds.open[..]), (40, &[("site".to_owned(), 30)][..]));
    assert_eq!(&*kinds.all[0].name, "role = r00, os.name = Debian");
}

#[test]
fn a_variable_beyond_the_most_of_a_kind_stays_open() {
    let snapshot = snapshot_of_levels(70);
    let kinds = snapshot.kinds_of(&snapshot.environments().all[0]);
    assert_eq!((kinds.variables.len(), kinds.open.len()), (64, 7));
}

/// Returns the steps that combine the variables of so many levels.
fn combining_steps(levels: usize) -> usize {
    let snapshot = snapshot_of_levels(levels);
    crate::text::work::take();
    let kinds = snapshot.kinds_of(&snapshot.environments().all[0]);
    assert_eq!((kinds.variables.len(), kinds.open.len()), (levels + 1, 0));
    crate::text::work::take().steps
}

/// Returns a workspace with so many levels, each with a variable of its own beside a common one.
fn snapshot_of_levels(levels: usize) -> Snapshot {
    let mut text = "#- /hiera.yaml\nversion: 5\nhierarchy:\n".to_owned();
    for number in 0..levels {
        writeln!(text, "- {{name: l{number}, path: 'p%{{x{number}}}/%{{y}}.yaml'}}")
            .expect("a string");
    }
    text.push_str("#- /data/pa/web.yaml\nk: 1\n#- /data/pb/db.yaml\nk: 1\n");
    Fixture::new(&text).snapshot
}

#[test]
fn steps_that_combine_variables_grow_no_faster_than_levels() {
    let (few, many) = (combining_steps(15), combining_steps(60));
    assert!(few > 0 && many <= 5 * few, "{few} steps for 15 levels, {many} for 60");
}

#[test]
fn there_are_no_kinds_beside_nodes() {
    check(
        &["nodes/%{trusted.certname}.yaml", "roles/%{role}.yaml"],
        &["nodes/web01.example.net.yaml", "roles/web.yaml"],
        expect![[""]],
    );
}

#[test]
fn the_levels_of_modules_show_no_kinds() {
    let role = "#- /hiera.yaml\nversion: 5\nhierarchy: [{name: Role, path: 'roles/%{role}.yaml'}]\n#- /data/roles/web.yaml\nk: 1\n";
    let module = "#- /modules/m/hiera.yaml\nversion: 5\nhierarchy: [{name: System, path: 'os/%{facts.os.family}.yaml'}]\n#- /modules/m/data/os/Debian.yaml\nm::k: 1\n";
    let snapshot = Fixture::new(&format!("{role}{module}")).snapshot;
    let kinds = snapshot.kinds_of(&snapshot.environments().all[0]);
    assert_eq!(kinds.all.iter().map(|kind| &*kind.name).collect::<Vec<_>>(), ["role = web"]);
}
