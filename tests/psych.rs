//! Holds our reading of YAML to Ruby's Psych: the same texts to both, and their answers compared.
//!
//! Needs Ruby; see `tests/support`. `HIERA_LS_RANDOM` sets the number of random texts, `HIERA_LS_CORPUS` names a folder of files.

#[path = "psych/documents.rs"]
mod documents;
#[path = "psych/json.rs"]
mod json;
#[path = "psych/ruby.rs"]
mod ruby;
#[path = "psych/scalars.rs"]
mod scalars;
mod support;
#[path = "psych/tags.rs"]
mod tags;
#[path = "psych/test_suite.rs"]
mod test_suite;
#[path = "psych/values.rs"]
mod values;
