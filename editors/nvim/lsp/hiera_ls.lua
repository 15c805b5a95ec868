-- hiera-ls for Neovim 0.11 and newer: put this folder on the runtime path, then vim.lsp.enable('hiera_ls').

---@type vim.lsp.Config
return {
  cmd = { 'hiera-ls', 'server' },
  filetypes = { 'yaml', 'eyaml' },
  -- Only files below a hiera.yaml: other YAML is none of our business. A module has a hiera.yaml of its own, so the nearest one is
  -- not always the environment's.
  root_dir = function(bufnr, on_dir)
    local root = require('hiera_ls').root(vim.api.nvim_buf_get_name(bufnr))
    if root then
      on_dir(root)
    end
  end,
  on_exit = require('hiera_ls').on_exit(function()
    vim.lsp.enable('hiera_ls') -- Looks at all buffers again.
  end),
  capabilities = { experimental = { hiera = require('hiera_ls').experimental } },
  handlers = require('hiera_ls').handlers(),
  settings = { hiera = {} },
}
