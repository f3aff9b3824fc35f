import { dirname } from 'node:path';
import { commands, ProcessExecution, Task, TaskRevealKind, TaskScope, tasks, Uri, window, workspace } from 'vscode';
import { LanguageClient } from 'vscode-languageclient/node';

let client;

function command() {
  return workspace.getConfiguration('concerto').get('command') || 'concerto';
}

export async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand('concerto.run', (uri) => start('run', ['run'], uri)),
    commands.registerCommand('concerto.test', (uri, description) =>
      start('test', ['test', ...(description === undefined ? [] : ['--filter', description])], uri),
    ),
    commands.registerCommand('concerto.restart', restart),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration('concerto.command')) restart().catch(() => {});
    }),
  );
  await serve();
}

export function deactivate() {
  return client?.stop();
}

async function serve() {
  const documentSelector = [{ language: 'concerto' }, { pattern: '**/Concerto.toml' }];
  client = new LanguageClient(
    'concerto',
    'Concerto',
    { command: command(), args: ['lsp', '--stdio'] },
    { documentSelector },
  );
  try {
    await client.start();
  } catch (error) {
    const settings = 'Open Settings';
    const text = `Concerto: \`${command()} lsp\` cannot be started. Install it, or say in the setting concerto.command where it is.`;
    if ((await window.showErrorMessage(`${text} (${error.message ?? error})`, settings)) === settings) {
      await commands.executeCommand('workbench.action.openSettings', 'concerto.command');
    }
  }
}

async function restart() {
  await client?.stop().catch(() => {});
  await serve();
}

/** In the terminal, as a task: without a shell, so that nothing in a name is anything but a name. */
async function start(name, args, given) {
  const uri = given === undefined ? window.activeTextEditor?.document.uri : Uri.parse(String(given));
  if (uri === undefined || uri.scheme !== 'file') {
    window.showInformationMessage('Concerto: open a program first.');
    return;
  }
  await workspace.textDocuments.find((document) => document.uri.toString() === uri.toString())?.save();
  const folder = workspace.getWorkspaceFolder(uri);
  const cwd = folder?.uri.fsPath ?? dirname(uri.fsPath);
  const execution = new ProcessExecution(command(), [args[0], uri.fsPath, ...args.slice(1)], { cwd });
  const task = new Task({ type: 'concerto', task: name }, folder ?? TaskScope.Workspace, name, 'Concerto', execution);
  task.presentationOptions = { reveal: TaskRevealKind.Always, clear: true };
  await tasks.executeTask(task);
}
