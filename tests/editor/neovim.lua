-- A session of Neovim with the documented settings. Prints what the server answers, as JSON.
local out = {}
vim.cmd("filetype plugin on")
vim.cmd("edit " .. vim.env.GEN_FILE)
local buffer = vim.api.nvim_get_current_buf()
local client

local function wait(condition)
  return vim.wait(60000, condition, 50)
end
local function diagnostics()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(found, one.code .. ":" .. one.lnum)
  end
  return found
end
local function request(method, line, column, extra)
  local params = vim.tbl_extend("force", {
    textDocument = vim.lsp.util.make_text_document_params(buffer),
    position = { line = line, character = column },
  }, extra or {})
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 60000)
  return answers and answers[client] and answers[client].result
end

wait(function() return #diagnostics() > 0 end)
out.diagnostics = diagnostics()
client = vim.tbl_keys(vim.lsp.buf_get_clients(buffer))[1]

local last = vim.api.nvim_buf_line_count(buffer)
vim.api.nvim_buf_set_lines(buffer, last, last, false, { "data: {" })
out.completion = {}
for _, item in ipairs(request("textDocument/completion", last, 7) or {}) do
  table.insert(out.completion, item.label)
end
vim.api.nvim_buf_set_lines(buffer, last, last + 1, false, { "data: {datasets: /data}" })

local context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(buffer, last - 1, {}, client) }
local range = { start = { line = last - 1, character = 0 }, ["end"] = { line = last - 1, character = 0 } }
for _, action in ipairs(request("textDocument/codeAction", last - 1, 0, { context = context, range = range }) or {}) do
  if action.kind == "quickfix" then
    out.fix = action.title
    vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(client).offset_encoding)
  end
end
wait(function() return #diagnostics() == 0 end)
out.after = diagnostics()
out.text = vim.api.nvim_buf_get_lines(buffer, 0, -1, false)

local found = request("textDocument/definition", last, 8)
out.definition = found and found[1] and { vim.uri_to_fname(found[1].uri), found[1].range.start.line }
io.stdout:write(vim.fn.json_encode(out))
vim.lsp.stop_client(client)
vim.cmd("qall!")
