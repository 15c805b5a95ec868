//! Holds our reading of YAML to Ruby's Psych: the same texts to both, and their answers compared.
//!
//! Without Ruby the tests pass and say that they were skipped, unless `HIERA_LS_REQUIRE` contains `ruby` or `puppet`.
//! `HIERA_LS_RANDOM` sets the number of random texts, `HIERA_LS_SEED` the seed, `HIERA_LS_CORPUS` a folder of files.

#[path = "psych/documents.rs"]
mod documents;
#[path = "psych/json.rs"]
mod json;
#[path = "psych/random.rs"]
mod random;
#[path = "psych/ruby.rs"]
mod ruby;
#[path = "psych/scalars.rs"]
mod scalars;
