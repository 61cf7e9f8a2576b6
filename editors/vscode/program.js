"use strict";
// Which program to start. It needs nothing of the editor, so that tests can use it.
const { spawnSync } = require("node:child_process");
const fs = require("node:fs");
const path = require("node:path");

const REMEDY = "install gen, or set gen.path to its full path, such as ${workspaceFolder}/.venv/bin/gen";

/** The full path of a program in the search path: Windows would look in the opened folder first. */
function searched(name, search, platform = process.platform) {
  const file = platform === "win32" ? `${name}.exe` : name;
  for (const folder of search.split(path.delimiter).filter((one) => path.isAbsolute(one))) {
    try {
      fs.accessSync(path.join(folder, file), fs.constants.X_OK);
      return path.join(folder, file);
    } catch {
      // the next folder
    }
  }
  return "";
}

/** Whether Git shows that no commit has put a file into the environment of a program below a folder. */
function isOwn(file, folder, search) {
  const environment = path.relative(folder, path.dirname(path.dirname(file))) || ".";
  const git = searched("git", search);
  const safe = ["-c", "core.fsmonitor=false", "-c", "safe.bareRepository=explicit"];
  const listed = git && spawnSync(git, [...safe, "ls-files", "-z", "--", `:(literal,icase)${environment}`], { cwd: folder });
  return Boolean(listed) && listed.status === 0 && listed.stdout.length === 0;
}

/** The program for a folder: that of the setting, or of the search path. An error says why there is none. */
function program(setting, folder, search = process.env.PATH || "") {
  const file = setting ? path.normalize(setting.replaceAll("${workspaceFolder}", folder)) : searched("gen", search);
  if (!path.isAbsolute(file)) throw new Error(`${setting || "gen"} was not found: ${REMEDY}`);
  const below = path.relative(folder, file);
  if (!below.startsWith("..") && !path.isAbsolute(below) && !isOwn(file, folder, search)) {
    throw new Error(`${file} may come from a commit, so it is not started: remove its environment from Git, or ${REMEDY}`);
  }
  return file;
}

/** Whether a file is an input or an output of a repository of gen, which can be in a subfolder of the opened one. */
function isInRepository(file, folder) {
  const parts = path.relative(folder, file).split(path.sep);
  const roots = parts.flatMap((part, at) =>
    ["jobs", "overlays", "rendered"].includes(part) ? [path.join(folder, ...parts.slice(0, at))] : [],
  );
  return roots.some((root) => ["jobs", "overlays"].every((name) => fs.existsSync(path.join(root, name))));
}

/** What to tell a user whose server did not start. `said` is what it wrote to its standard error. */
function failure(command, error, said = "") {
  if (error.code === "ENOENT") {
    return fs.existsSync(command)
      ? `${command} does not start: the Python of its environment is gone. Install gen in a new environment`
      : `${command} was not found: ${REMEDY}`;
  }
  const last = said.trim().split("\n").pop().replace(/^gen: /, "");
  return `gen: ${command} lsp did not start (${error.message})${last && `: ${last}`}`;
}

module.exports = { failure, isInRepository, program };
