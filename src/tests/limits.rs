//! Input just beyond the limits of `docs/limits.md`: each limit is reported as the page states, or
//! causes no wrong result.

use crate::disk::{MemoryFs, OsFs};
use crate::fixture::Fixture;
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::scope::Scope;
use crate::puppet::print::{PrintOptions, YamlLine, print_json, with_comments};
use crate::settings::{Origin, Settings};
use crate::text::work;
use crate::text::{FileId, FilePath, Span, TextRange};
use crate::workspace::files::scan;
use crate::workspace::{Change, Workspace};

/// Returns the codes of all findings, in the order of paths.
fn codes(text: &str) -> Vec<&'static str> {
    Fixture::new(text).findings().iter().map(|finding| finding.rule.code).collect()
}

/// Returns the value of a key without a node as JSON, or the error.
fn answer(text: &str, key: &str) -> String {
    let snapshot = Fixture::new(text).snapshot;
    let environment = snapshot.environments().all[0].clone();
    let view = snapshot.view(&environment);
    let scope = Scope::default();
    let resolver = Resolver::new(snapshot.lookup_context(&environment, &view, &scope));
    let found = resolver.lookup(&LookupKey::parse(key).expect("it is a key"), None);
    match found.value {
        Ok(Some(value)) => print_json(&value, &PrintOptions::default()),
        Ok(None) => "not found".to_owned(),
        Err(error) => error.to_string(),
    }
}

/// Data for a parameter that the class `m` may have, for one that it has not, and for a key that
/// its code reads.
const DATA: &str = "m::late: 1\nm::none: 1\nread_late: 1\nunread: 1\n";

/// The findings for [`DATA`] with a manifest in the module `m`.
fn with_manifest(manifest: &str) -> Vec<&'static str> {
    codes(&format!("{DATA}#- /modules/m/manifests/init.pp\n{manifest}\n"))
}

#[test]
fn a_manifest_whose_reading_a_limit_ended_tells_of_no_key_that_it_is_unread() {
    let reads = "$late) { lookup('read_late') }";
    assert_eq!(with_manifest(&format!("class m({reads}")), ["unknown-parameter", "unread-key"]);
    // Strings within the interpolations of strings are nested as deeply as they are read, and more
    // deeply.
    let nested = |depth: usize| {
        let (open, close) = ("\"${".repeat(depth), "}\"".repeat(depth));
        with_manifest(&format!("class m($first = {open}f('}}', '\"'){close}, {reads}"))
    };
    assert_eq!(nested(24), ["unknown-parameter", "unread-key"]);
    assert_eq!(nested(25), [""; 0]);
    // Each header that is not closed is read once more by lines.
    let restarted = |count: usize| {
        with_manifest(&format!("{}class m({reads}", "class m::broken(\n".repeat(count)))
    };
    assert_eq!(restarted(51), [""; 0]);
    // A value that is nested too deeply counts as unknown; the rest of the manifest is read.
    let deep = format!("{}1{}", "[".repeat(50), "]".repeat(50));
    let found = with_manifest(&format!("class m($first = {deep}, {reads}"));
    assert_eq!(found, ["unknown-parameter", "unread-key"]);
}

#[test]
fn a_location_that_is_too_large_names_all_files_of_its_folder_and_is_told() {
    let config = |location: &str| {
        format!(
            "#- /hiera.yaml\nversion: 5\nhierarchy: [{{name: Large, {location}}}, \
             {{name: Common, path: common.yaml}}]\n\
             #- /data/common.yaml\na: \"%{{lookup('b')}}\"\n#- /data/x.yaml\nb: 1\n"
        )
    };
    let variables: String = (0..65).map(|n| format!("%{{v{n}}}")).collect();
    let braces = "{a,b}".repeat(9);
    for location in [
        format!("path: '{variables}.yaml'"),
        format!("path: '{}%{{v}}.yaml'", "x".repeat(4_096)),
        format!("glob: '{braces}.yaml'"),
        format!("glob: '{}x{}.yaml'", "{".repeat(17), "}".repeat(17)),
        format!("glob: '{}.yaml'", "?*".repeat(600)),
    ] {
        assert_eq!(codes(&config(&location)), ["limit-reached"], "{location}");
        let off =
            format!("#- /.hiera-ls.yaml\nrules: {{limit-reached: off}}\n{}", config(&location));
        assert_eq!(codes(&off), [""; 0], "{location}");
    }
    // A file is read in the format of the location that is known to name it, if there is one.
    let json = config(&format!("glob: '{braces}.yaml', data_hash: json_data"));
    assert_eq!(codes(&json.replace("b: 1", "{\"b\": 1}")), ["limit-reached"]);
    let small = config("path: '%{x}.yaml'");
    assert_eq!(codes(&small), [""; 0]);
    let most = config(&format!("glob: '{}.yaml'", "{a,b}".repeat(8)));
    assert!(!codes(&most).contains(&"limit-reached"), "256 alternatives are within the limit");
}

#[test]
fn a_lookup_through_a_glob_of_too_many_patterns_is_an_error() {
    let with = |glob: &str| {
        let config = format!("hierarchy: [{{name: Large, glob: '{glob}'}}]");
        answer(&format!("#- /hiera.yaml\nversion: 5\n{config}\n#- /data/ab.yaml\nk: 1\n"), "k")
    };
    assert_eq!(with(&format!("{{{}ab}}.yaml", "x,".repeat(9_999))), "1");
    let told = with(&format!("{{{}ab}}.yaml", "x,".repeat(10_000)));
    assert!(told.contains("a glob of more than 10000 patterns"), "{told}");
    let told = with(&"{a,b}".repeat(20));
    assert!(told.contains("a glob of more than 10000 patterns"), "{told}");
    let told = with(&format!("{}ab.yaml", "x/../".repeat(5_000)));
    assert!(told == "1" || told.contains("too long"), "{told}");
}

#[test]
fn a_type_that_is_nested_too_deeply_is_left_to_puppet() {
    let nested = |depth: usize| format!("{}Integer{}", "Array[".repeat(depth), "]".repeat(depth));
    let with = |convert_to: &str| {
        answer(&format!("k: 1\nlookup_options: {{k: {{convert_to: '{convert_to}'}}}}\n"), "k")
    };
    assert!(with(&nested(49)).contains("expects"), "{}", with(&nested(49)));
    // A type that is nested too deeply is noted and not applied. It may hold Sensitive, so that the
    // value is not shown.
    assert_eq!(with(&nested(50)), "\"Sensitive [value redacted]\"");
    let parameter = |data_type: &str| {
        codes(&format!(
            "m::p: text\n#- /modules/m/manifests/init.pp\nclass m({data_type} $p) {{}}\n"
        ))
    };
    assert_eq!(parameter(&nested(49)), ["parameter-type"]);
    assert_eq!(parameter(&nested(50)), [""; 0]);
}

#[test]
fn a_type_of_too_many_aliases_is_left_to_puppet() {
    let with = |count: usize| {
        let aliases: String = (0..count)
            .map(|n| {
                let (file, next) = (format!("/modules/m/types/a{n}.pp"), n + 1);
                format!("#- {file}\ntype M::A{n} = Variant[M::A{next}, Boolean]\n")
            })
            .collect();
        let last = format!("#- /modules/m/types/a{count}.pp\ntype M::A{count} = Integer\n");
        let class = "#- /modules/m/manifests/init.pp\nclass m(M::A0 $p) {}\n";
        codes(&format!("m::p: text\n{class}{aliases}{last}"))
    };
    assert_eq!(with(20), ["parameter-type"]);
    assert_eq!(with(60), [""; 0]);
    // The parts of the type double with every alias.
    let doubling = |count: usize| {
        let aliases: String = (0..count)
            .map(|n| {
                let (file, next) = (format!("/modules/m/types/d{n}.pp"), n + 1);
                format!("#- {file}\ntype M::D{n} = Tuple[M::D{next}, M::D{next}]\n")
            })
            .collect();
        let last = format!("#- /modules/m/types/d{count}.pp\ntype M::D{count} = Integer\n");
        let class = "#- /modules/m/manifests/init.pp\nclass m(M::D0 $p) {}\n";
        codes(&format!("m::p: text\n{class}{aliases}{last}"))
    };
    assert_eq!(doubling(5), ["parameter-type"]);
    assert_eq!(doubling(30), [""; 0]);
}

#[test]
fn conversions_beyond_the_limits_are_errors_or_not_applied() {
    let with = |value: &str, convert_to: &str| {
        answer(&format!("k: {value}\nlookup_options: {{k: {{convert_to: {convert_to}}}}}\n"), "k")
    };
    assert!(with("100000", "Array").starts_with("[0,1,2"));
    assert_eq!(with("100001", "Array"), "100001", "noted, and not applied");
    let digits = |count: usize| with(&format!("'0x{}'", "f".repeat(count)), "Integer");
    assert_eq!(digits(5), "1048575");
    assert!(digits(100_001).contains("more than 100000 digits"));
    assert_eq!(with("5", "[String, '%3d']"), "\"  5\"");
    let wide = with("5", "[String, '%100001d']");
    assert_eq!(wide, "5", "noted, and not applied");
}

#[test]
fn more_expressions_than_are_remembered_still_match() {
    let options: String = (0..1_100).map(|n| format!("  '^k{n}$': {{merge: unique}}\n")).collect();
    let data = format!("lookup_options:\n{options}k3: [1, 1]\nk1099: [2, 2]\n");
    assert_eq!(answer(&data, "k3"), "[1]");
    assert_eq!(answer(&data, "k1099"), "[2]");
}

#[test]
fn a_long_file_is_a_config_where_a_setting_names_it() {
    let config = "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n";
    let is_read = |padding: usize, hiera_config: &str| {
        let fs = MemoryFs::new();
        fs.write("/conf/my-hiera.yaml", format!("{config}# {}\n", "x".repeat(padding)));
        fs.write("/conf/data/common.yaml", "a: 1\n");
        let mut settings = Settings::default();
        let written = format!("hieraConfig: {hiera_config}");
        settings.apply(&serde_yaml::from_str(&written).expect("it is YAML"), Origin::User);
        let mut workspace = Workspace::new(settings.workspace, vec![FilePath::new("/")]);
        let scanned = scan::scan(&workspace.scan_request(), &fs, &|_| {});
        workspace.apply(Change::Scanned(Box::new(scanned)));
        !workspace.snapshot().keys().definitions("a").is_empty()
    };
    assert!(is_read(10, "hiera.yaml"), "it is found by its content");
    assert!(!is_read(70_000, "hiera.yaml"), "it is data that no level reads");
    assert!(is_read(70_000, "conf/my-hiera.yaml"));
}

#[test]
fn a_node_block_of_too_many_names_gives_no_nodes() {
    let with = |regex: &str| {
        let text = format!(
            "#- levels Node Common\n#- /data/common.yaml\na: 1\n\
             #- /manifests/site.pp\nnode /^web{regex}\\.example\\.net$/ {{}}\n"
        );
        let snapshot = Fixture::new(&text).snapshot;
        snapshot.nodes_of(&snapshot.environments().all[0]).len()
    };
    assert_eq!(with("[0-9]"), 10);
    assert_eq!(with("[0-9][0-9]"), 0);
}

#[test]
fn data_that_nests_too_deeply_is_an_error_of_syntax() {
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let in_json = |depth: usize| {
        let config = "version: 5\nhierarchy: [{name: J, path: a.json, data_hash: json_data}]";
        let data = format!("{{\"a\": {}}}", nested(depth));
        codes(&format!("#- /hiera.yaml\n{config}\n#- /data/a.json\n{data}\n"))
    };
    assert_eq!((in_json(99), in_json(100)), (vec![], vec!["syntax-error"]));
    let in_hocon = |value: &str| {
        let config = "version: 5\nhierarchy: [{name: H, path: a.conf, data_hash: hocon_data}]";
        codes(&format!("#- /hiera.yaml\n{config}\n#- /data/a.conf\n{value}\n"))
    };
    assert_eq!(in_hocon(&format!("a: {}", nested(150))), [""; 0]);
    assert_eq!(in_hocon(&format!("a: {}", nested(250))), ["syntax-error"]);
    // Each substitution doubles the value.
    let doubling: String =
        (0..30).map(|n| format!("k{}: [${{k{n}}}, ${{k{n}}}]\n", n + 1)).collect();
    assert_eq!(in_hocon(&format!("k0: [1]\n{doubling}")), ["syntax-error"]);
    let texts: String = (0..30).map(|n| format!("t{}: ${{t{n}}}${{t{n}}}\n", n + 1)).collect();
    assert_eq!(in_hocon(&format!("t0: some text\n{texts}")), ["syntax-error"]);
    let in_yaml = |depth: usize| codes(&format!("a: {}\n", nested(depth)));
    assert_eq!((in_yaml(900), in_yaml(1_100)), (vec![], vec!["syntax-error"]));
}

#[test]
fn of_a_long_second_document_the_first_keys_are_named() {
    let long: String = (0..20_000).map(|n| format!("k{n}: {n}\n")).collect();
    let found = Fixture::new(&format!("a: 1\n---\n{long}")).findings();
    let told: Vec<&str> = found.iter().map(|finding| &*finding.message).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("the keys 'k0', 'k1', 'k2', 'k3', 'k4' and others"), "{told:?}");
}

#[test]
fn a_settings_file_that_is_too_long_is_told() {
    let fs = MemoryFs::new();
    fs.write("/hiera.yaml", "version: 5\n");
    fs.write("/.hiera-ls.yaml", format!("rules: {{}}\n# {}\n", "x".repeat(1 << 20)));
    let opened = crate::settings::open(vec![FilePath::new("/")], &[], Vec::new(), &fs);
    let told: Vec<String> = opened.problems.iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 1);
    assert!(told[0].contains("is longer than 1048576 bytes"), "{told:?}");
}

#[test]
fn a_long_mismatch_ends_in_an_ellipsis() {
    let members: Vec<String> = (0..60).map(|n| format!("'member_{n:02}' => Integer")).collect();
    let text = format!(
        "m::p: {{other: 1}}\n#- /modules/m/manifests/init.pp\nclass m(Struct[{{{}}}] $p) {{}}\n",
        members.join(", ")
    );
    let found = Fixture::new(&text).findings();
    let message = &found.first().expect("it does not fit").message;
    assert!(message.contains("…: Puppet refuses"), "{message}");
    assert!(message.chars().count() < 500, "{message}");
}

#[test]
fn texts_that_double_with_every_key_end_in_an_error() {
    let token = |n: usize| format!("%{{lookup('t{n}')}}");
    let line = |n: usize| format!("t{n}: \"{}{}\"\n", token(n - 1), token(n - 1));
    let lines: String = (1..=24).map(line).collect();
    let data = format!("t0: {}\n{lines}", "x".repeat(64));
    assert_eq!(answer(&data, "t4").len(), "\"\"".len() + 64 * 16);
    let told = answer(&data, "t24");
    assert!(told.contains("more than 32 MiB of text"), "{told}");
}

#[test]
fn an_alias_of_a_value_that_nests_too_deeply_is_told() {
    let (open, close) = ("[".repeat(400), "]".repeat(400));
    let line = |n: usize| format!("a{n}: &a{n} {open}*a{}{close}\n", n - 1);
    let with = |count: usize| {
        let lines: String = (1..count - 1).map(line).collect();
        let last = format!("last: {open}*a{}{close}\n", count - 2);
        codes(&format!("a0: &a0 {open}{close}\n{lines}{last}"))
    };
    assert_eq!(with(3), [""; 0]);
    assert_eq!(with(4), ["limit-reached"]);
}

#[test]
fn a_folder_of_more_files_than_are_listed_is_cut_short() {
    let root = std::env::temp_dir().join(format!("hiera-ls-entries-{}", std::process::id()));
    std::fs::create_dir_all(root.join("data")).expect("a scratch folder");
    std::fs::write(root.join("hiera.yaml"), "version: 5\n").expect("a scratch file");
    for n in 0..20 {
        std::fs::write(root.join(format!("data/{n}.yaml")), "a: 1\n").expect("a scratch file");
    }
    let folder = FilePath::new(root.to_str().expect("a path of UTF-8"));
    let workspace = Workspace::new(Settings::default().workspace, vec![folder]);
    let request = workspace.scan_request();
    let scanned = |most| scan::scan_at_most(most, &request, &OsFs, &|_| {});
    let [few, all] = [scanned(10), scanned(23)];
    std::fs::remove_dir_all(&root).expect("it is there");
    assert_eq!((few.entries.len(), few.cut_short), (10, true));
    assert_eq!((all.entries.len(), all.cut_short), (23, false));
}

#[test]
fn long_lines_do_not_move_the_comments_of_others() {
    let line = |text: &str| YamlLine {
        text: text.to_owned(),
        origin: Some(Span::in_file(FileId::new(0), TextRange::new_empty(0))),
    };
    let with = |long: usize| {
        let lines = [line("a: 1"), line(&"x".repeat(long))];
        let text = with_comments(&lines, &|_| Some("here".to_owned()));
        text.find('#').expect("a comment")
    };
    assert_eq!((with(48), with(49)), (50, 6));
}

#[test]
fn the_steps_of_patterns_in_lookup_options_are_bounded_and_remembered() {
    let entry = |n: usize| format!("  '^limited(?:a|a)*{n}$': {{merge: deep}}\n");
    let entries: String = (100..200).map(entry).collect();
    let key = format!("limited{}", "a".repeat(40));
    let data = format!("lookup_options:\n{entries}{key}: {{a: 1}}\n");
    work::take();
    let told = answer(&data, &key);
    assert!(told.contains("patterns of lookup_options"), "{told}");
    assert!(work::take().matches <= 4, "the first pattern ends the lookup");
    assert_eq!(answer(&data, &key), told);
    assert_eq!(work::take().matches, 1, "the verdict is remembered");
    let scalar = data.replace("deep", "hash").replace("{a: 1}", "1");
    let scalar = format!(
        "#- levels Role Common\n#- /data/roles/web.yaml\n{key}: 2\n#- /data/common.yaml\n{scalar}"
    );
    assert!(codes(&scalar).contains(&"limit-reached"), "{:?}", codes(&scalar));
    // With this shorter key each pattern takes fewer steps, and the steps of every pattern count.
    let key = format!("limited{}", "a".repeat(16));
    let data = data.replace(&format!("limited{}", "a".repeat(40)), &key);
    let told = answer(&data, &key);
    assert!(told.contains("patterns of lookup_options"), "{told}");
    let few: String = (100..103).map(entry).collect();
    assert_eq!(answer(&format!("lookup_options:\n{few}{key}: {{a: 1}}\n"), &key), "{\"a\":1}");
}
