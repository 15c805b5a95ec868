//! The sources of settings: the files of the folders and of the environments below them, and the
//! user's settings, which win over both.

use std::sync::Arc;

use super::effects::{SettingsFile, without_effect};
use super::problem::SettingProblem;
use super::reader::GivenSettings;
use super::{FILE_NAME, Settings};
use crate::disk::{DiskEntry, FileSystem, ReadError, Unlisted, UnlistedReason};
use crate::hiera::sources::Sources;
use crate::puppet::LegacyFacts;
use crate::puppetdb::{Puppetdb, fields_for};
use crate::text::{FilePath, TextRange};
use crate::workspace::files::scan;
use crate::workspace::nodes::NodeSource;
use crate::workspace::{Change, Snapshot, Workspace, WorkspaceConfig};

/// The longest settings file that is read, in bytes.
const MAX_SIZE: u64 = 1 << 20;
/// The most readings of folders for the settings that turned up in them: those of environments, and
/// then perhaps of fewer or more of them.
pub(crate) const READINGS: usize = 3;

/// Returns the settings of a workspace, and their problems; `given` are those of a client or of the
/// command line, the later winning.
///
/// The file of a folder holds for the whole folder. The file of an environment further down wins
/// over it, for this environment and for the settings of an environment: rules, nodes, the version
/// of Puppet, the places of its modules and its data. `given` wins over both; those of a folder hold
/// for its environments, where there are several folders.
pub fn gather(
    snapshot: &Snapshot,
    given: &[GivenSettings],
    fs: &dyn FileSystem,
) -> (Settings, Vec<SettingProblem>) {
    let folders = snapshot.folders();
    let mut refused = Vec::new();
    let mut file_of = |folder: &FilePath| {
        if let Some(problem) = leads_out(folder, fs) {
            if !refused.contains(&problem) {
                refused.push(problem);
            }
            return None;
        }
        let bytes = match fs.read(&folder.join(FILE_NAME), MAX_SIZE) {
            Ok(bytes) => bytes,
            Err(ReadError::TooLarge(_)) => {
                let message = format!("is longer than {MAX_SIZE} bytes, and is not read");
                refused.push(of_file(folder, message));
                return None;
            }
            Err(ReadError::Other(error)) if fs.entry(&folder.join(FILE_NAME)).is_some() => {
                refused.push(of_file(folder, format!("cannot be read: {error}")));
                return None;
            }
            Err(_) => return None,
        };
        Some((folder.clone(), String::from_utf8_lossy(&bytes).into_owned()))
    };
    let of_folders: Vec<(FilePath, String)> = folders.iter().filter_map(&mut file_of).collect();
    let with_given = |files: &[&(FilePath, String)], of: Option<&FilePath>| {
        let mut settings = Settings::default();
        let mut problems = Vec::new();
        files.iter().for_each(|(folder, text)| {
            problems.extend(settings.apply_file(text, folder, folders));
        });
        given
            .iter()
            .filter(|given| given.folder.is_none() || given.folder.as_ref() == of)
            .for_each(|given| problems.extend(settings.apply(&given.value, given.origin)));
        (settings, problems)
    };
    let (mut settings, mut problems) = with_given(&of_folders.iter().collect::<Vec<_>>(), None);
    let mut of_environments: Vec<(FilePath, String)> = Vec::new();
    for environment in &snapshot.environments().all {
        let root = &environment.root;
        let Some(folder) = folders
            .iter()
            .filter(|folder| root.is_within(folder))
            .max_by_key(|folder| folder.as_str().len())
        else {
            continue;
        };
        // A link that leads out of the workspace is no file of it.
        let is_there = root != folder && snapshot.view(environment).exists(&root.join(FILE_NAME));
        let own = if is_there { file_of(root) } else { None };
        if own.is_none() && folders.len() == 1 {
            continue;
        }
        let above = of_folders.iter().find(|(of, _)| of == folder);
        let (its, found) =
            with_given(&above.into_iter().chain(&own).collect::<Vec<_>>(), Some(folder));
        let own_file = root.join(FILE_NAME);
        problems.extend(
            found
                .into_iter()
                .filter(|problem| own.is_some() && problem.file.as_ref() == Some(&own_file)),
        );
        if its.workspace.common != settings.workspace.common {
            settings.workspace.environments.insert(root.clone(), its.workspace.common);
        }
        if its.rules.severities != settings.rules.severities {
            settings.rules.environments.insert(root.clone(), its.rules.severities);
        }
        if its.rules.ignored != settings.rules.ignored {
            settings.rules.ignored_in_environments.insert(root.clone(), its.rules.ignored);
        }
        of_environments.extend(own);
    }
    match settings.puppetdb.source(folders) {
        Some(Ok(source)) => settings.workspace.puppetdb_rows = Some(source.kept().rows()),
        Some(Err(reason)) => problems.push(of_puppetdb(reason)),
        None => {}
    }
    let files: Vec<SettingsFile> = of_folders
        .into_iter()
        .chain(of_environments)
        .map(|(folder, text)| SettingsFile { folder, text })
        .collect();
    problems.extend(refused);
    problems.extend(without_effect(snapshot, &files, fs));
    settings.rules.settings = problems.iter().filter_map(SettingProblem::as_wrong).collect();
    (settings, problems)
}

/// Returns the problem of a settings file that is a link to a file outside of its folder. A
/// repository has no settings in files of others, and messages must not quote such files.
fn leads_out(folder: &FilePath, fs: &dyn FileSystem) -> Option<SettingProblem> {
    let path = folder.join(FILE_NAME);
    let (file, real_folder) = (fs.real_path(&path)?, fs.real_path(folder)?);
    (!file.is_within(&real_folder)).then(|| {
        of_file(folder, "is a link that leads out of its folder, and is not read".to_owned())
    })
}

/// Returns the problem that no nodes, old ones or not all come from PuppetDB.
pub(crate) fn of_puppetdb(message: String) -> SettingProblem {
    SettingProblem {
        file: None,
        key: "nodes.puppetdb".into(),
        part: None,
        range: TextRange::new_empty(0),
        message,
    }
}

/// Returns a problem of the settings file of a folder as a whole.
fn of_file(folder: &FilePath, message: String) -> SettingProblem {
    SettingProblem {
        file: Some(folder.join(FILE_NAME)),
        key: FILE_NAME.into(),
        part: None,
        range: TextRange::new_empty(0),
        message,
    }
}

/// A workspace whose folders were read.
#[derive(Debug)]
pub struct Opened {
    /// The workspace.
    pub workspace: Workspace,
    /// The settings in force.
    pub settings: Settings,
    /// The problems of the settings.
    pub problems: Vec<SettingProblem>,
    /// Whether there was more in the folders than was read.
    pub cut_short: bool,
    /// Files and folders that were passed over and that concern some environment.
    pub unlisted: Vec<Unlisted>,
}

/// Reads folders with their settings; `before` are changes to apply first, such as a file that an
/// editor holds.
pub fn open(
    folders: Vec<FilePath>,
    given: &[GivenSettings],
    before: Vec<Change>,
    fs: &dyn FileSystem,
) -> Opened {
    let unread = Workspace::new(Settings::default().workspace, folders.clone());
    let (settings, problems) = gather(&unread.snapshot(), given, fs);
    let workspace = Workspace::new(settings.workspace.clone(), folders);
    let mut opened =
        Opened { workspace, settings, problems, cut_short: false, unlisted: Vec::new() };
    before.into_iter().for_each(|change| opened.workspace.apply(change));
    for reading in 1..=READINGS {
        let scanned = scan::scan(&opened.workspace.scan_request(), fs, &|_| {});
        opened.cut_short = scanned.cut_short;
        let unlisted = scanned.unlisted.clone();
        opened.workspace.apply(Change::Scanned(Box::new(scanned)));
        opened.unlisted = of_environments(&opened.workspace.snapshot(), unlisted);
        // The environments are known by now, and so are the settings in their files.
        let (settings, problems) = gather(&opened.workspace.snapshot(), given, fs);
        let is_new = settings.workspace != opened.settings.workspace;
        opened.settings = settings;
        opened.problems = problems;
        if !is_new || reading == READINGS {
            break;
        }
        opened.workspace.apply(Change::Configure(opened.settings.workspace.clone().into()));
    }
    if let Some(source) = opened.settings.usable_puppetdb(opened.workspace.folders()) {
        let fields = read_fields([&opened.workspace.snapshot()]);
        opened.ask(&source, &fields, fs);
    }
    opened
}

/// Whether this process or another one has kept an answer of PuppetDB since the folders were read.
pub fn is_other_answer_kept(snapshot: &Snapshot, source: &Puppetdb, fs: &dyn FileSystem) -> bool {
    let rows = source.kept().rows();
    !snapshot.has_read_source(&rows, fs.entry(&rows).and_then(DiskEntry::stamp))
}

/// Returns the fields of PuppetDB's inventory that these snapshots read.
pub fn read_fields<'a>(snapshots: impl IntoIterator<Item = &'a Snapshot>) -> Vec<String> {
    let read: Vec<_> = snapshots.into_iter().flat_map(Snapshot::read_variables).collect();
    fields_for(read.iter().map(Vec::as_slice))
}

impl Settings {
    /// Returns the PuppetDB that nodes come from, if there is one and its answer can be kept.
    pub fn usable_puppetdb(&self, folders: &[FilePath]) -> Option<Puppetdb> {
        self.puppetdb.source(folders)?.ok()
    }

    /// Returns the page about the PuppetDB that nodes of these folders come from, behind an empty
    /// line; empty where there is none.
    pub fn puppetdb_page(&self, folders: &[FilePath]) -> String {
        self.usable_puppetdb(folders).map_or_else(String::new, |one| format!("\n{}", one.page()))
    }
}

impl Opened {
    /// Asks PuppetDB for its nodes with these fields, and reads its answer. Where it gives none, that
    /// is a problem of the settings, and an earlier answer counts. So are the notes on an answer.
    fn ask(&mut self, source: &Puppetdb, fields: &[String], fs: &dyn FileSystem) {
        let max_size = self.settings.workspace.max_file_size;
        match source.refresh(fields, max_size, &|_| {}) {
            Ok(refreshed) => self.problems.extend(refreshed.notes.into_iter().map(of_puppetdb)),
            Err(reason) => self.problems.push(of_puppetdb(reason)),
        }
        if is_other_answer_kept(&self.workspace.snapshot(), source, fs) {
            let scanned = scan::scan(&self.workspace.scan_request(), fs, &|_| {});
            self.workspace.apply(Change::Scanned(Box::new(scanned)));
        }
    }
}

/// Folders read twice.
#[derive(Debug)]
pub struct OpenedTwice {
    /// The problems of the settings.
    pub problems: Vec<SettingProblem>,
    /// The folders after.
    pub after: Snapshot,
    /// The folders before. Files whose stamps are the same are shared.
    pub before: Snapshot,
}

/// Reads folders in two revisions. The settings of the later one hold for both, and so do the nodes
/// of the files that they name: a change of the fleet is no change of data.
pub fn open_revisions(
    folders: Vec<FilePath>,
    given: &[GivenSettings],
    base: &dyn FileSystem,
    head: &dyn FileSystem,
) -> OpenedTwice {
    let mut opened = open(folders, given, Vec::new(), head);
    let source = opened.settings.usable_puppetdb(opened.workspace.folders());
    let after = opened.workspace.snapshot();
    let mut reading = FolderReading::new(opened.workspace);
    let before = reading.read(base);
    let Some(source) = source.filter(|source| !source.kept().has_fields(&read_fields([&before])))
    else {
        return OpenedTwice { problems: opened.problems, after, before };
    };
    // The earlier revision reads facts that the later one does not.
    opened.workspace = reading.workspace;
    let scanned = scan::scan(&opened.workspace.scan_request(), head, &|_| {});
    opened.workspace.apply(Change::Scanned(Box::new(scanned)));
    opened.ask(&source, &read_fields([&before, &after]), head);
    let after = opened.workspace.snapshot();
    let before = FolderReading::new(opened.workspace).read(base);
    OpenedTwice { problems: opened.problems, after, before }
}

/// Folders that are read in one revision after the other, with the settings of the first reading
/// and the nodes of the files that they name.
#[derive(Debug)]
pub struct FolderReading {
    workspace: Workspace,
    named_sources: Arc<Vec<NodeSource>>,
}

impl FolderReading {
    /// Takes the first reading.
    pub fn new(workspace: Workspace) -> FolderReading {
        let named_sources = workspace.scan_request().known_sources;
        FolderReading { workspace, named_sources }
    }

    /// Reads the folders in another revision. Files with the stamps of the last reading are shared
    /// with it.
    pub fn read(&mut self, fs: &dyn FileSystem) -> Snapshot {
        let named_sources = Some(self.named_sources.clone());
        let request = scan::Request { named_sources, ..self.workspace.scan_request() };
        let scanned = scan::scan(&request, fs, &|_| {});
        self.workspace.apply(Change::Scanned(Box::new(scanned)));
        self.workspace.snapshot()
    }

    /// Puts other settings in force for the readings from here on.
    fn configure(&mut self, config: WorkspaceConfig) {
        self.workspace.apply(Change::Configure(config.into()));
    }
}

/// Reads folders as two versions of Puppet do, the settings of the first and of the second given.
/// Where the second one is the first to leave legacy facts out by default, nodes have none then,
/// unless settings say that they are included.
pub fn open_versions(
    folders: Vec<FilePath>,
    given: [&[GivenSettings]; 2],
    fs: &dyn FileSystem,
) -> OpenedTwice {
    let Opened { mut workspace, mut settings, problems, .. } =
        open(folders, given[1], Vec::new(), fs);
    let (mut before, _) = gather(&workspace.snapshot(), given[0], fs);
    let after = &mut settings.workspace;
    let (old, new) = (before.workspace.common.puppet.major, after.common.puppet.major);
    for (one, other, config) in [(new, old, &mut *after), (old, new, &mut before.workspace)] {
        if one >= 8 && other < 8 {
            let all = config.environments.values_mut().chain([&mut config.common]);
            all.filter(|it| it.puppet.legacy_facts == LegacyFacts::AsGiven)
                .for_each(|it| it.puppet.legacy_facts = LegacyFacts::LeftOut);
        }
    }
    workspace.apply(Change::Configure(settings.workspace.into()));
    let scanned = scan::scan(&workspace.scan_request(), fs, &|_| {});
    workspace.apply(Change::Scanned(Box::new(scanned)));
    let after = workspace.snapshot();
    let mut reading = FolderReading::new(workspace);
    reading.configure(before.workspace);
    let before = reading.read(fs);
    OpenedTwice { problems, after, before }
}

/// Keeps the entries that concern some environment: folders of it that the disk refused to list,
/// and all entries in its data directories.
pub fn of_environments(snapshot: &Snapshot, unlisted: Vec<Unlisted>) -> Vec<Unlisted> {
    let environments = &snapshot.environments().all;
    let mut unlisted = unlisted;
    unlisted.retain(|one| {
        environments.iter().any(|environment| match one.reason {
            UnlistedReason::Io(_) => one.path.is_within(&environment.root),
            _ => environment.is_below_datadir(&one.path),
        })
    });
    unlisted.dedup();
    unlisted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::{Severity, check_all};
    use crate::disk::MemoryFs;
    use crate::hiera::scope::Variable;
    use crate::settings::Origin;

    const CONFIG: &str = "version: 5\nhierarchy: [{name: Role, path: 'roles/%{role}.yaml'}, {name: Common, path: common.yaml}]\n";
    /// A file with one finding.
    const DATA: &str = "a: \"%{alias('b')} x\"\nb: 1\n";

    /// A folder with two environments; `more` are further files.
    fn opened(more: &[(&str, &str)], given: &[GivenSettings]) -> Opened {
        let fs = MemoryFs::new();
        for root in ["/code/environments/production", "/code/environments/test"] {
            fs.write(&format!("{root}/hiera.yaml"), CONFIG);
            fs.write(&format!("{root}/data/common.yaml"), DATA);
            fs.write(&format!("{root}/data/roles/web.yaml"), "a: role\n");
        }
        more.iter().for_each(|(path, text)| fs.write(path, *text));
        open(vec![FilePath::new("/code")], given, Vec::new(), &fs)
    }

    fn problems(opened: &Opened) -> Vec<String> {
        let place = |problem: &SettingProblem| {
            problem.file.as_ref().map(|file| format!("{file}: ")).unwrap_or_default()
        };
        opened.problems.iter().map(|problem| format!("{}{problem}", place(problem))).collect()
    }

    /// How serious the findings are, by the environment's name.
    fn severities(opened: &Opened) -> Vec<(String, Severity)> {
        let snapshot = opened.workspace.snapshot();
        let name = |file| {
            snapshot
                .environments()
                .environment_of(snapshot.path_of(file)?)
                .map(|environment| environment.name.clone())
        };
        let found = check_all(&snapshot, &opened.settings.rules);
        found
            .iter()
            .map(|finding| (name(finding.span.file).expect("an environment"), finding.severity))
            .collect()
    }

    /// For whom values are shown in a data file of an environment, and that node's role.
    fn shown_for(opened: &Opened, environment: &str) -> (String, Variable) {
        let snapshot = opened.workspace.snapshot();
        let path = FilePath::new(&format!("/code/environments/{environment}/data/common.yaml"));
        let environment = snapshot.environments().environment_of(&path).expect("it is one");
        let scope = snapshot.scope_for(environment, &path);
        (scope.name.to_string(), scope.get("role"))
    }

    #[test]
    fn an_environment_below_the_folder_has_its_own() {
        let opened = opened(
            &[
                (
                    "/code/.hiera-ls.yaml",
                    "rules: {alias-not-whole-value: warning}\nnodes: {sources: ['fleet/*.json']}\n",
                ),
                ("/code/fleet/db01.json", "{}"),
                (
                    "/code/environments/production/.hiera-ls.yaml",
                    "rules: {alias-not-whole-value: hint}\nnodes: {sources: ['nodes/*.json'], default: web01, \
                     derive: [{from: trusted.certname, match: '^(?<role>[a-z]+)'}]}\n",
                ),
                ("/code/environments/production/nodes/web01.json", "{}"),
            ],
            &[],
        );
        assert_eq!(problems(&opened), Vec::<String>::new());
        let of = |name: &str, severity| (name.to_owned(), severity);
        assert_eq!(
            severities(&opened),
            [of("production", Severity::Hint), of("test", Severity::Warning)]
        );
        assert_eq!(
            shown_for(&opened, "production"),
            ("web01".into(), Variable::Known("web".into()))
        );
        assert_eq!(
            shown_for(&opened, "test"),
            ("db01".into(), Variable::Undefined),
            "the only node that the folder's file names"
        );
    }

    #[test]
    fn what_the_user_says_wins_and_what_an_environment_leaves_out_the_folder_says() {
        let files = [
            ("/code/.hiera-ls.yaml", "puppet: {version: 7}\n"),
            (
                "/code/environments/test/.hiera-ls.yaml",
                "rules: {alias-not-whole-value: hint}\npathMappings: {/srv: data}\n",
            ),
        ];
        let rules = serde_json::json!({"rules": {"alias-not-whole-value": "info"}});
        let given = [GivenSettings::new(rules, Origin::Editor)];
        let opened = opened(&files, &given);
        assert!(severities(&opened).iter().all(|(_, severity)| *severity == Severity::Info));
        let config =
            opened.settings.workspace.environment_config(&FilePath::new("/code/environments/test"));
        assert_eq!(
            (config.puppet.major, config.path_mappings.map("/srv/x", None, &|_| false).as_str()),
            (7, "/code/environments/test/data/x")
        );
        assert!(
            !opened
                .settings
                .workspace
                .environments
                .contains_key(&FilePath::new("/code/environments/production"))
        );
    }

    #[test]
    fn a_folder_has_the_settings_that_are_given_for_it() {
        let fs = MemoryFs::new();
        for root in ["/one", "/other"] {
            fs.write(&format!("{root}/hiera.yaml"), CONFIG);
            fs.write(&format!("{root}/data/common.yaml"), DATA);
        }
        let rules = serde_json::json!({"rules": {"alias-not-whole-value": "hint"}});
        let given = GivenSettings {
            folder: Some(FilePath::new("/other")),
            ..GivenSettings::new(rules, Origin::Editor)
        };
        let folders = ["/one", "/other"].map(FilePath::new).to_vec();
        let opened = open(folders, &[given], Vec::new(), &fs);
        let of_all: Vec<_> =
            severities(&opened).into_iter().map(|(_, severity)| severity).collect();
        assert_eq!(of_all, [Severity::Error, Severity::Hint]);
    }

    #[test]
    fn an_environment_may_say_no_more_than_a_repository() {
        let text = "eyaml: {decrypt: true}\nglobalHieraConfig: /etc/hiera.yaml\nnodes: {sources: ['../test/*.json', /x]}\ncolour: red\n";
        let file = "/code/environments/production/.hiera-ls.yaml";
        let opened = opened(&[(file, text)], &[]);
        let found = problems(&opened);
        assert!(
            found.len() == 5
                && found.iter().all(|problem| problem.starts_with(&format!("{file}: setting '"))),
            "{found:#?}"
        );
        let mut settings = opened.settings;
        assert_eq!(std::mem::take(&mut settings.rules.settings).len(), 5);
        assert_eq!(settings, Settings::default());
    }

    #[test]
    fn the_file_of_a_module_or_of_a_folder_without_a_hiera_yaml_is_not_read() {
        let wrong = "colour: red\n";
        let opened = opened(
            &[
                ("/code/environments/production/modules/ntp/hiera.yaml", "version: 5\n"),
                ("/code/environments/production/modules/ntp/.hiera-ls.yaml", wrong),
                // `parts/web` is a module by the settings of its environment, which are read first.
                ("/code/environments/test/.hiera-ls.yaml", "modulePath: [parts]\n"),
                ("/code/environments/test/parts/web/hiera.yaml", "version: 5\n"),
                ("/code/environments/test/parts/web/.hiera-ls.yaml", wrong),
                ("/code/docs/.hiera-ls.yaml", wrong),
            ],
            &[],
        );
        let roots: Vec<String> = opened
            .workspace
            .snapshot()
            .environments()
            .all
            .iter()
            .map(|environment| environment.root.to_string())
            .collect();
        assert_eq!(roots, ["/code/environments/production", "/code/environments/test"]);
        assert_eq!(problems(&opened), Vec::<String>::new());
    }

    #[test]
    fn each_of_several_folders_has_its_own() {
        let fs = MemoryFs::new();
        for root in ["/a", "/b"] {
            fs.write(&format!("{root}/hiera.yaml"), CONFIG);
            fs.write(&format!("{root}/data/common.yaml"), DATA);
        }
        fs.write("/a/.hiera-ls.yaml", "rules: {alias-not-whole-value: hint}\n");
        let opened = open(vec![FilePath::new("/a"), FilePath::new("/b")], &[], Vec::new(), &fs);
        let found = check_all(&opened.workspace.snapshot(), &opened.settings.rules);
        assert_eq!(
            found.iter().map(|finding| finding.severity).collect::<Vec<_>>(),
            [Severity::Hint, Severity::Error]
        );
    }

    #[test]
    fn the_deepest_of_nested_folders_is_that_of_an_environment() {
        let fs = MemoryFs::new();
        for root in ["/code/environments/production", "/code/environments/test"] {
            fs.write(&format!("{root}/hiera.yaml"), CONFIG);
            fs.write(&format!("{root}/data/common.yaml"), DATA);
        }
        let given = GivenSettings {
            value: serde_json::json!({"rules": {"alias-not-whole-value": "hint"}}),
            origin: Origin::Editor,
            folder: Some(FilePath::new("/code/environments/test")),
        };
        let folders = ["/code", "/code/environments/test"].map(FilePath::new).to_vec();
        let opened = open(folders, &[given], Vec::new(), &fs);
        let mut found = severities(&opened);
        found.sort_by(|one, other| one.0.cmp(&other.0));
        let expected = [("production", Severity::Error), ("test", Severity::Hint)];
        assert_eq!(found, expected.map(|(name, severity)| (name.to_owned(), severity)));
    }
}
