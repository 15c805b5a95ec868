//! Bytes, lines, columns and edits. Knows no YAML and no protocol.

pub mod budget;
pub mod cancel;
pub mod count;
pub mod document;
pub mod edit;
pub mod escape;
mod hash;
pub mod lines;
pub mod memo;
pub mod paint;
pub mod path;
pub mod position;
pub mod range;
pub mod similar;
mod small_map;
pub(crate) mod work;

pub use budget::{Bounds, Budget, Limit};
pub use cancel::CancelToken;
pub use count::{column_width, count_phrase};
pub use document::Text;
pub use edit::{LineEnd, SourceChange, TextEdit};
pub use hash::{fnv_hash, hex_digits, quick_hash, short_hash};
pub use lines::Lines;
pub use memo::Memo;
pub use path::FilePath;
pub use position::{Encoding, LineCol, Positions};
pub use range::{FileId, FilePosition, PartId, Span, TextRange};
pub use small_map::SmallMap;
