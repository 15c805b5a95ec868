//! hiera-ls
pub mod text;
pub mod yaml;
