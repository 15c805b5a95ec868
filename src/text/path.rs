//! Paths of files as text: `/` between parts, no `.` or `..` left. Asks nothing of the operating
//! system.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A normalised path. Absolute in the workspace; tests and snippets may use relative ones.
///
/// Two spellings of one file (`a/../b`, `a//b`) are equal; case is kept and counts, as Puppet runs
/// on systems where it does.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilePath(Arc<str>);

impl FilePath {
    /// Returns the path written `text`, with `\` read as `/` on Windows, and `.`, `..` and empty
    /// parts folded. A `..` above the root stays at the root.
    pub fn new(text: &str) -> FilePath {
        let text =
            if cfg!(windows) { Cow::Owned(text.replace('\\', "/")) } else { Cow::Borrowed(text) };
        if is_normal(&text) {
            return FilePath(text.into()); // as most are
        }
        let absolute = text.starts_with('/');
        let mut parts: Vec<&str> = Vec::new();
        for part in text.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
                ".." if absolute => {}
                part => parts.push(part),
            }
        }
        let joined = parts.join("/");
        FilePath(if absolute { format!("/{joined}").into() } else { joined.into() })
    }

    /// Returns this path with `relative` behind it; an absolute `relative` replaces it.
    pub fn join(&self, relative: &str) -> FilePath {
        let is_name = !relative.contains(['/', '\\']) && !matches!(relative, "" | "." | "..");
        if is_name && &*self.0 != "/" {
            FilePath(format!("{}/{relative}", self.0).into()) // nothing to fold
        } else if relative.starts_with('/') {
            FilePath::new(relative)
        } else {
            FilePath::new(&format!("{}/{relative}", self.0))
        }
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the path as shared text.
    pub fn as_arc(&self) -> &Arc<str> {
        &self.0
    }

    /// Returns the folder that holds the path; `None` for a root.
    pub fn parent(&self) -> Option<FilePath> {
        match self.0.rsplit_once('/') {
            Some(("", "")) | None => None,
            Some(("", _)) => Some(FilePath("/".into())),
            Some((parent, _)) => Some(FilePath(parent.into())),
        }
    }

    /// Returns the last part; empty for a root.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the part of the name behind its last dot, if any.
    pub fn extension(&self) -> Option<&str> {
        self.name().rsplit_once('.').map(|(_, extension)| extension)
    }

    /// Returns whether the path is `folder` or lies below it.
    pub fn is_within(&self, folder: &FilePath) -> bool {
        self.relative_to(folder).is_some()
    }

    /// Returns the rest of this path behind `folder`, without a leading `/`; `None` when the path
    /// does not lie below `folder`.
    pub fn relative_to(&self, folder: &FilePath) -> Option<&str> {
        let rest = self.0.strip_prefix(folder.as_str())?;
        if rest.is_empty() || folder.0.ends_with('/') { Some(rest) } else { rest.strip_prefix('/') }
    }

    /// Returns the folders that hold the path, the nearest first.
    pub fn ancestors(&self) -> impl Iterator<Item = FilePath> {
        std::iter::successors(self.parent(), FilePath::parent)
    }

    /// Returns the deepest folder in which both paths lie, or that is one of them.
    pub fn common_folder(&self, other: &FilePath) -> FilePath {
        let mut above = std::iter::once(self.clone()).chain(self.ancestors());
        above.find(|folder| other.is_within(folder)).unwrap_or_else(|| self.clone())
    }
}

/// Returns whether no part of a path is to be folded.
fn is_normal(path: &str) -> bool {
    path == "/"
        || path
            .strip_prefix('/')
            .unwrap_or(path)
            .split('/')
            .all(|part| !matches!(part, "" | "." | ".."))
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_joined_as_other_paths_are() {
        for folder in ["/", "/a", "/a/b", "a", "..", ""] {
            for name in ["c", "..c", ".", "..", "", "c/../d", "/c", "c\\d", "ä"] {
                let folder = FilePath::new(folder);
                let expected = if name.starts_with('/') {
                    FilePath::new(name)
                } else {
                    FilePath::new(&format!("{}/{name}", folder.as_str()))
                };
                assert_eq!(folder.join(name), expected, "{folder:?} {name:?}");
            }
        }
    }

    #[test]
    fn spellings_of_one_path_are_equal() {
        for spelling in [
            "/a/b.yaml",
            "/a//b.yaml",
            "/a/./b.yaml",
            "/a/x/../b.yaml",
            "/../a/b.yaml",
            "//a/b.yaml/",
        ] {
            assert_eq!(FilePath::new(spelling).as_str(), "/a/b.yaml", "{spelling}");
        }
        assert_eq!(FilePath::new("../x").as_str(), "../x");
    }

    #[test]
    fn parts() {
        let path = FilePath::new("/repo/data/common.yaml");
        assert_eq!(path.parent().unwrap().as_str(), "/repo/data");
        assert_eq!(path.name(), "common.yaml");
        assert_eq!(path.relative_to(&FilePath::new("/repo")), Some("data/common.yaml"));
        assert_eq!(path.relative_to(&FilePath::new("/rep")), None);
        assert_eq!(path.relative_to(&FilePath::new("/")), Some("repo/data/common.yaml"));
        assert_eq!(FilePath::new("/").parent(), None);
        assert_eq!(path.ancestors().count(), 3);
    }
}
