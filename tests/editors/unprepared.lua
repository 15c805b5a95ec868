-- Drives Neovim on repositories that nobody prepared: no settings, no facts, in the second one no hiera.yaml of its own.
--   nvim --headless --clean -n -c 'autocmd VimEnter * ++nested luafile unprepared.lua'
-- Neovim 0.7 to 0.11 and newer. The working directory is empty, `hiera-ls` is on PATH, HIERA_LS_RTP names editors/nvim. Exit status 0:
-- everything held.

local folder = vim.loop.fs_realpath(vim.fn.getcwd())

vim.o.swapfile, vim.o.hidden = false, true
vim.cmd('filetype plugin on')
vim.opt.runtimepath:prepend(os.getenv('HIERA_LS_RTP'))
vim.cmd('runtime plugin/hiera_ls.lua')
if vim.lsp.config then
  vim.lsp.enable('hiera_ls')
else
  require('hiera_ls').setup()
end

local function write(path, ...)
  vim.fn.mkdir(vim.fn.fnamemodify(folder .. '/' .. path, ':h'), 'p')
  vim.fn.writefile({ ... }, folder .. '/' .. path)
end

local function wait(what, condition)
  local found
  assert(vim.wait(60000, function()
    found = condition()
    return found and true or false
  end, 10), 'timed out waiting for ' .. what)
  return found
end

local function client_of(buf)
  local clients = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = buf }) or vim.tbl_values(vim.lsp.buf_get_clients(buf))
  return clients[1]
end

local function edit(file)
  vim.cmd('edit ' .. vim.fn.fnameescape(folder .. '/' .. file))
  return vim.api.nvim_get_current_buf()
end

local function served(file)
  local buf = edit(file)
  wait('the client', function()
    local client = client_of(buf)
    return client and (client.initialized == nil or client.initialized)
  end)
end

local function hover(text)
  vim.fn.cursor(vim.fn.search('^' .. text .. ':', 'cw'), 1)
  vim.lsp.buf.hover()
  local window = wait('the hover', function()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= '' then
        return window
      end
    end
  end)
  local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
  vim.api.nvim_win_close(window, true)
  return table.concat(lines, '\n')
end

local function contains(text, ...)
  for _, part in ipairs({ ... }) do
    assert(text:find(part, 1, true), ('no "%s" in:\n%s'):format(part, text))
  end
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

local tests = {}

local function fleet()
  write(
    'fleet/hiera.yaml',
    'version: 5',
    'hierarchy:',
    '  - {name: Node, path: "nodes/%{trusted.certname}.yaml"}',
    '  - {name: Role, path: "roles/%{role}.yaml"}',
    '  - {name: Common, path: common.yaml}'
  )
  write('fleet/data/nodes/db-01.yaml', 'serial: db-01')
  write('fleet/data/nodes/web-01.yaml', 'serial: web-01')
  write('fleet/data/nodes/web-02.yaml', 'serial: web-02', 'port: 8080')
  write('fleet/data/roles/web.yaml', 'workers: 4')
  write('fleet/data/roles/db.yaml', 'workers: 1')
  write('fleet/data/common.yaml', 'motd: hello', 'port: 80')
  served('fleet/data/common.yaml')
end

function tests.a_shared_file_shows_the_value_of_each_group()
  fleet()
  contains(hover('port'), '3 known nodes', '`80` in 2 nodes: `db-01`, `web-01`', '`8080` in `web-02`', 'data/nodes/web-02.yaml:2')
end

function tests.a_hover_names_what_can_be_done()
  contains(hover('port'), 'explain: `:HieraExplain`', 'choose a node: `:HieraNode`')
end

function tests.the_nodes_are_listed_with_their_source()
  vim.cmd('HieraNodes')
  local list = vim.fn.getloclist(0, { items = 0, title = 0 })
  vim.cmd('lclose')
  local names = vim.tbl_map(function(item) return item.text end, list.items)
  table.sort(names)
  assert(vim.deep_equal(names, { 'db-01', 'web-01', 'web-02' }), vim.inspect(names))
  contains(list.title, '3 of 3 known nodes', 'hiera.yaml governs 6 data files', '3 nodes, from data/nodes')
end

function tests.a_chosen_node_changes_the_hover()
  contains(messages(function() vim.cmd('HieraNode web-02') end), 'web-02')
  local text = hover('port')
  contains(text, 'node `web-02`', '8080')
  assert(not text:find('db-01', 1, true), text)
  contains(messages(function() vim.cmd('HieraStatus') end), 'hiera.yaml governs 6 data files', '3 nodes, from data/nodes', 'values are those of web-02')
  vim.cmd('HieraNode!')
  contains(hover('port'), '`80` in 2 nodes')
end

function tests.a_config_is_chosen_where_none_governs()
  write('lone/hiera.yaml', 'version: 5', 'hierarchy: [{name: Common, path: common.yaml}]')
  write('lone/data/common.yaml', 'a: 1')
  write('lone/hieradata/web.yaml', 'web: 1', 'port: 80')
  write('lone/spec/fixtures/hiera.yaml', 'version: 5', 'hierarchy: [{name: Web, datadir: ../../hieradata, path: web.yaml}]')
  write('lone/.hiera-ls.yaml', '# kept', 'puppet: {version: 7}')
  vim.cmd('cd ' .. vim.fn.fnameescape(folder .. '/lone'))
  served('lone/hieradata/web.yaml')
  contains(messages(function() vim.cmd('HieraStatus') end), 'no hiera.yaml governs hieradata/web.yaml')
  local select, confirm, offered = vim.ui.select, vim.fn.confirm, nil
  vim.ui.select = function(items, options, chosen)
    offered = options.format_item(items[1])
    chosen(items[1])
  end
  vim.fn.confirm = function()
    return 1
  end
  local said = messages(function() vim.cmd('HieraConfig') end)
  vim.ui.select, vim.fn.confirm = select, confirm
  assert(offered == 'spec/fixtures/hiera.yaml reads 1 files, this one too', offered)
  contains(said, 'spec/fixtures/hiera.yaml governs hieradata/web.yaml')
  local settings = vim.fn.readfile(folder .. '/lone/.hiera-ls.yaml')
  assert(vim.deep_equal(settings, { '# kept', 'puppet: {version: 7}', 'hieraConfig: "spec/fixtures/hiera.yaml"' }), vim.inspect(settings))
  wait('the governing config', function()
    return messages(function() vim.cmd('HieraStatus') end):find('spec/fixtures/hiera.yaml governs 1 data file', 1, true)
  end)
  contains(hover('port'), '80', 'Web')
end

-- The server finds a config by its content; Neovim does not start one by itself where no hiera.yaml lies above.
function tests.a_repository_without_a_mark_is_served_when_asked()
  -- Without it the root is that of the repository which this folder lies in, with all that it holds.
  write('bare/.git/HEAD', 'ref: refs/heads/main')
  write('bare/data/web.yaml', 'web: 1', 'port: 80')
  write('bare/docker/hiera.yaml', 'version: 5', 'hierarchy: [{name: Web, datadir: ../data, path: web.yaml}]')
  vim.cmd('cd ' .. vim.fn.fnameescape(folder .. '/bare'))
  local buf = edit('bare/data/web.yaml')
  assert(not client_of(buf), 'no server is started')
  contains(messages(function() vim.cmd('HieraConfig') end), 'no config to choose', 'docker/hiera.yaml governs 1 data file')
  contains(hover('port'), '80', 'Web')
end

local order = {
  'a_shared_file_shows_the_value_of_each_group',
  'a_hover_names_what_can_be_done',
  'the_nodes_are_listed_with_their_source',
  'a_chosen_node_changes_the_hover',
  'a_config_is_chosen_where_none_governs',
  'a_repository_without_a_mark_is_served_when_asked',
}

local failed = 0
for _, name in ipairs(order) do
  local ok, trouble = xpcall(tests[name], debug.traceback)
  failed = failed + (ok and 0 or 1)
  io.stdout:write(('%s %s\n%s'):format(ok and 'ok' or 'FAILED', name, ok and '' or tostring(trouble) .. '\n'))
end
io.stdout:write(('%d of %d held\n'):format(#order - failed, #order))
vim.cmd(failed == 0 and 'qall!' or 'cquit 1')
