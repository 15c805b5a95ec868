//! Functions and backends of the other shapes that public repositories have, written anew: each of
//! its kind, with its values as the command line prints them.

use std::path::Path;

use super::write;
use crate::support::{self, hiera_ls, require};

/// Returns the output of `lookup --run-backends` as JSON for each key.
fn values(root: &Path, arguments: &[&str], keys: &[&str]) -> Vec<String> {
    let value = |key: &&str| {
        let flags = ["lookup", "--run-backends", "--render-as", "json"];
        let mut command = hiera_ls(flags.iter().chain(arguments).chain(&["--", key]));
        let run = support::run(command.current_dir(root), "");
        match run.status {
            Some(0) => run.stdout.trim_end().to_owned(),
            _ => format!("{:?}: {}", run.status, run.stderr.trim_end()),
        }
    };
    keys.iter().map(value).collect()
}

/// A `data_hash` function that joins the files of a folder, one for each application.
const FOLDER: &str = r##"
require 'json'
Puppet::Functions.create_function(:'site::folder') do
  dispatch :read do
    param 'Struct[{path => String[1], suffix => String[1]}]', :options
    param 'Puppet::LookupContext', :context
    return_type 'Hash[String[1], Data]'
  end

  def read(options, context)
    files = Dir.glob(File.join(options['path'], "*#{options['suffix']}"))
    context.not_found if files.empty?

    context.explain { "joins #{files.size} files" }
    files.sort.reduce({}) do |all, file|
      application = File.basename(file, options['suffix'])
      own = JSON.parse(context.cached_file_data(file))
      all.merge(own.transform_keys { |key| "#{application}::#{key}" })
    end
  end
end
"##;

#[test]
fn a_data_hash_function_joins_files() {
    if !require("puppet") {
        return;
    }
    let root = support::scratch("shapes-folder");
    write(
        &root,
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n  - name: Folders\n    data_hash: site::folder\n    paths: ['apps/%{role}', apps/all]\n    options: {suffix: .json}\n  - {name: Common, path: common.yaml}\n",
            ),
            (
                "data/apps/web/nginx.json",
                r#"{"port": 8080, "name": "%{role}-%{lookup('domain')}"}"#,
            ),
            ("data/apps/web/note.txt", "no data"),
            ("data/apps/all/nginx.json", r#"{"port": 80, "modules": ["http", "ssl"]}"#),
            ("data/apps/all/php.json", r#"{"version": {"major": 8}}"#),
            (
                "data/common.yaml",
                "domain: example.net\nnginx::modules: [gzip]\nlookup_options: {'^nginx::modules$': {merge: unique}}\n",
            ),
            ("modules/site/lib/puppet/functions/site/folder.rb", FOLDER),
            ("scope.json", r#"{"role": "web"}"#),
        ],
    );
    let keys =
        ["nginx::port", "nginx::name", "nginx::modules", "php::version.major", "php::nosuch"];
    let found = values(&root, &["--scope", "scope.json"], &keys);
    assert_eq!(
        found[..4],
        ["8080", "\"web-example.net\"", "[\"http\",\"ssl\",\"gzip\"]", "8"],
        "{found:#?}"
    );
    assert!(found[4].starts_with("Some(1)"), "{found:#?}");
    let explain = ["lookup", "--run-backends", "--explain", "--scope", "scope.json", "php::nosuch"];
    let run = support::run(hiera_ls(explain).current_dir(&root), "");
    assert!(run.stdout.contains("joins 2 files"), "{}", run.stdout);
}

/// A `lookup_key` function in Puppet's language that answers from a table in its options.
const TIERS: &str = r##"
# Sizes of services, by the tier of the node.
function site::tiers(
  String[1] $key,
  Struct[{tier => String[1], table => Hash[String[1], Hash]}] $options,
  Puppet::LookupContext $context,
) >> Data {
  if $key =~ /\Asize::(\w+)\z/ {
    $name = $1
    $sizes = $options['table'][$options['tier']]
    if $sizes != undef and $name in $sizes {
      $context.interpolate($sizes[$name])
    } else {
      $context.not_found
    }
  } else {
    $context.not_found
  }
}
"##;

#[test]
fn a_function_in_puppets_language_answers_from_a_table() {
    if !require("puppet") {
        return;
    }
    let root = support::scratch("shapes-tiers");
    write(
        &root,
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n  - name: Tiers\n    lookup_key: site::tiers\n    options:\n      tier: '%{tier}'\n      table:\n        large: {web: {workers: 16, host: \"web.%{lookup('domain')}\"}, db: 64}\n        small: {web: {workers: 2}}\n  - {name: Common, path: common.yaml}\n",
            ),
            ("data/common.yaml", "domain: example.net\nsize::db: 4\n"),
            ("modules/site/functions/tiers.pp", TIERS),
            ("large.json", r#"{"tier": "large"}"#),
            ("small.json", r#"{"tier": "small"}"#),
        ],
    );
    let keys = ["size::web.workers", "size::db", "domain"];
    let ask = |tier: &str, keys: &[&str]| values(&root, &["--scope", tier], keys);
    // Tokens in hiera.yaml name variables only, so the table may not ask for a key.
    let refused = ask("large.json", &keys[..1]);
    assert!(refused[0].contains("Interpolation using method syntax"), "{refused:?}");
    let config = std::fs::read_to_string(root.join("hiera.yaml")).unwrap();
    let config = config.replace("\"web.%{lookup('domain')}\"", "'web.%{tier}'");
    std::fs::write(root.join("hiera.yaml"), config).unwrap();
    assert_eq!(ask("large.json", &keys), ["16", "64", "\"example.net\""]);
    assert_eq!(ask("large.json", &["size::web.host"]), ["\"web.large\""]);
    assert_eq!(ask("small.json", &keys), ["2", "4", "\"example.net\""]);
    assert!(ask("huge.json", &keys[..1])[0].starts_with("Some("), "there is no such scope");
}

/// A backend of Hiera 3 in the shape of those of its manual: it walks the hierarchy itself, and
/// answers `:array` and `:hash` with the values of all sources.
const CSV: &str = r##"
require 'csv'
class Hiera
  module Backend
    class Csv_backend
      def initialize
        Hiera.debug('CSV backend starting')
        @columns = (Config[:csv][:columns] || 'key,value').split(',')
      end

      def lookup(key, scope, order_override, resolution_type, context)
        answers = []
        Backend.datasourcefiles(:csv, scope, 'csv', order_override) do |_source, file|
          CSV.foreach(file) do |row|
            cells = @columns.zip(row).to_h
            next unless cells['key'] == key

            value = cells['member'] ? { cells['member'] => cells['value'] } : cells['value']
            answers << Backend.parse_answer(value, scope, {}, context)
          end
        end
        throw :no_such_key if answers.empty?

        case resolution_type
        when :array then answers.uniq
        when :hash, Hash then answers.reverse.reduce { |low, high| Backend.merge_answer(low, high, resolution_type) }
        else answers.first
        end
      end
    end
  end
end
"##;

/// Returns a repository with the backend, its global config as given.
fn with_csv(name: &str, config: &str) -> std::path::PathBuf {
    let root = support::scratch(name);
    let config = config.replace("<root>", root.to_str().unwrap());
    write(
        &root,
        &[
            ("global.yaml", &config),
            ("csv/web.csv", "motd,,web %{role}\nports,,8080\nlimits,open,10\n"),
            (
                "csv/common.csv",
                "motd,,all\nports,,80\nports,,8080\nlimits,open,1\nlimits,core,0\nasks,,\"%{hiera('motd')}\"\n",
            ),
            ("hiera.yaml", "version: 5\nhierarchy: [{name: Common, path: common.yaml}]\n"),
            (
                "data/common.yaml",
                "below: \"%{lookup('motd')}\"\nports: [443]\nlookup_options: {ports: {merge: unique}, limits: {merge: hash}}\n",
            ),
            ("modules/csv/lib/hiera/backend/csv_backend.rb", CSV),
            ("scope.json", r#"{"role": "web"}"#),
        ],
    );
    root
}

#[test]
fn a_backend_of_hiera_3_answers_arrays_and_hashes() {
    if !require("puppet") {
        return;
    }
    let keys = ["motd", "ports", "limits", "asks", "below"];
    let expected = [
        "\"web web\"",
        "[\"8080\",\"80\",443]",
        "{\"core\":\"0\",\"open\":\"10\"}",
        "\"web web\"",
        "\"web web\"",
    ];
    for (name, config) in [
        (
            "shapes-csv-3",
            "---\n:backends: [csv, yaml]\n:hierarchy: ['%{role}', common]\n:csv:\n  :datadir: <root>/csv\n  :columns: key,member,value\n:yaml:\n  :datadir: <root>/nothing\n",
        ),
        (
            "shapes-csv-5",
            "version: 5\nhierarchy:\n  - name: Cells\n    hiera3_backend: csv\n    datadir: csv\n    paths: ['%{role}', common]\n    options: {columns: 'key,member,value'}\n",
        ),
    ] {
        let root = with_csv(name, config);
        let arguments = ["--scope", "scope.json", "--global-hiera-config", "global.yaml"];
        let found = values(&root, &arguments, &keys);
        assert_eq!(found, expected, "{name}");
        // Where the flag names other backends only, the level stays open, as without the flag.
        for flags in [&["--run-backends=other"][..], &[]] {
            let last = ["--puppet-version", "7", "motd"];
            let all = ["lookup"].iter().chain(flags).chain(&arguments).chain(&last);
            let run = support::run(hiera_ls(all).current_dir(&root), "");
            assert_ne!(run.status, Some(0), "{flags:?}: {}", run.stdout);
            assert!(run.stderr.contains("csv"), "{flags:?}: {}", run.stderr);
        }
    }
}

/// Functions run in the Puppet that is installed; a difference from `puppet.version` is reported
/// once.
#[test]
fn another_version_of_puppet_is_reported_once() {
    if !require("puppet") {
        return;
    }
    let root = with_csv(
        "shapes-version",
        "version: 5\nhierarchy: [{name: Cells, hiera3_backend: csv, datadir: csv, path: common}]\n",
    );
    let told = |version: &&str| {
        let arguments =
            ["--global-hiera-config", "global.yaml", "--puppet-version", version, "--run-backends"];
        let one = [&["lookup"], &arguments[..], &["motd"]].concat();
        let run = support::run(hiera_ls(one).current_dir(&root), "");
        let batch = [&["lookup", "--batch"], &arguments[..]].concat();
        let questions = "{\"key\":\"motd\"}\n{\"key\":\"asks\"}\n";
        let many = support::run(hiera_ls(batch).current_dir(&root), questions);
        let count = |text: &str| text.matches("functions ran in Puppet").count();
        assert_eq!(count(&run.stderr), count(&many.stderr), "{}{}", run.stderr, many.stderr);
        count(&run.stderr)
    };
    let mut counts: Vec<usize> = ["7", "8", "9"].iter().map(told).collect();
    counts.sort();
    assert_eq!(counts, [0, 1, 1]);
}

/// Where the library of Hiera 3 is absent every lookup fails in Ruby's or Puppet's words, for any
/// version in the settings; where it is present the backend answers, also for a Puppet that comes
/// without it.
#[test]
fn the_library_of_hiera_3_is_that_of_the_machine() {
    if !require("puppet") {
        return;
    }
    let root = with_csv(
        "shapes-library",
        "version: 5\nhierarchy:\n  - {name: Cells, hiera3_backend: csv, datadir: csv, path: common, options: {columns: 'key,member,value'}}\n  - {name: Plain, data_hash: yaml_data, path: plain.yaml}\n",
    );
    write(&root, &[("data/plain.yaml", "plain: 1\n")]);
    let arguments = ["--scope", "scope.json", "--global-hiera-config", "global.yaml"];
    let for_8 = [&arguments[..], &["--puppet-version", "8"]].concat();
    assert_eq!(values(&root, &for_8, &["motd", "plain"]), ["\"all\"", "1"]);
    // Where nothing runs, hiera-ls assumes that Puppet 8 has no library of Hiera 3.
    let all = ["lookup"].iter().chain(&for_8).chain(&["plain"]);
    let run = support::run(hiera_ls(all).current_dir(&root), "");
    assert!(run.stderr.contains("Hiera 3 is not installed"), "{}", run.stderr);
    // This Ruby does not find the library of Hiera 3.
    let ruby = root.join("ruby");
    let hidden = "#!/bin/sh\nexec ruby -I \"$(dirname \"$0\")/hidden\" \"$@\"\n";
    write(
        &root,
        &[
            ("ruby", hidden),
            ("hidden/hiera.rb", "raise LoadError, 'cannot load such file -- hiera'\n"),
        ],
    );
    #[cfg(unix)]
    support::make_program(&ruby);
    let without = [&arguments[..], &["--ruby", ruby.to_str().unwrap()]].concat();
    for key in ["motd", "plain", "below", "nosuch"] {
        let found = values(&root, &without, &[key]);
        // Puppet 8 has its own words for Ruby's error.
        let words = ["cannot load such file -- hiera", "Hiera 3 is not installed"];
        assert!(words.iter().any(|words| found[0].contains(words)), "{key}: {found:?}");
    }
}
