//! Findings in a part of `check`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::cli::Failure;
use crate::diagnostics::fix::Safety;
use crate::diagnostics::rule::{Fix, FixEdit};
use crate::diagnostics::{FileFindings, Finding, Related, Severity, rules};
use crate::text::{FilePath, Span, TextRange};
use crate::workspace::Snapshot;

/// The findings of a share in one file.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::cli) struct FileRecord {
    /// The path below the environment's folder, or an absolute one.
    file: String,
    /// The findings by the numbers of units of the file.
    units: BTreeMap<usize, Vec<FindingRecord>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct FindingRecord {
    rule: String,
    severity: String,
    place: Place,
    message: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fix: Option<FixRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

/// Bytes of a file.
#[derive(Debug, Serialize, Deserialize)]
struct Place {
    /// The path; absent in the file of the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    bytes: (u32, u32),
}

#[derive(Debug, Serialize, Deserialize)]
struct RelatedRecord {
    place: Place,
    message: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_quoted: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct FixRecord {
    title: String,
    edits: Vec<EditRecord>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    changes_values: bool,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum EditRecord {
    Replace { place: Place, wrong: String, right: String },
    RemoveMember(Place),
    MoveBelowMerge(Place),
    RemoveIgnore(Place),
}

/// The files of a snapshot by the paths that records have.
#[derive(Clone, Copy)]
struct RecordedFiles<'a> {
    snapshot: &'a Snapshot,
    root: &'a FilePath,
    /// The file of a record.
    file: &'a FilePath,
}

impl FileRecord {
    /// Returns the record of findings in a file below `root`.
    pub(in crate::cli) fn new(
        found: &FileFindings,
        (snapshot, root): (&Snapshot, &FilePath),
    ) -> FileRecord {
        let files = RecordedFiles { snapshot, root, file: &found.path };
        let units = found.units.iter();
        FileRecord {
            file: files.path_text(&found.path),
            units: units
                .map(|(unit, all)| {
                    (*unit, all.iter().map(|finding| files.record(finding)).collect())
                })
                .collect(),
        }
    }

    /// Returns the findings of a record in the same files.
    ///
    /// Errors: the files or the rules are others.
    pub(in crate::cli) fn findings(
        &self,
        (snapshot, root): (&Snapshot, &FilePath),
    ) -> Result<FileFindings, Failure> {
        let path = root.join(&self.file);
        let files = RecordedFiles { snapshot, root, file: &path };
        let mut units = BTreeMap::new();
        for (unit, records) in &self.units {
            let found: Option<Vec<Finding>> =
                records.iter().map(|record| files.finding(record)).collect();
            units.insert(
                *unit,
                found.ok_or_else(|| Failure(format!("the findings in {} are wrong", self.file)))?,
            );
        }
        Ok(FileFindings { path, units })
    }
}

impl RecordedFiles<'_> {
    fn path_text(self, path: &FilePath) -> String {
        path.relative_to(self.root).unwrap_or(path.as_str()).to_owned()
    }

    fn place(self, span: Span) -> Place {
        let path = self.snapshot.path_of(span.file).filter(|path| *path != self.file);
        let range = self.snapshot.span_bytes(span);
        Place { file: path.map(|path| self.path_text(path)), bytes: (range.start, range.end) }
    }

    /// Returns the place in this snapshot; `None` where it has no such file.
    fn span(self, place: &Place) -> Option<Span> {
        let other = place.file.as_ref().map(|file| self.root.join(file));
        let file = self.snapshot.file(other.as_ref().unwrap_or(self.file))?;
        Some(Span::in_file(file.id, TextRange::new(place.bytes.0, place.bytes.1)))
    }

    fn record(self, finding: &Finding) -> FindingRecord {
        let Finding { rule, severity, span, message, related, fix, cause } = finding;
        let related = related.iter().map(|related| RelatedRecord {
            place: self.place(related.span),
            message: related.message.to_string(),
            is_quoted: related.is_quoted,
        });
        FindingRecord {
            rule: rule.code.to_owned(),
            severity: severity.name().to_owned(),
            place: self.place(*span),
            message: message.clone(),
            related: related.collect(),
            fix: fix.as_ref().map(|fix| self.record_fix(fix)),
            cause: cause.clone(),
        }
    }

    /// Returns the finding of a record; `None` where the record is wrong.
    fn finding(self, record: &FindingRecord) -> Option<Finding> {
        let related = record.related.iter().map(|related| {
            Some(Related {
                span: self.span(&related.place)?,
                message: related.message.clone().into(),
                is_quoted: related.is_quoted,
            })
        });
        Some(Finding {
            rule: rules::find(&record.rule)?,
            severity: Severity::from_name(&record.severity)?,
            span: self.span(&record.place)?,
            message: record.message.clone(),
            related: related.collect::<Option<_>>()?,
            fix: match &record.fix {
                Some(fix) => Some(Box::new(self.fix(fix)?)),
                None => None,
            },
            cause: record.cause.clone(),
        })
    }

    fn record_fix(self, fix: &Fix) -> FixRecord {
        FixRecord {
            title: fix.title.clone(),
            edits: fix.edits.iter().map(|edit| self.record_edit(edit)).collect(),
            changes_values: fix.safety == Safety::ChangesValues,
        }
    }

    fn record_edit(&self, edit: &FixEdit) -> EditRecord {
        match edit {
            FixEdit::Replace { span, wrong, right } => EditRecord::Replace {
                place: self.place(*span),
                wrong: wrong.clone(),
                right: right.clone(),
            },
            FixEdit::RemoveMember(span) => EditRecord::RemoveMember(self.place(*span)),
            FixEdit::MoveBelowMerge(span) => EditRecord::MoveBelowMerge(self.place(*span)),
            FixEdit::RemoveIgnore(span) => EditRecord::RemoveIgnore(self.place(*span)),
        }
    }

    fn fix(self, record: &FixRecord) -> Option<Fix> {
        let safety =
            if record.changes_values { Safety::ChangesValues } else { Safety::KeepsValues };
        let edits =
            record.edits.iter().map(|edit| self.restore_edit(edit)).collect::<Option<_>>()?;
        Some(Fix { title: record.title.clone(), edits, safety })
    }

    fn restore_edit(&self, edit: &EditRecord) -> Option<FixEdit> {
        Some(match edit {
            EditRecord::Replace { place, wrong, right } => FixEdit::Replace {
                span: self.span(place)?,
                wrong: wrong.clone(),
                right: right.clone(),
            },
            EditRecord::RemoveMember(place) => FixEdit::RemoveMember(self.span(place)?),
            EditRecord::MoveBelowMerge(place) => FixEdit::MoveBelowMerge(self.span(place)?),
            EditRecord::RemoveIgnore(place) => FixEdit::RemoveIgnore(self.span(place)?),
        })
    }
}
