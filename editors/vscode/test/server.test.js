"use strict";
// The parts of the extension that need no editor, and the server that it starts, with the protocol of its client.
const assert = require("node:assert");
const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { test } = require("node:test");
const rpc = require("vscode-languageserver-protocol/node");
const { failure, program } = require("../program");

const GEN = process.env.GEN || "gen";
const OVERLAY = 'kubernetes: "1.34"\nvolumes: {datasets: {claim: datasets}}\n';
const JOB = "kind: batch\nimage: example.com/a:1\ncommand: echo\ntimeout: 1h\n";

test("the program is that of the setting, of the folder, or of the path", () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "gen-"));
  assert.strictEqual(program("/x/gen", folder), "/x/gen");
  assert.strictEqual(program("", folder, "linux"), "gen");
  fs.mkdirSync(path.join(folder, ".venv", "bin"), { recursive: true });
  fs.writeFileSync(path.join(folder, ".venv", "bin", "gen"), "");
  assert.strictEqual(program("", folder, "linux"), path.join(folder, ".venv", "bin", "gen"));
});

test("a missing program has a message with a remedy", () => {
  assert.match(failure("gen", { code: "ENOENT" }), /install gen, or set gen.path/);
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
