-- What Neovim needs to know of hiera-ls: which folder a file belongs to and when a server is started again, for all versions; and for 0.7 to
-- 0.10, how to start it.
-- Neovim 0.11 and newer read lsp/hiera_ls.lua instead of calling setup().

local M = {}

-- Whatever lies in one of these folders of an environment is a module.
local module_folders = { modules = true, site = true, ['site-modules'] = true, dist = true }
-- What only the root of an environment has.
local environment_files = { 'environment.conf', 'Puppetfile', 'manifests/site.pp', '.hiera-ls.yaml' }

local function parent(path)
  return vim.fn.fnamemodify(path, ':h')
end

local function has(folder, name)
  return vim.fn.filereadable(folder .. '/' .. name) == 1
end

local function is_environment(folder)
  for _, name in ipairs(environment_files) do
    if has(folder, name) then
      return true
    end
  end
  return false
end

--- The environment's folder for a file: the nearest one upwards with a hiera.yaml, past a module's own; where there is none, the nearest one
--- that is a control repository all the same, as its config may have another name.
---@param path string
---@return string|nil
function M.root(path)
  if path == '' or path:match('^%w[%w+.-]+://') then
    return nil
  end
  local nearest, without_config
  local folder = parent(vim.fn.fnamemodify(path, ':p'))
  while true do
    if has(folder, 'hiera.yaml') then
      nearest = nearest or folder
      local holds_nearest = nearest ~= folder
        and module_folders[vim.fn.fnamemodify(nearest, ':h:t')]
        and parent(parent(nearest)) == folder
      if is_environment(folder) or holds_nearest then
        return folder
      end
    end
    without_config = without_config or (is_environment(folder) and folder)
    local above = parent(folder)
    if above == folder then
      return nearest or without_config or nil
    end
    folder = above
  end
end

-- What docs/protocol.md adds to the capabilities. Neovim hides the addresses of links, and counts them when it wraps lines.
M.experimental = {
  hoverLinks = false,
  hoverActions = { explain = ':HieraExplain', selectNode = ':HieraNode', evaluate = ':HieraEvaluate' },
  showPlaces = 'hiera.showPlaces',
  showReach = 'hiera.showReach',
  chooseOverride = 'hiera.overrideFor',
  status = true,
}

--- Handlers for the client.
function M.handlers()
  return vim.tbl_extend('error', require('hiera_ls.doubles').handlers, require('hiera_ls.status').handlers)
end

--- Text for a status line: `%{v:lua.require('hiera_ls').statusline()}`.
---@return string
function M.statusline()
  return require('hiera_ls.status').line()
end

-- A server that ends again and again stays down after this many times.
local restarts_left = 3
local SIGTERM = 15

--- Returns the function that a client calls when its server has ended: it starts a server again that was killed, or that failed.
---@param start_again function
function M.on_exit(start_again)
  return function(code, signal)
    require('hiera_ls.doubles').forget()
    require('hiera_ls.status').forget()
    -- Neovim's own way to stop a server that does not end by itself is SIGTERM.
    local was_meant = (code == 0 and signal == 0) or signal == SIGTERM or vim.v.exiting ~= vim.NIL
    if was_meant or restarts_left == 0 then
      return
    end
    restarts_left = restarts_left - 1
    vim.defer_fn(start_again, 100)
  end
end

local filetypes = { yaml = true, eyaml = true }

-- What setup() was given.
---@type table|nil
M.options = nil

local start

function start(bufnr, config, folder)
  local root = folder or M.root(vim.api.nvim_buf_get_name(bufnr))
  if not root then
    return
  end
  M.clients = M.clients or {}
  -- One server for each environment. It may have ended since, then another is started.
  local id = M.clients[root]
  local client = id and vim.lsp.get_client_by_id(id)
  if not client or client.is_stopped() then
    local own = { experimental = { hiera = M.experimental } }
    local options = vim.tbl_extend('force', {
      name = 'hiera_ls',
      handlers = M.handlers(),
      cmd = { 'hiera-ls', 'server' },
      root_dir = root,
      workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      on_exit = M.on_exit(function()
        for _, buf in ipairs(vim.api.nvim_list_bufs()) do
          local is_ours = vim.api.nvim_buf_is_loaded(buf) and filetypes[vim.bo[buf].filetype]
          if is_ours and M.root(vim.api.nvim_buf_get_name(buf)) == root then
            start(buf, config)
          end
        end
      end),
    }, config)
    options.capabilities = vim.tbl_deep_extend('force', options.capabilities or vim.lsp.protocol.make_client_capabilities(), own)
    id = vim.lsp.start_client(options)
    M.clients[root] = id
  end
  if id then
    vim.lsp.buf_attach_client(bufnr, id)
  end
end

--- Starts hiera-ls for a buffer that no hiera.yaml lies above, in its repository or else in the working directory.
---@param bufnr number
function M.start_here(bufnr)
  local folder = parent(vim.fn.fnamemodify(vim.api.nvim_buf_get_name(bufnr), ':p'))
  local found = vim.fn.finddir('.git', folder .. ';')
  local root = found ~= '' and parent(vim.fn.fnamemodify(found, ':p:h')) or vim.fn.getcwd()
  if vim.lsp.config then
    local config = vim.tbl_extend('force', vim.lsp.config.hiera_ls, {
      name = 'hiera_ls',
      root_dir = root,
      workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
    })
    vim.lsp.start(config, { bufnr = bufnr })
  else
    start(bufnr, M.options or {}, root)
  end
end

--- Starts hiera-ls for YAML files below a hiera.yaml. For Neovim 0.7 to 0.10.
---@param config table|nil options of vim.lsp.start_client(): on_attach, init_options, cmd
function M.setup(config)
  M.clients = M.clients or {}
  M.options = config or {}
  local group = vim.api.nvim_create_augroup('hiera_ls', { clear = true })
  -- Neovim 0.7 does not know the extension.
  vim.api.nvim_create_autocmd({ 'BufRead', 'BufNewFile' }, {
    group = group,
    pattern = '*.eyaml',
    command = 'setfiletype yaml',
  })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = vim.tbl_keys(filetypes),
    callback = function(event)
      start(event.buf, M.options)
    end,
  })
end

return M
