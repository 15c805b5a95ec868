//! Deployed paths to paths of the workspace: a `hiera.yaml` names where data lies on the server, not where it is edited.

use regex::Regex;

use crate::hiera::pattern::{Piece, pieces};
use crate::text::FilePath;

/// The rules of `pathMappings`, in order.
#[derive(Clone, Debug, Default)]
pub struct PathMappings {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    deployed: Regex,
    here: String,
}

/// Where control repos are deployed: an environment's folder below this one is the repo itself.
const DEPLOYED_ENVIRONMENTS: &str = "/etc/puppetlabs/code/environments/";

impl PathMappings {
    /// The rules for these pairs of a deployed path and a path here, which is relative to the folder of the `hiera.yaml` unless absolute.
    /// A token in the deployed path stands for one folder of any name, or for the same token in a datadir.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> PathMappings {
        let rule = |(deployed, here): (&str, &str)| {
            let mut source = String::from("^");
            for piece in pieces(deployed.trim_end_matches('/'), false) {
                match piece {
                    Piece::Literal(text) | Piece::Glob(text) => source.push_str(&regex::escape(&text)),
                    Piece::Variable(_) | Piece::Any => source.push_str(r"(?:%\{[^}]*\}|[^/]+)"),
                }
            }
            source.push_str("(?:/|$)");
            let deployed = Regex::new(&source).expect("escaped text and fixed parts are a regular expression");
            Rule { deployed, here: here.trim_end_matches('/').to_owned() }
        };
        PathMappings { rules: pairs.into_iter().map(rule).collect() }
    }

    /// Where a datadir lies here, relative to the folder of its `hiera.yaml` unless absolute; itself when nothing maps it.
    ///
    /// Without a rule, a datadir below the standard folder of environments that does not exist is that of the repository.
    pub fn map(&self, datadir: &str, exists: &dyn Fn(&FilePath) -> bool) -> String {
        for rule in &self.rules {
            if let Some(found) = rule.deployed.find(datadir) {
                let rest = &datadir[found.end()..];
                let here = if rule.here.is_empty() || rule.here == "." { String::new() } else { format!("{}/", rule.here) };
                return trimmed(format!("{here}{rest}"));
            }
        }
        if let Some(rest) = datadir.strip_prefix(DEPLOYED_ENVIRONMENTS)
            && !exists(&literal_folder(datadir))
        {
            let below = rest.split_once('/').map_or("", |(_, below)| below);
            return trimmed(below.to_owned());
        }
        datadir.to_owned()
    }
}

fn trimmed(path: String) -> String {
    let path = path.trim_end_matches('/');
    if path.is_empty() { ".".to_owned() } else { path.to_owned() }
}

/// The folder named by what stands before the first token.
fn literal_folder(path: &str) -> FilePath {
    let literal = &path[..path.find("%{").unwrap_or(path.len())];
    FilePath::new(if literal.len() < path.len() { literal.rsplit_once('/').map_or("", |(folder, _)| folder) } else { literal })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)], datadir: &str) -> String {
        PathMappings::new(pairs.iter().copied()).map(datadir, &|_| false)
    }

    #[test]
    fn rules_map_what_they_name() {
        let rules = [("/etc/puppetlabs/code/environments/%{environment}", "."), ("/srv/data", "/work/shared-data")];
        assert_eq!(map(&rules, "/etc/puppetlabs/code/environments/production/hieradata"), "hieradata");
        assert_eq!(map(&rules, "/etc/puppetlabs/code/environments/%{::environment}/hieradata"), "hieradata");
        assert_eq!(map(&rules, "/srv/data/x"), "/work/shared-data/x");
        assert_eq!(map(&rules, "/srv/database"), "/srv/database");
        assert_eq!(map(&rules, "data"), "data");
    }

    #[test]
    fn the_standard_folder_needs_no_rule() {
        assert_eq!(map(&[], "/etc/puppetlabs/code/environments/%{environment}/data"), "data");
        assert_eq!(map(&[], "/etc/puppetlabs/code/environments/production"), ".");
        assert_eq!(map(&[], "/etc/puppetlabs/code/hieradata"), "/etc/puppetlabs/code/hieradata");
        let exists = |_: &FilePath| true;
        let kept = PathMappings::default().map("/etc/puppetlabs/code/environments/production/data", &exists);
        assert_eq!(kept, "/etc/puppetlabs/code/environments/production/data", "a folder that is there is meant");
    }
}
