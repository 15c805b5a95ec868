//! Moves a key with its value and its comments to another level.

use super::{Document, DocumentEntry, Draft, RefactorContext, RefactoringKind, secrets};
use crate::hiera::config::{DataReader, HieraConfig, Layer, Level, Locations};
use crate::hiera::data::DataFormat;
use crate::hiera::hierarchy::locate_levels;
use crate::hiera::hierarchy::located::LevelTarget;
use crate::hiera::lookup::LOOKUP_OPTIONS;
use crate::text::{FilePath, SourceChange};
use std::sync::Arc;

/// The most levels that a key can be moved to.
const MAX_TARGETS: usize = 8;

/// A file that some level reads.
pub(super) struct MoveTarget {
    /// Its path.
    pub(super) path: FilePath,
    /// Whether it is there.
    pub(super) exists: bool,
    /// The level.
    pub(super) level: Arc<Level>,
    /// Whether every node reads it.
    pub(super) is_for_all: bool,
}

/// Drafts a move to each level that the scope of the file reads.
pub(super) fn draft_moves(context: &RefactorContext<'_>, drafts: &mut Vec<Draft>) {
    let Some(entry) = context.entry_of_key().filter(|entry| &*entry.name != LOOKUP_OPTIONS) else {
        return;
    };
    let targets: Vec<MoveTarget> = context
        .move_targets()
        .into_iter()
        .filter(|target| context.can_take(target, entry))
        .collect();
    let title = |target: &MoveTarget| {
        let new = if target.exists { "" } else { "the new file " };
        format!("Move `{}` to {new}{}", entry.name, context.short_path(&target.path))
    };
    if let Some(reason) = targets.first().and_then(|_| context.reason_against(entry)) {
        let title = format!("Move `{}` to another level", entry.name);
        return drafts.push(Draft::new_refused(RefactoringKind::Move, title, reason));
    }
    let count = targets.len();
    for target in targets.into_iter().take(MAX_TARGETS) {
        let Some(change) = context.move_entry(entry, &target) else { continue };
        let keys = [entry.name.clone()];
        drafts.push(Draft::new(RefactoringKind::Move, title(&target), change, keys));
    }
    if let (Some(last), true) = (drafts.last_mut(), count > MAX_TARGETS) {
        last.remark = format!(" ({} more levels are not listed)", count - MAX_TARGETS);
    }
}

impl RefactorContext<'_> {
    /// Returns the config and the layer that read this file.
    pub(super) fn reading_config(&self) -> Option<(Layer, &Arc<HieraConfig>)> {
        let layer = self.environment.layer_of(self.wanted.path)?;
        self.environment.all_configs().find(|(one, _)| one == layer)
    }

    /// Returns the other files of YAML that the scope of this file reads in its layer, in the order
    /// of the levels. Those that would be created are among them where that is possible.
    pub(super) fn move_targets(&self) -> Vec<MoveTarget> {
        let Some((_, config)) = self.reading_config() else { return Vec::new() };
        let scope = self.snapshot.scope_for(self.environment, self.wanted.path);
        let view = self.snapshot.view(self.environment);
        let creates = self.wanted.creates_files && self.wanted.is_by_user;
        let mut targets: Vec<MoveTarget> = Vec::new();
        for level in
            locate_levels(config, &config.hierarchy, &scope, &view, None).unwrap_or_default()
        {
            let is_yaml =
                level.level.backend.data_reader().map(DataReader::format) == Some(DataFormat::Yaml);
            let is_named = matches!(level.level.locations, Locations::Paths(_));
            for location in level.locations.iter().filter(|_| is_yaml) {
                let LevelTarget::File { path, exists } = &location.place else { continue };
                if *path == *self.wanted.path
                    || !(*exists || creates && is_named)
                    || targets.iter().any(|target| target.path == *path)
                    || self.snapshot.is_third_party(self.environment, path)
                    || !self.snapshot.may_change(path)
                {
                    continue;
                }
                let template = location.template.as_ref().map(|template| &*template.text);
                let has_token = |text: &str| text.contains("%{");
                let is_for_all = !template.is_some_and(has_token)
                    && !has_token(&level.level.datadir.text)
                    && is_named;
                targets.push(MoveTarget {
                    path: path.clone(),
                    exists: *exists,
                    level: level.level.clone(),
                    is_for_all,
                });
            }
        }
        targets
    }

    /// Whether a file can take an entry: it has no such key, and reads encrypted text likewise.
    fn can_take(&self, target: &MoveTarget, entry: &DocumentEntry) -> bool {
        let view = self.snapshot.view(self.environment);
        let data = view.data_of(&target.path);
        if data.is_some_and(|data| data.get(&entry.name).is_some()) {
            return false;
        }
        !self.is_encrypted(entry) || self.is_read_alike(target)
    }

    /// Whether a level decrypts as those do that read this file.
    fn is_read_alike(&self, target: &MoveTarget) -> bool {
        self.environment.path_matches(self.wanted.path).all(|(reach, _)| {
            reach.level.backend == target.level.backend
                && reach.level.options == target.level.options
        })
    }

    /// Returns the reason why an entry cannot leave its file.
    pub(super) fn reason_against(&self, entry: &DocumentEntry) -> Option<&'static str> {
        if self.is_sensitive(&entry.name) {
            return Some(secrets::REASON);
        }
        if self.document.has_anchors(entry) {
            return Some(
                "the value has an anchor or an alias, which means nothing in another file",
            );
        }
        if self.document.find_entry("sops").is_some() {
            return Some("the file is sealed with a checksum by SOPS");
        }
        let is_third_party = self.snapshot.is_third_party(self.environment, self.wanted.path);
        is_third_party.then_some("the file belongs to a module that a tool installed")
    }

    fn move_entry(&self, entry: &DocumentEntry, target: &MoveTarget) -> Option<SourceChange> {
        let mut change = SourceChange::default();
        self.add_to(target, &entry.name, &self.document.text_of(entry), &mut change)?;
        change.push(self.wanted.path, self.document.removal_edit(entry));
        Some(change)
    }

    /// Adds an entry to a file that exists or is created.
    pub(super) fn add_to(
        &self,
        target: &MoveTarget,
        name: &str,
        text: &str,
        change: &mut SourceChange,
    ) -> Option<()> {
        if target.exists {
            let document = Document::from_file(self.snapshot, &target.path)?;
            if document.find_entry("sops").is_some() {
                return None;
            }
            change.push(&target.path, document.insertion_edit(name, text));
        } else {
            let marker = if self.document.has_marker() { "---\n" } else { "" };
            change.created.insert(target.path.clone(), format!("{marker}{text}"));
        }
        Some(())
    }
}
