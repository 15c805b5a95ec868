//! A case: files and their changes, step by step; and a session that applies the steps.

use std::collections::BTreeMap;

use hiera_ls::disk::MemoryFs;
use hiera_ls::settings::{FILE_NAME, Settings};
use hiera_ls::text::{FilePath, TextRange};
use hiera_ls::workspace::files::kinds::FileKind;
use hiera_ls::workspace::files::scan;
use hiera_ls::workspace::{Change, Snapshot, Workspace, WorkspaceConfig};
use serde::{Deserialize, Serialize};

use super::told::{Last, Width, told};

/// Files and steps, as `cases.yaml` has them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The property that the case shows.
    pub name: String,
    /// The texts on disk at the start, by path.
    pub files: BTreeMap<String, String>,
    /// The steps, in order.
    pub steps: Vec<Step>,
}

/// Something that happens to a file. A file that is edited is opened first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Step {
    /// Replacements, each in the text after the ones before it.
    Edit { path: String, edits: Vec<Edit> },
    /// The whole text is another.
    Replace { path: String, text: String },
    /// The editor closes the file.
    Close { path: String },
    /// The file is written on disk, or removed from it, and the folders are read again.
    Disk { path: String, text: Option<String> },
}

impl Step {
    /// The file that the step happens to.
    pub fn path(&self) -> &str {
        match self {
            Step::Edit { path, .. }
            | Step::Replace { path, .. }
            | Step::Close { path }
            | Step::Disk { path, .. } => path,
        }
    }
}

/// A replacement of bytes; places beyond the text or within a character are moved to the nearest
/// before them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub insert: String,
}

impl Edit {
    /// The start and the end of the edit, as places that the text has.
    fn clamped(&self, text: &str) -> (usize, usize) {
        let clamp = |mut at: usize| {
            at = at.min(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            at
        };
        let start = clamp(self.start);
        (start, clamp(self.end).max(start))
    }

    /// Makes the edit in a text.
    pub fn apply(&self, text: &mut String) {
        let (start, end) = self.clamped(text);
        text.replace_range(start..end, &self.insert);
    }
}

/// A workspace that lives through steps, and the texts that it should know.
pub struct Session {
    config: WorkspaceConfig,
    fs: MemoryFs,
    workspace: Workspace,
    disk: BTreeMap<String, String>,
    open: BTreeMap<String, String>,
    /// Where the last step was.
    last: Option<(String, usize)>,
    /// The tokens and symbols of the last look.
    seen: Last,
}

/// The folder that all paths are below.
const ROOT: &str = "/repo";

/// The path in the workspace of a path in a case.
pub fn in_repo(path: &str) -> FilePath {
    FilePath::new(ROOT).join(path)
}

fn scanned(workspace: &mut Workspace, fs: &MemoryFs) {
    let scan = scan::scan(&workspace.scan_request(), fs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scan)));
}

/// A workspace in which nothing has happened yet but the reading of these files.
fn anew(config: &WorkspaceConfig, files: &BTreeMap<String, String>) -> (MemoryFs, Workspace) {
    let fs = MemoryFs::new();
    for (path, text) in files {
        fs.write(in_repo(path).as_str(), text.as_str());
    }
    let mut workspace = Workspace::new(config.clone(), vec![FilePath::new(ROOT)]);
    scanned(&mut workspace, &fs);
    (fs, workspace)
}

impl Session {
    /// A session in these files.
    pub fn new(files: &BTreeMap<String, String>) -> Session {
        let mut settings = Settings::default();
        if let Some(text) = files.get(FILE_NAME) {
            settings.apply_file(text, &FilePath::new(ROOT), &[FilePath::new(ROOT)]);
        }
        let config = settings.workspace;
        let (fs, workspace) = anew(&config, files);
        Session {
            config,
            fs,
            workspace,
            disk: files.clone(),
            open: BTreeMap::new(),
            last: None,
            seen: Last::default(),
        }
    }

    /// The workspace as it is now.
    pub fn snapshot(&self) -> Snapshot {
        self.workspace.snapshot()
    }

    /// The texts as they are now: in the editor, or else on disk.
    pub fn texts(&self) -> BTreeMap<&str, &str> {
        self.disk
            .iter()
            .chain(&self.open)
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect()
    }

    /// The files that are open, with their texts.
    pub fn open(&self) -> &BTreeMap<String, String> {
        &self.open
    }

    /// Applies a step.
    ///
    /// A file that shapes the layers is saved at once: the state of the disk at the scan decides
    /// which files are read.
    pub fn apply(&mut self, step: &Step) {
        self.happen(step);
        let path = step.path();
        if FileKind::of_path(&in_repo(path), &self.config).shapes_environments()
            && let Some(text) = self.open.get(path).cloned()
        {
            self.look(Width::Open);
            self.happen(&Step::Disk { path: path.to_owned(), text: Some(text) });
        }
    }

    /// Applies a step, without saving the file.
    pub fn happen(&mut self, step: &Step) {
        match step {
            Step::Edit { path, edits } => {
                self.opened(path);
                let text = self.open.get_mut(path).expect("it was opened");
                let mut changes = Vec::new();
                for edit in edits {
                    let (start, end) = edit.clamped(text);
                    changes.push((TextRange::from_usize(start..end), edit.insert.clone()));
                    edit.apply(text);
                    self.last = Some((path.clone(), start));
                }
                self.workspace.apply(Change::Edit(in_repo(path), changes));
                let known = self.workspace.open_text(&in_repo(path)).expect("it is open").to_str();
                assert_eq!(known, text.as_str(), "the text itself");
            }
            Step::Replace { path, text } => {
                self.opened(path);
                self.open.insert(path.clone(), text.clone());
                self.workspace.apply(Change::Replace(in_repo(path), text.clone()));
                self.last = Some((path.clone(), 0));
            }
            Step::Close { path } => {
                if self.open.remove(path).is_some() {
                    self.workspace.apply(Change::Close(in_repo(path)));
                    self.last = Some((path.clone(), 0));
                }
            }
            Step::Disk { path, text } => {
                match text {
                    Some(text) => {
                        self.fs.write(in_repo(path).as_str(), text.as_str());
                        self.disk.insert(path.clone(), text.clone());
                    }
                    None => {
                        self.fs.remove(in_repo(path).as_str());
                        self.disk.remove(path);
                    }
                }
                scanned(&mut self.workspace, &self.fs);
                self.last = Some((path.clone(), 0));
            }
        }
    }

    fn opened(&mut self, path: &str) {
        if !self.open.contains_key(path) {
            let text = self.disk.get(path).cloned().unwrap_or_default();
            self.workspace.apply(Change::Open(in_repo(path), text.clone()));
            self.open.insert(path.to_owned(), text);
        }
    }

    /// Returns all results of the workspace. Computes lazy data, so that the next step updates it.
    pub fn look(&mut self, width: Width) -> String {
        let (paths, places) = (self.paths(width), self.places());
        told(&self.workspace.snapshot(), &paths, &places, &mut self.seen)
    }

    /// Returns the first line in which the results of the workspace differ from those of a new one.
    pub fn difference(&mut self, width: Width) -> Option<String> {
        let texts = self
            .texts()
            .into_iter()
            .map(|(path, text)| (path.to_owned(), text.to_owned()))
            .collect();
        let (_, mut fresh) = anew(&self.config, &texts);
        for (path, text) in &self.open {
            // A file that is open in an editor is read, even if no scan would read it. Every other
            // file has its text on disk, read as a whole.
            if fresh.snapshot().file(&in_repo(path)).is_none() {
                fresh.apply(Change::Open(in_repo(path), text.clone()));
            }
        }
        self.difference_to(&fresh, width)
    }

    /// Returns the first line in which the results of the workspace differ from those of a new one
    /// in which the open files were opened with their texts, without the edits before.
    pub fn difference_to_opened(&mut self, width: Width) -> Option<String> {
        let (_, mut fresh) = anew(&self.config, &self.disk);
        for (path, text) in &self.open {
            fresh.apply(Change::Open(in_repo(path), text.clone()));
        }
        self.difference_to(&fresh, width)
    }

    fn difference_to(&mut self, fresh: &Workspace, width: Width) -> Option<String> {
        let (paths, places) = (self.paths(width), self.places());
        let expected = told(&fresh.snapshot(), &paths, &places, &mut Last::default());
        let got = self.look(width);
        if got == expected {
            return None;
        }
        let (mut got, mut expected) = (got.lines(), expected.lines());
        loop {
            let (one, other) = (got.next(), expected.next());
            if one != other {
                return Some(format!(
                    "after the edits: {}\nmade anew:       {}",
                    one.unwrap_or("(nothing more)"),
                    other.unwrap_or("(nothing more)")
                ));
            }
        }
    }

    /// The files whose results are compared.
    fn paths(&self, width: Width) -> Vec<FilePath> {
        let texts = self.texts();
        match width {
            Width::Everything => texts.keys().map(|path| in_repo(path)).collect(),
            Width::Open => {
                let others = texts.keys().step_by(texts.len() / 10 + 1).copied();
                self.open.keys().map(String::as_str).chain(others).map(in_repo).collect()
            }
        }
    }

    /// Where to hover: around the last step, and here and there in its file.
    fn places(&self) -> Vec<(FilePath, u32)> {
        let texts = self.texts();
        let Some((path, at)) =
            self.last.as_ref().filter(|(path, _)| texts.contains_key(path.as_str()))
        else {
            return Vec::new();
        };
        let length = texts[path.as_str()].len();
        let offsets = [*at, at + 3, at + 12, length / 5, length / 2, length * 4 / 5];
        offsets
            .map(|offset| (in_repo(path), u32::try_from(offset.min(length)).unwrap_or(u32::MAX)))
            .to_vec()
    }
}
