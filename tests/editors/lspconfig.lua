-- Drives Neovim with the file for nvim-lspconfig alone:
--   nvim --headless --clean -n -c 'autocmd VimEnter * ++nested luafile lspconfig.lua'
-- The working directory is a copy of tests/control-repo, `hiera-ls` is on PATH, HIERA_LS_RTP names the entry's folder. Exit status 0: all held.

vim.opt.runtimepath:prepend(os.getenv('HIERA_LS_RTP'))
vim.lsp.enable('hiera_ls')
local folder = vim.uv.fs_realpath(vim.fn.getcwd())

local function client_of(buf)
  local found
  vim.wait(60000, function()
    found = vim.lsp.get_clients({ bufnr = buf })[1]
    return found and found.initialized
  end, 10)
  return assert(found, 'no client for ' .. vim.api.nvim_buf_get_name(buf))
end

local function run()
  vim.cmd.edit('data/nodes/web-01.oslo.example.net.yaml')
  local buf = vim.api.nvim_get_current_buf()
  local client = client_of(buf)
  assert(client.root_dir == folder, client.root_dir)
  local line = vim.fn.search('^profile::web::vhosts:') - 1
  local params = { textDocument = { uri = vim.uri_from_bufnr(buf) }, position = { line = line, character = 3 } }
  local hover = client:request_sync('textDocument/hover', params, 60000, buf)
  local text = vim.inspect(hover and hover.result)
  assert(text:find('butikk.example.net', 1, true), text)

  -- A module's own hiera.yaml is below the root of the environment.
  vim.fn.mkdir('modules/motd/data', 'p')
  vim.fn.writefile({ 'version: 5' }, 'modules/motd/hiera.yaml')
  vim.fn.writefile({ 'motd::text: hello' }, 'modules/motd/data/common.yaml')
  vim.cmd.edit('modules/motd/data/common.yaml')
  assert(client_of(vim.api.nvim_get_current_buf()).id == client.id, 'a server of its own for a module')

  -- YAML that no hiera.yaml governs gets no server.
  local other = vim.fn.tempname()
  vim.fn.mkdir(other, 'p')
  vim.cmd.edit(other .. '/other.yaml')
  vim.wait(300)
  assert(#vim.lsp.get_clients({ bufnr = 0 }) == 0, 'a server for other YAML')
end

local ok, failure = pcall(run)
if not ok then
  io.stderr:write(tostring(failure) .. '\n')
end
vim.cmd(ok and 'qall!' or 'cquit')
