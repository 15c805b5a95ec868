# hiera-ls in Kakoune, through kakoune-lsp 18 or newer: source this in the kakrc.

hook global BufCreate .*\.eyaml$ %{ set-option buffer filetype yaml }
evaluate-commands %sh{kak-lsp}
# kakoune-lsp's own entry for YAML starts yaml-language-server; this replaces it.
remove-hooks global lsp-filetype-yaml
hook -group lsp-filetype-yaml global BufSetOption filetype=yaml %{
    set-option buffer lsp_servers %{
        [hiera-ls]
        root_globs = ["hiera.yaml", ".git"]
        command = "hiera-ls"
        args = ["server"]
    }
}
hook global WinSetOption filetype=yaml lsp-enable-window
