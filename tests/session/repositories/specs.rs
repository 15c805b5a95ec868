//! A repository whose hosts are known from specs alone, in the form that PDK and rspec-puppet's
//! documentation show: one file a host, `on_supported_os`, shared contexts.

use hiera_ls::disk::MemoryFs;
use hiera_ls::hiera::scope::Variable;
use hiera_ls::settings::open;
use hiera_ls::text::FilePath;

const SITES: [&str; 4] = ["oslo", "bergen", "tromso", "bodo"];
const ROLES: [&str; 5] = ["web", "db", "mail", "cache", "proxy"];
const VARIANTS: [&str; 2] = ["small", "large"];

const CONFIG: &str = "version: 5
hierarchy:
  - {name: Variant, path: 'role/%{role}-%{trusted.extensions.pp_variant}.yaml'}
  - {name: Role, path: 'role/%{role}.yaml'}
  - {name: Site, path: 'site/%{facts.site}.yaml'}
  - {name: Common, path: common.yaml}
";

/// Returns the spec of a host: each third one has its values in another form.
fn spec(number: usize, name: &str, [site, role, variant]: [&str; 3]) -> String {
    let head = "# frozen_string_literal: true\n\nrequire 'spec_helper'\n\n";
    let body = match number % 3 {
        0 => format!(
            "describe '{name}' do
  let(:trusted_facts) {{ {{ 'pp_variant' => '{variant}' }} }}

  on_supported_os.each do |os, os_facts|
    context \"on #{{os}}\" do
      let(:facts) {{ os_facts.merge(site: '{site}') }}
      let(:node_params) {{ {{ role: '{role}' }} }}

      it {{ is_expected.to compile.with_all_deps }}

      context 'with swap' do
        let(:facts) {{ super().merge('swap' => true) }}

        it {{ is_expected.to contain_class('swap') }}
      end
    end
  end
end
"
        ),
        1 => format!(
            "shared_context 'the node' do
  let(:node) {{ '{name}' }}
  let(:node_params) do
    {{ 'role' => '{role}', 'owner' => ENV['USER'] }}
  end
  let(:trusted_facts) {{ {{ pp_variant: '{variant}' }} }}
end

describe 'the host in {site}' do
  include_context 'the node'
  on_supported_os(facterversion: '4.5').each do |os, facts|
    context \"on #{{os}}\" do
      let(:facts) do
        facts.merge(
          {{
            site: '{site}',
            networking: facts[:networking].merge(fqdn: '{name}'),
          }},
        )
      end

      it do
        is_expected.to compile
      end
    end
  end
end
"
        ),
        _ => format!(
            "RSpec.describe '{name}' do
  let(:facts) {{ {{ site: '{site}', os: {{ 'family' => 'Debian' }} }} }}
  let(:node_params) {{ {{ role: '{role}' }} }}
  let(:trusted_facts) {{ {{ pp_variant: '{variant}' }} }}

  %w[one two].each do |try|
    context \"try #{{try}}\" do
      let(:environment) {{ try }}

      it {{ is_expected.to compile }}
    end
  end
end
"
        ),
    };
    format!("{head}{body}")
}

#[test]
fn all_hosts_of_specs_have_their_role_site_and_variant() {
    let fs = MemoryFs::new();
    fs.write("/repo/hiera.yaml", CONFIG);
    fs.write("/repo/data/common.yaml", "motd: welcome\n");
    let mut expected = Vec::new();
    for (number, site) in SITES.iter().cycle().take(40).enumerate() {
        let (role, variant) = (ROLES[number / 8], VARIANTS[number / 4 % 2]);
        // The name of the host says nothing about role, site and variant.
        let name = format!("host{number:02}.example.net");
        fs.write(
            &format!("/repo/spec/hosts/{name}_spec.rb"),
            spec(number, &name, [site, role, variant]),
        );
        fs.write(&format!("/repo/data/role/{role}-{variant}.yaml"), "motd: variant\n");
        fs.write(&format!("/repo/data/role/{role}.yaml"), "motd: role\n");
        fs.write(&format!("/repo/data/site/{site}.yaml"), "motd: site\n");
        expected.push((name, [site.to_string(), role.to_owned(), variant.to_owned()]));
    }
    let opened = open(vec![FilePath::new("/repo")], &[], Vec::new(), &fs);
    let snapshot = opened.workspace.snapshot();
    let nodes = snapshot.nodes_of(&snapshot.environments().all[0]);
    let known = |variable: &str, node: &hiera_ls::workspace::nodes::Node| match node
        .scope
        .get_path(variable)
    {
        Variable::Known(value) => value.to_text().into_owned(),
        other => format!("{other:?}"),
    };
    let found: Vec<(String, [String; 3])> = nodes
        .iter()
        .map(|node| {
            let variables = ["facts.site", "role", "trusted.extensions.pp_variant"];
            (node.name.to_string(), variables.map(|variable| known(variable, node)))
        })
        .collect();
    assert_eq!(found, expected);
}
