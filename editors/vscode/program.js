"use strict";
// Which program to start. It needs nothing of the editor, so that tests can use it.
const fs = require("node:fs");
const path = require("node:path");

/** The program for a folder: that of the setting, of the folder's environment, or of the path. */
function program(setting, folder, platform = process.platform) {
  if (setting) return setting;
  const own = platform === "win32" ? [".venv", "Scripts", "gen.exe"] : [".venv", "bin", "gen"];
  const file = folder ? path.join(folder, ...own) : "";
  return file && fs.existsSync(file) ? file : "gen";
}

/** What to tell a user whose server did not start. */
function failure(command, error) {
  const missing = error && error.code === "ENOENT";
  return missing
    ? `${command} was not found: install gen, or set gen.path`
    : `${command} lsp did not start: run \`${command} lsp --help\` in a terminal (${(error && error.message) || error})`;
}

module.exports = { program, failure };
