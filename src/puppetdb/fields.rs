//! The query: the fields that PuppetDB is asked for.

use std::collections::BTreeSet;

use super::PuppetdbConfig;
use super::age::TIME;

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

/// Returns the body of the request: the active nodes that the settings choose, in the order of their
/// names.
///
/// Errors: the condition in the settings begins as JSON and is none.
pub(super) fn query_for(fields: &[String], config: &PuppetdbConfig) -> Result<String, String> {
    let wanted: Vec<&str> = ["certname", "environment"]
        .into_iter()
        .chain(config.max_age.map(|_| TIME))
        .chain(fields.iter().map(String::as_str))
        .collect();
    let condition = config.query.as_ref().map(|text| text.trim());
    let query = match condition {
        Some(condition) if !condition.starts_with("[\"") => pql_query(&wanted, condition).into(),
        _ => {
            let condition = condition.map(serde_json::from_str::<serde_json::Value>);
            let condition = condition.transpose().map_err(|error| {
                format!("`nodes.puppetdb.query` begins as a condition in JSON, but {error}")
            })?;
            ast_query(&wanted, condition)
        }
    };
    Ok(serde_json::json!({ "query": query }).to_string())
}

/// Returns a query whose condition is a list: `["=", "environment", "production"]`.
fn ast_query(fields: &[&str], condition: Option<serde_json::Value>) -> serde_json::Value {
    let active = serde_json::json!(["=", "node_state", "active"]);
    let condition = match condition {
        Some(condition) => serde_json::json!(["and", active, condition]),
        None => active,
    };
    serde_json::json!([
        "from",
        "inventory",
        ["extract", fields, condition],
        ["order_by", ["certname"]]
    ])
}

/// Returns a query whose condition is a text: `environment = "production"`. PuppetDB quotes the line
/// of a mistake, so that the condition begins one. A name in quotes ends with white space.
fn pql_query(fields: &[&str], condition: &str) -> String {
    let fields = fields.join(" , ");
    format!(
        "inventory[{fields} ] {{ node_state = \"active\" and (\n{condition}\n) order by certname }}"
    )
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
        let query = query_for(&fields(&["trusted/certname"]), &PuppetdbConfig::default());
        assert_eq!(query.as_deref(), Ok(expected));
    }

    #[test]
    fn a_condition_narrows_the_active_nodes() {
        let query = |condition: &str| {
            let query = Some(condition.to_owned());
            query_for(&fields(&["facts/a.b"]), &PuppetdbConfig { query, ..Default::default() })
        };
        let of_text = r#"{"query":"inventory[certname , environment , facts.\"a.b\" ] { node_state = \"active\" and (\nfacts.x = 1 or facts.y = 2\n) order by certname }"}"#;
        let of_list = r#"{"query":["from","inventory",["extract",["certname","environment","facts.\"a.b\""],["and",["=","node_state","active"],["=","environment","test"]]],["order_by",["certname"]]]}"#;
        assert_eq!(query(" facts.x = 1 or facts.y = 2\n").as_deref(), Ok(of_text));
        assert_eq!(query(r#" ["=", "environment", "test"]"#).as_deref(), Ok(of_list));
        // A list of names is a condition in PQL.
        assert!(
            query("[certname] in nodes[certname] {}").is_ok_and(|it| it.contains("inventory["))
        );
        let told = query(r#"["=", "environment""#).expect_err("the list has no end");
        assert!(
            told.starts_with("`nodes.puppetdb.query` begins as a condition in JSON, but EOF"),
            "{told}"
        );
    }
}
