//! Reads the files that nodes come from: those that settings name, those that are recognized by their
//! shape, and the manifests with `node` blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracing::debug;

use super::FolderScan;
use crate::disk::{DiskEntry, Stamp, WalkLimits};
use crate::text::FilePath;
use crate::text::work::{Work, count_work};
use crate::workspace::config::EnvironmentConfig;
use crate::workspace::environments::Environments;
use crate::workspace::files::file::Content;
use crate::workspace::files::names::DiskNames;
use crate::workspace::files::parallel::on_all_cores;
use crate::workspace::nodes::InferStep;
use crate::workspace::nodes::source::{NodeSource, SourceContent};
use crate::workspace::nodes::sources::shapes::{self, Candidate};

impl FolderScan<'_> {
    /// Reads the nodes of the workspace, and those of each environment that has settings of its
    /// own.
    pub(super) fn read_nodes(&mut self, names: &DiskNames) {
        if let Some(sources) = &self.request.named_sources {
            let named = sources.iter().filter(|source| source.step.is_none());
            self.scan.sources.extend(named.cloned());
        }
        let (config, folders) = (self.request.config.clone(), self.request.folders.clone());
        self.read_nodes_of(None, &config.common, &folders, names);
        for (root, own) in &config.environments {
            let within: Vec<FilePath> =
                folders.iter().filter(|folder| root.is_within(folder)).cloned().collect();
            self.read_nodes_of(Some(root), own, &within, names);
        }
    }

    /// Reads the nodes that a config names, relative to these folders.
    fn read_nodes_of(
        &mut self,
        environment: Option<&FilePath>,
        config: &EnvironmentConfig,
        folders: &[FilePath],
        names: &DiskNames,
    ) {
        let mut seen = BTreeSet::new();
        let patterns = folders
            .iter()
            .flat_map(|folder| config.nodes.sources.iter().map(|source| folder.join(source)));
        let paths = patterns.flat_map(|pattern| self.files_named(pattern.as_str(), names).to_vec());
        // The file with a PuppetDB's answer exists once that PuppetDB was asked. Files that
        // settings name come after the answer, and win.
        let rows = &self.request.config.puppetdb_rows;
        let answer = rows.iter().filter(|path| self.fs.entry(path).is_some()).cloned();
        for path in answer.chain(paths).collect::<Vec<_>>() {
            self.named.insert(path.clone());
            // Globs may overlap, and so may folders.
            if !seen.insert(path.clone()) || self.request.named_sources.is_some() {
                continue;
            }
            let stamp = self.fs.entry(&path).and_then(DiskEntry::stamp);
            let known = self
                .request
                .known_sources
                .iter()
                .find(|known| {
                    (&known.path, known.environment.as_ref(), known.stamp)
                        == (&path, environment, stamp)
                        && known.step.is_none()
                        && stamp.is_some()
                        && self.has_same_included(known)
                })
                .cloned();
            let source = known.unwrap_or_else(|| NodeSource {
                nodes: self.nodes_in(&path),
                environment: environment.cloned(),
                step: None,
                path,
                stamp,
            });
            self.scan.sources.push(source);
        }
    }

    /// Reads nodes from files that no setting names: files that are chosen by their path or name,
    /// and the environments' own manifests, which are read already.
    pub(super) fn read_unnamed_nodes(&mut self, environments: &Environments) {
        let config = &self.request.config;
        let mut all = std::iter::once(&config.common).chain(config.environments.values());
        if !all.any(|one| one.nodes.infer.reads_files()) {
            return;
        }
        let files = self.scan.entries.iter().filter_map(|(path, entry)| match entry {
            DiskEntry::File(stamp) if !self.named.contains(path) => Some((path, *stamp)),
            _ => None,
        });
        let candidates: Vec<(FilePath, Stamp, Candidate)> = files
            .filter_map(|(path, stamp)| {
                let kind = shapes::source_candidate(path, environments, &self.request.folders)?;
                Some((path.clone(), stamp, kind))
            })
            .collect();
        let known: BTreeMap<&FilePath, &NodeSource> = self
            .request
            .known_sources
            .iter()
            .filter(|source| source.step.is_some())
            .map(|source| (&source.path, source))
            .collect();
        let same = |path: &FilePath, stamp: Stamp| {
            let source = *known.get(path)?;
            let is_same = source.stamp == Some(stamp) && stamp.modified.is_some();
            (is_same && self.has_same_included(source)).then(|| source.clone())
        };
        let found = on_all_cores(&candidates, |(path, stamp, kind)| {
            same(path, *stamp).unwrap_or_else(|| self.unnamed_nodes_in(path, *stamp, *kind))
        });
        let blocks = self.node_blocks(environments, &same);
        self.scan.sources.extend(found.into_iter().chain(blocks));
    }

    fn unnamed_nodes_in(&self, path: &FilePath, stamp: Stamp, kind: Candidate) -> NodeSource {
        let content = Content::new(self.fs.read(path, self.request.config.max_file_size));
        let found = match content {
            Content::Text(text) => {
                shapes::read(kind, path, &text.to_str(), &|path| self.included_file(path))
            }
            Content::NotUtf8(_) => None,
            // The file is reported as an unreadable source of nodes: its name alone made it a
            // candidate.
            Content::Unreadable(error) => {
                Some((InferStep::Facts, Err(format!("it cannot be read: {error}"))))
            }
        };
        // A file without nodes is remembered as well, so that it is not read again.
        let (step, nodes) = found.unwrap_or((InferStep::Facts, Ok(SourceContent::default())));
        let count = nodes.as_ref().map_or(0, |found| found.nodes.len());
        debug!(%path, nodes = count, "file may tell nodes");
        let (path, stamp) = (path.clone(), Some(stamp));
        NodeSource { path, environment: None, step: Some(step), stamp, nodes }
    }

    /// Whether the files that a source of nodes includes are still the same.
    fn has_same_included(&self, source: &NodeSource) -> bool {
        let included = source.nodes.as_ref().map_or(&[][..], |found| &found.included);
        included.iter().all(|(path, stamp)| {
            self.file_stamp(path) == *stamp && stamp.is_none_or(|stamp| stamp.modified.is_some())
        })
    }

    /// Returns the version of a file in the folders of the workspace.
    fn file_stamp(&self, path: &FilePath) -> Option<Stamp> {
        self.scan.entries.get(path).copied().and_then(DiskEntry::stamp)
    }

    /// Reads a file that a source of nodes includes; its text is `None` where there is no such file
    /// in the folders of the workspace.
    fn included_file(&self, path: &FilePath) -> (Option<Stamp>, Option<String>) {
        let Some(stamp) = self.file_stamp(path) else { return (None, None) };
        let content = Content::new(self.fs.read(path, self.request.config.max_file_size));
        let text = match content {
            Content::Text(text) => Some(text.to_str().into_owned()),
            Content::NotUtf8(_) | Content::Unreadable(_) => None,
        };
        (Some(stamp), text)
    }

    /// Reads the `node` blocks of the environments' own manifests.
    fn node_blocks(
        &self,
        environments: &Environments,
        same: &dyn Fn(&FilePath, Stamp) -> Option<NodeSource>,
    ) -> Vec<NodeSource> {
        let mut sources = Vec::new();
        let mut seen = BTreeSet::new();
        for main in environments.all.iter().map(|environment| &environment.main_manifests) {
            let files = self.scan.files.range(main.clone()..);
            let files = files.take_while(|(path, _)| path.is_within(main));
            for (path, found) in files.filter(|(path, _)| path.extension() == Some("pp")) {
                let Some(stamp) = self.file_stamp(path) else { continue };
                if !seen.insert(path) {
                    continue;
                }
                sources.push(same(path, stamp).unwrap_or_else(|| {
                    let manifest = found.file().manifest(None);
                    NodeSource {
                        path: path.clone(),
                        environment: None,
                        step: Some(InferStep::NodeBlocks),
                        stamp: Some(stamp),
                        nodes: Ok(shapes::in_manifest(path, &manifest)),
                    }
                }));
            }
        }
        sources
    }

    /// Returns the files that a pattern names: in the workspace, or where the user's own settings
    /// lead out of it.
    fn files_named(&self, pattern: &str, names: &DiskNames) -> Arc<[FilePath]> {
        let special = pattern.find(['*', '?', '[', '{', '\\']);
        let (start, rest) = match special.and_then(|at| pattern[..at].rfind('/')) {
            Some(slash) => pattern.split_at(slash),
            None => (pattern, ""),
        };
        let start = FilePath::new(if start.is_empty() { "/" } else { start });
        if self.request.folders.iter().any(|folder| start.is_within(folder)) {
            return names.glob_files(pattern);
        }
        let is_deep = rest.contains("**");
        let max_depth = if is_deep { self.limits.max_depth } else { rest.matches('/').count() };
        let limits = WalkLimits { max_depth, ..self.limits.clone() };
        DiskNames::new(self.fs.walk(&start, &limits).entries).glob_files(pattern)
    }

    fn nodes_in(&self, path: &FilePath) -> Result<SourceContent, String> {
        count_work(Work::Source);
        let text = match Content::new(self.fs.read(path, self.request.config.max_file_size)) {
            Content::Text(text) => text,
            Content::NotUtf8(_) => return Err("it is not UTF-8".into()),
            Content::Unreadable(error) => return Err(format!("it cannot be read: {error}")),
        };
        shapes::read_named(path, &text.to_str(), &|path| self.included_file(path))
    }
}
