-- The status that the server sends, for a status line of the user's own.

local M = {}

-- The last status of each client, by its number.
local last = {}

--- Handlers for the client.
M.handlers = {
  ['hiera/status'] = function(_, status, ctx)
    if status then
      last[ctx.client_id] = status
      vim.cmd('redrawstatus')
    end
  end,
}

--- Forgets everything: there is no server any more whose status this is.
function M.forget()
  last = {}
end

--- Returns the node whose values are shown, and the keys and nodes that the edits change; '' in a buffer without a server, and where
--- neither is to be told.
---@return string
function M.line()
  for id, status in pairs(last) do
    if vim.lsp.buf_is_attached(0, id) then
      local parts = {}
      for _, part in ipairs({ 'selected', 'reach' }) do
        local text = status[part]
        if text and text ~= vim.NIL then
          table.insert(parts, text)
        end
      end
      return table.concat(parts, ' · ')
    end
  end
  return ''
end

return M
