//! Settings in the VS Code extension: its manifest, and the schema of the settings file that it
//! brings, agree with the schema of the settings.
//!
//! `HIERA_LS_UPDATE=1 cargo test --test house settings` writes both anew.

use hiera_ls::diagnostics::{Rule, Severity, rules};
use hiera_ls::settings::schema::{AllowedOrigins, SCHEMA, Setting, SettingType};
use serde_json::{Map, Value, json};

use crate::generated::{check_file, read};

const MANIFEST: &str = "editors/vscode/package.json";
const FILE_SCHEMA: &str = "editors/vscode/schemas/hiera-ls.schema.json";

#[test]
fn the_extension_has_the_settings_of_the_schema() {
    let text = read(MANIFEST);
    let mut manifest: Value = serde_json::from_str(&text).expect("the manifest is JSON");
    // One part of the manifest's settings is the extension's own, and is about finding the server.
    // The other parts are made from the schema.
    let own = manifest["contributes"]["configuration"][0].clone();
    let title = |setting: &Setting| match setting.name.split('.').next() {
        Some("nodes") => "Nodes",
        Some("eyaml") => "Secrets",
        Some("runBackends") => "Custom backends",
        Some("rules" | "diagnostics" | "preset" | "ignore" | "checkThirdPartyModules") => "Rules",
        Some("inlayHints" | "codeLens" | "reach") => "Hints and lenses",
        _ => "Hierarchy",
    };
    let mut parts = vec![own];
    for name in ["Hierarchy", "Nodes", "Rules", "Hints and lenses", "Secrets", "Custom backends"] {
        let properties: Map<String, Value> = SCHEMA
            .iter()
            .filter(|setting| title(setting) == name)
            .map(|setting| (format!("hiera.{}", setting.name), property(setting)))
            .collect();
        parts.push(json!({"title": name, "properties": properties}));
    }
    manifest["contributes"]["configuration"] = parts.into();
    // Settings that may lead out of the repository, or name a program, wait until the workspace is
    // trusted.
    let beyond = SCHEMA
        .iter()
        .filter(|setting| setting.allowed_origins != AllowedOrigins::All)
        .map(|setting| format!("hiera.{}", setting.name));
    let restricted: Vec<String> =
        ["hiera.server.path".to_owned()].into_iter().chain(beyond).collect();
    manifest["capabilities"]["untrustedWorkspaces"]["restrictedConfigurations"] = restricted.into();
    manifest["version"] = env!("CARGO_PKG_VERSION").into();
    let written = serde_json::to_string_pretty(&manifest).expect("JSON can be written");
    check_file(MANIFEST, |_| written + "\n");
}

#[test]
fn the_schema_of_the_settings_file_has_the_settings_of_the_schema() {
    let mut schema = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Settings of hiera-ls in a repository",
        "type": ["object", "null"],
        "properties": {},
        "additionalProperties": false
    });
    // Settings that only the user may set are refused in a file of the repository.
    for setting in SCHEMA.iter().filter(|setting| {
        setting.name != "globalHieraConfig" && setting.allowed_origins != AllowedOrigins::User
    }) {
        let mut names: Vec<&str> = setting.name.split('.').collect();
        let last = names.pop().expect("a name has parts");
        let mut hash = &mut schema;
        for name in names {
            hash = &mut hash["properties"][name];
            if hash.is_null() {
                *hash = json!({"type": ["object", "null"], "properties": {}, "additionalProperties": false});
            }
        }
        let mut own = json_schema(setting);
        own["description"] = setting.meaning.into();
        hash["properties"][last] = own;
    }
    // YAML reads a bare `off` as false.
    for rule in
        schema["properties"]["rules"]["properties"].as_object_mut().expect("rules").values_mut()
    {
        rule["enum"].as_array_mut().expect("severities").push(false.into());
    }
    let written = serde_json::to_string_pretty(&schema).expect("JSON can be written");
    check_file(FILE_SCHEMA, |_| written + "\n");
    // The extension's manifest names the schema, and the extension's package contains the schema.
    let manifest: Value = serde_json::from_str(&read(MANIFEST)).expect("the manifest is JSON");
    let url = FILE_SCHEMA.strip_prefix("editors/vscode").expect("it is the extension's");
    let validation =
        json!([{"fileMatch": hiera_ls::settings::FILE_NAME, "url": format!(".{url}")}]);
    assert_eq!(manifest["contributes"]["yamlValidation"], validation);
    let files = manifest["files"].as_array().expect("a list of files");
    assert!(files.contains(&json!("schemas/")));
}

/// A setting as VS Code wants it.
fn property(setting: &Setting) -> Value {
    let mut property = json_schema(setting);
    property["scope"] = match setting.allowed_origins {
        AllowedOrigins::All if setting.per_environment => "resource",
        AllowedOrigins::All => "window",
        AllowedOrigins::EditorBeyondTheRepository => "machine-overridable",
        AllowedOrigins::User => "machine",
    }
    .into();
    let mut meaning = setting
        .meaning
        .replace(" (`initializationOptions` only, like all of `eyaml`)", "")
        .replace(" (`initializationOptions` only, like all of `runBackends`)", "")
        .replace(" (editor only)", "");
    meaning[..1].make_ascii_uppercase();
    let default = setting.otherwise.map(|words| format!(" Default: {words}.")).unwrap_or_default();
    property["markdownDescription"] = format!("{meaning}.{default}").into();
    property
}

/// A setting as JSON Schema describes values.
fn json_schema(setting: &Setting) -> Value {
    let default: Value = serde_json::from_str(setting.default).unwrap_or_default();
    // A setting without a default can be unset again.
    let or_null = |name: &str| if default.is_null() { json!([name, "null"]) } else { json!(name) };
    let text = json!({"type": "string"});
    let mut schema = match setting.kind {
        SettingType::Text => json!({"type": or_null("string")}),
        SettingType::Texts => json!({"type": or_null("array"), "items": text}),
        SettingType::Flag => json!({"type": "boolean"}),
        SettingType::Bytes => json!({"type": "integer", "minimum": 0}),
        SettingType::Seconds => json!({"type": "integer", "minimum": 1}),
        SettingType::Age => json!({"type": or_null("string"), "pattern": "^[1-9][0-9]*[dhms]$"}),
        SettingType::Numbers(numbers) => json!({"type": "integer", "enum": numbers}),
        SettingType::Words(words) => {
            let words = words
                .iter()
                .map(|word| json!(word))
                .chain(default.is_null().then_some(Value::Null));
            json!({"type": or_null("string"), "enum": words.collect::<Vec<_>>()})
        }
        SettingType::ListOf(words) => {
            json!({"type": "array", "items": {"enum": words}, "uniqueItems": true})
        }
        SettingType::TextByText => json!({"type": "object", "additionalProperties": text}),
        SettingType::Backends => {
            let members = json!({"files": {"type": "array", "items": text}});
            let function = json!({"type": "object", "required": ["files"], "properties": members, "additionalProperties": false});
            json!({"type": "object", "additionalProperties": function})
        }
        SettingType::Derivations => {
            let members = json!({"from": text, "match": text});
            let rule = json!({"type": "object", "required": ["from", "match"], "properties": members, "additionalProperties": false});
            json!({"type": "array", "items": rule})
        }
        SettingType::Severities => {
            let severities = Severity::ALL.map(Severity::name);
            let rule = |rule: &Rule| {
                let schema = json!({"enum": severities, "default": rule.severity.name(), "description": rule.summary});
                (rule.code.to_owned(), schema)
            };
            let rules: serde_json::Map<String, Value> =
                rules::RULES.iter().map(|found| rule(found)).collect();
            json!({"type": "object", "properties": rules, "additionalProperties": false})
        }
    };
    schema["default"] = default;
    schema
}
