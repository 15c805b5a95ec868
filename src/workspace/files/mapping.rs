//! Deployed paths to paths of the workspace: a `hiera.yaml` names where data lies on the server,
//! not where it is edited.

use regex::Regex;

use crate::hiera::pattern::{PatternPiece, parse_pieces};
use crate::text::FilePath;

/// The rules of `pathMappings`, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathMappings {
    rules: Vec<Rule>,
}

#[derive(Clone, Debug)]
struct Rule {
    deployed: Regex,
    here: String,
}

impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        (self.deployed.as_str(), &self.here) == (other.deployed.as_str(), &other.here)
    }
}

/// The longest deployed path, in bytes: settings are a repository's, which anyone may have written.
const MAX_LENGTH: usize = 4096;
/// The folder that control repos are deployed to: an environment's folder below this one is the
/// repo itself.
const DEPLOYED_ENVIRONMENTS: &str = "/etc/puppetlabs/code/environments/";

impl PathMappings {
    /// Adds the rule for a deployed path and a path here, which is relative to the folder of the
    /// `hiera.yaml` unless absolute. A token in the deployed path stands for one folder of any
    /// name, or for the same token in a datadir.
    ///
    /// Errors: a deployed path too long to be meant, in words for the user. The rule is left out
    /// then.
    pub fn add(&mut self, deployed: &str, here: &str) -> Result<(), String> {
        if deployed.len() > MAX_LENGTH {
            return Err(format!("a deployed path of {} bytes is too long", deployed.len()));
        }
        let mut source = String::from("^");
        for piece in parse_pieces(deployed.trim_end_matches('/'), false) {
            match piece {
                PatternPiece::Literal(text) | PatternPiece::Glob(text) => {
                    source.push_str(&regex::escape(&text))
                }
                PatternPiece::Variable(_) | PatternPiece::Any => {
                    source.push_str(r"(?:%\{[^}]*\}|[^/]+)")
                }
            }
        }
        source.push_str("(?:/|$)");
        // Many tokens make an expression larger than the engine takes.
        let deployed = Regex::new(&source).map_err(|_| format!("'{deployed}' is too long"))?;
        self.rules.push(Rule { deployed, here: here.trim_end_matches('/').to_owned() });
        Ok(())
    }

    /// Whether a rule maps the datadir.
    pub fn maps_datadir(&self, datadir: &str) -> bool {
        self.rules.iter().any(|rule| rule.deployed.is_match(datadir))
    }

    /// Returns the path of a datadir on this machine, relative to the folder of its `hiera.yaml`
    /// unless absolute; the datadir itself when no mapping applies.
    ///
    /// Without a rule, a datadir below the standard folder of environments that does not exist is
    /// below the environment's folder `root`.
    pub fn map(
        &self,
        datadir: &str,
        root: Option<&FilePath>,
        exists: &dyn Fn(&FilePath) -> bool,
    ) -> String {
        for rule in &self.rules {
            if let Some(found) = rule.deployed.find(datadir) {
                let rest = &datadir[found.end()..];
                let here = if rule.here.is_empty() || rule.here == "." {
                    String::new()
                } else {
                    format!("{}/", rule.here)
                };
                return trim_slashes(format!("{here}{rest}"));
            }
        }
        if let Some(rest) = datadir.strip_prefix(DEPLOYED_ENVIRONMENTS)
            && !exists(&literal_folder(datadir))
        {
            let below = rest.split_once('/').map_or("", |(_, below)| below);
            let root = root.map(|root| format!("{root}/")).unwrap_or_default();
            return trim_slashes(format!("{root}{below}"));
        }
        datadir.to_owned()
    }
}

fn trim_slashes(path: String) -> String {
    let path = path.trim_end_matches('/');
    if path.is_empty() { ".".to_owned() } else { path.to_owned() }
}

/// Returns the folder named by the text before the first token.
fn literal_folder(path: &str) -> FilePath {
    let literal = &path[..path.find("%{").unwrap_or(path.len())];
    FilePath::new(if literal.len() < path.len() {
        literal.rsplit_once('/').map_or("", |(folder, _)| folder)
    } else {
        literal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(pairs: &[(&str, &str)], datadir: &str) -> String {
        let mut mappings = PathMappings::default();
        pairs.iter().for_each(|(deployed, here)| mappings.add(deployed, here).unwrap());
        mappings.map(datadir, None, &|_| false)
    }

    #[test]
    fn rules_map_what_they_name() {
        let rules = [
            ("/etc/puppetlabs/code/environments/%{environment}", "."),
            ("/srv/data", "/mnt/shared-data"),
        ];
        assert_eq!(
            map(&rules, "/etc/puppetlabs/code/environments/production/hieradata"),
            "hieradata"
        );
        assert_eq!(
            map(&rules, "/etc/puppetlabs/code/environments/%{::environment}/hieradata"),
            "hieradata"
        );
        assert_eq!(map(&rules, "/srv/data/x"), "/mnt/shared-data/x");
        assert_eq!(map(&rules, "/srv/database"), "/srv/database");
        assert_eq!(map(&rules, "data"), "data");
    }

    #[test]
    fn a_huge_path_is_refused() {
        let mut mappings = PathMappings::default();
        assert!(mappings.add(&"/x".repeat(1 << 20), ".").unwrap_err().contains("too long"));
        let _ = mappings.add(&"%{x}".repeat(1000), "."); // The engine may take it or not.
        assert!(mappings.add("/srv", ".").is_ok());
    }

    #[test]
    fn the_standard_folder_needs_no_rule() {
        assert_eq!(map(&[], "/etc/puppetlabs/code/environments/%{environment}/data"), "data");
        assert_eq!(map(&[], "/etc/puppetlabs/code/environments/production"), ".");
        assert_eq!(map(&[], "/etc/puppetlabs/code/hieradata"), "/etc/puppetlabs/code/hieradata");
        let exists = |_: &FilePath| true;
        let kept = PathMappings::default().map(
            "/etc/puppetlabs/code/environments/production/data",
            None,
            &exists,
        );
        assert_eq!(
            kept, "/etc/puppetlabs/code/environments/production/data",
            "a folder that is there is meant"
        );
    }
}
