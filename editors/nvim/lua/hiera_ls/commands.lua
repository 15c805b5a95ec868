-- :HieraExplain, :HieraData, :HieraHierarchy, :HieraNodes, :HieraNode. What they ask the server is in editors/PROTOCOL.md.

local M = {}

local TIMEOUT = 10000

local function say(message, level)
  vim.notify('hiera-ls: ' .. message, level or vim.log.levels.INFO)
end

-- The client of a buffer. Neovim 0.10 renamed the function that lists them.
local function client_of(buf)
  local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = buf }) or vim.lsp.buf_get_clients(buf)
  for _, client in pairs(clients) do
    if client.name == 'hiera_ls' then
      return client
    end
  end
end

-- What the server answers; nothing where that was said to be an error, or where no server is.
local function ask(method, params)
  local client = client_of(0)
  if not client then
    return say('no server for this file: it lies below no hiera.yaml, or is no YAML (see :checkhealth hiera_ls)', vim.log.levels.ERROR)
  end
  local request = client.request_sync
  local answer, trouble
  if vim.fn.has('nvim-0.11') == 1 then
    answer, trouble = request(client, method, params, TIMEOUT, 0)
  else
    answer, trouble = request(method, params, TIMEOUT, 0)
  end
  if not answer or answer.err then
    return say(answer and answer.err.message or ('no answer: ' .. tostring(trouble)), vim.log.levels.ERROR)
  end
  if answer.result == nil or answer.result == vim.NIL then
    return say('no level can read this file', vim.log.levels.WARN)
  end
  return answer.result
end

local function document()
  return { textDocument = vim.lsp.util.make_text_document_params() }
end

local function at_cursor()
  return vim.lsp.util.make_position_params(0, (client_of(0) or {}).offset_encoding or 'utf-16')
end

-- Shows a text in a window of its own that `q` closes; one for each kind, which is used again.
local function show(name, text, filetype)
  local buf = vim.fn.bufnr('^' .. vim.fn.escape(name, '\\^$.*~[]') .. '$')
  if buf < 0 then
    buf = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(buf, name)
    vim.keymap.set('n', 'q', '<cmd>close<cr>', { buffer = buf, nowait = true })
  end
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, vim.split(text, '\n'))
  vim.bo[buf].modifiable = false
  vim.bo[buf].syntax = filetype
  local window = vim.fn.bufwinid(buf)
  if window >= 0 then
    vim.api.nvim_set_current_win(window)
  else
    vim.cmd('botright sbuffer ' .. buf)
  end
  vim.api.nvim_win_set_cursor(0, { 1, 0 })
end

--- Tells how the lookup of a key goes, as `hiera-ls lookup --explain` does.
function M.explain(call)
  local params = call.args == '' and at_cursor() or vim.tbl_extend('force', document(), { key = call.args })
  local story = ask('hiera/explain', params)
  if story then
    show('hiera://explain', ('%s\nfor %s\n\n%s'):format(story.key, story.scope, story.text), '')
  end
end

--- All keys with their effective values.
function M.data()
  local data = ask('hiera/effectiveData', document())
  if data then
    show('hiera://data', ('# for %s\n%s'):format(data.scope, data.text), 'yaml')
  end
end

local function given(value)
  return value ~= vim.NIL and value or nil
end

-- A line of a location list for a location of a level, or for a candidate of one. It leads to the key, else to the top of the file, else to
-- where hiera.yaml names the level.
local function item(level, entry, state)
  local uri, range = given(entry.uri), given(entry.key)
  if not uri then
    uri, range = level.config.uri, level.config.range
  end
  local start = range and range.start or { line = 0, character = 0 }
  return {
    filename = vim.uri_to_fname(uri),
    lnum = start.line + 1,
    col = start.character + 1,
    text = ('%s: %s (%s)'):format(level.name, entry.path, state),
  }
end

--- Lists the levels, in their order, in the window's location list: each leads to where it has the key, to its file, or to hiera.yaml.
function M.hierarchy()
  local hierarchy = ask('hiera/hierarchy', at_cursor())
  if not hierarchy then
    return
  end
  local items = {}
  for _, level in ipairs(hierarchy.levels) do
    for _, location in ipairs(level.locations) do
      for _, candidate in ipairs(location.candidates) do
        table.insert(items, item(level, candidate, 'for some nodes'))
      end
      if #location.candidates == 0 then
        table.insert(items, item(level, location, location.state))
      end
    end
  end
  local key = hierarchy.key ~= vim.NIL and hierarchy.key .. ' ' or ''
  vim.fn.setloclist(0, {}, ' ', { title = ('Hiera: %sfor %s'):format(key, hierarchy.scope), items = items })
  vim.cmd('lopen')
end

--- Lists the known nodes that read this file, with `!` all of them, in the window's location list: each leads to the file that tells of it.
function M.nodes(call)
  local answer = ask('hiera/nodes', call.bang and vim.empty_dict() or document())
  if not answer then
    return
  end
  local items = vim.tbl_map(function(node)
    return { filename = node.source, lnum = 1, col = 1, text = node.name }
  end, answer.nodes)
  local title = ('Hiera: %d of %d known nodes'):format(#items, answer.known)
  vim.fn.setloclist(0, {}, ' ', { title = title, items = items })
  if #items == 0 then
    return say(title .. (call.bang and '' or ' read this file'))
  end
  vim.cmd('lopen')
end

--- The known nodes, or else the kinds of nodes that the names of files show.
local function nodes()
  local answer = ask('hiera/nodes', vim.empty_dict())
  if not answer then
    return
  end
  local names = {}
  for _, part in ipairs({ answer.nodes, answer.kinds or {} }) do
    for _, node in ipairs(part) do
      table.insert(names, node.name)
    end
  end
  return names
end

local function choose(name)
  local answer = ask('hiera/selectNode', { name = name })
  if answer then
    say(name == vim.NIL and 'values are those for whoever reads the file' or ('values are those of ' .. answer.selected))
  end
end

--- Chooses the node whose values are shown: the one that is named, with `!` none, or else one from a list.
function M.node(call)
  if call.bang then
    choose(vim.NIL)
  elseif call.args ~= '' then
    choose(call.args)
  else
    local names = nodes()
    if names and #names == 0 then
      return say('no nodes are known: the setting nodes.sources names files with their facts', vim.log.levels.WARN)
    end
    if names then
      vim.ui.select(names, { prompt = 'Values of which node?' }, function(name)
        if name then
          choose(name)
        end
      end)
    end
  end
end

--- The known nodes that begin with what was typed.
function M.complete_node(start)
  return client_of(0) and vim.tbl_filter(function(name)
    return name:sub(1, #start) == start
  end, nodes() or {}) or {}
end

return M
