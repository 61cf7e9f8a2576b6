"use strict";
// The parts of the extension that need no editor, and the server that it starts, with the protocol of its client.
const assert = require("node:assert");
const { execFileSync, spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { test } = require("node:test");
const rpc = require("vscode-languageserver-protocol/node");
const { failure, isInRepository, program } = require("../program");

const GEN = process.env.GEN || "gen";
const OVERLAY = 'kubernetes: "1.34"\nvolumes: {datasets: {claim: datasets}}\n';
const JOB = "kind: batch\nimage: example.com/a:1\ncommand: echo\ntimeout: 1h\n";

/** A folder with an executable file. */
function executable(folder, ...names) {
  const file = path.join(folder, ...names);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, "#!/bin/sh\n", { mode: 0o755 });
  return file;
}

function repository() {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "gen-")));
  execFileSync("git", ["init", "-q"], { cwd: folder });
  return folder;
}

const OWN = "${workspaceFolder}/.venv/bin/gen";

test("the program is that of the setting or of the search path, never one of the opened folder without a setting", () => {
  const folder = repository();
  const tools = fs.mkdtempSync(path.join(os.tmpdir(), "tools-"));
  const gen = executable(tools, "gen");
  executable(folder, "gen");
  const own = executable(folder, ".venv", "bin", "gen");
  const search = [".", "", tools, process.env.PATH].join(path.delimiter);
  assert.strictEqual(program("", folder, search), gen);
  assert.strictEqual(program("/x/gen", folder, search), "/x/gen");
  assert.strictEqual(program(OWN, folder, search), own);
  assert.throws(() => program("", folder, "."), /was not found: install gen, or set gen.path/);
  assert.throws(() => program("gen", folder, search), /was not found/);
});

for (const committed of [".venv/bin/gen", ".venv/lib/python3.12/site-packages/x.pth", ".VENV/pyvenv.cfg"]) {
  test(`an environment with a committed ${committed} is not started`, () => {
    const folder = repository();
    executable(folder, ".venv", "bin", "gen");
    executable(folder, ...committed.split("/"));
    execFileSync("git", ["add", "-f", committed], { cwd: folder });
    assert.throws(() => program(OWN, folder), /may come from a commit, so it is not started/);
    const search = [path.join(folder, ".venv", "bin"), process.env.PATH].join(path.delimiter);
    assert.throws(() => program("", folder, search), /may come from a commit/);
  });
}

test("an environment below a folder that is no repository is not started, and Git starts nothing to find out", () => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "gen-")));
  executable(folder, ".venv", "bin", "gen");
  assert.throws(() => program(OWN, folder), /may come from a commit/);
  execFileSync("git", ["init", "-q"], { cwd: folder });
  execFileSync("git", ["config", "core.fsmonitor", `touch ${folder}/started; false`], { cwd: folder });
  assert.strictEqual(program(OWN, folder), path.join(folder, ".venv", "bin", "gen"));
  assert.ok(!fs.existsSync(path.join(folder, "started")));
});

test("Git does not take its settings from a committed bare repository", () => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "gen-")));
  execFileSync("git", ["init", "-q", "--bare"], { cwd: folder });
  executable(folder, ".venv", "bin", "gen");
  assert.throws(() => program(OWN, folder), /may come from a commit/);
});

test("no server starts for an untrusted workspace, and no folder sets the program", () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(__dirname, "..", "package.json"), "utf8"));
  assert.strictEqual(manifest.capabilities.untrustedWorkspaces.supported, false);
  assert.strictEqual(manifest.contributes.configuration.properties["gen.path"].scope, "machine");
});

test("a missing program has a message with a remedy", () => {
  assert.match(failure("gen", { code: "ENOENT" }), /install gen, or set gen.path/);
});

test("a program that does not start is reported with its last words, or with the Python that is gone", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gen-"));
  assert.match(failure(executable(folder, "gen"), { code: "ENOENT" }), /the Python of its environment is gone/);
  const said = "Traceback\n  File x\nModuleNotFoundError: No module named 'gen'\n";
  assert.strictEqual(
    failure("/x/gen", new Error("exit code 1"), said),
    "gen: /x/gen lsp did not start (exit code 1): ModuleNotFoundError: No module named 'gen'",
  );
});

test("a server is for files of a repository, which can be in a subfolder", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gen-"));
  for (const name of ["jobs", "overlays"]) fs.mkdirSync(path.join(folder, "training", name), { recursive: true });
  fs.mkdirSync(path.join(folder, "jobs"));
  assert.ok(isInRepository(path.join(folder, "training", "jobs", "team", "a.yaml"), folder));
  assert.ok(!isInRepository(path.join(folder, "training", "values.yaml"), folder));
  assert.ok(!isInRepository(path.join(folder, "jobs", "team", "a.yaml"), folder));
});

test("every command of the extension is declared, and every declared one is there", () => {
  const { contributes } = JSON.parse(fs.readFileSync(path.join(__dirname, "..", "package.json"), "utf8"));
  const text = fs.readFileSync(path.join(__dirname, "..", "extension.js"), "utf8");
  const registered = [...text.matchAll(/registerCommand\("([\w.]+)"/g)].map((match) => match[1]);
  assert.deepStrictEqual(registered.sort(), contributes.commands.map((one) => one.command).sort());
});

test("the server reports a mistake, completes a volume and returns rendered objects", async () => {
  const root = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), "gen-")));
  fs.mkdirSync(path.join(root, "jobs", "team"), { recursive: true });
  fs.mkdirSync(path.join(root, "overlays", "dev"), { recursive: true });
  fs.writeFileSync(path.join(root, "overlays", "dev", "overlay.yaml"), OVERLAY);
  const file = path.join(root, "jobs", "team", "demo.yaml");
  fs.writeFileSync(file, JOB);
  const uri = pathToFileURL(file).toString();
  const server = spawn(GEN, ["lsp"], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  const connection = rpc.createProtocolConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const shown = new Promise((resolve) => {
    connection.onNotification(rpc.PublishDiagnosticsNotification.type, (params) => {
      if (params.uri === uri && params.diagnostics.length) resolve(params.diagnostics);
    });
  });
  connection.listen();
  await connection.sendRequest(rpc.InitializeRequest.type, {
    processId: process.pid,
    rootUri: pathToFileURL(root).toString(),
    capabilities: {},
  });
  await connection.sendNotification(rpc.InitializedNotification.type, {});
  const text = `${JOB}gpuz: 1\n`;
  await connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: "yaml", version: 0, text },
  });
  assert.strictEqual((await shown)[0].code, "unknown-field");
  await connection.sendNotification(rpc.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 1 },
    contentChanges: [{ text: `${JOB}data: {` }],
  });
  const items = await connection.sendRequest(rpc.CompletionRequest.type, {
    textDocument: { uri },
    position: { line: 4, character: 7 },
  });
  assert.ok(items.some((item) => item.label === "datasets"));
  await connection.sendRequest(rpc.ShutdownRequest.type);
  await connection.sendNotification(rpc.ExitNotification.type);
  const code = await new Promise((resolve) => server.on("exit", resolve));
  assert.strictEqual(code, 0);
  connection.dispose();
});
