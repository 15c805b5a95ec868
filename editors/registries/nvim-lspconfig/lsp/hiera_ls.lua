---@brief
---
--- hiera-ls, a language server for Hiera, the data of Puppet and OpenVox.
---
--- Install the program with `pip install hiera-ls`, `npm install -g hiera-ls` or `cargo install hiera-ls`.
--- It is attached to YAML below a folder with a `hiera.yaml`, and to no other.

-- A module has a hiera.yaml of its own: the environment that holds it is the root.
local module_folders = { modules = true, site = true, ['site-modules'] = true, dist = true }

local function is_environment(folder)
  for _, name in ipairs({ 'environment.conf', 'Puppetfile', '.hiera-ls.yaml', 'manifests/site.pp' }) do
    if vim.uv.fs_stat(folder .. '/' .. name) then
      return true
    end
  end
  return false
end

---@type vim.lsp.Config
return {
  cmd = { 'hiera-ls', 'server' },
  filetypes = { 'yaml', 'eyaml' },
  root_dir = function(bufnr, on_dir)
    local nearest
    for folder in vim.fs.parents(vim.api.nvim_buf_get_name(bufnr)) do
      if vim.uv.fs_stat(folder .. '/hiera.yaml') then
        nearest = nearest or folder
        local holds_nearest = module_folders[vim.fs.basename(vim.fs.dirname(nearest))] and vim.fs.dirname(vim.fs.dirname(nearest)) == folder
        if holds_nearest or is_environment(folder) then
          return on_dir(folder)
        end
      end
    end
    if nearest then
      on_dir(nearest)
    end
  end,
  settings = { hiera = {} },
}
