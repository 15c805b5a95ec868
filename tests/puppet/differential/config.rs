//! Random `hiera.yaml` files.

use serde_json::{Value, json};

use super::generator::{LayerKind, Making};

/// The paths that data files may have, relative to a datadir; `PATHS` and `GLOBS` name most of
/// them.
pub const FILES: &[&str] = &[
    "common.yaml",
    "a.yaml",
    "b.yaml",
    "a.yaml",
    "b.yaml",
    "nodes/h1.yaml",
    "nodes/h1.yaml",
    "nodes/h1.yaml",
    "os/Debian.yaml",
    "os/RedHat.yaml",
    "x/c.yaml",
    ".yaml",
    "j.json",
    "p/host.json",
    "nodes/.yaml",
    "é.yaml",
];
const PATHS: &[&str] = &[
    "common.yaml",
    "common.yaml",
    "common.yaml",
    "a.yaml",
    "a.yaml",
    "b.yaml",
    "nodes/%{trusted.certname}.yaml",
    "nodes/%{trusted.certname}.yaml",
    "os/%{facts.os.family}.yaml",
    "os/%{facts.os.family}.yaml",
    "%{facts.list.0}.yaml",
    "%{nope}.yaml",
    "nodes/%{facts.nope}.yaml",
    "missing.yaml",
    "x/../a.yaml",
    "./b.yaml",
    "x/%{facts.tok}.yaml",
    "%{::letter}.yaml",
    "x//c.yaml",
    "<env>/data/a.yaml",
    "../data/b.yaml",
    "%{facts.é}.yaml",
    "é.yaml",
];
const ODD_PATHS: &[&str] = &[
    "",
    "os",
    "%{lookup('a')}.yaml",
    "%{facts.hn.x}.yaml",
    "%{facts.num.x}.yaml",
    "%{a..b}",
    "%{}a.yaml",
    "%{facts.loop1}.yaml",
];
const GLOBS: &[&str] = &[
    "*.yaml",
    "os/*.yaml",
    "**/*.yaml",
    "{b,a}.yaml",
    "%{facts.glob}.yaml",
    "nothing/*",
    "?.yaml",
    "[à-ü].yaml",
    "[ab].yaml",
    "common.yaml",
    "*.y*ml",
    "{a.yaml,a.yaml}",
];
const MAPPED: &[&str] = &[
    r#"[facts.list, t, "%{t}.yaml"]"#,
    r#"[facts.h, t, "%{t.1}.yaml"]"#,
    r#"[nope, t, "%{t}.yaml"]"#,
    r#"[letter, t, "%{t}.yaml"]"#,
    r#"[facts.nope, t, "%{t}.yaml"]"#,
    r#"[facts.list, facts, "%{facts}.yaml"]"#,
    r#"["::letter", t, "%{::t}%{t}.yaml"]"#,
    r#"[facts.empty, t, "%{t}.yaml"]"#,
];
const ODD_MAPPED: &[&str] = &[
    r#"[facts.num, t, "%{t}.yaml"]"#,
    r#"[facts.flag, t, "%{t}.yaml"]"#,
    r#"["%{facts.list}", t, "%{t}.yaml"]"#,
    r#"[facts.list, t, "%{t.x}.yaml"]"#,
    r#"["a..b", t, "x"]"#,
];

/// The text of a `hiera.yaml`, and the folder in which most of its data lies.
pub fn hiera_yaml(making: &mut Making, layer: &LayerKind) -> (String, &'static str) {
    let mut folder = "data";
    let mut config = String::from("version: 5\n");
    if making.random.one_in(4) {
        let (datadir, real) = making.random.pick(&[
            ("data", "data"),
            ("hd", "hd"),
            ("./hd", "hd"),
            ("data/os", "data/os"),
            ("../env/data", "data"),
        ]);
        folder = real;
        let function = if making.odd(8) { "" } else { "data_hash: yaml_data, " };
        config.push_str(&format!("defaults: {{{function}datadir: {datadir}}}\n"));
    }
    levels(making, &mut config, "hierarchy");
    if layer.module().is_some() && making.random.one_in(2) {
        levels(making, &mut config, "default_hierarchy");
    }
    if making.odd(14) {
        config = corrupt(making, &config, layer);
    }
    (config, folder)
}

fn levels(making: &mut Making, config: &mut String, list: &str) {
    config.push_str(&format!("{list}:\n"));
    for n in 0..1 + making.random.below(5) {
        let name = if making.odd(40) { "same".into() } else { format!("{list} {n}") };
        let location = location(making);
        let function = match making.random.below(12) {
            _ if location.contains(".json") => ", data_hash: json_data",
            0 | 1 if making.eyaml => ", lookup_key: eyaml_lookup_key",
            2 => ", data_hash: yaml_data",
            _ => "",
        };
        let datadir = match making.random.below(24) {
            0 | 1 => ", datadir: hd",
            2 => ", datadir: \"%{facts.dir}\"",
            _ => "",
        };
        config.push_str(&format!("  - {{name: {}, {location}{function}{datadir}}}\n", json!(name)));
    }
    if !making.random.one_in(10) {
        config.push_str("  - {name: last, path: common.yaml}\n");
    }
}

fn path(making: &mut Making) -> Value {
    if making.odd(15) {
        making.random.pick(ODD_PATHS).into()
    } else {
        making.random.pick(PATHS).into()
    }
}

fn location(making: &mut Making) -> String {
    match making.random.below(10) {
        0..=3 => format!("path: {}", path(making)),
        4 | 5 => {
            let paths: Vec<Value> = (0..1 + making.random.below(3)).map(|_| path(making)).collect();
            format!("paths: {}", Value::from(paths))
        }
        6 => format!("glob: {}", Value::from(making.random.pick(GLOBS))),
        7 => {
            let globs: Vec<&str> =
                (0..1 + making.random.below(2)).map(|_| making.random.pick(GLOBS)).collect();
            format!("globs: {}", Value::from(globs))
        }
        8 => format!(
            "mapped_paths: {}",
            if making.odd(6) { making.random.pick(ODD_MAPPED) } else { making.random.pick(MAPPED) }
        ),
        _ => format!("path: {}", Value::from(making.random.pick(&["j.json", "p/%{hn}.json"]))),
    }
}

fn corrupt(making: &mut Making, config: &str, layer: &LayerKind) -> String {
    match making.random.below(12) {
        0 => config.replace("version: 5", "version: '5'"),
        1 if !matches!(layer, LayerKind::Global) => "version: 3\nhierarchy: [common]\n".to_owned(),
        2 => config.replace("version: 5", "version: 6"),
        3 => config.replacen("name: ", "nam: ", 1),
        4 => config.replacen("path: ", "pathz: ", 1),
        5 => config.replacen("{name: ", "{uri: x, name: ", 1),
        6 => format!("{config}foo: 1\n"),
        7 => config.replacen("}\n", ", options: {a: 1}}\n", 1),
        8 => config.replacen("path: \"", "path: \"%{lookup('a')}", 1),
        9 => config.replacen("}\n", ", lookup_key: eyaml_lookup_key}\n", 1),
        10 => config.replacen("name: ", "path: null, name: ", 1),
        _ => config.replacen("path:", "paths:", 1),
    }
}
