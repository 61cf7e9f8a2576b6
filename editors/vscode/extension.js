"use strict";
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { program, failure } = require("./program");

const SCHEME = "gen";
/** Documents of the server, by the name of the command that returns them. */
const DOCUMENTS = { rendered: "gen.showRendered", plan: "gen.showPlan" };
const clients = new Map();

/** The program for a folder; a message if there is none. */
function programOf(folder) {
  try {
    return program(vscode.workspace.getConfiguration("gen").get("path"), folder.uri.fsPath);
  } catch (error) {
    vscode.window.showErrorMessage(error.message);
    return undefined;
  }
}

/** Start a server for a folder. */
async function start(folder) {
  const command = programOf(folder);
  if (!command) return;
  const pattern = new vscode.RelativePattern(folder, "{jobs,overlays,rendered}/**");
  const client = new LanguageClient(
    "gen",
    "gen",
    { command, args: ["lsp"], options: { cwd: folder.uri.fsPath } },
    {
      documentSelector: [{ scheme: "file", language: "yaml", pattern: `${folder.uri.fsPath}/{jobs,overlays,rendered}/**` }],
      workspaceFolder: folder,
      synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher(pattern) },
    },
  );
  clients.set(folder.uri.toString(), client);
  try {
    await client.start();
  } catch (error) {
    clients.delete(folder.uri.toString());
    vscode.window.showErrorMessage(failure(command, error));
  }
}

function clientOf(uri) {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return folder && clients.get(folder.uri.toString());
}

/** Read-only documents beside a job, which follow its edits. */
class Documents {
  constructor() {
    this.changed = new vscode.EventEmitter();
    this.onDidChange = this.changed.event;
  }

  /** The document of a job. Its file is in the query. */
  uri(name, job) {
    return vscode.Uri.from({ scheme: SCHEME, path: `/${name}.yaml`, query: job.toString() });
  }

  async provideTextDocumentContent(uri) {
    const job = vscode.Uri.parse(uri.query);
    const client = clientOf(job);
    const command = DOCUMENTS[uri.path.slice(1).replace(/\.yaml$/, "")];
    const params = { command, arguments: [job.toString()] };
    return client ? client.sendRequest("workspace/executeCommand", params) : "";
  }

  refresh(job) {
    for (const document of vscode.workspace.textDocuments) {
      if (document.uri.scheme === SCHEME && document.uri.query === job.toString()) this.changed.fire(document.uri);
    }
  }
}

async function show(documents, name) {
  const editor = vscode.window.activeTextEditor;
  if (!editor) return;
  const document = await vscode.workspace.openTextDocument(documents.uri(name, editor.document.uri));
  await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
}

function render() {
  const editor = vscode.window.activeTextEditor;
  const folder = editor && vscode.workspace.getWorkspaceFolder(editor.document.uri);
  const command = folder && programOf(folder);
  if (!command) return;
  const execution = new vscode.ProcessExecution(command, ["render"], { cwd: folder.uri.fsPath });
  vscode.tasks.executeTask(new vscode.Task({ type: "gen" }, folder, "render", "gen", execution));
}

async function activate(context) {
  const documents = new Documents();
  let timer;
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider(SCHEME, documents),
    vscode.commands.registerCommand("gen.rendered", () => show(documents, "rendered")),
    vscode.commands.registerCommand("gen.plan", () => show(documents, "plan")),
    vscode.commands.registerCommand("gen.render", render),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      clearTimeout(timer);
      timer = setTimeout(() => documents.refresh(document.uri), 300);
    }),
  );
  await Promise.all((vscode.workspace.workspaceFolders || []).map(start));
}

async function deactivate() {
  await Promise.all([...clients.values()].map((client) => client.stop()));
}

module.exports = { activate, deactivate };
