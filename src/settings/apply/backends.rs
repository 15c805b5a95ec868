//! The settings `backends`: the files that functions of levels read.

use serde_json::Value;

use crate::hiera::config::{DescribedBackends, why_not_described};
use crate::settings::reader::{SettingsReader, leaves_workspace};

/// Returns the files that functions read, from hashes with `files` by the names of the functions.
/// `None` for a value that is no hash.
pub(super) fn read_backends(
    reader: &mut SettingsReader,
    value: &Value,
) -> Option<DescribedBackends> {
    let Some(members) = value.as_object() else {
        reader.report("backends", "must be a hash of functions and what they read");
        return None;
    };
    let mut described = DescribedBackends::new();
    for (function, description) in members {
        let names = description.as_object().into_iter().flat_map(|members| members.keys());
        for name in names.filter(|name| *name != "files") {
            reader.report_part("backends", Some(function), &format!("'{name}' is not known"));
        }
        let Some(files) = description["files"].as_array() else {
            let message = "a function must have `files`, a list of paths";
            reader.report_part("backends", Some(function), message);
            continue;
        };
        let files = files.iter().filter_map(|file| described_file(reader, function, file));
        described.insert(function.clone(), files.collect());
    }
    Some(described)
}

fn described_file(reader: &mut SettingsReader, function: &str, file: &Value) -> Option<String> {
    let text = reader.read_text("backends", file)?;
    let problem = if leaves_workspace(&text) || text.split('/').any(|part| part == "..") {
        Some("must lie below the datadir of the level")
    } else {
        why_not_described(&text)
    };
    if let Some(problem) = problem {
        reader.report_part("backends", Some(function), &format!("'{text}': {problem}"));
        return None;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use crate::settings::apply::tests::applied;

    #[test]
    fn a_function_is_described_by_files_below_its_datadir() {
        let (settings, problems) = applied(
            "backends:\n  f: {files: ['%{path}.yaml', '../x.yaml', 'a/%{namespace}/b.yaml', '%{klass}.yaml', x.conf, '/etc/%{path}.yaml', 'a/../%{path}.yaml']}\n  g: {paths: []}\n",
        );
        assert_eq!(settings.workspace.common.backends["f"], ["%{path}.yaml"]);
        assert_eq!(problems.len(), 8, "{problems:#?}");
    }
}
