"use strict";
const { spawn } = require("node:child_process");
const vscode = require("vscode");
const { CloseAction, ErrorAction, LanguageClient, State } = require("vscode-languageclient/node");
const { failure, isInRepository, program } = require("./program");

const SCHEME = "gen";
/** Documents of the server, with the command that returns each. */
const DOCUMENTS = { "rendered.yaml": "gen.showRendered", "plan.txt": "gen.showPlan" };
/** The client of each folder with an open file of a repository. */
const clients = new Map();

/** The program for a folder; a message if there is none. */
function programOf(folder) {
  try {
    return program(vscode.workspace.getConfiguration("gen").get("path"), folder.uri.fsPath);
  } catch (error) {
    tell(error.message);
    return undefined;
  }
}

/** A message with the ways on: the reason is in the output of a client. */
async function tell(text, client) {
  const actions = client ? ["Restart", "Show output"] : ["Restart"];
  const chosen = await vscode.window.showErrorMessage(text, ...actions);
  if (chosen === "Restart") await restart();
  if (chosen === "Show output") client.outputChannel.show();
}

/** A client with one message for a server that does not start, or that ends; all else is in its output. */
class Client extends LanguageClient {
  constructor(folder, command) {
    const path = folder.uri.fsPath.replaceAll("\\", "/");
    super("gen", "gen", () => this.run(folder, command), {
      documentSelector: [{ scheme: "file", language: "yaml", pattern: `${path}/**/{jobs,overlays,rendered}/**` }],
      workspaceFolder: folder,
      synchronize: {
        fileEvents: vscode.workspace.createFileSystemWatcher(
          new vscode.RelativePattern(folder, "**/{jobs,overlays,rendered}/**"),
        ),
      },
      initializationFailedHandler: () => false,
      errorHandler: { error: () => ({ action: ErrorAction.Continue, handled: true }), closed: () => this.closed() },
    });
    this.usual = this.createDefaultErrorHandler();
    this.command = command;
  }

  error(message, data) {
    super.error(message, data, false);
  }

  /** Start the process. Its last words say why it ended. */
  async run(folder, command) {
    this.said = "";
    const server = spawn(command, ["lsp"], { cwd: folder.uri.fsPath });
    server.stderr.on("data", (data) => (this.said = `${this.said}${data}`.slice(-4000)));
    this.ended = new Promise((resolve) => server.once("close", (code, signal) => resolve(signal || `exit code ${code}`)));
    try {
      await new Promise((resolve, reject) => server.once("spawn", resolve).once("error", reject));
    } catch (error) {
      tell(failure(command, error), this);
      throw error;
    }
    return server;
  }

  /** Start a server that ended again, but not without end. */
  async closed() {
    const wasRunning = this.state === State.Running;
    const how = await this.ended;
    if (!wasRunning) {
      tell(failure(this.command, new Error(how), this.said), this);
      return { action: CloseAction.DoNotRestart, handled: true };
    }
    const { action } = this.usual.closed();
    const restarted = action === CloseAction.Restart;
    tell(`gen: the language server ended (${how}) ${restarted ? "and is started again" : "too often, and stays off"}`, this);
    return { action, handled: true };
  }
}

/** Start the server of the folder that a document is in, if it is one of a repository. */
async function start(document) {
  const folder = vscode.workspace.getWorkspaceFolder(document.uri);
  if (!folder || document.languageId !== "yaml" || clients.has(folder.uri.toString())) return;
  if (!isInRepository(document.uri.fsPath, folder.uri.fsPath)) return;
  clients.set(folder.uri.toString(), undefined);
  const command = programOf(folder);
  if (!command) return;
  const client = new Client(folder, command);
  clients.set(folder.uri.toString(), client);
  await client.start().catch(() => undefined); // it has told why
}

/** End the servers of some folders, or of all. */
async function stop(folders = [...clients.keys()]) {
  const ended = folders.map((key) => clients.get(key));
  folders.forEach((key) => clients.delete(key));
  await Promise.all(ended.map((client) => client && client.dispose().catch(() => undefined)));
}

async function restart() {
  await stop();
  await Promise.all(vscode.workspace.textDocuments.map(start));
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
    return vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: job.toString() });
  }

  async provideTextDocumentContent(uri) {
    const job = vscode.Uri.parse(uri.query);
    const client = clientOf(job);
    const command = DOCUMENTS[uri.path.slice(1)];
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
    vscode.commands.registerCommand("gen.rendered", () => show(documents, "rendered.yaml")),
    vscode.commands.registerCommand("gen.plan", () => show(documents, "plan.txt")),
    vscode.commands.registerCommand("gen.render", render),
    vscode.commands.registerCommand("gen.restart", restart),
    vscode.workspace.onDidOpenTextDocument(start),
    vscode.workspace.onDidChangeWorkspaceFolders(({ removed }) => stop(removed.map((one) => one.uri.toString()))),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      clearTimeout(timer);
      timer = setTimeout(() => documents.refresh(document.uri), 300);
    }),
  );
  await Promise.all(vscode.workspace.textDocuments.map(start));
}

module.exports = { activate, deactivate: () => stop() };
