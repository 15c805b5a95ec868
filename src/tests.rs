//! Tests of the whole library that need its inner parts, and what the tests beside the code share.

mod bad_input;
mod counts;
pub(crate) mod edits;
mod limits;
