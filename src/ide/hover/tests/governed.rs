//! The config that governs, where there are several.

use expect_test::expect;

use super::{check, check_markdown};

const ENVIRONMENTS: &str = "
#- /environments/production/hiera.yaml
version: 5
hierarchy: [{name: Common, path: common.yaml}]
#- /environments/production/data/common.yaml
mo$0td: hello
";

#[test]
fn the_config_is_named_where_there_are_several() {
    check_markdown(
        &format!(
            "{ENVIRONMENTS}#- /environments/staging/hiera.yaml
version: 5
hierarchy: [{{name: Common, path: common.yaml}}]
#- /environments/staging/data/common.yaml
motd: hi
"
        ),
        expect![[r#"
            <motd>
            **motd**  
            for any node, as none is known  
            from **Common** [data/common.yaml:1](file:///environments/production/data/common.yaml#L1)

            ```yaml
            hello
            ```

            governed by [environments/production/hiera.yaml](file:///environments/production/hiera.yaml#L1)
        "#]],
    );
}

#[test]
fn a_config_that_governs_nothing_and_reads_data_is_another_one() {
    let other = |path: &str| {
        format!(
            "#- /hiera.yaml
version: 5
hierarchy: [{{name: Common, path: common.yaml}}]
#- /{path}
version: 5
hierarchy: [{{name: Common, path: common.yaml, datadir: ../data}}]
#- /data/common.yaml
mo$0td: hello
"
        )
    };
    check(
        &other("conf/hiera_live.yaml"),
        expect![[r#"
            <motd>
            motd
            for any node, as none is known
            from Common data/common.yaml:1

              hello

            governed by hiera.yaml
        "#]],
    );
    check(
        &other("spec/hiera.yaml"),
        expect![[r#"
            <motd>
            motd
            for any node, as none is known
            from Common data/common.yaml:1

              hello
        "#]],
    );
}
