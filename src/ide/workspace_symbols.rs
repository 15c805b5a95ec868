//! Search for root keys by name in the data of the whole workspace.

mod ranking;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use super::phrases::{PlaceNames, level_title};
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;
use crate::workspace::environments::Environment;
use ranking::Query;

/// The most definitions that a search returns. A list on a screen shows some tens.
const MAX_SYMBOLS: usize = 256;
/// Keys between two looks at the cancellation token.
const STRIDE: usize = 1_024;

/// A definition of a root key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySymbol {
    /// The key.
    pub key: Arc<str>,
    /// The file.
    pub path: FilePath,
    /// Where the key is written in the file.
    pub place: Span,
    /// The level that reads the file, if a location of one names it as it is, and the file, in
    /// words.
    pub container: String,
}

/// Returns definitions of the keys that `query` may mean, the likeliest key first, 256 definitions
/// at most. An empty query means all keys. A query means a key whose name has all of its characters
/// in their order, letters of either case.
pub fn workspace_symbols(snapshot: &Snapshot, query: &str) -> Vec<KeySymbol> {
    let mut found = Vec::new();
    for key in best_keys(snapshot, query) {
        let definitions = snapshot.keys().definitions(&key);
        let room = MAX_SYMBOLS - found.len();
        found.extend(
            definitions.iter().filter_map(|path| key_symbol(snapshot, &key, path)).take(room),
        );
        if found.len() == MAX_SYMBOLS || snapshot.cancel_token().is_cancelled() {
            break;
        }
    }
    found
}

/// Returns the keys that fit best, the best one first.
fn best_keys(snapshot: &Snapshot, query: &str) -> Vec<Arc<str>> {
    let query = Query::new(query);
    // The lowest of the kept candidates is at the top of the heap.
    let mut best = BinaryHeap::with_capacity(MAX_SYMBOLS);
    for (number, key) in snapshot.keys().keys().enumerate() {
        if number % STRIDE == 0 && snapshot.cancel_token().is_cancelled() {
            break;
        }
        let Some(rank) = query.rank_key(key) else { continue };
        let candidate = Reverse((rank, Reverse(key)));
        if best.len() < MAX_SYMBOLS {
            best.push(candidate);
        } else if let Some(mut least) = best.peek_mut()
            && candidate < *least
        {
            *least = candidate;
        }
    }
    best.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(key)))| key.clone()).collect()
}

pub(in crate::ide) fn key_symbol(
    snapshot: &Snapshot,
    key: &Arc<str>,
    path: &FilePath,
) -> Option<KeySymbol> {
    let mut environments = snapshot.environments().governing_environments(path);
    let environment = environments.find(|environment| environment.reaches_file(path))?;
    let place = snapshot.view(environment).data_of(path)?.definition_span(key)?;
    let root = naming_root(snapshot, environment);
    let file = PlaceNames { snapshot, root: &root }.short_path(path);
    let container = match environment.literal_matches(path).first() {
        Some((reach, _)) => format!("{} · {file}", level_title(&reach.layer, &reach.level.name)),
        None => file.to_owned(),
    };
    Some(KeySymbol { key: key.clone(), path: path.clone(), place, container })
}

/// Returns the folder from which files of an environment are named: its own, unless there are
/// several environments. Those of one opened folder are named from there, those of several with the
/// names of the folders.
fn naming_root(snapshot: &Snapshot, environment: &Environment) -> FilePath {
    let folders = snapshot.folders();
    let folder = folders
        .iter()
        .filter(|folder| environment.root.is_within(folder))
        .max_by_key(|folder| folder.as_str().len());
    match folder {
        Some(folder) if snapshot.environments().all.len() > 1 => match folder.parent() {
            Some(parent) if folders.len() > 1 => parent,
            _ => folder.clone(),
        },
        _ => environment.root.clone(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::disk::MemoryFs;
    use crate::fixture::Fixture;
    use crate::settings::open;

    const DATA: &str = "
#- levels Role Common
#- /data/roles/web.yaml
profile::web::port: 80
#- /data/common.yaml
company: x
profile::web::port: 443
profile::web::vhosts: {}
profile::webserver: 1
profile::base::web_password: geheim
ports: []
#- /module/metadata.json
web: 1
";

    fn check(query: &str, expected: Expect) {
        check_in(DATA, query, expected);
    }

    fn check_in(data: &str, query: &str, expected: Expect) {
        let fixture = Fixture::new(data);
        let mut lines = String::new();
        for found in workspace_symbols(&fixture.snapshot, query) {
            let place = Span::in_file(found.place.file, fixture.snapshot.span_bytes(found.place));
            assert_eq!(fixture.text_at(place), *found.key);
            lines.push_str(&format!("{} in {}\n", found.key, found.container));
        }
        expected.assert_eq(&lines);
    }

    #[test]
    fn files_of_several_environments_are_told_apart() {
        let fs = MemoryFs::new();
        for root in ["/code/one", "/code/other", "/srv/third"] {
            fs.write(&format!("{root}/hiera.yaml"), "version: 5\n");
            fs.write(&format!("{root}/data/common.yaml"), "motd: hello\n");
        }
        for (folders, expected) in [
            (&["/code"][..], &["one/data/common.yaml", "other/data/common.yaml"][..]),
            (&["/code/one", "/srv/third"], &["one/data/common.yaml", "third/data/common.yaml"]),
            (&["/code/one"], &["data/common.yaml"]),
        ] {
            let folders = folders.iter().map(|folder| FilePath::new(folder)).collect();
            let snapshot = open(folders, &[], Vec::new(), &fs).workspace.snapshot();
            let found = workspace_symbols(&snapshot, "motd");
            let files: Vec<&str> =
                found.iter().filter_map(|one| one.container.split(" · ").nth(1)).collect();
            assert_eq!(files, expected);
        }
    }

    #[test]
    fn a_key_is_found_by_the_starts_of_its_segments() {
        check(
            "pwp",
            expect![[r#"
                profile::web::port in Common · data/common.yaml
                profile::web::port in Role · data/roles/web.yaml
                profile::base::web_password in Common · data/common.yaml
            "#]],
        );
    }

    #[test]
    fn a_prefix_comes_first_and_letters_of_either_case_fit() {
        check(
            "PORT",
            expect![[r#"
                ports in Common · data/common.yaml
                profile::web::port in Common · data/common.yaml
                profile::web::port in Role · data/roles/web.yaml
            "#]],
        );
        check("nothing", expect![""]);
    }

    /// A folder that a level names in letters is no value of another level's variable.
    #[test]
    fn the_level_of_a_file_is_the_one_with_the_fewest_variables() {
        let data = "
#- /hiera.yaml
version: 5
hierarchy:
  - {name: Roles of a site, path: '%{site}/roles/%{role}.yaml'}
  - {name: Roles, path: 'common/roles/%{role}.yaml'}
  - {name: Site, path: '%{site}/%{site}.yaml'}
  - {name: Common, path: common/common.yaml}
#- /data/common/roles/api.yaml
k: 1
#- /data/common/common.yaml
k: 2
#- /data/oslo/roles/api.yaml
k: 3
";
        check_in(
            data,
            "k",
            expect![[r#"
                k in Common · data/common/common.yaml
                k in Roles · data/common/roles/api.yaml
                k in Roles of a site · data/oslo/roles/api.yaml
            "#]],
        );
    }

    #[test]
    fn no_query_means_all_keys() {
        let fixture = Fixture::new(DATA);
        assert_eq!(workspace_symbols(&fixture.snapshot, "").len(), 7);
    }

    #[test]
    fn the_list_ends_at_the_limit_with_the_likeliest_keys() {
        let mut text: String =
            (0..2 * MAX_SYMBOLS).map(|n| format!("a_{n}_zebra: {n}\n")).collect();
        text.push_str("zebra: 1\n");
        let fixture = Fixture::new(&text);
        let found = workspace_symbols(&fixture.snapshot, "zebra");
        assert_eq!((found.len(), &*found[0].key), (MAX_SYMBOLS, "zebra"));
    }

    #[test]
    fn a_cancelled_search_ends() {
        use crate::text::CancelToken;
        let fixture = Fixture::new(DATA);
        let cancelled = fixture.snapshot.clone().with_cancel_token(CancelToken::new(|| true));
        assert_eq!(workspace_symbols(&cancelled, "p"), []);
    }
}
