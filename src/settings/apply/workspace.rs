//! Settings of the workspace without a group of their own: the global config, the mappings of
//! deployed paths, and the maximum size of files.

use serde_json::Value;

use crate::settings::reader::{Origin, SettingsReader};
use crate::text::FilePath;
use crate::workspace::files::mapping::PathMappings;

/// Reads the path of the global layer's `hiera.yaml`, which lies outside the repository.
pub(super) fn global_config(
    reader: &mut SettingsReader,
    key: &str,
    value: &Value,
) -> Option<FilePath> {
    if reader.origin() == Origin::Repository {
        reader.report(key, "is honoured from the editor's user settings only");
        return None;
    }
    Some(FilePath::new(&reader.read_text(key, value)?))
}

/// Reads deployed paths with their paths in the workspace; `None` for a value that is no hash.
pub(super) fn path_mappings(reader: &mut SettingsReader, value: &Value) -> Option<PathMappings> {
    let Some(members) = value.as_object() else {
        reader.report("pathMappings", "must be a hash of deployed paths and paths here");
        return None;
    };
    let mut mappings = PathMappings::default();
    for (deployed, here) in members {
        if let Some(here) = reader.path_from_file("pathMappings", here)
            && let Err(problem) = mappings.add(deployed, &here)
        {
            reader.report_part("pathMappings", Some(deployed), &problem);
        }
    }
    Some(mappings)
}

/// Reads the size of the largest file that is read, in bytes; `most` is the limit so far. A file of
/// the repository may only lower the limit. `None` after a report.
pub(super) fn max_file_size(
    reader: &mut SettingsReader,
    key: &str,
    value: &Value,
    most: u64,
) -> Option<u64> {
    let Some(size) = value.as_u64() else {
        reader.report(key, "must be a number of bytes");
        return None;
    };
    if reader.origin() == Origin::Repository && size > most {
        let message = format!(
            "is more than {most}, and a repository may only lower the limit; the user's settings may raise it"
        );
        reader.report(key, &message);
        return None;
    }
    Some(size)
}

#[cfg(test)]
mod tests {
    use crate::settings::apply::tests::applied;

    #[test]
    fn a_mapping_of_a_huge_path_is_said_and_the_others_count() {
        let huge = "x".repeat(5000);
        let (settings, problems) =
            applied(&format!("pathMappings:\n  ? /{huge}\n  : data\n  /srv/data: data\n"));
        assert_eq!(problems, ["setting 'pathMappings': a deployed path of 5001 bytes is too long"]);
        assert_eq!(
            settings.workspace.common.path_mappings.map("/srv/data", None, &|_| false),
            "/repo/data"
        );
    }
}
