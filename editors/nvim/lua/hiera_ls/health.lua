-- :checkhealth hiera_ls: whether the program is there, and which folders it serves.

local M = {}

-- Neovim 0.8 moved these, and 0.10 gave them shorter names.
local health = vim.health or require('health')
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local fail = health.error or health.report_error

local function program()
  local config = vim.lsp.config and vim.lsp.config.hiera_ls or require('hiera_ls').options
  return config and type(config.cmd) == 'table' and config.cmd[1] or 'hiera-ls'
end

local function check_program()
  local name = program()
  if vim.fn.executable(name) ~= 1 then
    return fail(name .. ' is not executable', { 'Put hiera-ls on PATH: cargo install --path . --locked' })
  end
  local output = vim.fn.system({ name, '--version' })
  local version = output:match('^hiera%-ls (%d+%.%d+%.%d+)')
  if vim.v.shell_error ~= 0 or not version then
    return fail(('%s --version says: %s'):format(name, vim.trim(output)))
  end
  ok(('hiera-ls %s (%s)'):format(version, vim.fn.exepath(name)))
end

local function check_start()
  if vim.lsp.config then
    local enabled = vim.lsp.is_enabled and vim.lsp.is_enabled('hiera_ls')
    if vim.lsp.is_enabled and not enabled then
      return warn('it is not enabled', { "vim.lsp.enable('hiera_ls')" })
    end
    return ok('it is enabled')
  end
  if not require('hiera_ls').options then
    return warn('it is not set up', { "require('hiera_ls').setup()" })
  end
  ok('it is set up')
end

local function check_clients()
  local clients = vim.lsp.get_clients and vim.lsp.get_clients() or vim.lsp.get_active_clients()
  local served = 0
  for _, client in pairs(clients) do
    if client.name == 'hiera_ls' then
      served = served + 1
      ok('serves ' .. tostring(client.config.root_dir))
    end
  end
  if served == 0 then
    ok('serves nothing now: no YAML file below a hiera.yaml is open')
  end
end

function M.check()
  start('hiera-ls')
  if vim.fn.has('nvim-0.7') ~= 1 then
    return fail('Neovim 0.7 or newer is needed')
  end
  check_program()
  check_start()
  check_clients()
end

return M
