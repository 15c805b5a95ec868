-- Drives Neovim as a user works, with the shipped files of editors/nvim:
--   nvim --headless --clean -n -c 'autocmd VimEnter * ++nested luafile nvim.lua'
-- Neovim 0.7 to 0.11 and newer. The working directory is a copy of tests/control-repo (files are written), `hiera-ls` is on PATH,
-- HIERA_LS_RTP names editors/nvim. Exit status 0: everything held.

local folder = vim.loop.fs_realpath(vim.fn.getcwd())
local node = 'data/nodes/web-01.oslo.example.net.yaml'
local role = 'data/roles/web.yaml'
local common = 'data/common.yaml'
local base_class = 'site-modules/profile/manifests/base.pp'
local web_class = 'site-modules/profile/manifests/web.pp'
local os_file = 'data/os/Debian.yaml'
-- The program yaml-language-server; without it one test is left out.
local yaml_server = os.getenv('HIERA_LS_YAML_SERVER')

vim.o.swapfile, vim.o.hidden = false, true
vim.cmd('filetype plugin on')
vim.opt.runtimepath:prepend(os.getenv('HIERA_LS_RTP'))
-- Neovim has loaded its plugins by now; in a user's configuration this is not needed.
vim.cmd('runtime plugin/hiera_ls.lua')
if vim.lsp.config then
  vim.lsp.enable('hiera_ls')
else
  require('hiera_ls').setup()
end

local function clients(buf)
  if vim.lsp.get_clients then
    return vim.lsp.get_clients({ bufnr = buf })
  end
  return vim.tbl_values(vim.lsp.buf_get_clients(buf))
end

-- Neovim handles messages while it waits.
local function wait(what, condition)
  local found
  local function holds()
    found = condition()
    return found and true or false
  end
  assert(vim.wait(60000, holds, 10), 'timed out waiting for ' .. what)
  return found
end

local function edit(file)
  -- A file that is loaded is shown, not read again.
  local command = vim.fn.bufloaded(file) == 1 and 'buffer ' or 'edit '
  vim.cmd(command .. vim.fn.fnameescape(file))
  return vim.api.nvim_get_current_buf()
end

local function attached(buf)
  return wait('the client', function()
    local client = clients(buf)[1]
    return client and (client.initialized == nil or client.initialized) and client
  end)
end

local function codes(buf)
  local found = {}
  for _, finding in ipairs(vim.diagnostic.get(buf)) do
    local sent = finding.user_data and finding.user_data.lsp or {}
    table.insert(found, finding.code or sent.code)
  end
  return table.concat(found, ' ')
end

local function wait_for_codes(buf, wanted)
  local ok = pcall(wait, 'findings', function()
    return codes(buf) == wanted
  end)
  assert(ok, ('findings are "%s" where "%s" was awaited'):format(codes(buf), wanted))
end

local function wait_for_code(buf, code, is_there)
  local ok = pcall(wait, 'findings', function()
    return (codes(buf):find(code, 1, true) ~= nil) == is_there
  end)
  assert(ok, ('findings are "%s" where %s was awaited: %s'):format(codes(buf), code, is_there))
end

-- The line and column (from 1 and 0) of a text, and moves the cursor there.
local function go_to(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local start = line:find(text, 1, true)
    if start then
      vim.api.nvim_win_set_cursor(0, { number, start - 1 })
      return number, start - 1
    end
  end
  error('no ' .. text .. ' in this buffer')
end

local function replace(old, new)
  local number, column = go_to(old)
  vim.api.nvim_buf_set_text(0, number - 1, column, number - 1, column + #old, { new })
end

local function float()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= '' then
      return window
    end
  end
end

local function hover()
  vim.lsp.buf.hover()
  local window = wait('the hover', float)
  local text = table.concat(vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false), '\n')
  vim.api.nvim_win_close(window, true)
  return text
end

local function contains(text, ...)
  for _, part in ipairs({ ... }) do
    assert(text:find(part, 1, true), ('no "%s" in:\n%s'):format(part, text))
  end
end

local tests = {}

function tests.attaches_at_the_root_of_the_environment()
  for _, file in ipairs({ node, 'site-modules/profile/data/common.yaml', 'data/secrets/db-01.oslo.example.net.eyaml', 'hiera.yaml' }) do
    local client = attached(edit(file))
    assert(client.name == 'hiera_ls', client.name)
    assert(client.config.root_dir == folder, file .. ': ' .. tostring(client.config.root_dir))
    assert(client.id == attached(vim.fn.bufnr(node)).id, 'one server for the environment')
  end
end

function tests.leaves_other_yaml_alone()
  local other = vim.fn.tempname()
  vim.fn.mkdir(other, 'p')
  vim.fn.writefile({ 'a: 1' }, other .. '/compose.yaml')
  local buf = edit(other .. '/compose.yaml')
  assert(vim.bo.filetype == 'yaml')
  assert(#clients(buf) == 0, 'a client attached')
end

function tests.hover_shows_the_value_of_three_levels()
  edit(node)
  go_to('profile::web::vhosts')
  contains(hover(), 'web-01.oslo.example.net', 'keepalive: 75', 'butikk.example.net', 'docroot: /srv/www/status', 'docroot: /srv/www/shop')
end

function tests.definition_names_the_winning_level_first()
  local buf = edit(node)
  local client = attached(buf)
  go_to('profile::web::vhosts')
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local answers = vim.lsp.buf_request_sync(buf, 'textDocument/definition', params, 5000)
  local items = vim.lsp.util.locations_to_items({ answers[client.id].result[1] }, client.offset_encoding)
  assert(vim.fn.fnamemodify(items[1].filename, ':.') == node, vim.inspect(items))
  assert(#answers[client.id].result == 3, vim.inspect(answers))
  local all = vim.lsp.buf_request_sync(buf, 'textDocument/implementation', params, 5000)
  assert(#all[client.id].result == 5, vim.inspect(all))
end

-- What the user sees: the list, which Neovim sorts by file.
function tests.definition_lists_the_levels_that_are_merged()
  local buf = edit(node)
  go_to('profile::web::vhosts')
  vim.fn.setqflist({})
  vim.lsp.buf.definition()
  local list = wait('the quickfix list', function()
    local list = vim.fn.getqflist()
    return #list > 0 and list
  end)
  local files = {}
  for _, item in ipairs(list) do
    files[vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':.')] = true
    contains(item.text, 'vhosts')
  end
  assert(files[node] and files[role] and files[common] and not files[web_class], vim.inspect(files))
  vim.cmd('cclose')
  vim.api.nvim_set_current_buf(buf)
end

-- The class parameter behind a key: in the hover, as a place to jump to, as a word to accept, and with its type.
function tests.a_class_parameter_is_shown_beside_its_key()
  attached(edit(common))
  go_to('profile::base::prompt:')
  contains(hover(), 'class profile::base', '`String[1]`')
  go_to('mode: "0750"')
  contains(hover(), 'of type `String[4]`, required')
end

function tests.a_key_jumps_to_its_class_parameter()
  local buf = edit(common)
  attached(buf)
  go_to('profile::base::log_dir:')
  vim.lsp.buf.definition()
  wait('the jump', function()
    return vim.fn.expand('%:.') == base_class
  end)
  contains(vim.api.nvim_get_current_line():sub(vim.fn.col('.')), 'log_dir,')
  vim.api.nvim_set_current_buf(buf)
end

function tests.the_wrong_leaf_of_a_parameter_is_marked()
  local buf = edit(common)
  wait_for_codes(buf, '')
  replace('mode: "0750"', 'mode: 488')
  wait_for_codes(buf, 'parameter-type')
  local finding = vim.diagnostic.get(buf)[1]
  local line, column = go_to('mode: 488')
  assert(finding.lnum == line - 1 and finding.col == column + #'mode: ', vim.inspect(finding))
  contains(finding.message, "parameter 'log_dir' entry 'mode' expects a String value, got Integer")
  replace('mode: 488', 'mode: "0750"')
  wait_for_codes(buf, '')
  vim.cmd('edit!')
end

function tests.references_are_listed_with_those_in_code()
  local buf = edit(common)
  attached(buf)
  go_to('profile::base::prompt:')
  vim.fn.setqflist({})
  vim.lsp.buf.references()
  local list = wait('the quickfix list', function()
    local list = vim.fn.getqflist()
    return #list > 0 and list
  end)
  local files = {}
  for _, item in ipairs(list) do
    files[vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':.')] = true
  end
  assert(files[common] and files[base_class], vim.inspect(files))
  vim.cmd('cclose')
  vim.api.nvim_set_current_buf(buf)
end

function tests.readers_of_a_key_are_listed_as_its_callers()
  local buf = edit(common)
  attached(buf)
  go_to('profile::base::prompt:')
  vim.fn.setqflist({})
  vim.lsp.buf.incoming_calls()
  local list = wait('the quickfix list', function()
    local list = vim.fn.getqflist()
    return #list > 0 and list
  end)
  local readers = {}
  for _, item in ipairs(list) do
    readers[item.text] = vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':.')
  end
  assert(readers['profile::base'] == base_class, vim.inspect(readers))
  vim.cmd('cclose')
  vim.api.nvim_set_current_buf(buf)
end

-- A class parameter by its key: the class is edited, too. And back, as nothing else may change. The server reads manifests from the
-- disk, so that the buffers are written in between; the save of data is when it looks.
function tests.a_rename_changes_data_and_code_and_back()
  local function write_all()
    vim.cmd('silent wall')
    vim.cmd('silent write')
    wait_for_codes(vim.api.nvim_get_current_buf(), '')
  end
  local function text(file)
    return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(file), 0, -1, false), '\n')
  end
  attached(edit(common))
  local before = text(common)
  local class = table.concat(vim.fn.readfile(base_class), '\n')
  go_to('profile::base::prompt:')
  vim.lsp.buf.rename('profile::base::shell_prompt')
  wait('the rename', function()
    return vim.fn.bufloaded(base_class) == 1 and text(base_class):find('$shell_prompt,', 1, true)
  end)
  contains(text(common), '\nprofile::base::shell_prompt:')
  contains(text(base_class), '"${shell_prompt}\\n"')
  write_all()
  go_to('profile::base::shell_prompt:')
  vim.lsp.buf.rename('profile::base::prompt')
  wait('the rename back', function()
    return text(common) == before and text(base_class) == class
  end)
  write_all()
  vim.cmd('bwipeout ' .. base_class)
  vim.cmd('bwipeout ' .. common)
end

-- A refactoring by the client's own key for actions: Neovim asks which one through `vim.ui.select`. Versions hand the items over
-- in different shapes.
function tests.a_code_action_moves_a_key_to_another_level()
  local policy = 'profile::web::content_security_policy'
  local function text(file)
    return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(file), 0, -1, false), '\n')
  end
  attached(edit(role))
  go_to(policy .. ':')
  local select, titles = vim.ui.select, {}
  vim.ui.select = function(items, _, choose)
    for number, item in ipairs(items) do
      local title = (item.action or item[2]).title
      titles[number] = title
      if title:find('Move `' .. policy .. '` to ' .. common, 1, true) then
        return choose(item, number)
      end
    end
    choose(nil)
  end
  vim.lsp.buf.code_action()
  wait('the move', function()
    return vim.fn.bufloaded(common) == 1 and text(common):find('\n' .. policy .. ':', 1, true)
  end)
  vim.ui.select = select
  assert(not text(role):find('\n' .. policy .. ':', 1, true), vim.inspect(titles))
  -- By number: Neovim 0.7 finds the name of a file twice that an edit has loaded.
  for _, buf in ipairs({ vim.fn.bufnr(common), vim.fn.bufnr(role) }) do
    vim.api.nvim_buf_delete(buf, { force = true })
  end
end

function tests.a_token_jumps_to_its_key()
  attached(edit(common))
  go_to("profile::base::contact')")
  vim.lsp.buf.definition()
  wait('the jump', function()
    return vim.api.nvim_get_current_line():find('^profile::base::contact:')
  end)
end

function tests.a_broken_alias_is_found_and_mended()
  local buf = edit(common)
  wait_for_codes(buf, '')
  replace("\"%{alias('ntp_servers')}\"", "\"🍵 %{alias('ntp_servers')}\"")
  wait_for_codes(buf, 'alias-not-whole-value')
  replace("\"🍵 %{alias('ntp_servers')}\"", "\"%{alias('ntp_servers')}\"")
  wait_for_codes(buf, '')
  vim.cmd('silent write')
  vim.cmd('bwipeout')
end

-- Neovim on Linux watches no files: a save is when the server looks again.
function tests.a_save_notices_what_changed_on_disk()
  local buf = edit(role)
  vim.api.nvim_buf_set_lines(buf, -1, -1, false, { "asks: \"%{lookup('brand_new')}\"" })
  wait_for_code(buf, 'unknown-key', true)
  assert(vim.fn.bufloaded(common) == 0, 'the editor must not hold the file')
  vim.fn.writefile({ 'brand_new: from the disk' }, common, 'a')
  vim.cmd('silent write')
  wait_for_code(buf, 'unknown-key', false)
  go_to('brand_new')
  contains(hover(), 'from the disk')
end

function tests.the_chosen_node_shows_in_the_hover()
  local buf = edit(role)
  go_to('profile::web::vhosts')
  local answers = vim.lsp.buf_request_sync(buf, 'hiera/selectNode', { name = 'web-01.kyoto.example.net' }, 5000)
  assert(answers[attached(buf).id].result.selected == 'web-01.kyoto.example.net', vim.inspect(answers))
  contains(hover(), 'node `web-01.kyoto.example.net`', 'kissaten.example.net')
  vim.lsp.buf_request_sync(buf, 'hiera/selectNode', { name = vim.NIL }, 5000)
end

function tests.a_file_that_is_read_again_is_still_served()
  local buf = edit(node)
  vim.cmd('edit!')
  attached(buf)
  go_to('profile::web::vhosts')
  contains(hover(), 'keepalive: 75')
end

-- Asks for words behind the cursor line, and accepts the first one by key.
local function accept_first_word()
  vim.bo.omnifunc = 'v:lua.vim.lsp.omnifunc'
  -- From 0.11 on, Neovim applies the edits of accepted words, where that is switched on.
  local get = vim.lsp.completion and vim.lsp.completion.get
  if get then
    vim.lsp.completion.enable(true, attached(vim.api.nvim_get_current_buf()).id, vim.api.nvim_get_current_buf())
  end
  local function keys(text)
    return vim.api.nvim_replace_termcodes(text, true, false, true)
  end
  local accepted, tries = false, 0
  local timer = vim.loop.new_timer()
  timer:start(50, 50, vim.schedule_wrap(function()
    tries = tries + 1
    if get and tries == 1 then
      get()
    end
    local has_words = #vim.fn.complete_info({ 'items' }).items > 0
    if not accepted and (has_words or tries > 200) then
      accepted = true
      timer:stop()
      -- Without a screen there may be no menu: then the first word is in the line, and CTRL-Y is another command.
      vim.api.nvim_feedkeys(keys(vim.fn.pumvisible() == 1 and '<C-y><Esc>' or '<Esc>'), 'n', false)
    end
  end))
  -- Insert mode goes on until the timer ends it.
  vim.api.nvim_feedkeys(keys(get and 'A' or 'A<C-x><C-o>'), 'tx!', false)
  timer:close()
end

function tests.completion_is_accepted_by_key()
  local buf = edit(common)
  attached(buf)
  for typed, wanted in pairs({
    ["x: \"%{lookup('profile::base::conta"] = "x: \"%{lookup('profile::base::contact')}",
    ['x: "%{facts.os.fam'] = 'x: "%{facts.os.family}',
    ['profile::base::package_manager: a'] = 'profile::base::package_manager: apt',
    ['profile::database::backup_wi'] = 'profile::database::backup_window: ',
  }) do
    vim.cmd('edit!')
    vim.api.nvim_buf_set_lines(buf, -1, -1, false, { typed })
    vim.cmd('normal! G')
    accept_first_word()
    local line = vim.api.nvim_buf_get_lines(buf, -2, -1, false)[1]
    -- Neovim 0.11 inserts an edit's text up to its first blank.
    local cut = vim.lsp.completion and wanted:match(' $') and vim.trim(wanted)
    assert(line == wanted or line == cut, ('"%s" became "%s"'):format(typed, line))
  end
  vim.cmd('edit!')
end

local function shown(text)
  return wait('"' .. text .. '" in a window', function()
    local lines = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
    return lines:find(text, 1, true) and lines
  end)
end

function tests.explain_tells_how_a_lookup_goes()
  edit(node)
  go_to('profile::web::vhosts')
  vim.cmd('HieraExplain')
  local text = shown('Searching for "profile::web::vhosts"')
  contains(text, 'tells it, node web-01.oslo.example.net', '/data/roles/web.yaml:9"')
  -- The value and its places come first; Enter opens a place in the other window.
  local value, places = text:find('  keepalive: 75 +# ' .. vim.pesc(node) .. ':5'), text:find('\nPlaces, in the order')
  assert(value and places and value < places and places < text:find('Searching for', 1, true), text)
  assert(not vim.bo.modifiable and vim.bo.buftype == 'nofile')
  -- Its long lines are wrapped between words, the rest of one below its own indentation; other windows stay as they are.
  assert(vim.wo.wrap and vim.wo.linebreak and vim.wo.breakindent)
  assert(not vim.wo[vim.fn.win_getid(vim.fn.winnr('#'))].linebreak)
  local window = vim.api.nvim_get_current_win()
  go_to(role .. ':9')
  vim.cmd('execute "normal \\<cr>"')
  assert(vim.api.nvim_get_current_win() ~= window)
  assert(vim.fn.expand('%:.') == role and vim.fn.line('.') == 9, vim.fn.expand('%:.') .. ':' .. vim.fn.line('.'))
  edit(node)
  -- Of any key, in the same window.
  vim.cmd('HieraExplain company')
  shown('Searching for "company"')
  assert(vim.api.nvim_get_current_win() == window)
  vim.cmd('normal q')
  assert(not vim.api.nvim_win_is_valid(window))
end

function tests.all_data_is_shown_without_secrets()
  edit(node)
  vim.cmd('HieraData')
  local text = shown('company: Fjordkaffe')
  assert(text:sub(1, 10) == '---\n# node', text:sub(1, 80))
  assert(not text:find('ENC[PKCS7', 1, true) and vim.bo.syntax == 'yaml')
  vim.cmd('normal q')
end

function tests.the_reach_of_an_unsaved_edit_is_shown()
  attached(edit(common))
  go_to('company: Fjordkaffe')
  vim.api.nvim_set_current_line('company: Another')
  vim.cmd('HieraReach')
  local text = shown('company  Fjordkaffe (' .. common)
  contains(text, 'Effective changes from the saved texts to the editor', '-> Another')
  vim.cmd('normal q')
  -- The status line counts what the edit changes.
  local line
  assert(vim.wait(10000, function()
    line = vim.api.nvim_eval_statusline("%{v:lua.require('hiera_ls').statusline()}", {}).str
    return line:find('this edit changes', 1, true) ~= nil
  end, 50), line)
  contains(line, 'on 3 of 3 nodes')
  -- The lens at the entry leads to the same page.
  assert(vim.lsp.commands['hiera.showReach'])
  vim.cmd('edit!')
end

function tests.the_hierarchy_is_listed_in_its_order()
  edit(node)
  go_to('profile::web::vhosts')
  vim.cmd('HieraHierarchy')
  local places = {}
  for _, item in ipairs(vim.fn.getloclist(0)) do
    table.insert(places, ('%s:%d %s'):format(vim.fn.fnamemodify(vim.fn.bufname(item.bufnr), ':.'), item.lnum, item.text))
  end
  local text = table.concat(places, '\n')
  contains(text, node .. ':3 Node: ' .. node .. ' (has the key; the value comes from it)', role .. ':9 Role: ', 'hiera.yaml:')
  assert(text:find(node, 1, true) < text:find(role, 1, true) and text:find(role, 1, true) < text:find(common .. ':65', 1, true), text)
  -- The window shows them in columns.
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  assert(vim.bo.buftype == 'quickfix' and #lines == #places, vim.inspect(lines))
  contains(table.concat(lines, '\n'), node .. ':3 ', '|Node ')
  local first = lines[1]:find('|', 1, true)
  for _, line in ipairs(lines) do
    assert(line:find('|', 1, true) == first, line)
  end
  vim.cmd('lclose')
end

local function messages(run)
  local notify, said = vim.notify, {}
  vim.notify = function(message)
    table.insert(said, message)
  end
  local ok, trouble = pcall(run)
  vim.notify = notify
  assert(ok, trouble)
  return table.concat(said, '\n')
end

function tests.a_node_is_chosen()
  edit(role)
  assert(vim.deep_equal(vim.fn.getcompletion('HieraNode web-01.k', 'cmdline'), { 'web-01.kyoto.example.net' }))
  vim.cmd('HieraNode web-01.kyoto.example.net')
  go_to('profile::web::vhosts')
  contains(hover(), 'node `web-01.kyoto.example.net`')
  local select, offered = vim.ui.select, nil
  vim.ui.select = function(items, _, chosen)
    offered = items
    chosen('web-01.oslo.example.net')
  end
  vim.cmd('HieraNode')
  vim.ui.select = select
  assert(#offered == 3, vim.inspect(offered))
  contains(hover(), 'node `web-01.oslo.example.net`')
  vim.cmd('HieraNode!')
  assert(not hover():find('node `', 1, true))
  contains(messages(function() vim.cmd('HieraNode nobody') end), 'nobody')
end

-- A node or a file of a level is chosen, then the file, both through `vim.ui.select`.
function tests.an_entry_is_written_for_a_node_or_a_file_of_a_level()
  local kyoto, new = 'data/nodes/web-01.kyoto.example.net.yaml', 'data/sites/kyoto/roles/web.yaml'
  local select, questions = vim.ui.select, {}
  local function choose(...)
    local wanted = { ... }
    questions = {}
    vim.ui.select = function(items, options, chosen)
      local lines = vim.tbl_map(options.format_item, items)
      table.insert(questions, options.prompt .. '\n' .. table.concat(lines, '\n'))
      for number, line in ipairs(lines) do
        if line:find(wanted[#questions], 1, true) == 1 then
          return chosen(items[number], number)
        end
      end
      chosen(nil)
    end
  end
  attached(edit(common))
  go_to('company: Fjordkaffe')
  choose('web-01.kyoto', kyoto)
  vim.cmd('HieraOverride kyoto')
  contains(questions[1], 'Override company for what?', new .. ' (now Fjordkaffe · 1 of 3 nodes · Role at a site · new file)')
  contains(questions[1], 'web-01.kyoto.example.net (now Fjordkaffe · ' .. kyoto .. ')')
  contains(questions[2], kyoto .. ' (changes nothing for the 3 known nodes · governs 1 of 3 nodes: web-01.kyoto.example.net)')
  assert(vim.fn.expand('%:.') == kyoto and vim.api.nvim_get_current_line() == 'company: Fjordkaffe', vim.api.nvim_get_current_line())
  vim.cmd('edit!')
  -- A file that is missing: the command of the code action.
  edit(common)
  local line, column = go_to('company: Fjordkaffe')
  choose(new, new)
  local arguments = { vim.uri_from_bufnr(0), { line = line - 1, character = column } }
  vim.lsp.commands['hiera.overrideFor']({ arguments = arguments }, {})
  assert(vim.fn.expand('%:.') == new and vim.api.nvim_get_current_line() == 'company: Fjordkaffe', vim.inspect(questions))
  assert(vim.fn.filereadable(new) == 0 and vim.fn.isdirectory('data/sites/kyoto/roles') == 1)
  vim.cmd('write')
  assert(vim.deep_equal(vim.fn.readfile(new), { '---', 'company: Fjordkaffe' }), vim.inspect(vim.fn.readfile(new)))
  vim.cmd('bwipeout')
  vim.fn.delete('data/sites/kyoto/roles', 'rf')
  -- Where the key stands already, that place is shown.
  edit(common)
  vim.fn.search('^classes:')
  choose(role)
  vim.cmd('HieraOverride roles/web')
  contains(questions[1], role .. ' (has the key already · now ')
  vim.ui.select = select
  assert(vim.fn.expand('%:.') == role and vim.api.nvim_get_current_line() == 'classes:', vim.inspect(questions))
  contains(messages(function() edit(common); vim.cmd('HieraOverride no-such-name') end), 'no node and no file of a level has "no-such-name"')
end

function tests.symbols_folds_and_tokens_come_through_the_client()
  local buf = edit(common)
  local client = attached(buf)
  if vim.fn.has('nvim-0.11') == 0 then
    return
  end
  local document = { textDocument = vim.lsp.util.make_text_document_params(buf) }
  local function ask(method)
    local answer = assert(client:request_sync(method, document, 10000, buf))
    assert(not answer.err, vim.inspect(answer.err))
    return answer.result
  end
  local items = vim.lsp.util.symbols_to_items(ask('textDocument/documentSymbol'), buf, client.offset_encoding)
  local outline = table.concat(vim.tbl_map(function(item) return item.text end, items), '\n')
  contains(outline, '[Object] profile::web::vhosts', '[Object] shop', '[Number] port')
  local first
  for number, line in ipairs(vim.api.nvim_buf_get_lines(buf, 0, -1, false)) do
    first = first or (line == 'lookup_options:' and number)
  end
  vim.wo.foldmethod, vim.wo.foldexpr = 'expr', 'v:lua.vim.lsp.foldexpr()'
  wait('the folds', function()
    return vim.lsp.foldexpr(first) == '>1'
  end)
  vim.wo.foldmethod = 'manual'
  local row, column = go_to("company')}!")
  wait('the tokens', function()
    local tokens = vim.lsp.semantic_tokens.get_at_pos(buf, row - 1, column) or {}
    return tokens[1] and tokens[1].type == 'property'
  end)
end

function tests.a_lens_lists_its_places()
  local buf = edit(node)
  attached(buf)
  if vim.fn.has('nvim-0.11') == 0 then
    return
  end
  -- By itself a key that is merged as the hierarchy has it has no lens.
  local function show(all)
    local settings = { hiera = { codeLens = { allOverrides = all } } }
    vim.lsp.get_clients({ bufnr = buf })[1]:notify('workspace/didChangeConfiguration', { settings = settings })
  end
  show(true)
  local lens = wait('the lenses', function()
    vim.lsp.codelens.refresh({ bufnr = buf })
    for _, lens in ipairs(vim.lsp.codelens.get(buf)) do
      if lens.command and lens.command.title:find('merged with data/roles/web.yaml', 1, true) then
        return lens
      end
    end
  end)
  vim.api.nvim_win_set_cursor(0, { lens.range.start.line + 1, 0 })
  vim.fn.setqflist({})
  vim.lsp.codelens.run()
  wait('the list', function()
    return #vim.fn.getqflist() > 1
  end)
  contains(vim.fn.getqflist({ title = 1 }).title, 'data/common.yaml')
  vim.cmd('cclose')
  show(false)
  edit(node)
end

-- The repository with a level that a function of a module answers, beside the one that all other tests are about.
local function store()
  local root = vim.loop.fs_realpath(vim.fn.fnamemodify(folder, ':h')) .. '/store'
  local source = 'modules/t/lib/puppet/functions/t/store.rb'
  local files = {
    ['hiera.yaml'] = { 'version: 5', 'hierarchy:', '  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}', '  - {name: Store, lookup_key: t::store}', '  - {name: Common, path: common.yaml}' },
    ['data/common.yaml'] = { 'greeting: from common' },
    ['data/nodes/web01.yaml'] = { 'serial: 1' },
    [source] = {
      ("File.write('%s/it-ran', 'x')"):format(root),
      "Puppet::Functions.create_function(:'t::store') do",
      '  def store(key, options, context)',
      "    key == 'greeting' ? 'from the store' : context.not_found",
      '  end',
      'end',
    },
  }
  for name, lines in pairs(files) do
    vim.fn.mkdir(vim.fn.fnamemodify(root .. '/' .. name, ':h'), 'p')
    vim.fn.writefile(lines, root .. '/' .. name)
  end
  return root, source
end

function tests.a_key_is_evaluated_after_a_question()
  local root, source = store()
  local function switch(enabled)
    local options = { init_options = { runBackends = { enabled = enabled } } }
    if vim.lsp.config then
      vim.lsp.config('hiera_ls', options)
    else
      require('hiera_ls').setup(options)
    end
  end
  switch(true)
  edit(root .. '/data/common.yaml')
  attached(vim.api.nvim_get_current_buf())
  local questions, answer = {}, 'Cancel'
  local select, inputlist = vim.ui.select, vim.fn.inputlist
  -- Newer versions ask with vim.ui.select(), older ones with inputlist().
  vim.ui.select = function(items, options, chosen)
    table.insert(questions, options.prompt)
    for _, item in ipairs(items) do
      if (item.title or item) == answer then
        return chosen(item)
      end
    end
    chosen(nil)
  end
  vim.fn.inputlist = function(lines)
    table.insert(questions, table.concat(lines, ' '))
    for _, line in ipairs(lines) do
      local number = line:match('^(%d+)%. ' .. answer .. '$')
      if number then
        return tonumber(number)
      end
    end
    return 0
  end
  local function evaluate(count)
    vim.api.nvim_win_set_cursor(0, { 1, 0 })
    vim.cmd('HieraEvaluate')
    wait('the question', function() return #questions >= count end)
  end
  local ok, trouble = xpcall(function()
    evaluate(1)
    assert(questions[1]:find('t::store (' .. source .. ')', 1, true), questions[1])
    assert(vim.fn.filereadable(root .. '/it-ran') == 0, 'nothing runs without the answer')
    answer = 'Run'
    evaluate(2)
    wait('the value', function()
      local text = hover()
      return text:find('as evaluated at %d%d:%d%d') and text:find('from the store', 1, true)
    end)
  end, debug.traceback)
  vim.ui.select, vim.fn.inputlist = select, inputlist
  switch(false)
  for _, client in ipairs(clients(vim.api.nvim_get_current_buf())) do
    if vim.lsp.config then client:stop() else client.stop() end
  end
  assert(ok, trouble)
end

function tests.nodes_are_listed()
  local function listed(command)
    edit(role)
    vim.cmd(command)
    local list = vim.fn.getloclist(0, { items = 0, title = 0 })
    vim.cmd('lclose')
    return vim.tbl_map(function(item) return item.text end, list.items), list
  end
  local web, list = listed('HieraNodes')
  table.sort(web)
  assert(vim.deep_equal(web, { 'web-01.kyoto.example.net', 'web-01.oslo.example.net' }), vim.inspect(web))
  contains(list.title, '2 of 3 known nodes', 'hiera.yaml governs', '3 nodes, from spec/facts')
  contains(vim.fn.bufname(list.items[1].bufnr), 'spec/facts/web-01.')
  local all = listed('HieraNodes!')
  assert(#all == 3, vim.inspect(all))
end

function tests.a_page_tells_why_a_config_governs()
  edit(node)
  vim.cmd('HieraStatus!')
  local text = shown('hiera.yaml governs')
  contains(text, 'because it lies in the folder of the environment', 'levels:', 'nodes/%{trusted.certname}.yaml')
  assert(vim.wo.wrap and not vim.bo.modifiable)
  vim.cmd('normal q')
end

function tests.commands_say_where_there_is_no_server()
  vim.cmd('new')
  for _, command in ipairs({ 'HieraExplain', 'HieraData', 'HieraReach', 'HieraOverride', 'HieraHierarchy', 'HieraNodes', 'HieraNode', 'HieraNode x', 'HieraStatus', 'HieraStatus!' }) do
    contains(messages(function() vim.cmd(command) end), 'no server for this file')
  end
  vim.cmd('bwipeout')
end

function tests.checkhealth_is_clean()
  edit(node)
  vim.cmd('silent checkhealth hiera_ls')
  local text = shown('serves ' .. folder)
  contains(text, 'hiera-ls 0.', vim.lsp.config and 'it is enabled' or 'it is set up')
  assert(not text:find('WARN') and not text:find('ERROR'), text)
  vim.cmd('bwipeout')
end

function tests.the_help_has_tags()
  local copy = vim.fn.tempname()
  vim.fn.mkdir(copy .. '/doc', 'p')
  vim.fn.writefile(vim.fn.readfile(os.getenv('HIERA_LS_RTP') .. '/doc/hiera_ls.txt'), copy .. '/doc/hiera_ls.txt')
  vim.opt.runtimepath:append(copy)
  vim.cmd('helptags ' .. copy .. '/doc')
  for name in pairs(vim.api.nvim_get_commands({})) do
    if name:match('^Hiera') then
      vim.cmd('help :' .. name)
      assert(vim.fn.expand('%:t') == 'hiera_ls.txt', name)
      vim.cmd('helpclose')
    end
  end
end

-- The YAML server that most people have beside ours.
function tests.no_finding_appears_twice()
  local buf = edit(os_file)
  attached(buf)
  local options = { name = 'yamlls', cmd = { 'node', yaml_server, '--stdio' }, root_dir = folder }
  local yamlls = wait('the other server', function()
    local id = vim.lsp.start_client(options)
    return id and vim.lsp.get_client_by_id(id)
  end)
  wait('its start', function() return yamlls.initialized == nil or yamlls.initialized end)
  vim.lsp.buf_attach_client(buf, yamlls.id)
  local function sources()
    local found = {}
    -- Hints, such as that no code reads a new key, are ours alone.
    for _, finding in ipairs(vim.diagnostic.get(buf, { severity = { min = vim.diagnostic.severity.WARN } })) do
      table.insert(found, finding.source)
    end
    table.sort(found)
    return table.concat(found, ' ')
  end
  local function wait_for_sources(wanted)
    local ok = pcall(wait, 'findings', function() return sources() == wanted end)
    assert(ok, ('findings are by "%s" where "%s" was awaited'):format(sources(), wanted))
    -- Both have said what they have to say.
    vim.wait(1000)
    assert(sources() == wanted, sources())
  end
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  for _, slip in ipairs({ 'broken: [1, 2', lines[2] .. ' []' }) do
    vim.api.nvim_buf_set_lines(buf, -1, -1, false, { slip })
    wait_for_sources('YAML')
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
    wait_for_sources('')
  end
  -- Without the other, ours are there again.
  vim.api.nvim_buf_set_lines(buf, -1, -1, false, { 'broken: [1, 2' })
  wait_for_sources('YAML')
  if vim.lsp.config then
    yamlls:stop()
  else
    yamlls.stop()
  end
  wait_for_sources('hiera-ls')
  vim.cmd('edit!')
end

function tests.a_killed_server_is_started_again()
  local buf = edit(common)
  local before = attached(buf)
  replace("\"%{alias('ntp_servers')}\"", "\"x %{alias('ntp_servers')}\"")
  wait_for_codes(buf, 'alias-not-whole-value')
  local servers = {}
  local children = vim.fn.systemlist({ 'ps', '-o', 'pid,stat,args', '--ppid', tostring(vim.fn.getpid()) })
  for _, child in ipairs(children) do
    table.insert(servers, child:match('^%s*(%d+).*hiera%-ls server'))
  end
  assert(#servers == 1, vim.inspect(children))
  vim.loop.kill(tonumber(servers[1]), 'sigkill')
  local after = wait('another client', function()
    local client = clients(buf)[1]
    return client and client.id ~= before.id and client
  end)
  assert(after.config.root_dir == folder)
  wait_for_codes(buf, 'alias-not-whole-value')
  replace("\"x %{alias('ntp_servers')}\"", "\"%{alias('ntp_servers')}\"")
  wait_for_codes(buf, '')
  vim.cmd('silent write')
end

function tests.the_server_ends_with_the_editor()
  local client = attached(edit(node))
  if vim.lsp.config then
    client:stop()
  else
    client.stop()
  end
  wait('the end', function()
    return vim.lsp.get_client_by_id(client.id) == nil
  end)
end

local order = {
  'attaches_at_the_root_of_the_environment',
  'leaves_other_yaml_alone',
  'hover_shows_the_value_of_three_levels',
  'definition_names_the_winning_level_first',
  'definition_lists_the_levels_that_are_merged',
  'a_class_parameter_is_shown_beside_its_key',
  'a_key_jumps_to_its_class_parameter',
  'the_wrong_leaf_of_a_parameter_is_marked',
  'references_are_listed_with_those_in_code',
  'readers_of_a_key_are_listed_as_its_callers',
  'a_rename_changes_data_and_code_and_back',
  'a_code_action_moves_a_key_to_another_level',
  'an_entry_is_written_for_a_node_or_a_file_of_a_level',
  'a_token_jumps_to_its_key',
  'completion_is_accepted_by_key',
  'a_broken_alias_is_found_and_mended',
  'a_save_notices_what_changed_on_disk',
  'the_chosen_node_shows_in_the_hover',
  'a_file_that_is_read_again_is_still_served',
  'explain_tells_how_a_lookup_goes',
  'all_data_is_shown_without_secrets',
  'the_reach_of_an_unsaved_edit_is_shown',
  'the_hierarchy_is_listed_in_its_order',
  'a_node_is_chosen',
  'symbols_folds_and_tokens_come_through_the_client',
  'a_lens_lists_its_places',
  'nodes_are_listed',
  'a_key_is_evaluated_after_a_question',
  'a_page_tells_why_a_config_governs',
  'commands_say_where_there_is_no_server',
  'checkhealth_is_clean',
  'the_help_has_tags',
  'no_finding_appears_twice',
  'a_killed_server_is_started_again',
  'the_server_ends_with_the_editor',
}

for name in pairs(tests) do
  assert(vim.tbl_contains(order, name), name .. ' has no place in the order of tests')
end

if not yaml_server then
  order = vim.tbl_filter(function(name) return name ~= 'no_finding_appears_twice' end, order)
end

if vim.fn.executable('puppet') == 0 then
  io.stdout:write('skipped a_key_is_evaluated_after_a_question: no puppet on PATH\n')
  order = vim.tbl_filter(function(name) return name ~= 'a_key_is_evaluated_after_a_question' end, order)
end

local failed = 0
for _, name in ipairs(order) do
  local ok, trouble = xpcall(tests[name], debug.traceback)
  failed = failed + (ok and 0 or 1)
  io.stdout:write(('%s %s\n%s'):format(ok and 'ok' or 'FAILED', name, ok and '' or tostring(trouble) .. '\n'))
end
-- Who drives this looks whether Neovim leaves a server behind.
vim.cmd('edit! ' .. node)
attached(vim.api.nvim_get_current_buf())
io.stdout:write(('%d of %d held\n'):format(#order - failed, #order))
vim.cmd(failed == 0 and 'qall!' or 'cquit 1')
