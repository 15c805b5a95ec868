//! `hiera-ls simplify`: makes data smaller in steps, each proved to keep the values of all nodes.

mod arguments;
mod plan;

pub(super) use arguments::SimplifyArguments;

use std::io::{IsTerminal as _, Write};

use arguments::StepKind;
use plan::{Step, plan_steps};

use super::progress::while_working;
use super::unified_diff::write_file_diff;
use super::{ArgumentSettings, Failure, Opened, Status, open, print_note};
use crate::diagnostics::render::LineSpans;
use crate::disk::{remove_text, replace_text};
use crate::text::count_phrase;
use crate::text::escape::escape_terminal;
use crate::workspace::Snapshot;
use crate::workspace::files::git::GitRepository;

pub(super) fn run(arguments: &SimplifyArguments, out: &mut dyn Write) -> Result<Status, Failure> {
    let opened = open(&arguments.root, None, ArgumentSettings::new(), None)?;
    opened.note_settings();
    opened.environments()?;
    let repository = arguments.commit.then(|| open_repository(&opened)).transpose()?;
    let steps = while_working("proving steps", || {
        plan_steps(&arguments.steps, &opened.snapshot, &opened.settings.rules)
    });
    if let Some(repository) = &repository {
        require_tracked(repository, &steps, &opened)?;
    }
    for (number, step) in steps.iter().enumerate() {
        let title = format!("{}. {}", number + 1, step.title);
        if arguments.write {
            write_step(step, &opened)?;
            let id = repository.as_ref().map(|it| commit_step(it, step)).transpose()?;
            let commit = id.map(|id| format!(" ({id})")).unwrap_or_default();
            writeln!(out, "{}", escape_terminal(&format!("{title}{commit}")))?;
        } else {
            write_step_diff(&title, step, &opened, out)?;
        }
    }
    print_note(&summarize(&steps, arguments.write));
    if !steps.is_empty() {
        describe_assumptions(&arguments.steps, &opened.snapshot)
            .iter()
            .for_each(|it| print_note(it));
    }
    Ok(if steps.is_empty() || arguments.write { Status::Good } else { Status::Bad })
}

/// Returns the git repository around the opened folder.
///
/// Errors: there is none, or a file in it is not committed.
fn open_repository(opened: &Opened) -> Result<GitRepository, Failure> {
    let repository = GitRepository::discover(&opened.root)?;
    match repository.uncommitted_file()? {
        Some(file) => Err(Failure(format!("{file} is not committed: commit or stash it first"))),
        None => Ok(repository),
    }
}

/// Errors: git does not track a file of a step. A commit of such a file would add what its author has
/// left out, and the text before the step would be in no commit.
fn require_tracked(
    repository: &GitRepository,
    steps: &[Step],
    opened: &Opened,
) -> Result<(), Failure> {
    let files = steps.iter().flat_map(|step| step.texts.keys());
    match repository.untracked_file(files)? {
        Some(file) => {
            let shown = file.relative_to(&opened.root).unwrap_or(file.as_str());
            Err(Failure(format!("git does not track {shown}: add and commit the file first")))
        }
        None => Ok(()),
    }
}

/// Writes the files of a step. Errors: a file that changed meanwhile, or that the disk refuses; files
/// before it are written.
fn write_step(step: &Step, opened: &Opened) -> Result<(), Failure> {
    for (path, texts) in &step.texts {
        let shown = path.relative_to(&opened.root).unwrap_or(path.as_str());
        match &texts.after {
            Some(after) => replace_text(path, &texts.before, after),
            None => remove_text(path, &texts.before),
        }
        .map_err(|error| Failure(format!("{shown} is not written: {error}")))?;
    }
    Ok(())
}

fn commit_step(repository: &GitRepository, step: &Step) -> Result<String, Failure> {
    let message =
        format!("hiera: {}\n\nProved by hiera-ls simplify: {}.\n", step.title, step.proof);
    Ok(repository.commit_files(step.texts.keys(), &message)?)
}

/// Prints the changes of a step as a patch that applies after those of the steps before.
fn write_step_diff(
    title: &str,
    step: &Step,
    opened: &Opened,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    writeln!(out, "# {}", escape_terminal(title))?;
    let sides = [&step.before, &step.after].map(|side| LineSpans::new(side, &opened.root));
    let escapes = std::io::stdout().is_terminal();
    for (path, texts) in &step.texts {
        let texts = (&*texts.before, texts.after.as_deref());
        write_file_diff(path, texts, &sides, escapes, out)?;
    }
    Ok(())
}

fn summarize(steps: &[Step], is_written: bool) -> String {
    if steps.is_empty() {
        return "nothing can be simplified".to_owned();
    }
    let texts = || steps.iter().flat_map(|step| step.texts.values());
    let before: usize = texts().map(|texts| texts.before.lines().count()).sum();
    let after: usize =
        texts().map(|texts| texts.after.as_deref().map_or(0, |text| text.lines().count())).sum();
    let verb = if is_written { "are removed" } else { "would be removed; --write removes them" };
    let steps = count_phrase(steps.len(), "step");
    format!("{} in {steps} {verb}", count_phrase(before.saturating_sub(after), "line"))
}

/// Returns the assumptions behind the steps, for people to judge.
fn describe_assumptions(steps: &[StepKind], snapshot: &Snapshot) -> Vec<String> {
    let mut assumed = Vec::new();
    for environment in &snapshot.environments().all {
        let nodes = snapshot.nodes_of(environment);
        let open = nodes.iter().filter(|node| node.scope.open).count();
        let root = snapshot.shown_path(&environment.root);
        assumed.push(match (nodes.len(), open) {
            (0, _) => format!("assumed in {root}: no node is known, so that nodes of any facts count"),
            (all, 0) => format!("assumed in {root}: the {all} known nodes are all nodes"),
            (all, open) => format!(
                "assumed in {root}: the {all} known nodes are all nodes; of {open} not all variables are known"
            ),
        });
        let index = snapshot.manifests(environment);
        if steps.contains(&StepKind::DeadKeys) {
            let computed = index.dynamic_readers().count();
            assumed.push(format!(
                "assumed in {root}: neither the {computed} calls with computed keys, nor modules that are not here, nor programs beside Puppet read the removed keys"
            ));
        }
    }
    assumed
}
