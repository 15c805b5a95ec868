//! Findings as JSON for the client. A finding whose places have not changed is not written again:
//! in a file with hundreds of findings, writing them all would take most of the time of an edit.

use std::fmt::Write as _;
use std::sync::Arc;

use foldhash::{HashMap, HashMapExt as _};
use tower_lsp::lsp_types as lsp;

use crate::diagnostics::Finding;
use crate::server::capabilities::Features;
use crate::server::documents::Documents;
use crate::server::to_lsp;
use crate::text::work::{Work, count_work};
use crate::text::{FilePath, Span};
use crate::workspace::Snapshot;

/// A diagnostic of the protocol, as JSON.
pub(super) type Diagnostic = Arc<str>;

/// The findings of some files as last encoded, for reuse.
#[derive(Default)]
pub(super) struct DiagnosticEncoder {
    files: HashMap<FilePath, HashMap<FindingKey, Vec<EncodedFinding>>>,
}

/// The key of a file's findings: a place and a code; seldom shared by two findings.
type FindingKey = (Span, &'static str);

/// An encoded finding.
struct EncodedFinding {
    finding: Arc<Finding>,
    /// The line on which the part of the file begins that the finding stands in; `None` where the
    /// file has no parts.
    part_line: Option<u32>,
    range: lsp::Range,
    /// The places that explain the finding: the address as a client spells it that has the file
    /// open, and the range.
    related: Vec<(Option<lsp::Url>, lsp::Range)>,
    json: Diagnostic,
}

impl DiagnosticEncoder {
    /// Returns the encoded findings of a file; `features` are the same in each call.
    pub(super) fn encode(
        &mut self,
        snapshot: &Snapshot,
        path: &FilePath,
        findings: &[Arc<Finding>],
        features: &Features,
        documents: &Documents,
    ) -> Vec<Diagnostic> {
        let mut before = self.files.remove(path).unwrap_or_default();
        let mut now: HashMap<FindingKey, Vec<EncodedFinding>> =
            HashMap::with_capacity(findings.len());
        let mut lines = HashMap::new();
        let mut all = Vec::with_capacity(findings.len());
        for finding in findings {
            let place = (finding.span, finding.rule.code);
            let known = before.get_mut(&place).and_then(|known| {
                Some(
                    known.swap_remove(known.iter().position(|one| is_same(&one.finding, finding))?),
                )
            });
            let part = (finding.span.file, finding.span.part);
            let part_line = *lines.entry(part).or_insert_with(|| snapshot.part_line(finding.span));
            let written = match known {
                // A part that was not read again may have moved as a whole, but nothing moved
                // within it.
                Some(known)
                    if Arc::ptr_eq(&known.finding, finding)
                        && part_line.is_some()
                        && known.part_line == part_line
                        && finding.related.is_empty() =>
                {
                    known
                }
                known => {
                    let range = to_lsp::convert_span(snapshot, finding.span, features.encoding);
                    let related = related_places(snapshot, finding, features, documents);
                    let json = known
                        .filter(|known| known.range == range && known.related == related)
                        .map(|known| known.json);
                    let json = json.unwrap_or_else(|| {
                        count_work(Work::Write);
                        let diagnostic =
                            to_lsp::convert_finding(snapshot, finding, features, documents);
                        serde_json::to_string(&diagnostic).unwrap_or_default().into()
                    });
                    EncodedFinding { finding: finding.clone(), part_line, range, related, json }
                }
            };
            all.push(written.json.clone());
            // Two findings seldom have the same key, and a vector that grows by itself starts with
            // room for four.
            now.entry(place).or_insert_with(|| Vec::with_capacity(1)).push(written);
        }
        if !now.is_empty() {
            self.files.insert(path.clone(), now);
        }
        all
    }
}

/// Whether two findings say the same of the same bytes.
fn is_same(one: &Arc<Finding>, other: &Arc<Finding>) -> bool {
    Arc::ptr_eq(one, other)
        || one.severity == other.severity
            && one.message == other.message
            && one.related == other.related
}

fn related_places(
    snapshot: &Snapshot,
    finding: &Finding,
    features: &Features,
    documents: &Documents,
) -> Vec<(Option<lsp::Url>, lsp::Range)> {
    finding
        .related
        .iter()
        .map(|related| {
            let document = snapshot.path_of(related.span.file).and_then(|path| documents.get(path));
            (
                document.map(|document| document.uri.clone()),
                to_lsp::convert_span(snapshot, related.span, features.encoding),
            )
        })
        .collect()
}

/// Returns the notification that publishes the diagnostics of a file.
pub(super) fn publish_message(
    uri: &lsp::Url,
    diagnostics: &[Diagnostic],
    version: Option<i32>,
) -> String {
    let length: usize = diagnostics.iter().map(|json| json.len() + 1).sum();
    let mut out = String::with_capacity(length + 200);
    out.push_str(
        r#"{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"diagnostics":["#,
    );
    for (n, json) in diagnostics.iter().enumerate() {
        out.push_str(if n > 0 { "," } else { "" });
        out.push_str(json);
    }
    let uri = serde_json::Value::from(uri.as_str());
    let _ = write!(out, r#"],"uri":{uri}"#);
    if let Some(version) = version {
        let _ = write!(out, r#","version":{version}"#);
    }
    out.push_str("}}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostics::Findings;
    use crate::fixture::Fixture;
    use crate::text::{TextRange, work};
    use crate::workspace::Change;

    /// A file with findings, in an editor.
    struct Session {
        fixture: Fixture,
        findings: Findings,
        encoder: DiagnosticEncoder,
        told: HashMap<FilePath, Vec<Diagnostic>>,
        path: FilePath,
    }

    impl Session {
        fn new(text: &str) -> Session {
            let fixture = Fixture::new(text);
            let path = FilePath::new("/data/common.yaml");
            let text = fixture.snapshot.file(&path).unwrap().text().unwrap().to_str().into_owned();
            let mut session = Session {
                fixture,
                findings: Findings::default(),
                encoder: DiagnosticEncoder::default(),
                told: HashMap::new(),
                path: path.clone(),
            };
            session.apply(Change::Open(path, text));
            session
        }

        /// Returns how many findings are written for an edit that replaces the only place of a
        /// word.
        fn edit(&mut self, old: &str, new: &str) -> usize {
            let text = self.fixture.workspace.open_text(&self.path).unwrap().to_str().into_owned();
            let start = text.find(old).unwrap();
            let range = TextRange::from_usize(start..start + old.len());
            work::take();
            self.apply(Change::Edit(self.path.clone(), vec![(range, new.to_owned())]));
            work::take().written
        }

        /// Applies a change; the output then equals that of a new encoder.
        fn apply(&mut self, change: Change) {
            self.fixture.workspace.apply(change);
            let snapshot = self.fixture.workspace.snapshot();
            let (features, documents) = (Features::default(), Documents::default());
            for (path, found) in self.findings.update(&snapshot, &self.fixture.settings.rules) {
                let written = self.encoder.encode(&snapshot, &path, &found, &features, &documents);
                self.told.insert(path, written);
            }
            self.findings.after_publish(&|| true);
            let written = work::take();
            for (path, told) in &self.told {
                let mut anew = Findings::default();
                let all = anew.update(&snapshot, &self.fixture.settings.rules);
                let found = all.into_iter().find(|(told, _)| told == path);
                let found = found.map(|(_, found)| found).unwrap_or_default();
                let expected = DiagnosticEncoder::default()
                    .encode(&snapshot, path, &found, &features, &documents);
                assert_eq!(*told, expected, "{path}");
            }
            work::take();
            (0..written.written).for_each(|_| count_work(Work::Write));
        }
    }

    #[test]
    fn findings_that_have_not_changed_are_not_written_again() {
        let dangling: String =
            (0..200).map(|n| format!("key_{n}: \"%{{lookup('nowhere_{n}')}} ä\"\n")).collect();
        let twice = "dup: 1\ndup: 2\nlast: end\n";
        let mut session = Session::new(&format!("first: begin\n{dangling}{twice}"));
        assert!(session.told[&session.path].len() > 200);
        assert_eq!(session.edit("begin", "begun"), 0, "no finding is on this line");
        assert_eq!(session.edit("nowhere_7'", "nowhere_seven'"), 1);
        assert_eq!(session.edit("nowhere_150')} ", "nowhere_150')}"), 0);
        assert_eq!(session.edit("key_100:", "key_hundred:"), 1);
        assert_eq!(
            session.edit("key_190:", "\nkey_190:"),
            11,
            "those below, of which one is twice"
        );
        assert_eq!(session.edit("dup: 2", "dup: 3"), 0);
    }

    #[test]
    fn a_notification_is_the_protocols() {
        let diagnostic = lsp::Diagnostic::new_simple(lsp::Range::default(), "\"x\"\n".into());
        let uri = lsp::Url::parse("file:///a%20b.yaml").unwrap();
        let json: Diagnostic = serde_json::to_string(&diagnostic).unwrap().into();
        for version in [None, Some(7)] {
            let all = vec![diagnostic.clone(); 2];
            let params = lsp::PublishDiagnosticsParams::new(uri.clone(), all, version);
            let expected = serde_json::json!({
                "jsonrpc": "2.0",
                "method": "textDocument/publishDiagnostics",
                "params": params,
            });
            let got = publish_message(&uri, &[json.clone(), json.clone()], version);
            assert_eq!(serde_json::from_str::<serde_json::Value>(&got).unwrap(), expected);
        }
    }
}
