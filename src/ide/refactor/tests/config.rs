use super::*;

fn check_rewrites(text: &str, expected: Expect) {
    check(RefactoringKind::Rewrite, text, expected);
}

const NODES: &str = "#- node a role=web\n#- node b role=db\n";

#[test]
fn version_3_becomes_version_5_with_its_comments() {
    check_rewrites(
        &format!(
            "{NODES}#- /hiera.yaml\n# our data\n---\n:back$0ends: # both\n  - yaml\n  - eyaml\n# nodes first\n:hierarchy:\n  # one file a node\n  - \"nodes/%{{::trusted.certname}}\"\n  - 'roles/%{{role}}' # roles\n  - common\n# the folder\n:yaml:\n  :datadir: /hd\n:eyaml:\n  :datadir: /hd\n  :extension: yaml\n  :pkcs7_private_key: keys/private.pem\n  :pkcs7_public_key: keys/public.pem\n:logger: console\n:merge_behavior: deeper\n#- /hd/roles/web.yaml\nk: 1\n#- /hd/common.yaml\nk: 2\n"
        ),
        expect![[r#"
            Convert to version 5 of hiera.yaml, without `merge_behavior: deeper`: hiera_hash() in manifests merges by hash then
              /hiera.yaml
                # our data
                ---
                version: 5
                # both
                # nodes first
                # the folder
                hierarchy:
                  - name: yaml
                    data_hash: yaml_data
                    datadir: /hd
                    paths:
                      # one file a node
                      - "nodes/%{::trusted.certname}.yaml"
                      - "roles/%{role}.yaml" # roles
                      - common.yaml
                  - name: eyaml
                    lookup_key: eyaml_lookup_key
                    datadir: /hd
                    options:
                      pkcs7_private_key: keys/private.pem
                      pkcs7_public_key: keys/public.pem
                    paths:
                      - "nodes/%{::trusted.certname}.yaml"
                      - "roles/%{role}.yaml"
                      - common.yaml
        "#]],
    );
}

#[test]
fn version_4_becomes_version_5_in_place() {
    check_rewrites(
        &format!(
            "{NODES}#- /hiera.yaml\n---\nversion: 4 # old\ndatadir: hd\nhierarchy:\n  - name: Role # roles\n    backend: yaml\n    path: \"roles/%{{role}}\"\n  - {{name: common, backend: yaml}}\n  - name: other\n    backend: json$0\n#- /hd/roles/web.yaml\nk: 1\n#- /hd/common.yaml\nk: 2\n"
        ),
        expect![[r#"
            Convert to version 5 of hiera.yaml
              /hiera.yaml
                ---
                version: 5 # old
                defaults:
                  datadir: hd
                  data_hash: yaml_data
                hierarchy:
                  - name: Role # roles
                    data_hash: yaml_data
                    path: "roles/%{role}.yaml"
                  - {name: common, path: common.yaml, data_hash: yaml_data}
                  - name: other
                    path: other.json
                    data_hash: json_data
        "#]],
    );
}

#[test]
fn settings_that_version_5_cannot_express_are_named() {
    let cases = [
        ("---\n:back$0ends: [http]\n:hierarchy: [common]\n", "Hiera 3 is not installed"),
        ("$0:hierarchy: ['%{calling_module}']\n:yaml:\n  :datadir: /hd\n", "`calling_module`"),
        (
            "$0:hierarchy: ['%{calling_class}', '%{calling_module}']\n:yaml:\n  :datadir: /hd\n",
            "`calling_class`",
        ),
        ("$0:hierarchy: [common]\n:yaml:\n  :datadir: '%{d}'\n", "for a relative one"),
        ("$0:backends: [foo]\n:hierarchy: [common]\n", "Hiera 3 is not installed"),
        ("$0:backends: [yaml, yaml]\n:hierarchy: [common]\n", "defined more than once"),
        ("$0:yaml: {:datadir: /hd}\n", "Puppet refuses the file as it is"),
        ("version: 4$0\ndatadir: 'd%{x}'\nhierarchy: [{name: c, backend: yaml}]\n", "with a token"),
        ("version: 4$0\nhierarchy: [{name: &n c, backend: yaml}]\n", "anchors"),
    ];
    for (config, reason) in cases {
        let fixture = Fixture::new(&format!("#- /hiera.yaml\n{config}#- /hd/common.yaml\nk: 1\n"));
        let all = found(&fixture, &[RefactoringKind::Rewrite]);
        let [one] = &*all else { panic!("{config}: {all:?}") };
        assert!(one.change.as_ref().is_err_and(|it| it.contains(reason)), "{config}: {one:?}");
    }
}

#[test]
fn a_conversion_title_counts_nodes_with_other_values() {
    // After the conversion, a token in the data of the global layer sees the data of the
    // environment.
    let fixture = Fixture::new(
        "#- node a role=web\n#- /hiera.yaml\n$0:backends: [yaml]\n:hierarchy: [common]\n:yaml:\n  :datadir: /hd\n#- /hd/common.yaml\nk: \"x %{lookup('m::k')}\"\n#- /modules/m/hiera.yaml\nversion: 5\n#- /modules/m/data/common.yaml\nm::k: 1\n",
    );
    let all = found(&fixture, &[RefactoringKind::Rewrite]);
    let title = &all[0].title;
    assert!(title.contains("(changes 1 of 1 node)"), "{title}");
    assert!(!all[0].is_neutral);
}

#[test]
fn facts_in_paths_are_named_by_their_structure() {
    check_rewrites(
        "#- node a osfamily=Debian facts.os.family=Debian\n#- /hiera.yaml\nversion: 5\nhierarchy:\n  - name: Os\n    path: \"os/%{::osfam$0ily}/%{ ::hostname }.yaml\"\n#- /data/os/Debian/x.yaml\nk: 1\n",
        expect![[r#"
            Use `facts.os.family` for the legacy fact `osfamily` (changes none of 2 nodes; others may change)
              /hiera.yaml
                version: 5
                hierarchy:
                  - name: Os
                    path: "os/%{facts.os.family}/%{ ::hostname }.yaml"
            Use structured facts for all 2 legacy ones of this file (changes none of 2 nodes; others may change)
              /hiera.yaml
                version: 5
                hierarchy:
                  - name: Os
                    path: "os/%{facts.os.family}/%{ facts.networking.hostname }.yaml"
        "#]],
    );
}

#[test]
fn an_editor_that_follows_the_cursor_gets_none() {
    let fixture = Fixture::new("#- /hiera.yaml\n$0:backends: [yaml]\n#- /hd/common.yaml\nk: 1\n");
    let place = fixture.selection();
    let file = fixture.snapshot.file_by_id(place.file).expect("the cursor is in a file");
    let wanted = RefactoringRequest {
        path: &file.path,
        range: place.range,
        creates_files: true,
        is_by_user: false,
        lookups: None,
        kinds: &|_| true,
    };
    assert_eq!(find_refactorings(&fixture.snapshot, wanted), []);
}

#[test]
fn nodes_beyond_the_effort_are_counted_in_the_title_of_a_conversion() {
    let fixture = Fixture::new(
        "#- node a role=web\n#- /hiera.yaml\n$0:backends: [yaml]\n:hierarchy: [common]\n:yaml:\n  :datadir: /hd\n#- /hd/common.yaml\nk: 1\n",
    );
    let all = found_within(&fixture, &[RefactoringKind::Rewrite], Some(0));
    let title = &all[0].title;
    assert!(title.contains("(changes not known for 1 of 1 node)"), "{title}");
}
