//! Functions and backends of levels.

use expect_test::expect;

use super::{check, check_markdown};

const FUNCTION: &str = "
#- /modules/store/lib/puppet/functions/store/find.rb
# Finds a key in the store.
#
# @param key the root key
# @param options `port` and
#   `address`
Puppet::Functions.create_function(:'store::find') do
  dispatch :find do
    param 'String', :key
    param 'Struct[{
      port => Integer,
      Optional[address] => String,
    }]', :options
    param 'Puppet::LookupContext', :context
    return_type 'Data'
  end
end
";

#[test]
fn a_function_of_a_module_shows_its_comment_and_signatures() {
    let text = format!(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - name: Store
    lookup_key: store::fi$0nd
    options: {{port: 1}}
{FUNCTION}"
    );
    check(
        &text,
        expect![[r#"
            <store::find>
            lookup_key store::find of level Store

            declared in modules/store/lib/puppet/functions/store/find.rb:6; hiera-ls does not run it: the data of this level is not known

            Finds a key in the store.

            - store::find(String $key, Struct[{ port => Integer, Optional[address] => String, }] $options, Puppet::LookupContext $context) >> Data
            - key: the root key
            - options: `port` and `address`
        "#]],
    );
    check_markdown(
        &text,
        expect![[r#"
            <store::find>
            `lookup_key` `store::find` of level **Store**

            declared in [modules/store/lib/puppet/functions/store/find.rb:6](file:///modules/store/lib/puppet/functions/store/find.rb#L6); hiera-ls does not run it: the data of this level is not known

            Finds a key in the store.

            - `store::find(String $key, Struct[{ port => Integer, Optional[address] => String, }] $options, Puppet::LookupContext $context) >> Data`
            - `key`: the root key
            - `options`: \`port\` and \`address\`
        "#]],
    );
}

#[test]
fn a_published_function_names_its_service_without_secrets() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
  - name: Vault
    lookup_key: hiera$0_vault
    options:
      address: https://me:hunter2@vault.example.net:8200/
      token: s3cret
      confine_to_keys: ['^vault_.*', password]
",
        expect![[r#"
            <hiera_vault>
            lookup_key hiera_vault of level Vault

            asks HashiCorp Vault at https://vault.example.net:8200/ for keys that match ^vault_.* or password, and has nothing for other keys; hiera-ls does not ask
        "#]],
    );
}

#[test]
fn a_function_that_is_not_here_is_named_as_such() {
    let level = |name: &str| {
        format!(
            "
#- /hiera.yaml
version: 5
hierarchy:
  - name: Store
    {name}
#- /modules/store/manifests/init.pp
class store {{ }}
"
        )
    };
    check(
        &level("lookup_key: sto$0re::find"),
        expect![[r#"
        <store::find>
        lookup_key store::find of level Store

        the module store has no such function
    "#]],
    );
    check(
        &level("lookup_key: ot$0her::find"),
        expect![[r#"
            <other::find>
            lookup_key other::find of level Store

            a function of a module that is not here: the data of this level is not known
        "#]],
    );
    check(
        &level("lookup_key: no$0where"),
        expect![[r#"
            <nowhere>
            lookup_key nowhere of level Store

            no module here has this function: the data of this level is not known
        "#]],
    );
    check(
        &level("data_hash: json$0_data\n    path: a.json"),
        expect![[r#"
        <json_data>
        data_hash json_data of level Store

        a function of Puppet's own, which reads JSON
    "#]],
    );
    check(
        &level("data_hash: eyaml_look$0up_key\n    path: a.yaml"),
        expect![[r#"
        <eyaml_lookup_key>
        data_hash eyaml_lookup_key of level Store

        a function of Puppet's own, of another kind
    "#]],
    );
}
