//! Files of a repository that Puppet, Facter, Hiera or Ruby would load by their place or their name:
//! none runs but those of the functions that the user lets run.

use std::collections::BTreeSet;
use std::path::Path;

use super::write;
use crate::support::{self, Run, hiera_ls, require};

/// Places below the `lib` of a module or of an environment: of types and providers that Puppet needs
/// for any scope, of its extensions, of libraries that Puppet and Ruby require when they need them.
const IN_LIB: [&str; 76] = [
    "CFPropertyList.rb",
    "augeas.rb",
    "bundler/setup.rb",
    "concurrent.rb",
    "deep_merge.rb",
    "deep_merge/core.rb",
    "did_you_mean.rb",
    "error_highlight.rb",
    "facter.rb",
    "facter/role.rb",
    "facter/util/role.rb",
    "fast_gettext.rb",
    "gettext-setup.rb",
    "hiera.rb",
    "hiera/backend/eyaml.rb",
    "hiera/backend/other_backend.rb",
    "hiera/backend/yaml_backend.rb",
    "hiera/config.rb",
    "hiera/puppet_function.rb",
    "hiera/scope.rb",
    "hiera_puppet.rb",
    "hocon.rb",
    "init.rb",
    "json.rb",
    "json/ext.rb",
    "json/pure.rb",
    "msgpack.rb",
    "puppet.rb",
    "puppet/application/lookup.rb",
    "puppet/configurer.rb",
    "puppet/confine/exists.rb",
    "puppet/datatypes/error.rb",
    "puppet/datatypes/role.rb",
    "puppet/external/pson.rb",
    "puppet/face/facts.rb",
    "puppet/face/lookup.rb",
    "puppet/feature/base.rb",
    "puppet/feature/hiera_eyaml.rb",
    "puppet/feature/hocon.rb",
    "puppet/feature/role.rb",
    "puppet/file_serving/mount/role.rb",
    "puppet/functions/environment/data.rb",
    "puppet/functions/hiera.rb",
    "puppet/functions/lookup.rb",
    "puppet/functions/yaml_data.rb",
    "puppet/indirector/data_binding/hiera.rb",
    "puppet/indirector/facts/memory.rb",
    "puppet/indirector/node/plain.rb",
    "puppet/loaders.rb",
    "puppet/node/facts.rb",
    "puppet/parser/functions.rb",
    "puppet/parser/functions/hiera.rb",
    "puppet/parser/functions/include.rb",
    "puppet/parser/functions/other.rb",
    "puppet/parser/functions/template.rb",
    "puppet/pops.rb",
    "puppet/property/boolean.rb",
    "puppet/provider/file/posix.rb",
    "puppet/provider/package/role.rb",
    "puppet/provider/stage/stage.rb",
    "puppet/reports/store.rb",
    "puppet/settings/base_setting.rb",
    "puppet/syntax_checkers/json.rb",
    "puppet/transport/schema/role.rb",
    "puppet/type/class.rb",
    "puppet/type/component.rb",
    "puppet/type/file.rb",
    "puppet/type/node.rb",
    "puppet/type/notify.rb",
    "puppet/type/package.rb",
    "puppet/type/role.rb",
    "puppet/type/stage.rb",
    "puppet/type/whit.rb",
    "puppet/util/json.rb",
    "puppet_x/role.rb",
    "rubygems_plugin.rb",
];
/// Places in a module or an environment, beside `lib`.
const BESIDE_LIB: [&str; 33] = [
    ".bundle/config",
    ".irbrc",
    ".puppet/init.rb",
    ".puppet/lib/puppet/type/stage.rb",
    ".puppetlabs/etc/code/site.rb",
    ".pryrc",
    ".resource_types/file.pp",
    ".resource_types/stage.pp",
    ".rspec",
    ".ruby-version",
    "Gemfile",
    "Rakefile",
    "bolt_plugin.json",
    "facts.d/role.sh",
    "functions/data.pp",
    "functions/hiera.pp",
    "functions/lookup.pp",
    "gems/role-1.0/lib/role.rb",
    "init.pp",
    "init.rb",
    "init_typeset.pp",
    "manifests/init.pp",
    "manifests/settings.pp",
    "manifests/site.pp",
    "plans/init.pp",
    "plugins/puppet/type/stage.rb",
    "site.pp",
    "spec/spec_helper.rb",
    "tasks/init.rb",
    "templates/page.erb",
    "types/init_typeset.pp",
    "types/role.pp",
    "vendor/bundle/ruby/3.1.0/gems/json-9.0/lib/json.rb",
];

/// The folders of the modules and of the environment.
const FOLDERS: [&str; 4] = ["modules/t/", "modules/u/", "modules/role/", ""];
/// How many files are planted.
#[cfg(target_os = "linux")]
pub(super) const PLANTED: usize = FOLDERS.len() * (IN_LIB.len() + BESIDE_LIB.len());

/// Modules with functions of levels, and an environment; and in each of them a file in all these
/// places that adds its path to the file `marks` when it runs. The functions do that as well.
pub(super) fn repository(root: &Path) {
    let marks = root.join("marks");
    let marks = marks.to_str().expect("the path is UTF-8");
    for folder in FOLDERS {
        let in_lib = IN_LIB.iter().map(|path| format!("{folder}lib/{path}"));
        let beside = BESIDE_LIB.iter().map(|path| format!("{folder}{path}"));
        for path in in_lib.chain(beside) {
            let text = match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
                "pp" => format!("$x = generate('/bin/sh', '-c', 'echo {path} >> {marks}')\n"),
                "sh" => format!("#!/bin/sh\necho {path} >> {marks}\n"),
                "erb" => format!("<% File.write('{marks}', \"{path}\\n\", mode: 'a') %>"),
                _ => format!("File.write('{marks}', \"{path}\\n\", mode: 'a')\n"),
            };
            write(root, &[(&path, &text)]);
        }
    }
    let function = |name: &str, body: &str| {
        let path = format!("lib/puppet/functions/{}.rb", name.replace("::", "/"));
        format!(
            "File.write('{marks}', \"{path}\\n\", mode: 'a')\nPuppet::Functions.create_function(:'{name}') do\n  def {}(key, options, context)\n    context.not_found if key == 'lookup_options'\n    {body}\n  end\nend\n",
            name.rsplit("::").next().expect("there is one")
        )
    };
    let library =
        |path: &str, more: &str| format!("File.write('{marks}', \"{path}\\n\", mode: 'a')\n{more}");
    write(
        root,
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n  - {name: T, lookup_key: t::fn, options: {a: 1}}\n  - {name: U, lookup_key: u::pp}\n  - {name: Other, lookup_key: u::other}\n  - {name: Common, path: common.yaml}\n",
            ),
            ("data/common.yaml", "below: \"%{facts.os}\"\n"),
            ("scope.json", r#"{"facts": {"os": "x"}, "trusted": {"certname": "n"}}"#),
            (
                "modules/t/lib/puppet/functions/t/fn.rb",
                &format!(
                    "require 'puppet_x/t/help'\n{}",
                    function(
                        "t::fn",
                        "case key
    when 'k' then context.interpolate(\"%{lookup('below')}\") + context.explain { 'told' }.to_s
    when 'late' then require(['puppet_x', 't', 'late'].join('/')) && 'loaded'
    when 'caught' then begin; require(['puppet_x', 't', 'late'].join('/')); rescue Exception; 'went on'; end
    when 'type' then Puppet::Type.type(:role).to_s
    when 'own_type' then Puppet::Type.type(:package).name.to_s
    when 'feature' then Puppet.features.role?.to_s
    when 'class' then call_function('include', 'u').to_s
    when 'template' then call_function('template', ['t', 'page.erb'].join('/'))
    when 'old' then closure_scope.send(['function', 'other'].join('_'), []).to_s
    when 'data_type' then Puppet::Pops::Types::TypeParser.singleton.parse(%w[T Role].join('::')).to_s
    when 'fact' then Kernel.load(File.join(__dir__, *%w[.. .. .. facter role.rb])).to_s
    when 'native' then require(%w[puppet_x t native].join('/'))
    when 'itself' then eval(File.read(File.join(__dir__, 'unread.txt')))
    else context.not_found
    end"
                    )
                ),
            ),
            (
                "modules/t/lib/puppet_x/t/help.rb",
                &library("puppet_x/t/help.rb", "require_relative 'inner'\n"),
            ),
            ("modules/t/lib/puppet_x/t/inner.rb", &library("puppet_x/t/inner.rb", "")),
            ("modules/t/lib/puppet_x/t/late.rb", &library("puppet_x/t/late.rb", "true\n")),
            ("modules/t/lib/puppet_x/t/native.so", "\x7fELF"),
            ("modules/t/lib/puppet/functions/t/unread.txt", "'read and evaluated'"),
            (
                "modules/u/functions/pp.pp",
                "function u::pp(U::Key $key, Hash $options, Puppet::LookupContext $context) {\n  if $key == 'pp' { [type(Stage['main']), type(File['/x']), u::double(1)] } else { $context.not_found }\n}\n",
            ),
            ("modules/u/functions/double.pp", "function u::double($x) { $x * 2 }\n"),
            ("modules/u/types/key.pp", "type U::Key = String[1]\n"),
            ("modules/u/lib/puppet/functions/u/other.rb", &function("u::other", "'other'")),
        ],
    );
}

/// The files that ran since the last question, each once.
pub(super) fn marks(root: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(root.join("marks")).unwrap_or_default();
    drop(std::fs::remove_file(root.join("marks")));
    text.lines().map(str::to_owned).collect()
}

fn lookup(root: &Path, names: &str, key: &str) -> Run {
    let flag = match names {
        "" => "--run-backends".to_owned(),
        names => format!("--run-backends={names}"),
    };
    let arguments = ["lookup", &flag, "--scope", "scope.json", "--render-as", "json", key];
    support::run(hiera_ls(arguments).current_dir(root), "")
}

const T: &str = "lib/puppet/functions/t/fn.rb";
const HELP: &str = "puppet_x/t/help.rb";
const INNER: &str = "puppet_x/t/inner.rb";

/// Asks for a key; only these files ran.
fn assert_runs(root: &Path, (names, key): (&str, &str), answer: &str, ran: &[&str]) {
    let run = lookup(root, names, key);
    let is_answer = run.stdout == format!("{answer}\n") || run.stderr.contains(answer);
    assert!(is_answer, "{names} {key}: {:?} {} {}", run.status, run.stdout, run.stderr);
    let ran: BTreeSet<String> = ran.iter().map(|path| (*path).to_owned()).collect();
    assert_eq!(marks(root), ran, "{names} {key}: {}", run.stderr);
}

#[test]
fn of_all_planted_files_those_of_the_named_functions_run() {
    if !require("puppet") {
        return;
    }
    let root = support::scratch("planted");
    repository(&root);
    let of_t = [T, HELP, INNER];
    let run = |asked: (&str, &str), answer: &str, ran: &[&str]| {
        assert_runs(&root, asked, answer, ran);
    };
    run(("t::fn", "k"), "\"x\"", &of_t);
    run(("t::fn", "own_type"), "\"package\"", &of_t);
    let types = ["Stage['main']", "File['/x']"]
        .map(|name| format!("{{\"__ptype\":\"Type\",\"__pvalue\":\"Type[{name}]\"}}"));
    run(("u::pp", "pp"), &format!("[{},2]", types.join(",")), &[]);
    run(("u::other", "k"), "\"other\"", &["lib/puppet/functions/u/other.rb"]);
    run(("nosuch::fn", "below"), "\"x\"", &[]);
    let all = [T, HELP, INNER, "lib/puppet/functions/u/other.rb"];
    run(("", "k"), "\"other\"", &all);
}

#[test]
fn a_file_that_no_name_leads_to_is_refused_with_its_path() {
    if !require("puppet") {
        return;
    }
    let root = support::scratch("planted-refused");
    repository(&root);
    for (key, file) in [
        ("late", "modules/t/lib/puppet_x/t/late.rb"),
        ("caught", "modules/t/lib/puppet_x/t/late.rb"),
        ("type", "lib/puppet/type/role.rb"),
        ("feature", "lib/puppet/feature/role.rb"),
        ("class", "modules/u/manifests/init.pp"),
        ("template", "modules/t/templates/page.erb"),
        ("old", "lib/puppet/parser/functions/other.rb"),
        ("data_type", "modules/t/types/role.pp"),
        ("fact", "modules/t/lib/facter/role.rb"),
        ("native", "modules/t/lib/puppet_x/t/native.so"),
    ] {
        let run = lookup(&root, "t::fn", key);
        let ran = marks(&root);
        assert_eq!(run.status, Some(2), "{key}: {} {}", run.stdout, run.stderr);
        let told = format!("{file} was not loaded: it is not among the files that may run");
        assert!(run.stderr.contains(&told), "{key}: {}", run.stderr);
        let of_t = [T, HELP, INNER].map(str::to_owned);
        assert_eq!(ran, BTreeSet::from(of_t), "{key}: {}", run.stderr);
    }
    // The user may name the file; a relative path is relative to the current folder.
    let late = "t::fn,modules/t/lib/puppet_x/t/late.rb";
    assert_runs(&root, (late, "late"), "\"loaded\"", &[T, HELP, INNER, "puppet_x/t/late.rb"]);
    // Code that reads a file by itself is not held back.
    assert_runs(&root, ("t::fn", "itself"), "\"read and evaluated\"", &[T, HELP, INNER]);
}
