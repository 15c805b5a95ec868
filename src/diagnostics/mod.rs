//! Findings: the problems of a file, or of a whole workspace. The command line calls [`check_all`] and
//! [`check_file`]; the server keeps [`Findings`], which equal the results of both.

mod anchors;
pub mod fix;
mod identity;
mod ignores;
mod removal;
pub(crate) mod render;
pub mod rule;
pub mod rules;
mod secret_lines;
mod session;
mod shares;
#[cfg(test)]
mod tests;

use std::borrow::Borrow;
use std::cell::{LazyCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

pub use anchors::carries_anchor;
pub use identity::{FindingIdentity, finding_identities};
pub use ignores::IgnoredPaths;
pub use rule::{Finding, Needs, Related, Rule, RuleGroup, Severity, Tag};
pub(crate) use rules::unknown_key::describe_absent_files;
pub(crate) use session::{CODE, changes_between};
pub use session::{Findings, ReportedFindings};
pub use shares::{FileFindings, check_share, join_shares};

use crate::fleet::answer_cache::AnswerCache;
use crate::hiera::config::{HieraConfig, Layer};
use crate::hiera::data::{DataFile, DataFormat, EntryData, Problem, ProblemKind, Reference};
use crate::hiera::error::{LookupError, LookupErrorKind};
use crate::hiera::key::LookupKey;
use crate::hiera::lookup::Resolver;
use crate::hiera::lookup_options::OptionsEntry;
use crate::hiera::merge::Strategy;
use crate::hiera::resolution::Resolution;
use crate::puppet::value::Member;
use crate::text::{FilePath, Limit, Span, Text, TextRange};
use crate::workspace::Snapshot;
use crate::workspace::share::Share;
use removal::RemovalProofs;
use rule::{Check, DataContext, Dependence, EntryContext, FileContext};

/// The enabled rules, and the severities of their findings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesConfig {
    /// Severities that differ from the rules' own, by code.
    pub severities: Severities,
    /// The rules that are on where no severity is given.
    pub preset: Preset,
    /// The severities of environments with settings of their own, by their folders.
    pub environments: BTreeMap<FilePath, Severities>,
    /// The files in which settings accept findings.
    pub ignored: Vec<IgnoredPaths>,
    /// The files in which settings accept findings, of environments with settings of their own, by
    /// their folders.
    pub ignored_in_environments: BTreeMap<FilePath, Vec<IgnoredPaths>>,
    /// Whether modules that a tool installed are checked, too. By default they are not, as the user
    /// cannot fix them.
    pub third_party: bool,
    /// The settings in settings files that have no effect.
    pub settings: Vec<WrongSetting>,
}

/// A setting in a settings file that has no effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongSetting {
    /// The settings file.
    pub file: FilePath,
    /// The place in the settings file.
    pub range: TextRange,
    /// The problem, in words.
    pub message: String,
}

/// A choice of rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// The rules of the group *broken*.
    Minimal,
    /// The rules that are on by themselves.
    #[default]
    Recommended,
    /// All rules; those that are off by themselves have the severity `info`.
    Strict,
}

impl Preset {
    /// The names in settings and arguments.
    pub const NAMES: [&str; 3] = ["minimal", "recommended", "strict"];

    /// Returns the preset of this name.
    pub fn from_name(name: &str) -> Option<Preset> {
        match name {
            "minimal" => Some(Preset::Minimal),
            "recommended" => Some(Preset::Recommended),
            "strict" => Some(Preset::Strict),
            _ => None,
        }
    }

    /// Returns the severity that the preset gives the findings of a rule; `None` for the rule's
    /// own.
    fn severity(self, rule: &Rule) -> Option<Severity> {
        match self {
            Preset::Minimal if rule.group != RuleGroup::Broken => Some(Severity::Off),
            Preset::Strict if rule.severity == Severity::Off => Some(Severity::Info),
            _ => None,
        }
    }
}

/// Severities that differ from the rules' own, by code.
pub type Severities = BTreeMap<String, Severity>;

impl RulesConfig {
    /// Returns the severities in the environment in this folder.
    pub fn severities_in(&self, environment: &FilePath) -> &Severities {
        self.environments.get(environment).unwrap_or(&self.severities)
    }

    /// Returns the accepted findings by files in the environment in this folder.
    pub fn ignored_in(&self, environment: &FilePath) -> &[IgnoredPaths] {
        self.ignored_in_environments.get(environment).unwrap_or(&self.ignored)
    }
}

/// Returns the findings in one file, in the order of their places; none for a file that no
/// environment governs.
///
/// Until the workspace has been read, only rules that need no other file run.
pub fn check_file(snapshot: &Snapshot, path: &FilePath, config: &RulesConfig) -> Vec<Finding> {
    let answers = AnswerCache::default();
    let found = shares::check_units(snapshot, path, config, &answers, Share::WHOLE);
    shares::join_units(snapshot, path, config, found)
}

/// Returns the findings in one file of the rules that need no index, in the order of their places:
/// the check takes little time in a workspace that was not indexed yet. [`check_file`] returns all
/// of these findings, too. A file of a module that a tool may have installed has none, as an index
/// tells whether it is checked.
pub fn check_file_early(
    snapshot: &Snapshot,
    path: &FilePath,
    config: &RulesConfig,
) -> Vec<Arc<Finding>> {
    let environment = snapshot.environments().environment_of(path);
    if !config.third_party && environment.is_some_and(|it| snapshot.may_be_third_party(it, path)) {
        return Vec::new();
    }
    let known = Needs::known_at_once(snapshot);
    let answers = AnswerCache::default();
    let findings =
        FileCheck::check_with(snapshot, path, config, &answers, |check: &FileCheck<'_>| {
            in_order(snapshot, check.check_whole(known))
        })
        .unwrap_or_else(|| in_order(snapshot, of_other_file(snapshot, path, config)));
    let findings = ignores::unaccepted_findings(snapshot, path, config, findings);
    findings.into_iter().map(Arc::new).collect()
}

/// Returns the findings that touch a range of a file, in the order of their places; without those
/// of lookup cycles.
pub fn check_range(
    snapshot: &Snapshot,
    path: &FilePath,
    range: TextRange,
    config: &RulesConfig,
) -> Vec<Finding> {
    let answers = AnswerCache::default();
    let findings = FileCheck::check_with(snapshot, path, config, &answers, |check| {
        check_parts(check, range, snapshot)
    })
    .unwrap_or_default();
    ignores::unaccepted_findings(snapshot, path, config, findings)
}

fn check_parts(check: &FileCheck<'_>, range: TextRange, snapshot: &Snapshot) -> Vec<Finding> {
    let length = check.context.file.text().map_or(0, Text::len);
    let known = Needs::known_at_most(snapshot);
    let mut findings = check.check_file(known);
    let placed = check.data.parts().placed_parts(length);
    let met = placed.filter(|(bytes, _)| bytes.meets_range(range));
    findings.extend(met.flat_map(|(_, part)| check.check_entry(&part.data, known)));
    findings.retain(|finding| snapshot.span_bytes(finding.span).meets_range(range));
    in_order(snapshot, findings)
}

/// Returns the findings in a file that no environment governs: a settings file, or the
/// metadata.json of a module that Puppet passes over. None for any other file.
fn of_other_file(snapshot: &Snapshot, path: &FilePath, config: &RulesConfig) -> Vec<Finding> {
    let wrong: Vec<&WrongSetting> =
        config.settings.iter().filter(|wrong| wrong.file == *path).collect();
    let refused = snapshot.environments().refused_module(path);
    let is_told = !wrong.is_empty() || refused.is_some();
    let Some(file) = snapshot.file(path).filter(|_| is_told) else { return Vec::new() };
    let severities = match (refused, path.parent()) {
        (Some((environment, _)), _) => config.severities_in(&environment.root),
        (None, Some(folder)) => config.severities_in(&folder),
        (None, None) => &config.severities,
    };
    let mut findings = Vec::new();
    for (rule, severity) in enabled_rules(severities, config.preset) {
        let found = match rule.check {
            Check::Setting(check) => wrong.iter().map(|wrong| check(wrong, file)).collect(),
            Check::Module(check) => refused.iter().map(|(_, it)| check(it, file)).collect(),
            _ => Vec::new(),
        };
        findings.extend(
            found.into_iter().map(|finding| Finding {
                severity: severity.unwrap_or(finding.severity),
                ..finding
            }),
        );
    }
    findings
}

/// Returns the findings of the whole workspace: those of each file, files in the order of their
/// paths.
pub fn check_all(snapshot: &Snapshot, config: &RulesConfig) -> Vec<Finding> {
    join_shares(snapshot, config, check_share(snapshot, config, Share::WHOLE))
}

/// Makes the indexes that rules ask, once, before all threads wait for them.
pub fn prepare(snapshot: &Snapshot) {
    snapshot.keys();
    for environment in &snapshot.environments().all {
        snapshot.manifests(environment);
    }
}

/// Whether a problem of a data file is one of a `hiera.yaml`, too: keys and tokens have another
/// meaning there.
fn concerns_config(problem: &Problem) -> bool {
    use ProblemKind::{DuplicateKey, Syntax, UnclosedToken, Unloadable, Unreadable};
    matches!(
        problem.kind,
        Syntax { .. } | Unreadable(_) | Unloadable(_) | DuplicateKey { .. } | UnclosedToken
    )
}

/// The enabled rules, with the severities that settings give them.
type EnabledRules = Vec<(&'static Rule, Option<Severity>)>;

/// The rules that these severities leave on.
fn enabled_rules(severities: &Severities, preset: Preset) -> EnabledRules {
    rules::RULES
        .iter()
        .map(|rule| {
            let given = severities.get(rule.code).copied();
            (*rule, given.or_else(|| preset.severity(rule)))
        })
        .filter(|(rule, given)| given.unwrap_or(rule.severity) != Severity::Off)
        .collect()
}

/// Findings in the order of their places, each once.
fn in_order<F: Borrow<Finding>>(snapshot: &Snapshot, mut findings: Vec<F>) -> Vec<F> {
    findings.sort_by_cached_key(|finding| {
        let Finding { span, rule, .. } = finding.borrow();
        (snapshot.span_bytes(*span), rule.code)
    });
    findings.dedup_by(|a, b| {
        let (a, b): (&Finding, &Finding) = ((*a).borrow(), (*b).borrow());
        let is_same = a.rule.code == b.rule.code && a.message == b.message;
        is_same && snapshot.is_same_place(a.span, b.span)
    });
    findings
}

/// One file, about to be checked: as a whole, and entry by entry.
struct FileCheck<'a> {
    context: FileContext<'a>,
    rules: LazyCell<EnabledRules, &'a dyn Fn() -> EnabledRules>,
    data: Arc<DataFile>,
    /// The config that the file is, if it is one.
    own_config: Option<&'a HieraConfig>,
    /// The layer that reads the file as data.
    layer: Option<&'a Layer>,
    /// Whether Puppet reads the file at all: an unread file does no harm.
    is_read: bool,
    strategy: &'a dyn Fn(&str) -> Option<Strategy>,
    options: &'a dyn Fn(&LookupKey) -> Option<OptionsEntry>,
    lookup: &'a dyn Fn(&LookupKey, Option<&Strategy>) -> Resolution,
    removals: &'a RemovalProofs<'a>,
    /// The limits that the file's lookups reached, and where.
    exhausted: &'a RefCell<Vec<(Limit, Option<Span>)>>,
}

impl FileCheck<'_> {
    /// Checks the file at `path`; `None` for one that has nothing to do with Hiera.
    fn check_with<T>(
        snapshot: &Snapshot,
        path: &FilePath,
        rules: &RulesConfig,
        answers: &AnswerCache,
        look: impl FnOnce(&FileCheck<'_>) -> T,
    ) -> Option<T> {
        let (file, environment) =
            (snapshot.file(path)?, snapshot.environments().environment_of(path)?);
        let view = snapshot.view(environment);
        let context = FileContext { snapshot, environment, view: &view, file, answers };
        if !rules.third_party && snapshot.is_third_party(environment, path) {
            return None;
        }
        let own_config = environment.config_at(path);
        let is_read = own_config.is_some() || environment.governs_file(path);
        if !is_read && !environment.lies_in_datadir(path) {
            return None; // Some other file of the folder.
        }
        if own_config.is_none() && environment.is_foreign(path) {
            return None; // Its backend's interpretation of it is not known.
        }
        let data = match own_config {
            Some(_) => file.data_as(DataFormat::Yaml),
            None => view.data_of(path).unwrap_or_default(),
        };
        let layer = environment.layer_of(path).filter(|_| own_config.is_none());
        let scope = LazyCell::new(|| snapshot.inferred_scope(environment, path));
        let resolver =
            LazyCell::new(|| Resolver::new(snapshot.lookup_context(environment, &view, &scope)));
        let exhausted = RefCell::new(Vec::new());
        let note_limit = |error: &LookupError| {
            if let LookupErrorKind::Exhausted(limit) = *error.kind {
                exhausted.borrow_mut().push((limit, error.span));
            }
        };
        let strategy = |key: &str| {
            resolver.strategy_of_key(&LookupKey::of_root(key)).inspect_err(note_limit).ok()
        };
        let options =
            |key: &LookupKey| resolver.options_entry(key).inspect_err(note_limit).ok().flatten();
        let lookup = |key: &LookupKey, merge: Option<&Strategy>| {
            let resolution = resolver.lookup(key, merge);
            if let Err(error) = &resolution.value {
                note_limit(error);
            }
            resolution
        };
        let removals = RemovalProofs::new(context);
        Some(look(&FileCheck {
            context,
            rules: LazyCell::new(&|| {
                enabled_rules(rules.severities_in(&environment.root), rules.preset)
            }),
            data,
            own_config,
            layer,
            is_read,
            strategy: &strategy,
            options: &options,
            lookup: &lookup,
            removals: &removals,
            exhausted: &exhausted,
        }))
    }

    /// Returns the findings about the file and its entries, without those of lookup cycles, of the
    /// rules that need no more than is `known`.
    fn check_whole(&self, known: Needs) -> Vec<Finding> {
        let mut findings = self.check_file(known);
        let parts = self.data.parts().iter();
        findings.extend(parts.flat_map(|part| self.check_entry(&part.data, known)));
        findings
    }

    /// Returns the findings about the file as a whole, or about several of its entries.
    fn check_file(&self, known: Needs) -> Vec<Finding> {
        let mut found =
            self.check_problems(&self.data.duplicate_problems().collect::<Vec<_>>(), known);
        found.extend(self.each_rule(known, |check, findings| match check {
            // In a config that cannot be read, a missing setting may stand in the unreadable part.
            Check::Config(check) if self.data.refusal().is_none() => {
                self.own_config
                    .into_iter()
                    .for_each(|config| check(config, &self.context, findings));
            }
            Check::File(check) if self.own_config.is_none() => check(&self.context, findings),
            _ => {}
        }));
        found
            .extend(self.own_config.and_then(|_| self.locations_too_large()).into_iter().flatten());
        found
    }

    /// Returns the findings about locations of a config that are too large to be matched; `None`
    /// where the rule is off.
    fn locations_too_large(&self) -> Option<Vec<Finding>> {
        let severity = self.severity_of_limits()?;
        let reach = self.context.environment.reach.iter().filter(|reach| reach.is_too_large);
        let spans = reach.filter_map(|reach| reach.template.span);
        let spans: BTreeSet<Span> =
            spans.filter(|span| span.file == self.context.file.id).collect();
        Some(
            spans
                .into_iter()
                .map(|span| Finding { severity, ..rules::limit_reached::of_location(span) })
                .collect(),
        )
    }

    /// Returns the severity of findings about limits; `None` where their rule is off.
    fn severity_of_limits(&self) -> Option<Severity> {
        let rule = &rules::limit_reached::RULE;
        let (_, severity) = self.rules.iter().find(|(enabled, _)| enabled.code == rule.code)?;
        Some(severity.unwrap_or(rule.severity))
    }

    /// Returns the findings about one entry, of the rules that need no more than is `known`.
    fn check_entry(&self, entry: &EntryData, known: Needs) -> Vec<Finding> {
        let removable = |context: &EntryContext<'_>, key: &Arc<str>, member: &Member| {
            self.removals.removable_entry(context, key, member)
        };
        let context = self.layer.map(|layer| EntryContext {
            file: self.context,
            data: &self.data,
            entry,
            layer,
            strategy: self.strategy,
            options: self.options,
            lookup: self.lookup,
            removable: &removable,
        });
        let options = context.as_ref().and_then(EntryContext::lookup_options);
        let mut found = self.check_problems(entry.problems(), known);
        found.extend(self.each_rule(known, |check, findings| match (check, &context) {
            (Check::Entry(check), Some(context)) => check(context, findings),
            (Check::Options(check), Some(EntryContext { file, layer, .. })) => {
                let context = DataContext { file: *file, data: &self.data, layer };
                options.into_iter().for_each(|options| check(options, &context, findings));
            }
            _ => {}
        }));
        found.extend(self.limits_reached(entry));
        found
    }

    /// Returns the limits that lookups reached while an entry was checked.
    fn limits_reached(&self, entry: &EntryData) -> Vec<Finding> {
        let reached = self.exhausted.take();
        let key = entry.members.first().and_then(|(_, member)| member.key_origin);
        let file = self.context.file.id;
        reached
            .into_iter()
            .filter_map(|(limit, span)| {
                let span = span.filter(|span| span.file == file).or(key)?;
                let severity = self.severity_of_limits()?;
                Some(Finding { severity, ..rules::limit_reached::of_lookup(limit, span) })
            })
            .collect()
    }

    /// Whether the findings in an entry depend on any key, and on any code.
    fn depends_on_all(&self, entry: &EntryData) -> bool {
        let FileContext { snapshot, environment, .. } = self.context;
        self.rules.iter().any(|(rule, _)| match rule.depends_on {
            Dependence::Everything(is_concerned) => {
                is_concerned(snapshot.manifests(environment), entry)
            }
            Dependence::Keys => false,
        })
    }

    /// Returns the findings for lookup cycles that the tokens of the file close.
    fn check_cycles(&self) -> Vec<Finding> {
        let layer = self.layer.filter(|_| self.context.snapshot.complete);
        self.each_rule(Needs::Index, |check, findings| {
            if let (Check::Cycles(check), Some(layer)) = (check, layer) {
                check(&DataContext { file: self.context, data: &self.data, layer }, findings);
            }
        })
    }

    /// Whether some token of the file may be part of a lookup cycle; levels are not considered.
    fn may_have_cycles(&self) -> bool {
        let (index, cancel) = (self.context.snapshot.keys(), self.context.snapshot.cancel_token());
        self.data.tokens().take_while(|_| !cancel.is_cancelled()).any(|token| {
            match &token.reference {
                Reference::Key { key, .. } => index.in_one_cycle(&token.root, &key.root_text()),
                Reference::Variable(_) => false,
            }
        })
    }

    fn check_problems(&self, problems: &[Problem], known: Needs) -> Vec<Finding> {
        let counted: Vec<&Problem> = problems
            .iter()
            .filter(|problem| {
                self.is_read && (self.own_config.is_none() || concerns_config(problem))
            })
            .collect();
        if counted.is_empty() {
            return Vec::new(); // as in most entries
        }
        self.each_rule(known, |check, findings| {
            if let Check::Problem(check) = check {
                counted.iter().for_each(|problem| check(problem, &self.context, findings));
            }
        })
    }

    /// Returns the findings that `look` adds for each rule that needs no more than is `known`.
    fn each_rule(&self, known: Needs, look: impl Fn(Check, &mut Vec<Finding>)) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (rule, severity) in self.rules.iter().filter(|(rule, _)| rule.needs <= known) {
            let before = findings.len();
            look(rule.check, &mut findings);
            // A rule may report a finding with a lower severity than its default; the settings
            // decide in the end.
            if let Some(severity) = severity {
                findings[before..].iter_mut().for_each(|finding| finding.severity = *severity);
            }
        }
        findings
    }
}
