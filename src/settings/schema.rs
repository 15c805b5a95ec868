//! The list of all settings with their names, types and meanings. A setting that is not in it is
//! unknown, wherever it is written; the README's table and the settings of the VS Code extension
//! are made from it.

use crate::diagnostics::rules;
use crate::text::similar::nearest_name;
use crate::workspace::nodes::InferStep;

/// A setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// The setting's dotted name.
    pub name: &'static str,
    /// The type of the setting's value.
    pub kind: SettingType,
    /// The setting's default as JSON; `null` where there is none, or where it depends on something
    /// else.
    pub default: &'static str,
    /// The default in words, where JSON cannot express it.
    pub otherwise: Option<&'static str>,
    /// The setting's meaning, in Markdown.
    pub meaning: &'static str,
    /// The origins that may set the setting.
    pub allowed_origins: AllowedOrigins,
    /// Whether each environment, and each folder of an editor, may have a value of its own.
    pub per_environment: bool,
}

/// The type of a setting's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingType {
    /// A text, a path among them.
    Text,
    /// A list of texts.
    Texts,
    /// Yes or no.
    Flag,
    /// A number of bytes.
    Bytes,
    /// A number of seconds, at least one.
    Seconds,
    /// An age: a number with the unit `d`, `h`, `m` or `s`.
    Age,
    /// One of some numbers.
    Numbers(&'static [u8]),
    /// One of some words.
    Words(&'static [&'static str]),
    /// A list of some words.
    ListOf(&'static [&'static str]),
    /// A hash of texts.
    TextByText,
    /// Rules that compute variables.
    Derivations,
    /// The files that functions read, by the names of the functions.
    Backends,
    /// Severities by the codes of rules.
    Severities,
}

/// The origins that may set a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AllowedOrigins {
    /// Every origin: the effect of the setting stays within the repository.
    All,
    /// The setting may lead out of the repository: then only the editor's settings and the user's
    /// own are accepted.
    EditorBeyondTheRepository,
    /// The setting concerns secrets: only settings that are certainly the user's own are accepted.
    User,
}

/// All settings, in the order in which they are shown.
pub const SCHEMA: &[Setting] = &[
    Setting {
        name: "puppet.version",
        kind: SettingType::Numbers(&[7, 8, 9]),
        default: "8",
        otherwise: None,
        meaning: "which Puppet to agree with: 7, 8, or 9 for OpenVox 9",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "puppet.strict",
        kind: SettingType::Words(&["off", "warning", "error"]),
        default: "null",
        otherwise: Some("that of the version"),
        meaning: "Puppet's setting `strict`: `off`, `warning` or `error`",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "puppet.includeLegacyFacts",
        kind: SettingType::Flag,
        default: "null",
        otherwise: Some("those that the sources of nodes have"),
        meaning: "whether nodes have legacy facts such as `osfamily`, as Puppet's setting `include_legacy_facts` decides for agents since version 8: `false` leaves them out of all facts, `true` keeps them in `hiera-ls diff --puppet-version 7..8`, too",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "environment",
        kind: SettingType::Text,
        default: "\"production\"",
        otherwise: None,
        meaning: "the environment's name, where its folder does not tell",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "hieraConfig",
        kind: SettingType::Text,
        default: "\"hiera.yaml\"",
        otherwise: None,
        meaning: "the file that configures an environment",
        allowed_origins: AllowedOrigins::EditorBeyondTheRepository,
        per_environment: false,
    },
    Setting {
        name: "globalHieraConfig",
        kind: SettingType::Text,
        default: "null",
        otherwise: None,
        meaning: "the global layer's `hiera.yaml`, of version 3 or 5; Puppet's defaults where there is no such file (editor only)",
        allowed_origins: AllowedOrigins::EditorBeyondTheRepository,
        per_environment: false,
    },
    Setting {
        name: "modulePath",
        kind: SettingType::Texts,
        default: "null",
        otherwise: Some("environment.conf, else `modules`, `site`, `site-modules`"),
        meaning: "folders of modules",
        allowed_origins: AllowedOrigins::EditorBeyondTheRepository,
        per_environment: true,
    },
    Setting {
        name: "pathMappings",
        kind: SettingType::TextByText,
        default: "{}",
        otherwise: Some("none"),
        meaning: "deployed paths to paths here, relative to the settings file: `\"/etc/puppetlabs/code/environments/%{environment}\": \".\"`",
        allowed_origins: AllowedOrigins::EditorBeyondTheRepository,
        per_environment: true,
    },
    Setting {
        name: "backends",
        kind: SettingType::Backends,
        default: "{}",
        otherwise: Some("none"),
        meaning: "what functions of your own read, as `yaml_data` and `json_data` do, for the `path` of a level and a part of a key, its namespace (before its first `::`) or its class (`a/b` of `a::b::c`): `{\"t::expand\": {files: [\"%{path}.yaml\", \"%{path}/%{namespace}.yaml\", \"%{path}/%{class}.yaml\"]}}`",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "nodes.sources",
        kind: SettingType::Texts,
        default: "[]",
        otherwise: Some("none"),
        meaning: "globs of files with nodes: `facter --json`, `facter --yaml`, `puppet facts`, whole scopes, JSON lines",
        allowed_origins: AllowedOrigins::EditorBeyondTheRepository,
        per_environment: true,
    },
    Setting {
        name: "nodes.derive",
        kind: SettingType::Derivations,
        default: "[]",
        otherwise: Some("none"),
        meaning: "variables from others: `{from: trusted.certname, match: '^(?<role>[a-z]+)-'}`",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "nodes.default",
        kind: SettingType::Text,
        default: "null",
        otherwise: None,
        meaning: "the certname whose values are shown",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "nodes.infer",
        kind: SettingType::ListOf(&InferStep::WORDS),
        default: r#"["fileNames", "nameParts", "rspec", "bolt", "nodeBlocks", "facts", "classifier", "puppetdb", "kinds"]"#,
        otherwise: Some("all of them"),
        meaning: "how nodes become known without `nodes.sources`: `fileNames` (the files of a node level), `nameParts` (parts of nodes' names that are values of variables), `rspec` (`spec/hosts`), `bolt` (inventories), `nodeBlocks` (of manifests), `facts` (facts files, factsets), `classifier` (its YAML), `puppetdb` (its dumps), `kinds` (of what stays unknown, the values that files are named after); an empty list switches all of them off",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "nodes.puppetdb.url",
        kind: SettingType::Text,
        default: "null",
        otherwise: None,
        meaning: "the PuppetDB that is asked for nodes: `https://puppetdb.example.net:8081`, or `http://localhost:8080` (`initializationOptions` only, like all of `nodes.puppetdb`)",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "nodes.puppetdb.ca",
        kind: SettingType::Text,
        default: "null",
        otherwise: None,
        meaning: "the certificate of the CA that signs its certificate, a PEM file by its absolute path: Puppet's `ssl/certs/ca.pem`; needed for `https`",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "nodes.puppetdb.cert",
        kind: SettingType::Text,
        default: "null",
        otherwise: None,
        meaning: "the certificate of this client, likewise: Puppet's `ssl/certs/NAME.pem`",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "nodes.puppetdb.key",
        kind: SettingType::Text,
        default: "null",
        otherwise: None,
        meaning: "the private key of that certificate, likewise: Puppet's `ssl/private_keys/NAME.pem`",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "nodes.puppetdb.tokenFile",
        kind: SettingType::Text,
        default: "null",
        otherwise: None,
        meaning: "a file with a token of Puppet Enterprise, likewise, which is sent in the header `X-Authentication`: `~/.puppetlabs/token`",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "nodes.puppetdb.query",
        kind: SettingType::Text,
        default: "null",
        otherwise: None,
        meaning: "a condition for the nodes that are asked for, besides that they are active: in PQL, `facts.os.family = \"Debian\"`, or as a list in JSON, `[\"=\", \"environment\", \"production\"]`",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "nodes.puppetdb.maxAge",
        kind: SettingType::Age,
        default: "null",
        otherwise: None,
        meaning: "how old the facts of a node may be when PuppetDB is asked: `7d`, `12h`, `30m` or `90s`; nodes with older facts are left out, and counted",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "nodes.puppetdb.timeout",
        kind: SettingType::Seconds,
        default: "30",
        otherwise: None,
        meaning: "how long PuppetDB may send nothing, in seconds",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "eyaml.decrypt",
        kind: SettingType::Flag,
        default: "false",
        otherwise: None,
        meaning: "decrypt values of eyaml with the user's keys (`initializationOptions` only, like all of `eyaml`)",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "eyaml.reveal",
        kind: SettingType::Flag,
        default: "false",
        otherwise: None,
        meaning: "show what was decrypted; without it, hover masks it",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "eyaml.privateKey",
        kind: SettingType::Text,
        default: "null",
        otherwise: Some("that of `hiera.yaml`"),
        meaning: "the private key, a PEM file by its absolute path",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "eyaml.publicKey",
        kind: SettingType::Text,
        default: "null",
        otherwise: Some("that of `hiera.yaml`"),
        meaning: "the public key, likewise",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "eyaml.keyFolders",
        kind: SettingType::Texts,
        default: "[]",
        otherwise: Some("none"),
        meaning: "folders outside the repository in which `hiera.yaml` may name keys",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "runBackends.enabled",
        kind: SettingType::Flag,
        default: "false",
        otherwise: None,
        meaning: "offer to evaluate a key with the functions of levels that hiera-ls cannot evaluate itself: they run with the user's rights, each time at the user's request (`initializationOptions` only, like all of `runBackends`)",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "runBackends.ruby",
        kind: SettingType::Text,
        default: "null",
        otherwise: Some("that of Puppet's packages, else `ruby`"),
        meaning: "the Ruby that has Puppet: its absolute path, or its name",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "runBackends.functions",
        kind: SettingType::Texts,
        default: "[]",
        otherwise: Some("all of them"),
        meaning: "the functions that may run",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "runBackends.passEnv",
        kind: SettingType::Texts,
        default: "[]",
        otherwise: Some("none"),
        meaning: "environment variables that functions see beside the usual ones, such as `VAULT_TOKEN`",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "runBackends.timeout",
        kind: SettingType::Seconds,
        default: "10",
        otherwise: None,
        meaning: "how long a function may work on one call, in seconds",
        allowed_origins: AllowedOrigins::User,
        per_environment: false,
    },
    Setting {
        name: "checkThirdPartyModules",
        kind: SettingType::Flag,
        default: "false",
        otherwise: None,
        meaning: "check the data of modules that a Puppetfile installs, and of those below `vendor` or `r10k_modules`, too",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "rules",
        kind: SettingType::Severities,
        default: "{}",
        otherwise: Some("the rule's own"),
        meaning: "for a rule's code `off`, `hint`, `info`, `warning` or `error`: `{unknown-key: off}`",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "preset",
        kind: SettingType::Words(&["minimal", "recommended", "strict"]),
        default: "\"recommended\"",
        otherwise: None,
        meaning: "the rules that are on where `rules` gives no severity: `minimal` (what breaks), `recommended`, or `strict` (all)",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "ignore",
        kind: SettingType::TextByText,
        default: "{}",
        otherwise: None,
        meaning: "findings to accept by files: a glob below the environment's folder, with the codes of rules: `{'data/legacy/**/*.yaml': 'unread-key, unknown-key'}`",
        allowed_origins: AllowedOrigins::All,
        per_environment: true,
    },
    Setting {
        name: "diagnostics.run",
        kind: SettingType::Words(&["onType", "onSave", "off"]),
        default: "\"onType\"",
        otherwise: None,
        meaning: "when an editor is told of findings: `onType`, `onSave` (nothing is told of a file while it is not saved; its text counts for other files) or `off`",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "inlayHints.tokenValues",
        kind: SettingType::Flag,
        default: "true",
        otherwise: None,
        meaning: "show the value of each token behind it, where it is settled for the node or file",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "inlayHints.parameterTypes",
        kind: SettingType::Flag,
        default: "false",
        otherwise: None,
        meaning: "show the type that a class wants behind each key",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "codeLens.overrides",
        kind: SettingType::Flag,
        default: "true",
        otherwise: None,
        meaning: "show above a key which files override it, whether it is redundant, and what unknown variables may change",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "codeLens.allOverrides",
        kind: SettingType::Flag,
        default: "false",
        otherwise: None,
        meaning: "show above each key which files it overrides, and which it is merged with, too",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "codeLens.readers",
        kind: SettingType::Flag,
        default: "false",
        otherwise: None,
        meaning: "show above a key the class, the calls and the keys that read it",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "codeLens.nodes",
        kind: SettingType::Flag,
        default: "false",
        otherwise: None,
        meaning: "show at the top of a file how many of the known nodes read it",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "codeLens.reach",
        kind: SettingType::Flag,
        default: "true",
        otherwise: None,
        meaning: "show above an edited entry, at the top of an edited file and in the status bar how many keys the edit changes on how many nodes",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "reach.base",
        kind: SettingType::Text,
        default: "\"saved\"",
        otherwise: None,
        meaning: "what edits are compared with: `saved`, the texts on disk, or a git revision such as `HEAD` or `origin/main`",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
    Setting {
        name: "maxFileSize",
        kind: SettingType::Bytes,
        default: "67108864",
        otherwise: None,
        meaning: "the longest file that is read, in bytes",
        allowed_origins: AllowedOrigins::All,
        per_environment: false,
    },
];

/// Keys that editors use for themselves beside the settings of the server.
pub(super) const CLIENT_KEYS: [&str; 3] = ["server", "trace", "enable"];

/// Whether a dotted name is a setting, a hash of settings, or a member of one that takes a hash.
pub fn is_known(name: &str) -> bool {
    SCHEMA.iter().any(|setting| {
        is_above_setting(name, setting.name)
            || (is_above_setting(setting.name, name) && setting.kind == SettingType::Severities)
    })
}

fn is_above_setting(one: &str, other: &str) -> bool {
    other.strip_prefix(one).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Whether a dotted name is a setting that a repository may have and that all environments share.
pub(super) fn is_of_workspace(name: &str) -> bool {
    let setting = SCHEMA.iter().find(|setting| setting.name == name);
    setting.is_some_and(|setting| {
        setting.allowed_origins != AllowedOrigins::User && !setting.per_environment
    })
}

/// Returns the known name that an unknown dotted name is probably a misspelling of.
pub fn nearest_to(name: &str) -> Option<String> {
    let (above, last) = name.rsplit_once('.').map_or(("", name), |(above, last)| (above, last));
    if above == "rules" {
        let code = nearest_name(last, rules::RULES.iter().map(|rule| rule.code))?;
        return Some(format!("rules.{code}"));
    }
    let meant = nearest_name(
        last,
        SCHEMA.iter().filter_map(|setting| match above {
            "" => setting.name.split('.').next(),
            _ => setting.name.strip_prefix(above)?.strip_prefix('.')?.split('.').next(),
        }),
    )?;
    Some(if above.is_empty() { meant.to_owned() } else { format!("{above}.{meant}") })
}

impl Setting {
    /// Returns the default for people, in Markdown.
    pub fn default_words(&self) -> String {
        match (self.otherwise, self.default) {
            (Some(words), _) => words.to_owned(),
            (None, "null") => "none".to_owned(),
            (None, json) => format!("`{}`", json.trim_matches('"')),
        }
    }
}
