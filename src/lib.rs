//! hiera-ls
pub mod hiera;
pub mod text;
pub mod yaml;
