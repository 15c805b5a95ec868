//! The nodes and the files of levels that a chooser lists.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::subjects::{Answers, Subjects};
use super::{Chosen, OverrideList, OverrideTarget, RefactorContext, TargetFile};
use crate::hiera::hierarchy::located::LevelTarget;
use crate::hiera::resolution::{Outcome, Resolution};
use crate::ide::change_report::masking::{HIDDEN, Masking};
use crate::ide::refactor::targets::MoveTarget;
use crate::text::{FilePath, Span};
use crate::workspace::environments::Environment;

/// The most nodes that are listed.
const MAX_NODES: usize = 50;
/// The most files of levels that are listed.
const MAX_FILES: usize = 50;

/// The most lookups for the values of all nodes.
const MAX_ANSWERS: usize = 500;

impl RefactorContext<'_> {
    pub(super) fn list_targets(&self, key: Arc<str>, filter: &str) -> OverrideList {
        let subjects = Subjects::of_context(self);
        let filter = filter.to_lowercase();
        let all: Vec<usize> = (0..subjects.scopes.len()).collect();
        let answers = subjects.answers_of(&key, &all, MAX_ANSWERS);
        let (mut targets, left_out_files) = self.list_files(&key, &filter, &subjects, &answers);
        let (nodes, left_out_nodes) = self.list_nodes(&key, &filter, &subjects, &answers);
        targets.extend(nodes);
        let nodes = if subjects.is_file_alone { 0 } else { subjects.scopes.len() };
        let are_kinds = subjects.are_kinds && nodes > 0;
        OverrideList { key, nodes, are_kinds, targets, left_out_files, left_out_nodes }
    }

    /// Returns the nodes that fit a filter, those whose names begin with it first, and how many there
    /// are beyond the limit.
    fn list_nodes(
        &self,
        key: &str,
        filter: &str,
        subjects: &Subjects<'_>,
        answers: &Answers,
    ) -> (Vec<OverrideTarget>, usize) {
        if subjects.is_file_alone {
            return (Vec::new(), 0);
        }
        let mut fitting: Vec<(bool, usize)> = (0..subjects.scopes.len())
            .filter_map(|node| {
                let at = subjects.name_of(node).to_lowercase().find(filter)?;
                Some((at > 0, node))
            })
            .collect();
        fitting.sort_unstable();
        let left_out = fitting.len().saturating_sub(MAX_NODES);
        fitting.truncate(MAX_NODES);
        let mut nodes: Vec<usize> = fitting.iter().map(|(_, node)| *node).collect();
        nodes.sort_unstable();
        nodes.retain(|node| answers.lookup_of(*node).is_none());
        let others = subjects.answers_of(key, &nodes, MAX_NODES);
        let listed = fitting.into_iter().filter_map(|(_, node)| {
            let answer = answers.lookup_of(node).or_else(|| others.lookup_of(node))?;
            Some(self.node_target(key, node, answer, subjects))
        });
        (listed.collect(), left_out)
    }

    fn node_target(
        &self,
        key: &str,
        node: usize,
        answer: &Resolution,
        subjects: &Subjects<'_>,
    ) -> OverrideTarget {
        let text = self.entry_of_key().map(|entry| self.document.text_of(entry));
        let text = text.unwrap_or_default();
        let open = subjects.open_targets(node, answer);
        let files = open
            .into_iter()
            .filter(|target| self.can_take(target, key, (self.wanted.path, &text)))
            .map(|target| TargetFile::new(&target, subjects.readers_of(&target.path).len()));
        let file = files.min_by_key(|file| file.readers);
        let stated = match file {
            Some(_) => None,
            None => answer.steps.iter().find_map(|step| match &step.outcome {
                Outcome::Found { key, .. } => *key,
                Outcome::Answered { backend, .. } => backend.span,
                _ => None,
            }),
        };
        let name = subjects.scopes[node].name.clone();
        let value = self.value_phrase(key, &[answer]);
        OverrideTarget { chosen: Chosen::Node(name), file, stated, value }
    }

    /// Returns the files of levels that fit a filter, those of most nodes first, and how many there are
    /// beyond the limit. A file counts where it has the key, or where an entry in it would govern a
    /// node.
    fn list_files(
        &self,
        key: &str,
        filter: &str,
        subjects: &Subjects<'_>,
        answers: &Answers,
    ) -> (Vec<OverrideTarget>, usize) {
        let mut listed: Vec<(usize, OverrideTarget)> = Vec::new();
        for (path, target) in self.level_files(subjects) {
            let shown_path = self.short_path(&path).to_lowercase();
            let level_name = target.level.name.to_lowercase();
            if !shown_path.contains(filter) && !level_name.contains(filter) {
                continue;
            }
            if self.snapshot.cancel_token().is_cancelled() {
                break;
            }
            let readers = subjects.readers_of(&path);
            let stated = self.definition_in(&path, key);
            let governed = match stated {
                Some(_) => Vec::new(),
                None => subjects.governed_by(&path, &readers, answers),
            };
            let shown = if stated.is_some() { &readers } else { &governed };
            // Nodes beyond the limit have no answer, and mostly read the same data as the first of
            // these nodes.
            let open = readers.iter().find(|node| answers.group_of(**node).is_none());
            let governs_open = |node: &usize| {
                let own = subjects.answers_of(key, &[*node], 1);
                !subjects.governed_by(&path, &[*node], &own).is_empty()
            };
            if shown.is_empty() && !open.is_some_and(governs_open) {
                continue;
            }
            let found = answers.resolutions_of(shown);
            let value = match open {
                Some(_) => "more values than are compared".to_owned(),
                None => self.value_phrase(key, &found),
            };
            let file = Some(TargetFile::new(&target, readers.len()));
            let chosen = Chosen::File(path);
            listed.push((readers.len(), OverrideTarget { chosen, file, stated, value }));
        }
        listed.sort_by_key(|(readers, _)| std::cmp::Reverse(*readers));
        let left_out = listed.len().saturating_sub(MAX_FILES);
        listed.truncate(MAX_FILES);
        (listed.into_iter().map(|(_, target)| target).collect(), left_out)
    }

    fn definition_in(&self, path: &FilePath, key: &str) -> Option<Span> {
        self.snapshot.view(self.environment).data_of(path)?.definition_span(key)
    }

    /// Returns the files that levels name for nodes as targets, but for those of single nodes, which
    /// are listed by their names.
    fn level_files(&self, subjects: &Subjects<'_>) -> Vec<(FilePath, MoveTarget)> {
        let of_nodes = self.node_locations();
        // A file has no target where it cannot take the entry.
        let mut files: BTreeMap<FilePath, Option<MoveTarget>> = BTreeMap::new();
        for (_, config) in subjects.layers() {
            for level in &config.hierarchy {
                let templates = level.locations.templates();
                if self.snapshot.cancel_token().is_cancelled()
                    || templates.iter().all(|it| of_nodes.contains(&*it.text))
                {
                    continue;
                }
                for node in subjects.nodes_apart(config, level) {
                    let scope = &subjects.scopes[node];
                    let located = self.located_levels(config, std::slice::from_ref(level), scope);
                    for location in located.iter().flat_map(|level| level.locations.iter()) {
                        let LevelTarget::File { path, .. } = &location.place else { continue };
                        let template = location.template.as_ref();
                        let is_of_node = template.is_some_and(|it| of_nodes.contains(&*it.text));
                        if !is_of_node && !files.contains_key(path) {
                            files.insert(path.clone(), self.target_of(level, location, scope));
                        }
                    }
                }
            }
        }
        files.into_iter().filter_map(|(path, target)| Some((path, target?))).collect()
    }

    /// Returns the locations, as written, whose files are one node each.
    fn node_locations(&self) -> BTreeSet<&str> {
        let Environment { reach, .. } = &**self.environment;
        let names = self.snapshot.node_variables(self.environment);
        let of_nodes = reach
            .iter()
            .filter(|it| it.pattern.variables().iter().any(|variable| names.contains(variable)));
        of_nodes.map(|reach| &*reach.template.text).collect()
    }

    /// Returns the values of lookups in words.
    fn value_phrase(&self, key: &str, found: &[&Resolution]) -> String {
        let masking = Masking { snapshots: [self.snapshot, self.snapshot], reveals: false };
        let mut texts: HashMap<String, usize> = HashMap::new();
        for text in found.iter().map(|resolution| resolution_phrase(resolution, &masking, key)) {
            *texts.entry(text).or_default() += 1;
        }
        match texts.len() {
            1 => texts.into_keys().next().unwrap_or_default(),
            count => format!("{count} values"),
        }
    }
}

fn resolution_phrase(resolution: &Resolution, masking: &Masking<'_>, key: &str) -> String {
    match &resolution.value {
        Err(_) => "the lookup fails".to_owned(),
        Ok(None) => "no value".to_owned(),
        Ok(Some(_)) if masking.hides(key, resolution) => HIDDEN.to_owned(),
        Ok(Some(value)) => masking.text(value),
    }
}
