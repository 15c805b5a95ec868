-- :HieraExplain, :HieraEvaluate, :HieraData, :HieraReach, :HieraOverride, :HieraHierarchy, :HieraNodes, :HieraNode, :HieraStatus, :HieraConfig. What they ask the server is in docs/protocol.md.

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

-- Returns the server's answer; nil where it is an error, which is shown, or where no server runs.
local function ask(method, params, client, may_be_nothing)
  client = client or client_of(0)
  if not client then
    return say('no server for this file: it lies below no hiera.yaml, or is no YAML (see :checkhealth hiera_ls)', vim.log.levels.ERROR)
  end
  local request = client.request_sync
  -- Neovim 0.7 does not send what was just edited in buffer 0 before the request.
  local buf = vim.api.nvim_get_current_buf()
  local answer, trouble
  if vim.fn.has('nvim-0.11') == 1 then
    answer, trouble = request(client, method, params, TIMEOUT, buf)
  else
    answer, trouble = request(method, params, TIMEOUT, buf)
  end
  if not answer or answer.err then
    return say(answer and answer.err.message or ('no answer: ' .. tostring(trouble)), vim.log.levels.ERROR)
  end
  if not may_be_nothing and (answer.result == nil or answer.result == vim.NIL) then
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

-- The links of the page that is shown, and how its columns count.
local page = { links = {} }

-- Opens the place whose name is under the cursor, in the window that the page was asked for in.
local function follow()
  local line, column = unpack(vim.api.nvim_win_get_cursor(0))
  local text = vim.api.nvim_get_current_line()
  for _, link in ipairs(page.links) do
    local first, last = link.range.start, link.range['end']
    local function byte(character)
      return page.encoding == 'utf-8' and character or vim.str_byteindex(text, character, true)
    end
    if first.line == line - 1 and byte(first.character) <= column and column < byte(last.character) then
      vim.cmd('wincmd p')
      vim.cmd('edit ' .. vim.fn.fnameescape(vim.uri_to_fname(link.target.uri)))
      return vim.api.nvim_win_set_cursor(0, { link.target.range.start.line + 1, 0 })
    end
  end
  say('no place under the cursor')
end

-- Shows a page with links. Its lines are as long as those of Puppet's `--explain`, and continue below their own indentation.
local function show_page(name, answer, encoding)
  page = { links = answer.links or {}, encoding = encoding }
  show(name, answer.text, '')
  local window = vim.opt_local
  window.wrap, window.linebreak, window.breakindent, window.breakindentopt = true, true, true, 'shift:4'
  vim.keymap.set('n', '<cr>', follow, { buffer = 0 })
end

--- Shows the value of a key, the places that it comes from, and how its lookup goes. Enter opens the place under the cursor.
function M.explain(call)
  local params = call.args == '' and at_cursor() or vim.tbl_extend('force', document(), { key = call.args })
  local encoding = (client_of(0) or {}).offset_encoding or 'utf-16'
  local story = ask('hiera/explain', params)
  if story then
    show_page('hiera://explain', story, encoding)
  end
end

--- Shows the keys and nodes that unsaved edits change. Enter opens the place under the cursor.
function M.reach()
  local encoding = (client_of(0) or {}).offset_encoding or 'utf-16'
  local report = ask('hiera/reach', vim.empty_dict())
  if report then
    show_page('hiera://reach', report, encoding)
  end
end

--- Chooses the node or the file of a level that gets an entry for the key at the cursor.
function M.override(call)
  require('hiera_ls.override').choose(at_cursor(), call.args)
end

M.ask, M.say, M.client_of = ask, say, client_of

-- The server's command, which it has where init_options switch it on.
local run_backends = 'hiera.runBackends'

--- Evaluates the key at the cursor with the functions of levels: the server asks the user, and shows the outcome.
function M.evaluate()
  local client = client_of(0)
  local provider = client and client.server_capabilities.executeCommandProvider
  if client and not (provider and vim.tbl_contains(provider.commands, run_backends)) then
    return say('custom backends are switched off: init_options = { runBackends = { enabled = true } } lets them run', vim.log.levels.WARN)
  end
  local cursor = at_cursor()
  local argument = { uri = cursor.textDocument.uri, position = cursor.position }
  ask('workspace/executeCommand', { command = run_backends, arguments = { argument } }, client, true)
end

--- All keys with their effective values.
function M.data()
  local data = ask('hiera/effectiveData', document())
  if data then
    show('hiera://data', data.text, 'yaml')
  end
end

local function given(value)
  return value ~= vim.NIL and value or nil
end

-- The states of locations, in words.
local states = {
  value = 'has the key; the value comes from it',
  overridden = 'has the key, but a level above answers',
  file = '',
  missing = 'no such file',
  undetermined = 'depends on variables that are unknown',
  opaque = 'not read here',
}

local function pad(text, width)
  return text .. (' '):rep(width - vim.fn.strdisplaywidth(text))
end

-- Returns the lines of a list in columns: the place, the level, the state.
local function in_columns(rows)
  local place, level = 0, 0
  for _, row in ipairs(rows) do
    place = math.max(place, vim.fn.strdisplaywidth(row.place))
    level = math.max(level, vim.fn.strdisplaywidth(row.level))
  end
  return vim.tbl_map(function(row)
    -- The bars are those that the colors of such a list look for.
    return ('%s |%s| %s'):format(pad(row.place, place), pad(row.level, level), row.state)
  end, rows)
end

-- An item of a location list for a location of a level, or for a candidate of one, and its row. It leads to the key, else to the top of the file, else to
-- where hiera.yaml names the level.
local function item(level, entry, state)
  local uri, range = given(entry.uri), given(entry.key)
  if not uri then
    uri, range = level.config.uri, level.config.range
  end
  local start = range and range.start or { line = 0, character = 0 }
  local place = given(entry.key) and ('%s:%d'):format(entry.path, start.line + 1) or entry.path
  return {
    -- A new buffer keeps the name that it gets here, and the status line shows it.
    filename = vim.fn.fnamemodify(vim.uri_to_fname(uri), ':.'),
    lnum = start.line + 1,
    col = start.character + 1,
    text = ('%s: %s'):format(level.name, entry.path) .. (state ~= '' and (' (%s)'):format(state) or ''),
  }, { place = place, level = level.name, state = state }
end

--- Lists the levels, in their order, in the window's location list: each leads to where it has the key, to its file, or to hiera.yaml.
function M.hierarchy()
  local hierarchy = ask('hiera/hierarchy', at_cursor())
  if not hierarchy then
    return
  end
  local items, rows = {}, {}
  local function add(...)
    local one, row = item(...)
    table.insert(items, one)
    table.insert(rows, row)
  end
  for _, level in ipairs(hierarchy.levels) do
    for _, location in ipairs(level.locations) do
      for _, candidate in ipairs(location.candidates) do
        add(level, candidate, 'for some nodes')
      end
      if #location.candidates == 0 then
        add(level, location, states[location.state])
      end
    end
  end
  local key = hierarchy.key ~= vim.NIL and hierarchy.key .. ' · ' or ''
  local lines = in_columns(rows)
  vim.fn.setloclist(0, {}, ' ', {
    title = ('Hiera: %s%s'):format(key, hierarchy.scope),
    items = items,
    -- Neovim asks for some of the lines at a time.
    quickfixtextfunc = function(asked)
      return vim.list_slice(lines, asked.start_idx, asked.end_idx)
    end,
  })
  vim.cmd('lopen')
end

--- Lists the known nodes that read this file, with `!` all of them, in the window's location list: each leads to the file that names it.
function M.nodes(call)
  local answer = ask('hiera/nodes', call.bang and vim.empty_dict() or document())
  if not answer then
    return
  end
  local items = vim.tbl_map(function(node)
    return { filename = node.source, lnum = 1, col = 1, text = node.name }
  end, answer.nodes)
  local title = ('Hiera: %d of %d known nodes'):format(#items, answer.known)
  local status = ask('hiera/status', vim.empty_dict())
  if status then
    title = table.concat(vim.list_extend({ title }, status.governing), ' · ')
  end
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
    say(name == vim.NIL and 'values are those of the nodes that read the file' or ('values are those of ' .. answer.selected))
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

--- Shows the server's status: the governing hiera.yaml, the number of data files, the assumptions, the number of known nodes and their sources. With `!`
--- a page that also has the reason, the levels, and the setting that would choose another config.
function M.status(call)
  if call.bang then
    local governing = ask('hiera/config', vim.empty_dict())
    if governing then
      show_page('hiera://config', governing)
    end
    return
  end
  local status = ask('hiera/status', vim.empty_dict())
  if not status then
    return
  end
  local lines = vim.list_extend({}, status.governing)
  for _, file in ipairs(status.withoutConfig) do
    local name = vim.fn.fnamemodify(vim.uri_to_fname(file.uri), ':.')
    table.insert(lines, ('no hiera.yaml governs %s: :HieraConfig chooses one of %d'):format(name, #file.candidates))
  end
  if given(status.selected) then
    table.insert(lines, 'values are those of ' .. status.selected)
  end
  if given(status.reach) then
    table.insert(lines, status.reach)
  end
  say(#lines > 0 and table.concat(lines, '\n') or 'no hiera.yaml governs any data here')
end

-- The text of a settings file with this line in place of the one that there is, or after all others; nothing for a text to which no line
-- can be added: a hash in braces, a second document, or a value on lines of its own.
local function with_setting(lines, setting)
  local out, is_replaced = {}, false
  for number, line in ipairs(lines) do
    local is_plain = line:match('^%s') or line:match('^#') or line == '' or (number == 1 and line:match('^%-%-%-%s*$'))
    if line:match('^[\'"]?hieraConfig[\'"]?%s*:') then
      if not line:match(':%s*[^%s|>&!#]') then
        return
      end
      line, is_replaced = setting, true
    elseif not is_plain and not line:match('^[%w_"\'-]+%s*:%s') and not line:match('^[%w_"\'-]+%s*:$') then
      return
    end
    table.insert(out, line)
  end
  if not is_replaced then
    table.insert(out, setting)
  end
  return out
end

local function write_config(file, candidate)
  local path = vim.uri_to_fname(file.settings)
  local before = vim.fn.filereadable(path) == 1 and vim.fn.readfile(path) or {}
  local line = 'hieraConfig: ' .. vim.fn.json_encode(candidate.hieraConfig)
  local after = with_setting(before, line)
  if not after then
    return say(('%s is no block of settings, so that nothing is written; add %s yourself'):format(path, line), vim.log.levels.WARN)
  end
  if vim.fn.confirm(('Write %s into %s?'):format(line, path), '&Write\n&Cancel', 2) ~= 1 then
    return
  end
  vim.fn.writefile(after, path)
  -- Neovim watches no files: a save is when the server looks at the disk.
  local client = client_of(0)
  if client then
    local changed = { changes = { { uri = file.settings, type = #before == 0 and 1 or 2 } } }
    local notify = client.notify
    if vim.fn.has('nvim-0.11') == 1 then
      notify(client, 'workspace/didChangeWatchedFiles', changed)
    else
      notify('workspace/didChangeWatchedFiles', changed)
    end
  end
  say(('%s governs %s'):format(candidate.hieraConfig, vim.fn.fnamemodify(vim.uri_to_fname(file.uri), ':.')))
end

--- Chooses the config that governs this file, which no hiera.yaml does, and writes it into .hiera-ls.yaml.
function M.config()
  local buf = vim.api.nvim_get_current_buf()
  if not client_of(buf) then
    require('hiera_ls').start_here(buf)
    vim.wait(TIMEOUT, function()
      local client = client_of(buf)
      return client and client.initialized ~= false and client.server_capabilities ~= nil
    end, 20)
  end
  local status = ask('hiera/status', vim.empty_dict())
  if not status then
    return
  end
  local uri = vim.uri_from_bufnr(buf)
  local file
  for _, one in ipairs(status.withoutConfig) do
    if one.uri == uri then
      file = one
    end
  end
  if not file then
    -- It may be governed by a config that the server has just found, or be no data.
    return say(table.concat(vim.list_extend({ 'there is no config to choose for this file' }, status.governing), '\n'))
  end
  local function shown(candidate)
    return ('%s reads %d files%s'):format(candidate.hieraConfig, candidate.dataFiles, candidate.readsFile and ', this one too' or '')
  end
  vim.ui.select(file.candidates, { prompt = 'Which config governs this file?', format_item = shown }, function(candidate)
    if candidate then
      write_config(file, candidate)
    end
  end)
end

--- Returns the known nodes whose names begin with the typed text.
function M.complete_node(start)
  return client_of(0) and vim.tbl_filter(function(name)
    return name:sub(1, #start) == start
  end, nodes() or {}) or {}
end

return M
