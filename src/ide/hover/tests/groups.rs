//! Values that several groups of nodes, or several kinds of nodes, get from different places.

use expect_test::expect;

use super::check;

const SIZES: &str = "
#- node web1 role=web
#- node web2 role=web
#- levels Node Role Common
#- /data/nodes/web1.yaml
disk::size: 10
#- /data/nodes/web2.yaml
disk::size: 10
#- /data/roles/web.yaml
disk$0::size: 10
#- /data/common.yaml
disk::size: 5
";

#[test]
fn equal_values_have_the_places_of_all_groups() {
    check(
        SIZES,
        expect![[r#"
            <disk::size>
            disk::size
            in all 2 known nodes
            from Node data/nodes/web1.yaml:1, Node data/nodes/web2.yaml:1

              10

            - overrides the value here with the same value
            - overrides Common data/common.yaml:1: 5
        "#]],
    );
    let more: String = ["web3", "web4", "web5"]
        .iter()
        .map(|name| {
            format!("#- node {name} role=web\n#- /data/nodes/{name}.yaml\ndisk::size: 10\n")
        })
        .collect();
    check(
        &format!("#- node web6 role=web\n{more}{}", SIZES.replace("$0::size: 10", "$0::size: 20")),
        expect![[r#"
            <disk::size>
            disk::size
            in all 6 known nodes:

            - 10 in 5 nodes: web3, web4, web5, … ← Node data/nodes/web3.yaml:1, Node data/nodes/web4.yaml:1, Node data/nodes/web5.yaml:1 and 2 more
            - 20 in web6

            first value found
        "#]],
    );
}

const TWICE: &str = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Role, path: 'roles/%{role}.yaml'}
- {name: Common, path: common.yaml}
- {name: Again, path: common.yaml}
#- scope web01 role=web
#- /data/roles/web.yaml
other: 1
#- /data/common.yaml
lookup_options: {h: {merge: deep}}
a$0: 1
h: {x: 1}
";

#[test]
fn a_file_that_two_levels_read_is_one_place() {
    check(
        TWICE,
        expect![[r#"
        <a>
        a
        node web01
        from Common data/common.yaml:2

          1
    "#]],
    );
    check(
        &TWICE.replace("a$0: 1\nh:", "a: 1\nh$0:"),
        expect![[r#"
            <h>
            h
            node web01
            from Common data/common.yaml:3 · merge deep · set in data/common.yaml:1

              x: 1
        "#]],
    );
}

const TWO_BACKENDS: &str = "
#- scope web01 role=web
#- /.hiera-ls.yaml
globalHieraConfig: /hiera.yaml
#- /hiera.yaml
:backends: [eyaml, yaml]
:hierarchy: [\"roles/%{role}\", common]
:yaml: {:datadir: /hieradata}
:eyaml: {:datadir: /hieradata, :extension: yaml}
#- /hieradata/roles/web.yaml
a$0: 1
#- /hieradata/common.yaml
b: 1
";

#[test]
fn a_file_that_two_backends_read_is_one_place() {
    check(
        TWO_BACKENDS,
        expect![[r#"
        <a>
        a
        node web01
        from yaml (global) hieradata/roles/web.yaml:1

          1
    "#]],
    );
}

const MODULE_DATA: &str = "
#- /hiera.yaml
version: 5
hierarchy: [{name: OS, path: 'os/%{facts.os.family}.yaml'}, {name: Common, path: common.yaml}]
#- /modules/app/hiera.yaml
version: 5
defaults: {datadir: ../../data}
hierarchy: [{name: OS of the module, path: 'os/%{facts.os.family}.yaml'}]
#- /modules/app/metadata.json
{\"name\": \"me-app\"}
#- /modules/app/manifests/init.pp
class app(Integer $port, Hash $users) {}
#- /data/common.yaml
lookup_options: {'app::users': {merge: deep}}
#- /data/os/Debian.yaml
app::port$0: 1
app::users: {a: {id: 1}}
";

#[test]
fn a_file_that_a_module_reads_as_well_is_one_place() {
    check(
        MODULE_DATA,
        expect![[r#"
        <app::port>
        app::port · Integer · class app modules/app/manifests/init.pp:1
        for nodes with facts.os.family = Debian
        from OS data/os/Debian.yaml:1

          1
    "#]],
    );
    let users = MODULE_DATA.replace("port$0:", "port:").replace("users: {a", "users$0: {a");
    check(
        &users,
        expect![[r#"
            <app::users>
            app::users · Hash · class app modules/app/manifests/init.pp:1
            for nodes with facts.os.family = Debian
            from OS data/os/Debian.yaml:2 · merge deep · set in data/common.yaml:1

              a: {id: 1}
        "#]],
    );
}

const MOUNTS: &str = "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Role, path: 'role/%{role}.yaml'}
- {name: OS, path: 'os/%{facts.os.family}.yaml'}
- {name: Common, path: common.yaml}
#- /data/role/web.yaml
mounts$0:
  /srv/www: {device: /dev/sdb1, fstype: xfs, options: noatime}
  /var/log: {device: /dev/sdc1, fstype: xfs}
#- /data/os/RedHat.yaml
mounts:
  /var/log: {fstype: ext4, options: nodev}
  /boot: {device: /dev/sda1, fstype: xfs}
#- /data/os/Debian.yaml
mounts:
  /boot: {device: /dev/sda2, fstype: ext4}
#- /data/common.yaml
lookup_options: {mounts: {merge: deep}}
mounts:
  /tmp: {device: tmpfs, fstype: tmpfs, options: 'size=2g'}
";

#[test]
fn a_hash_under_an_unknown_fact_has_one_value_and_differences() {
    check(
        MOUNTS,
        expect![[r#"
            <mounts>
            mounts
            by kind of node with role = web:

            without the files below
            merged deep from 2 files: Role data/role/web.yaml:1, Common data/common.yaml:2 · set in data/common.yaml:1

              /tmp: {device: tmpfs, fstype: tmpfs, options: size=2g}  # Common
              /srv/www: {device: /dev/sdb1, fstype: xfs, options: noatime}  # Role
              /var/log: {device: /dev/sdc1, fstype: xfs}  # Role

            - where facts.os.family = Debian · adds /boot ← OS data/os/Debian.yaml:2
            - where facts.os.family = RedHat · adds /var/log.options, /boot ← OS data/os/RedHat.yaml:2

            facts.os.family is unknown: the values are those in the names of files
        "#]],
    );
}

#[test]
fn a_level_without_files_may_have_the_value() {
    check(
        "
#- /hiera.yaml
version: 5
hierarchy:
- {name: Vault, path: secrets/vault.yaml}
- {name: Common, path: common.yaml}
#- /data/common.yaml
a: \"%{lookup('gw.wor$0ker')}\"
",
        expect![[r#"
            <gw.worker>
            gw.worker
            for any node, as none is known

            No value is found, unless it is in the data of level 'Vault', of which files are missing here.
        "#]],
    );
}
