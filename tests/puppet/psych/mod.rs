//! Holds our reading of YAML to Ruby's Psych: the same texts to both, and their answers compared.
//!
//! Needs Ruby; see `tests/support`. `HIERA_LS_RANDOM` sets the number of random texts,
//! `HIERA_LS_CORPUS` names a folder of files.

mod documents;
mod json;
mod printed;
mod ruby;
mod scalars;
mod tags;
mod test_suite;
mod values;
