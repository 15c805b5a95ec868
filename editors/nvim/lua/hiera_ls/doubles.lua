-- Hides findings that another YAML server shows, too: broken syntax and duplicate keys.

local M = {}

local METHOD = 'textDocument/publishDiagnostics'

-- The codes of findings that any YAML server has, each with a function that returns whether both findings are the same.
local common = {
  -- Parsers report one mistake at different places: the first error of a file is about the same mistake.
  ['syntax-error'] = function()
    return true
  end,
  ['duplicate-key'] = function(ours, theirs)
    local message = theirs.message:lower()
    return theirs.lnum == ours.range.start.line and (message:find('duplicate') or message:find('unique')) ~= nil
  end,
}

-- The last findings of the server for each buffer, and those of them that are shown.
local said = {}

local function alone(buf, findings)
  local errors = vim.diagnostic.get(buf, { severity = vim.diagnostic.severity.ERROR })
  return vim.tbl_filter(function(ours)
    local same = common[ours.code]
    for _, theirs in ipairs(same and errors or {}) do
      if theirs.source ~= 'hiera-ls' and same(ours, theirs) then
        return false
      end
    end
    return true
  end, findings)
end

local function show(buf)
  local last = said[buf]
  last.shown = alone(buf, last.result.diagnostics)
  local result = vim.tbl_extend('force', last.result, { diagnostics = last.shown })
  vim.lsp.handlers[METHOD](nil, result, last.ctx, last.config)
end

-- Others may speak later, or fall silent.
local function look_again(buf)
  local last = vim.api.nvim_buf_is_valid(buf) and said[buf]
  if last and not vim.deep_equal(alone(buf, last.result.diagnostics), last.shown) then
    show(buf)
  end
end

--- Forgets everything: there is no server any more whose findings these are.
function M.forget()
  said = {}
end

--- Handlers for the client.
M.handlers = {
  [METHOD] = function(err, result, ctx, config)
    if err or not result then
      return vim.lsp.handlers[METHOD](err, result, ctx, config)
    end
    local buf = vim.uri_to_bufnr(result.uri)
    said[buf] = { result = result, ctx = ctx, config = config }
    show(buf)
  end,
}

vim.api.nvim_create_autocmd('DiagnosticChanged', {
  group = vim.api.nvim_create_augroup('hiera_ls_doubles', { clear = true }),
  callback = function(event)
    if said[event.buf] then
      vim.schedule(function()
        look_again(event.buf)
      end)
    end
  end,
})

return M
