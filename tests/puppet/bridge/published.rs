//! Functions of the shapes that published ones have, written anew: a store of secrets that is asked
//! over the network, and one that reads a file once.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::write;
use crate::support::{self, hiera_ls, require};

const VAULT: &str = r##"
require 'net/http'
require 'json'
Puppet::Functions.create_function(:hiera_vault) do
  dispatch :ask do
    param 'Variant[String, Numeric]', :key
    param 'Hash', :options
    param 'Puppet::LookupContext', :context
  end

  def ask(key, options, context)
    confined = Regexp.union(options.fetch('confine_to_keys').map { |text| Regexp.new(text) })
    context.not_found unless key[confined] == key
    return context.cached_value(key) if context.cache_has_key(key)

    address = URI("#{options['address']}/v1/#{options['mount']}/#{key}")
    request = Net::HTTP::Get.new(address, 'X-Vault-Token' => ENV.fetch('VAULT_TOKEN'))
    answer = Net::HTTP.new(address.host, address.port, nil).request(request)
    context.not_found if answer.code == '404'
    raise "Vault refuses: #{answer.code}" unless answer.code == '200'
    context.explain { "asked Vault for #{key}" }
    context.cache(key, JSON.parse(answer.body)['data'])
  end
end
"##;

/// Serves secrets on loopback; counts the requests.
fn serve() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let requests = Arc::new(AtomicUsize::new(0));
    let counted = requests.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            counted.fetch_add(1, Ordering::SeqCst);
            let lines: Vec<String> = BufReader::new(stream.try_clone().unwrap())
                .lines()
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            let is_known =
                lines.iter().any(|line| line.eq_ignore_ascii_case("x-vault-token: t0ken"));
            let (status, body) = match (lines[0].as_str(), is_known) {
                (_, false) => ("403 Forbidden", ""),
                ("GET /v1/web/vault_db HTTP/1.1", _) => {
                    ("200 OK", r#"{"data": {"user": "db", "password": "s3cret"}}"#)
                }
                _ => ("404 Not Found", ""),
            };
            let length = body.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
            );
        }
    });
    (address, requests)
}

#[test]
fn a_store_of_secrets_answers_over_the_network() {
    if !require("puppet") {
        return;
    }
    let (address, requests) = serve();
    let root = support::scratch("published-vault");
    let config = format!(
        "version: 5\nhierarchy:\n  - name: Vault\n    lookup_key: hiera_vault\n    options: {{address: '{address}', mount: '%{{role}}', confine_to_keys: ['^vault_.*']}}\n  - {{name: Common, path: common.yaml}}\n"
    );
    write(
        &root,
        &[
            ("hiera.yaml", &config),
            (
                "data/common.yaml",
                "port: 80\nvault_other: below\nurl: \"%{lookup('vault_db.user')}@db\"\n",
            ),
            ("modules/hiera_vault/lib/puppet/functions/hiera_vault.rb", VAULT),
            ("scope.json", "{\"role\": \"web\"}"),
        ],
    );
    let ask = |flags: &[&str], token: Option<&str>| {
        let arguments = ["lookup", "--scope", "scope.json", "--run-backends"];
        let mut command = hiera_ls(arguments.iter().chain(flags));
        command.current_dir(&root).env_remove("VAULT_TOKEN");
        command.envs(token.map(|token| ("VAULT_TOKEN", token)));
        support::run(&mut command, "")
    };
    // The function fails without its variable, `VAULT_TOKEN`, and makes no request.
    let run = ask(&["vault_db"], Some("t0ken"));
    assert_eq!((run.status, requests.load(Ordering::SeqCst)), (Some(2), 0));
    assert!(run.stderr.contains("key not found: \"VAULT_TOKEN\""), "{}", run.stderr);
    let pass = ["--pass-env", "VAULT_TOKEN"];
    // The command prints a secret only with `--reveal-sensitive`, also where the secret is a part
    // of another value.
    for key in ["vault_db", "vault_db.password", "url"] {
        let run = ask(&[&pass[..], &[key]].concat(), Some("t0ken"));
        assert_eq!(run.status, Some(0), "{}", run.stderr);
        assert!(!run.stdout.contains("s3cret") && !run.stdout.contains("db@"), "{}", run.stdout);
        let run = ask(&[&pass[..], &["--explain", key]].concat(), Some("t0ken"));
        assert!(run.stdout.contains("Searching for"), "{}", run.stderr);
        assert!(!run.stdout.contains("s3cret"), "{}", run.stdout);
    }
    let reveal = [&pass[..], &["--reveal-sensitive", "vault_db.password"]].concat();
    assert_eq!(ask(&reveal, Some("t0ken")).stdout, "s3cret\n");
    assert_eq!(ask(&[&pass[..], &["vault_other"]].concat(), Some("t0ken")).stdout, "below\n");
    let refused = ask(&[&pass[..], &["vault_db"]].concat(), Some("other"));
    assert!(refused.stderr.contains("Vault refuses: 403"), "{}", refused.stderr);
    // Keys that the level excludes cause no request.
    let before = requests.load(Ordering::SeqCst);
    assert_eq!(ask(&["port"], None).stdout, "80\n");
    assert_eq!(requests.load(Ordering::SeqCst), before);
}

/// A data_dig function that reads a file once and keeps its parts.
#[test]
fn a_function_that_keeps_what_it_read_reads_once() {
    if !require("puppet") {
        return;
    }
    let function = r##"
Puppet::Functions.create_function(:'t::dig') do
  dispatch :dig do
    param 'Array[Variant[String, Numeric]]', :segments
    param 'Hash[String, Any]', :options
    param 'Puppet::LookupContext', :context
  end

  def dig(segments, options, context)
    unless context.cache_has_key(:all)
      File.open("#{options['path']}.reads", 'a') { |file| file.puts 'read' }
      context.cache(:all, context.cached_file_data(options['path']) { |text| JSON.parse(text) })
    end
    segments.reduce(context.cached_value(:all)) do |part, segment|
      context.not_found unless part.respond_to?(:dig) && !part[segment].nil?
      part[segment]
    end
  end
end
"##;
    let root = support::scratch("published-dig");
    write(
        &root,
        &[
            (
                "hiera.yaml",
                "version: 5\nhierarchy:\n  - {name: Dig, data_dig: 't::dig', path: all.json}\n",
            ),
            ("data/all.json", r#"{"a": {"b": ["x", "y"]}, "n": 1.5}"#),
            ("modules/t/lib/puppet/functions/t/dig.rb", function),
        ],
    );
    let mut batch = hiera_ls(["lookup", "--run-backends", "--batch"]);
    let questions = "{\"key\":\"a.b.1\"}\n{\"key\":\"n\"}\n{\"key\":\"a.c\"}\n{\"key\":\"a.b\"}\n";
    let run = support::run(batch.current_dir(&root), questions);
    let answers = support::json_lines("batch", &run.stdout);
    let values: Vec<_> = answers.iter().map(|answer| answer["value"].to_string()).collect();
    assert_eq!(values, ["\"y\"", "1.5", "null", "[\"x\",\"y\"]"], "{answers:?}");
    assert_eq!(std::fs::read_to_string(root.join("data/all.json.reads")).unwrap(), "read\n");
}
