//! Bytes, lines, columns and edits. Knows no YAML and no protocol.

pub mod document;
pub mod path;
pub mod position;
pub mod range;

pub use document::Text;
pub use path::FilePath;
pub use position::{Encoding, LineCol};
pub use range::{FileId, FilePosition, PartId, Span, TextRange};
