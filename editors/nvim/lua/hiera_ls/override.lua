-- "Override for…": chooses a node or a file of a level, then the file that gets the entry, with the reach of the entry. Nothing is written
-- before that. The requests are in docs/protocol.md.

local commands = require('hiera_ls.commands')

local M = {}

local function given(value)
  return value ~= vim.NIL and value or nil
end

-- Returns those texts that are not empty, joined.
local function joined(texts)
  return table.concat(vim.tbl_filter(function(text) return text ~= '' end, texts), ' · ')
end

-- Opens a file in this window, the cursor in a line that counts from 0.
local function open(uri, line)
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.uri_to_fname(uri)))
  vim.api.nvim_win_set_cursor(0, { math.min(line + 1, vim.api.nvim_buf_line_count(0)), 0 })
end

-- Returns the number, from 0, of the line with the key that a text begins with: comments and the marker of a document stand above it.
local function line_of_key(text)
  for number, line in ipairs(vim.split(text, '\n')) do
    if line ~= '' and not line:match('^#') and not line:match('^%-%-%-') then
      return number - 1
    end
  end
  return 0
end

-- Writes the entry into a buffer and shows it: the user is about to change the value.
local function write(place, encoding)
  -- A file that is saved needs its folder.
  vim.fn.mkdir(vim.fn.fnamemodify(vim.uri_to_fname(place.uri), ':h'), 'p')
  vim.lsp.util.apply_workspace_edit(place.edit, encoding)
  local edits
  for _, change in ipairs(place.edit.documentChanges or {}) do
    edits = change.edits or edits
  end
  for _, changed in pairs(place.edit.changes or {}) do
    edits = changed
  end
  open(place.uri, edits[1].range.start.line + line_of_key(edits[1].newText))
  -- The line of an empty buffer is left below the text of a new file.
  if not place.exists and vim.fn.getline('$') == '' then
    vim.api.nvim_buf_set_lines(0, -2, -1, false, {})
  end
  vim.cmd('normal! $')
end

-- Chooses the file for a node or a file of a level.
local function choose_place(about, key, target, client)
  local params = vim.tbl_extend('force', about, target.kind == 'node' and { node = target.name } or { file = target.file.uri })
  local answer = commands.ask('hiera/override', params, client)
  if not answer or #answer.places == 0 then
    return answer and commands.say(('no file can take %s for %s'):format(key, target.name))
  end
  local function shown(place)
    local new = place.exists and '' or 'new file'
    local facts = { new, given(place.refused) or '', place.effect, place.governs, given(place.remark) or '' }
    return ('%s (%s)'):format(place.path, joined(facts))
  end
  local prompt = ('Override %s for %s in which file?'):format(key, target.name)
  vim.ui.select(answer.places, { prompt = prompt, format_item = shown }, function(place)
    if not place then
      return
    end
    if given(place.refused) then
      return commands.say(place.refused, vim.log.levels.WARN)
    end
    write(place, client.offset_encoding or 'utf-16')
  end)
end

-- The words of a target, or of the line that asks for a part of a name.
local function shown(list)
  local noun = list.areKinds and 'kinds of nodes' or 'nodes'
  return function(target)
    if target.left_out then
      return ('%d more: type a part of the name'):format(target.left_out)
    end
    local file = given(target.file)
    local facts = { 'now ' .. target.value }
    if given(target.stated) then
      table.insert(facts, 1, 'has the key already')
    elseif not file then
      table.insert(facts, 1, 'no file can take the entry')
    elseif target.kind == 'file' then
      vim.list_extend(facts, { ('%d of %d %s'):format(file.readers, list.nodes, noun), file.level })
    else
      table.insert(facts, file.path)
    end
    if file and not file.exists then
      table.insert(facts, 'new file')
    end
    return ('%s (%s)'):format(target.name, joined(facts))
  end
end

--- Chooses among the nodes and files of levels whose names have a text in them, for the key at a place.
---@param about table textDocument and position
---@param filter string
function M.choose(about, filter)
  local client = commands.client_of(0)
  local list = commands.ask('hiera/overrideTargets', vim.tbl_extend('force', about, { filter = filter }), client, true)
  if not given(list) then
    return client and commands.say('there is no key here whose text may be repeated elsewhere', vim.log.levels.WARN)
  end
  local targets = list.targets
  if #targets == 0 then
    return commands.say(('no node and no file of a level has "%s" in its name'):format(filter), vim.log.levels.WARN)
  end
  local left_out = list.leftOut.files + list.leftOut.nodes
  if left_out > 0 then
    table.insert(targets, { left_out = left_out })
  end
  vim.ui.select(targets, { prompt = ('Override %s for what?'):format(list.key), format_item = shown(list) }, function(target)
    if not target then
      return
    end
    if target.left_out then
      return vim.ui.input({ prompt = 'A part of the name: ' }, function(text)
        if text then
          M.choose(about, text)
        end
      end)
    end
    local stated = given(target.stated)
    if stated then
      return open(stated.uri, stated.range.start.line)
    end
    choose_place(about, list.key, target, client)
  end)
end

return M
