//! Starts the `hiera-ls` that is on `PATH`, or the one that the settings name, for YAML.

use zed_extension_api::serde_json::{json, Value};
use zed_extension_api::settings::LspSettings;
use zed_extension_api::{register_extension, Command, Extension, LanguageServerId, Result, Worktree};

struct Hiera;

impl Extension for Hiera {
    fn new() -> Hiera {
        Hiera
    }

    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<Command> {
        let named = LspSettings::for_worktree(id.as_ref(), worktree)?.binary.and_then(|binary| binary.path);
        let command = named.or_else(|| worktree.which("hiera-ls"));
        let command = command.ok_or("hiera-ls is not on PATH: `cargo install --path . --locked` in its repository puts it there")?;
        Ok(Command { command, args: vec!["server".into()], env: worktree.shell_env() })
    }

    fn language_server_initialization_options(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<Option<Value>> {
        Ok(LspSettings::for_worktree(id.as_ref(), worktree)?.initialization_options)
    }

    fn language_server_workspace_configuration(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<Option<Value>> {
        let settings = LspSettings::for_worktree(id.as_ref(), worktree)?.settings;
        Ok(settings.map(|settings| json!({ "hiera": settings })))
    }
}

register_extension!(Hiera);
