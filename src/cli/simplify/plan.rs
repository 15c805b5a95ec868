//! The steps that make data smaller. Each step begins with the result of the one before.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::arguments::StepKind;
use crate::diagnostics::fix::{Fix, Safety, choose_fixes};
use crate::diagnostics::{Finding, RulesConfig, Severity, check_all, rules};
use crate::fleet::proof::dropped_comments;
use crate::hiera::data::DataFormat;
use crate::ide::refactor::find_pull;
use crate::text::{FilePath, SourceChange, count_phrase};
use crate::workspace::Snapshot;

/// The rules whose findings are entries that no value needs.
const OVERRIDES: [&str; 4] =
    ["redundant-override", "merge-adds-nothing", "shadowed-definition", "duplicate-key"];
/// The rule whose findings are keys that nothing reads.
const DEAD_KEYS: [&str; 1] = ["unread-key"];

/// A step.
pub(super) struct Step {
    /// The step's effect, in words.
    pub(super) title: String,
    /// The proof that the step is right, in words.
    pub(super) proof: &'static str,
    /// The files before the step.
    pub(super) before: Snapshot,
    /// The files after the step; those that it removes are empty.
    pub(super) after: Snapshot,
    /// The texts of the changed files.
    pub(super) texts: BTreeMap<FilePath, StepTexts>,
}

/// The texts of a file.
pub(super) struct StepTexts {
    pub(super) before: String,
    /// `None`: the file is removed.
    pub(super) after: Option<String>,
}

/// Returns the steps of these kinds, in the order of the kinds in [`StepKind`].
pub(super) fn plan_steps(
    kinds: &[StepKind],
    snapshot: &Snapshot,
    settings: &RulesConfig,
) -> Vec<Step> {
    let mut plan = Plan { settings, now: snapshot.clone(), steps: Vec::new() };
    if kinds.contains(&StepKind::Overrides) {
        plan.remove_entries(&OVERRIDES, Safety::KeepsValues);
    }
    if kinds.contains(&StepKind::PullDown) {
        plan.pull_values();
    }
    if kinds.contains(&StepKind::DeadKeys) {
        plan.remove_entries(&DEAD_KEYS, Safety::ChangesValues);
    }
    if kinds.contains(&StepKind::EmptyFiles) {
        plan.remove_files();
    }
    plan.steps
}

/// The steps so far, and the files after them.
struct Plan<'a> {
    /// The settings of the rules: paths that are ignored stay as they are.
    settings: &'a RulesConfig,
    now: Snapshot,
    steps: Vec<Step>,
}

impl Plan<'_> {
    /// Adds a step for each level that has entries which these rules find; again for those that the
    /// removal of others makes removable.
    fn remove_entries(&mut self, rules: &[&str], safety: Safety) {
        loop {
            let findings = find_entries(&self.now, rules, self.settings);
            let mut levels: BTreeMap<(usize, Arc<str>), Vec<&Finding>> = BTreeMap::new();
            for finding in &findings {
                if let Some(level) = level_of(finding, &self.now) {
                    levels.entry(level).or_default().push(finding);
                }
            }
            let steps = self.steps.len();
            for ((_, level), findings) in levels {
                self.remove_entries_of(&level, &findings, safety);
            }
            if self.steps.len() == steps {
                return;
            }
        }
    }

    fn remove_entries_of(&mut self, level: &str, findings: &[&Finding], safety: Safety) {
        // Safe fixes drop no comment anyway.
        let findings: Vec<&Finding> = match safety {
            Safety::KeepsValues => findings.to_vec(),
            Safety::ChangesValues => findings
                .iter()
                .filter(|finding| {
                    let change = choose_fixes(&self.now, &[**finding], safety).change;
                    let after = self.now.after_change(&change);
                    after.is_some_and(|after| dropped_comments(&self.now, &after, &change) == 0)
                })
                .copied()
                .collect(),
        };
        let chosen = choose_fixes(&self.now, &findings, safety);
        let count = count_phrase(chosen.findings.len(), "entry");
        let (title, proof) = match safety {
            Safety::KeepsValues => (
                format!("remove {count} that no value needs from '{level}'"),
                "the values of all known nodes are the same before and after",
            ),
            Safety::ChangesValues => (
                format!("remove {count} that nothing reads from '{level}'"),
                "no class, call, template or token here reads the keys",
            ),
        };
        self.add_step(title, proof, &chosen.change);
    }

    /// Adds a step with all values that can be pulled down.
    fn pull_values(&mut self) {
        let before = self.now.clone();
        let keys: Vec<Arc<str>> = before.keys().keys().cloned().collect();
        let (mut pulled, mut touched) = (0, SourceChange::default());
        for key in keys {
            let Some(change) = find_pull_of(&key, &self.now) else { continue };
            let Some(after) = self.now.after_change(&change) else { continue };
            touched.edits.extend(change.edits.into_keys().map(|path| (path, Vec::new())));
            (self.now, pulled) = (after, pulled + 1);
        }
        let count = count_phrase(pulled, "value");
        let title = format!("move {count} that all files share to the lowest level");
        let proof = "the values of all known nodes are the same before and after";
        self.record_step(title, proof, before, &touched);
    }

    /// Adds a step with the files of levels that have no data and no comment.
    fn remove_files(&mut self) {
        let files = self.now.files().filter(|file| {
            file.format() == DataFormat::Yaml
                && self.may_remove(&file.path)
                && has_no_text(file.text())
        });
        let texts: BTreeMap<FilePath, StepTexts> = files
            .filter_map(|file| {
                let before = file.text()?.to_str().into_owned();
                Some((file.path.clone(), StepTexts { before, after: None }))
            })
            .collect();
        if !texts.is_empty() {
            let count = count_phrase(texts.len(), "file");
            let title = format!("remove {count} without data");
            let (before, after) = (self.now.clone(), self.now.clone());
            let proof = "an empty file defines no key";
            self.steps.push(Step { title, proof, before, after, texts });
        }
    }

    fn may_remove(&self, path: &FilePath) -> bool {
        let is_reached = self.now.environments().governing_environments(path).next();
        is_reached.is_some_and(|environment| environment.reaches_file(path))
            && self.now.may_change(path)
    }

    fn add_step(&mut self, title: String, proof: &'static str, change: &SourceChange) {
        let Some(after) = self.now.after_change(change) else { return };
        let before = std::mem::replace(&mut self.now, after);
        self.record_step(title, proof, before, change);
    }

    /// Records the step from `before` to now, if it changes a text.
    fn record_step(
        &mut self,
        title: String,
        proof: &'static str,
        before: Snapshot,
        touched: &SourceChange,
    ) {
        let texts = touched.edits.keys().filter_map(|path| {
            let (old, new) = (before.file_text(path)?, self.now.file_text(path)?);
            (old != new).then(|| (path.clone(), StepTexts { before: old, after: Some(new) }))
        });
        let texts: BTreeMap<FilePath, StepTexts> = texts.collect();
        if !texts.is_empty() {
            self.steps.push(Step { title, proof, before, after: self.now.clone(), texts });
        }
    }
}

/// Returns the findings of the rules with these codes whose fix removes an entry; all other rules
/// are off. The key that was probably meant gets another value by a fix that renames a key.
fn find_entries(snapshot: &Snapshot, codes: &[&str], settings: &RulesConfig) -> Vec<Finding> {
    let severities = rules::RULES.iter().map(|rule| {
        (
            rule.code.into(),
            if codes.contains(&rule.code) { Severity::Warning } else { Severity::Off },
        )
    });
    let config = RulesConfig {
        severities: severities.collect(),
        environments: Default::default(),
        ..settings.clone()
    };
    let mut findings = check_all(snapshot, &config);
    findings.retain(|finding| {
        finding.fix.as_deref().is_some_and(Fix::only_removes) && finding.cause.is_none()
    });
    findings
}

/// Returns the level whose file has a finding, with its number; `None` for a file of no level.
fn level_of(finding: &Finding, snapshot: &Snapshot) -> Option<(usize, Arc<str>)> {
    let path = snapshot.path_of(finding.span.file)?;
    let environment = snapshot.environments().governing_environments(path).next()?;
    let number = environment.locations_leading_to(path).into_iter().next()?;
    let level = &environment.reach[number].level;
    let first = environment.reach.iter().position(|reach| Arc::ptr_eq(&reach.level, level))?;
    Some((first, level.name.clone()))
}

/// Returns the change that moves a key down and changes no value of a known node; `None` where there
/// is none. A node of another kind than all known ones would get the value, too.
fn find_pull_of(key: &str, snapshot: &Snapshot) -> Option<SourceChange> {
    let path = snapshot.keys().definitions(key).iter().next()?.clone();
    let environment = snapshot.environments().governing_environments(&path).next()?;
    if snapshot.nodes_of(environment).is_empty() {
        return None;
    }
    let file = snapshot.file(&path)?;
    let span = file.data_as(file.format()).get(key)?.key_origin?;
    let pull = find_pull(snapshot, &path, snapshot.span_bytes(span))?;
    let change = pull.change.ok().filter(|_| pull.changed == 0)?;
    let after = snapshot.after_change(&change)?;
    (dropped_comments(snapshot, &after, &change) == 0).then_some(change)
}

/// Whether a text of YAML has neither data nor a comment.
fn has_no_text(text: Option<&crate::text::Text>) -> bool {
    text.is_some_and(|text| {
        text.to_str().lines().all(|line| matches!(line.trim(), "" | "---" | "..." | "{}"))
    })
}
