//! The query: the fields that PuppetDB is asked for.

use std::collections::BTreeSet;

/// The members of `$trusted` that follow from the certname.
const OF_CERTNAME: [&str; 3] = ["certname", "hostname", "domain"];
/// Variables that are no facts: the server, the certificate or the lookup sets them.
const NO_FACTS: [&str; 3] = ["environment", "server_facts", "module_name"];

/// Returns the fields of an inventory that have the values of these variables, each a list of names:
/// `facts`, `os`, `family`. Fields that lie in another one are left out.
///
/// A variable that is read by its own name is a whole fact, so that a missing fact differs from a
/// missing part of one.
pub fn fields_for<'a>(variables: impl IntoIterator<Item = &'a [String]>) -> Vec<String> {
    let mut paths: BTreeSet<Vec<String>> = BTreeSet::new();
    for variable in variables {
        let [root, rest @ ..] = variable else { continue };
        match (root.as_str(), rest) {
            ("facts", _) => drop(paths.insert(variable.to_vec())),
            ("trusted", [member, ..]) if OF_CERTNAME.contains(&member.as_str()) => {}
            ("trusted", _) => drop(paths.insert(variable.to_vec())),
            (name, _) if NO_FACTS.contains(&name) || name.contains("::") => {}
            (name, _) => drop(paths.insert(vec!["facts".into(), name.into()])),
        }
    }
    // A row with all facts is no projection, and has no parts of the certificate.
    if paths.contains(&["facts".to_owned()][..]) {
        paths.insert(vec!["trusted".into()]);
    }
    paths.iter().filter(|path| !has_path_above(path, &paths)).map(|path| field(path)).collect()
}

fn has_path_above(path: &[String], paths: &BTreeSet<Vec<String>>) -> bool {
    let above = 1..path.len();
    above.into_iter().any(|length| paths.contains(&path[..length]))
}

/// Writes a path as PuppetDB reads it: quotes hide the dots of a name.
fn field(path: &[String]) -> String {
    path.iter()
        .map(|name| if name.contains('.') { format!("\"{name}\"") } else { name.clone() })
        .collect::<Vec<_>>()
        .join(".")
}

/// Returns the body of the request: active nodes, in the order of their names.
pub(super) fn query_for(fields: &[String]) -> String {
    let wanted: Vec<&str> =
        ["certname", "environment"].into_iter().chain(fields.iter().map(String::as_str)).collect();
    let query = serde_json::json!([
        "from",
        "inventory",
        ["extract", wanted, ["=", "node_state", "active"]],
        ["order_by", ["certname"]]
    ]);
    serde_json::json!({ "query": query }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(variables: &[&str]) -> Vec<String> {
        let paths: Vec<Vec<String>> =
            variables.iter().map(|path| path.split('/').map(str::to_owned).collect()).collect();
        fields_for(paths.iter().map(Vec::as_slice))
    }

    #[test]
    fn a_field_for_each_variable_that_nodes_have_facts_for() {
        let variables = [
            "facts/os/family",
            "facts/os",
            "osfamily",
            "networking/fqdn",
            "trusted/certname",
            "trusted/extensions/pp_role",
            "environment",
            "profile::x",
            "facts/a.b/c",
        ];
        let expected = [
            "facts.\"a.b\".c",
            "facts.networking",
            "facts.os",
            "facts.osfamily",
            "trusted.extensions.pp_role",
        ];
        assert_eq!(fields(&variables), expected);
    }

    #[test]
    fn all_facts_come_with_the_whole_certificate() {
        let all = fields(&["facts", "facts/os/family", "trusted/extensions/pp_role"]);
        assert_eq!(all, ["facts", "trusted"]);
    }

    #[test]
    fn a_query_without_facts_asks_for_the_names() {
        let expected = r#"{"query":["from","inventory",["extract",["certname","environment"],["=","node_state","active"]],["order_by",["certname"]]]}"#;
        assert_eq!(query_for(&fields(&["trusted/certname"])), expected);
    }
}
