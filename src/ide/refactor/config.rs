//! Refactorings of a `hiera.yaml`: converted to version 5, and with structured facts for legacy
//! ones.
//!
//! Each is compared over the keys of the whole workspace, with the environments discovered again.
//! That is costly, so the server offers them when the user asks, and not while the cursor moves.

mod facts;
mod version_3;
mod version_4;

use super::{CONFIG_SHARE, Draft, Refactoring, RefactoringRequest};
use crate::fleet::compare::{Comparer, Effort};
use crate::fleet::proof::with_own_line_ends;
use crate::hiera::config::{ConfigProblemKind, ConfigVersion, HieraConfig};
use crate::ide::refactor::RefactoringKind;
use crate::text::{SourceChange, TextEdit, TextRange};
use crate::workspace::Snapshot;
use crate::yaml::{self, NodeId, NodeKind, Tree};

/// A `hiera.yaml` whose refactorings are wanted.
pub(super) struct ConfigFile<'a> {
    snapshot: &'a Snapshot,
    config: &'a HieraConfig,
    wanted: RefactoringRequest<'a>,
    text: String,
    tree: Tree,
    comparer: Comparer<'a>,
}

impl<'a> ConfigFile<'a> {
    /// `None` for a file that configures no layer, or that no user asks about.
    pub(super) fn from_wanted(
        snapshot: &'a Snapshot,
        wanted: RefactoringRequest<'a>,
    ) -> Option<ConfigFile<'a>> {
        if !wanted.is_by_user || !(wanted.kinds)(RefactoringKind::Rewrite) {
            return None;
        }
        let environments = &snapshot.environments().all;
        let config = environments.iter().find_map(|one| one.config_at(wanted.path))?;
        let text = snapshot.file_text(wanted.path)?;
        let tree = yaml::parse(&text);
        let effort = Effort::new(wanted.lookups.map(|lookups| lookups * CONFIG_SHARE));
        let comparer = Comparer::new(snapshot, effort);
        Some(ConfigFile { snapshot, config, wanted, text, tree, comparer })
    }

    /// Returns the refactorings at the place that is wanted.
    pub(super) fn offer_all(&self) -> Vec<Refactoring> {
        let mut drafts = Vec::new();
        drafts.extend(self.draft_conversion());
        facts::draft_facts(self, &mut drafts);
        let left = (1..=drafts.len()).rev();
        let offers = drafts.into_iter().zip(left).filter_map(|(draft, left)| {
            self.comparer.begin_change(left);
            self.offer_draft(draft)
        });
        offers.collect()
    }

    /// Drafts the conversion to version 5.
    fn draft_conversion(&self) -> Option<Draft> {
        let convert: fn(&ConfigFile<'_>) -> Result<Converted, String> = match self.config.version {
            ConfigVersion::V3 => version_3::convert,
            ConfigVersion::V4 => version_4::convert,
            ConfigVersion::V5 => return None,
        };
        let title = "Convert to version 5 of hiera.yaml".to_owned();
        let converted = self.is_convertible().and_then(|()| convert(self));
        Some(match converted {
            Ok(Converted { edits, remark }) => {
                let mut draft = self.new_draft(title, edits);
                draft.remark = remark;
                draft
            }
            Err(reason) => Draft::new_refused(RefactoringKind::Rewrite, title, &reason),
        })
    }

    /// Errors: the problem of the file that the user must fix first.
    fn is_convertible(&self) -> Result<(), String> {
        if let Some(message) = &self.config.refused {
            return Err(format!("Puppet refuses the file as it is: {message}"));
        }
        // Several layers may have the same config file.
        let environments = self.snapshot.environments().all.iter();
        let layers = environments.flat_map(|one| one.all_configs().map(|(_, config)| &**config));
        let same = layers.filter(|one| one.path == *self.wanted.path).chain([self.config]);
        if let Some(problem) =
            same.flat_map(|one| &one.problems).find(|it| it.kind != ConfigProblemKind::Deprecated)
        {
            return Err(format!("Puppet refuses the file as it is: {}", problem.message));
        }
        if self.tree.second_document.is_some() {
            return Err("the file has a second YAML document".to_owned());
        }
        if self.tree.nodes.iter().any(is_shared_node) {
            return Err("the file has anchors, aliases or tags".to_owned());
        }
        Ok(())
    }

    fn new_draft(&self, title: String, edits: Vec<TextEdit>) -> Draft {
        let mut change = SourceChange::default();
        for edit in edits {
            change.push(self.wanted.path, edit);
        }
        Draft::new(RefactoringKind::Rewrite, title, change, [])
    }

    /// Returns the refactoring of a draft; `None` where the file would configure nothing afterwards,
    /// and when cancelled.
    fn offer_draft(&self, draft: Draft) -> Option<Refactoring> {
        let Draft { title, kind, change, remark, .. } = draft;
        let change = match change {
            Ok(change) => with_own_line_ends(self.snapshot, self.wanted.path, change),
            Err(reason) => return Some(Refactoring::new_refused(kind, title, reason)),
        };
        let after = self.snapshot.after_change(&change)?;
        let environments = &after.environments().all;
        let later = environments.iter().find_map(|one| one.config_at(self.wanted.path))?;
        let known: Vec<&str> = self.config.problems.iter().map(|it| &*it.message).collect();
        if let Some(new) = later.problems.iter().find(|it| !known.contains(&&*it.message)) {
            let reason = format!("Puppet would refuse the result: {}", new.message);
            return Some(Refactoring::new_refused(kind, title, reason));
        }
        let found = self.comparer.compare(&after, &change, &[])?;
        let title = format!("{title}{}{remark}", found.effect_phrase());
        let is_neutral = found.is_neutral() && remark.is_empty();
        let changed = found.changed + found.left_out;
        Some(Refactoring { title, kind, change: Ok(change), is_neutral, changed, new_key: None })
    }

    /// Returns the key and the value of an entry of a hash, by its name without the colon of a
    /// symbol.
    fn find_entry(&self, hash: NodeId, name: &str) -> Option<(NodeId, NodeId)> {
        self.tree.entries(hash).iter().copied().find(|(key, _)| {
            let text = self.tree.scalar(*key);
            text.is_some_and(|text| text.strip_prefix(':').unwrap_or(text) == name)
        })
    }

    fn node_span(&self, node: NodeId) -> TextRange {
        self.tree.node(node).span
    }
}

fn is_shared_node(node: &yaml::Node) -> bool {
    let is_alias = matches!(node.kind, NodeKind::Alias { .. });
    is_alias || node.anchor.is_some() || node.tag.is_some()
}

/// The text of version 5.
struct Converted {
    edits: Vec<TextEdit>,
    /// The differences that no lookup for a node shows, as a remark behind the title.
    remark: String,
}
