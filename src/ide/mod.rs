//! The features of an editor, one file each. A feature takes a snapshot and a place and returns
//! plain data; it knows no protocol.

pub mod audience;
pub mod by_run;
pub mod call_hierarchy;
pub(crate) mod change_report;
mod code;
pub mod code_lens;
pub mod completion;
pub mod cursor;
pub mod definition;
pub mod document_links;
pub mod document_symbols;
pub mod effective;
pub mod evaluation;
pub mod file_renames;
pub mod folding;
pub mod governing;
pub mod hierarchy;
pub mod highlight;
pub mod hover;
pub mod inlay_hints;
pub mod inspect;
pub(crate) mod node_names;
pub mod page_links;
pub mod phrases;
pub mod quick_fixes;
pub mod reach;
pub mod readers;
pub mod refactor;
pub mod references;
pub mod rename;
pub mod selection;
pub mod semantic_tokens;
pub mod story;
mod value_part;
mod value_sources;
pub mod workspace_symbols;
