-- The commands, wherever this folder is on the runtime path. They load the rest when they are used.

if vim.g.loaded_hiera_ls then
  return
end
vim.g.loaded_hiera_ls = true

local function command(name, options, run)
  vim.api.nvim_create_user_command(name, function(call)
    require('hiera_ls.commands')[run](call)
  end, options)
end

command('HieraExplain', { nargs = '?', desc = 'The value of KEY, or of the key at the cursor, its places, and how its lookup goes' }, 'explain')
command('HieraEvaluate', { nargs = 0, desc = 'Evaluate the key at the cursor with the custom backends' }, 'evaluate')
command('HieraData', { nargs = 0, desc = 'All keys with their effective values' }, 'data')
command('HieraReach', { nargs = 0, desc = 'The keys and nodes that unsaved edits change' }, 'reach')
command('HieraHierarchy', { nargs = 0, desc = 'The levels, and which of them have the key at the cursor' }, 'hierarchy')
command('HieraNodes', { nargs = 0, bang = true, desc = 'The known nodes that read the file; with ! all of them' }, 'nodes')
command('HieraStatus', { nargs = 0, bang = true, desc = 'Which hiera.yaml governs, how many data files there are, which nodes are known; with ! why' }, 'status')
command('HieraConfig', { nargs = 0, desc = 'Choose the config that governs this file, which no hiera.yaml does' }, 'config')
command('HieraOverride', { nargs = '?', desc = 'Override the key at the cursor for a node or a file of a level; NAME filters the list' }, 'override')
command('HieraNode', {
  nargs = '?',
  bang = true,
  desc = 'Choose the node whose values are shown; with ! none',
  complete = function(start)
    return require('hiera_ls.commands').complete_node(start)
  end,
}, 'node')

-- The commands of lenses, and of a code action; the server gets their names at initialization.
vim.lsp.commands['hiera.showPlaces'] = function(...)
  require('hiera_ls.places').show(...)
end
vim.lsp.commands['hiera.showReach'] = function()
  require('hiera_ls.commands').reach()
end
vim.lsp.commands['hiera.overrideFor'] = function(sent)
  local uri, position = unpack(sent.arguments)
  require('hiera_ls.override').choose({ textDocument = { uri = uri }, position = position }, '')
end
