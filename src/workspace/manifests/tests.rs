//! The content of indexes of small environments, and the parts of it that are kept after changes.

use std::collections::BTreeSet;

use super::lazy::LazyManifests;
use super::*;
use crate::fixture::Fixture;
use crate::text::{FilePath, TextRange};
use crate::workspace::{Change, Snapshot, Workspace};

const REPO: &str = "
m::x: 1
#- /Puppetfile
mod 'puppetlabs-apt', '9.0.0'
#- /manifests/site.pp
class from_site($s) {}
node default { include m }
#- /modules/m/manifests/init.pp
class m(Integer $x = lookup('other'), $y = undef) {
  class { 'm::b': p => 1 }
  $a = lookup(\"m::${x}_port\", M::Port)
  $b = lookup($x)
}
class m::deep::er($d) {}
#- /modules/m/manifests/b.pp
class m::b($p) inherits m { hiera('plain', 3) }
#- /modules/m/manifests/wrong.pp
class m::lost($p) {}
#- /modules/m/manifests/d.pp
define m::d($p) {}
#- /modules/m/types/port.pp
type M::Port = Integer[1, 65535]
#- /modules/m/types/lost.pp
type M::Elsewhere = String
#- /modules/m/templates/a.epp
<%= lookup('in_epp') %>
#- /modules/m/templates/b.erb
<%= scope.call_function('lookup', ['in_erb']) %>
#- /modules/m/spec/fixtures/modules/n/manifests/init.pp
class n($x) {}
#- /modules/my-m/manifests/init.pp
class my_m($x) {}
#- /linked/manifests/init.pp
class linked($l) {}
";

fn index(snapshot: &Snapshot) -> &ManifestIndex {
    snapshot.manifests(&snapshot.environments().all[0])
}

#[test]
fn an_environment_is_indexed() {
    let fixture = Fixture::new(REPO);
    let index = index(&fixture.snapshot);
    for name in ["m", "m::deep::er", "m::b", "from_site", "linked"] {
        assert!(index.loaded_class(name).is_some(), "{name}");
    }
    for name in ["m::lost", "n", "my_m", "m::d", "nothing"] {
        assert!(index.loaded_class(name).is_none(), "{name}");
    }
    assert!(index.defined_type("m::d").is_some() && index.definitions("m::lost").count() == 1);
    assert!(index.modules().by_name["linked"].is_assumed);
    let parameter = index.asking_parameter("m::x").expect("a parameter");
    assert_eq!(parameter.parameter.data_type.as_ref().unwrap().text, "Integer");
    assert!(
        index.asking_parameter("m::z").is_none() && index.asking_parameter("m::d::p").is_none()
    );
    for key in ["other", "plain", "in_epp", "in_erb"] {
        assert_eq!(index.readers_of_key(key).count(), 1, "{key}");
    }
    assert_eq!(index.pattern_readers("m::ssh_port").count(), 1);
    assert_eq!(index.pattern_readers("m::ssh").count(), 0);
    assert_eq!(index.dynamic_readers().count(), 1);
    assert_eq!(index.uses_of("m::b").count(), 1);
    assert!(
        index.loaded_alias("m::port").is_some() && index.loaded_alias("M::Elsewhere").is_none()
    );
    assert_eq!(index.module_origin("m"), ModuleOrigin::Present);
    assert_eq!(index.module_origin("apt"), ModuleOrigin::Installed);
    assert_eq!(index.module_origin("ntp"), ModuleOrigin::Unknown);
}

/// Everything that an index knows, as text.
fn listing(index: &ManifestIndex) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let maps = [&index.definitions, &index.aliases, &index.readers, &index.uses];
    for (number, map) in maps.into_iter().enumerate() {
        all.extend(map.iter().map(|(name, places)| format!("{number} {name} {places:?}")));
    }
    all.insert(format!("{:?} {:?} {:?}", index.patterns, index.dynamic, index.installed));
    all.extend(index.files.values().map(|file| format!("{:?} {:?}", file.place, file.manifest)));
    all
}

/// The same workspace, with no index computed yet.
fn fresh(workspace: &mut Workspace) -> Snapshot {
    workspace.apply(Change::Folders(Vec::new()));
    workspace.apply(Change::Folders(vec![FilePath::new("/")]));
    let snapshot = workspace.snapshot();
    let anew = LazyManifests::after_layout(&LazyManifests::default(), snapshot.environments());
    Snapshot { manifests: anew, ..snapshot }
}

fn edit(workspace: &mut Workspace, path: &str, old: &str, new: &str) {
    let path = FilePath::new(path);
    let text = match workspace.open_text(&path) {
        Some(text) => text.to_str().into_owned(),
        None => {
            let snapshot = workspace.snapshot();
            let text = snapshot.file(&path).unwrap().text().unwrap().to_str().into_owned();
            workspace.apply(Change::Open(path.clone(), text.clone()));
            text
        }
    };
    let at = u32::try_from(text.find(old).expect("the text is there")).unwrap();
    let range = TextRange::new(at, at + u32::try_from(old.len()).unwrap());
    workspace.apply(Change::Edit(path, vec![(range, new.to_owned())]));
}

#[test]
fn an_edited_index_is_that_of_a_new_workspace() {
    let mut fixture = Fixture::new(REPO);
    let workspace = &mut fixture.workspace;
    index(&workspace.snapshot());
    for (path, old, new) in [
        ("/modules/m/manifests/init.pp", "$y = undef", "M::Port $z"),
        ("/modules/m/manifests/b.pp", "m::b", "m::c"),
        ("/modules/m/manifests/b.pp", "'plain'", "\"pl${a}n\""),
        ("/modules/m/types/port.pp", "Integer[1, 65535]", "Integer"),
        ("/modules/m/templates/b.erb", "in_erb", "other"),
        ("/manifests/site.pp", "include m", "include linked"),
        ("/modules/m/manifests/init.pp", "class m(", "class m("),
        ("/Puppetfile", "apt", "ntp"),
        ("/modules/m/manifests/d.pp", "define m::d($p) {}", ""),
    ] {
        let before = workspace.snapshot();
        edit(workspace, path, old, new);
        let snapshot = workspace.snapshot();
        let changed = index(&before).changes_to(index(&snapshot));
        assert_eq!(changed.is_any(), old != new, "{path}: {old} -> {new}");
        let patched = listing(index(&snapshot));
        let fresh = fresh(workspace);
        assert_eq!(patched, listing(index(&fresh)), "{path}: {old} -> {new}");
        index(&workspace.snapshot());
    }
}

#[test]
fn files_that_come_and_go_are_indexed() {
    let mut fixture = Fixture::new(REPO);
    let workspace = &mut fixture.workspace;
    index(&workspace.snapshot());
    let path = FilePath::new("/modules/m/manifests/new.pp");
    workspace.apply(Change::Open(path.clone(), "class m::new($n) {}".into()));
    let with = workspace.snapshot();
    assert!(index(&with).asking_parameter("m::new::n").is_some());
    workspace.apply(Change::Close(path));
    let without = workspace.snapshot();
    assert!(index(&without).loaded_class("m::new").is_none());
    assert!(index(&with).changes_to(index(&without)).concerns_key("m::new::n"));
    assert_eq!(listing(index(&without)), listing(index(&fresh(workspace))));
}

#[test]
fn an_edit_concerns_the_keys_that_it_touches() {
    let mut fixture = Fixture::new(REPO);
    let workspace = &mut fixture.workspace;
    let concerned = |workspace: &mut Workspace, path: &str, old: &str, new: &str| {
        let before = workspace.snapshot();
        index(&before);
        edit(workspace, path, old, new);
        let changes = index(&before).changes_to(index(&workspace.snapshot()));
        let keys = ["m::x", "m::b::p", "m::d::p", "linked::l", "plain", "other", "in_epp"];
        keys.into_iter().filter(|key| changes.concerns_key(key)).collect::<Vec<_>>()
    };
    let b = "/modules/m/manifests/b.pp";
    assert_eq!(concerned(workspace, b, "3", "4"), ["plain"]);
    assert_eq!(concerned(workspace, b, "$p", "$p = 1"), ["m::x", "m::b::p", "plain"]);
    let init = "/modules/m/manifests/init.pp";
    assert_eq!(
        concerned(workspace, init, "'other'", "'plain'"),
        ["m::x", "m::b::p", "plain", "other"]
    );
    let port = "/modules/m/types/port.pp";
    assert_eq!(concerned(workspace, port, "65535", "1024"), Vec::<&str>::new());
    let linked = "/linked/manifests/init.pp";
    assert_eq!(concerned(workspace, linked, "$l", "M::Port $l"), ["linked::l"]);
    assert_eq!(concerned(workspace, port, "1024", "1023"), ["linked::l"]);
    assert_eq!(concerned(workspace, linked, "M::Port", "::M::Port"), ["linked::l"]);
    assert_eq!(concerned(workspace, port, "1023", "1022"), ["linked::l"]);
    let site = "/manifests/site.pp";
    let all = concerned(workspace, site, "include m", "lookup($x)");
    assert_eq!(all.len(), 7, "a call that may read anything");
}

#[test]
fn an_edit_of_data_touches_no_code() {
    let mut fixture = Fixture::new(REPO);
    let before = fixture.workspace.snapshot();
    edit(&mut fixture.workspace, "/data/common.yaml", "1", "2");
    let after = fixture.workspace.snapshot();
    assert!(std::sync::Arc::ptr_eq(&before.manifests, &after.manifests));
}

/// Each edit leaves the place of the call and the rest of the code as they are.
#[test]
fn an_edit_concerns_the_keys_whose_values_it_makes_sensitive() {
    let init = "/modules/m/manifests/init.pp";
    for (path, old, new) in [
        (init, "Integer[1]", "Sensitive "),
        (init, "', String,  ", "', Sensitive"),
        ("/modules/m/types/port.pp", "Integer", "Sensitive"),
        ("/modules/m/types/deep.pp", "M::Port", "Sensitive"),
        ("/modules/m/manifests/broken.pp", "String", "Sensitive"),
    ] {
        let mut fixture = Fixture::new(
            "
#- /modules/m/manifests/init.pp
class m(Integer[1] $x = lookup('of_default'), M::Deep $y = lookup('of_alias')) {
  $a = lookup('typed', String,  first)
  $b = lookup('aliased', M::Deep)
}
#- /modules/m/manifests/broken.pp
class m::broken(String $p { $x = }
#- /modules/m/types/port.pp
type M::Port = Integer
#- /modules/m/types/deep.pp
type M::Deep = M::Port
",
        );
        let workspace = &mut fixture.workspace;
        let before = workspace.snapshot();
        let keys = ["of_default", "of_alias", "typed", "aliased", "m::x", "m::y", "m::broken::p"];
        let of = |snapshot: &Snapshot| keys.map(|key| snapshot.may_be_sensitive(key));
        of(&before);
        edit(workspace, path, old, new);
        let after = workspace.snapshot();
        let changes = index(&before).changes_to(index(&after));
        let is_changed = of(&before).into_iter().zip(of(&after)).map(|(old, new)| old != new);
        let changed: Vec<_> = keys.iter().zip(is_changed).filter(|(_, is)| *is).collect();
        assert!(!changed.is_empty(), "{path}: {old} -> {new}");
        let missed: Vec<_> = changed.iter().filter(|(key, _)| !changes.concerns_key(key)).collect();
        assert_eq!(missed, Vec::<&(&&str, bool)>::new(), "{path}: {old} -> {new}");
    }
}

#[test]
fn an_alias_that_comes_or_goes_outside_of_types_is_judged_anew() {
    let mut fixture = Fixture::new("#- levels Common\n#- /manifests/site.pp\n$x = 1\n");
    let workspace = &mut fixture.workspace;
    let judged = |workspace: &Workspace| {
        let snapshot = workspace.snapshot();
        index(&snapshot).judged_type("Port").map(|known| known.to_string())
    };
    let unknown = judged(workspace);
    edit(workspace, "/manifests/site.pp", "$x = 1", "type Port = Integer");
    let known = judged(workspace);
    assert_ne!(unknown, known);
    edit(workspace, "/manifests/site.pp", "type Port = Integer", "");
    assert_eq!(judged(workspace), unknown);
}

#[test]
fn a_key_with_three_known_characters_is_a_pattern() {
    let fixture = Fixture::new(
        "
m::x: 1
#- /modules/m/manifests/init.pp
class m($x) {
  $a = lookup(\"a_${x}\")
  $b = lookup(\"ab_${x}\")
}
",
    );
    let index = index(&fixture.snapshot);
    assert_eq!(index.pattern_readers("ab_port").count(), 1);
    assert_eq!(index.dynamic_readers().count(), 1);
}
