-- The places that a lens leads to, in the quickfix list.

local M = {}

--- What the command of a lens does: `vim.lsp.codelens.run()` calls it.
---@param command table with the arguments uri, position and locations
---@param context table of the request
function M.show(command, context)
  local client = vim.lsp.get_client_by_id(context.client_id)
  local locations = command.arguments[3]
  local items = vim.lsp.util.locations_to_items(locations, client and client.offset_encoding or 'utf-16')
  vim.fn.setqflist({}, ' ', { title = command.title, items = items })
  vim.cmd('botright copen')
end

return M
