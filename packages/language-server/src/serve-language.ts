import { MANIFEST_NAME } from '@concerto/language';
import {
  type Connection,
  createConnection,
  DidChangeWatchedFilesNotification,
  ErrorCodes,
  type InitializeParams,
  type InitializeResult,
  PositionEncodingKind,
  ProposedFeatures,
  ResponseError,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { answerRequests, type Phase } from './answer-requests.ts';
import { DiagnosticsFeed } from './diagnostics-feed.ts';
import { CODE_ACTION_KINDS } from './features/code-actions.ts';
import { SEMANTIC_LEGEND } from './features/semantic-tokens.ts';
import { pathOf } from './workspace/file-path.ts';
import { Files } from './workspace/files.ts';
import { Workspace } from './workspace/workspace.ts';

export interface LanguageServerOptions {
  readonly input: NodeJS.ReadableStream;
  /** Carries the protocol and nothing else. */
  readonly output: NodeJS.WritableStream;
  readonly version: string;
}

/**
 * Serves one editor until it says `exit`, closes its end, or dies, which ends the process: with 0 after `shutdown`, else
 * with 1, as the protocol asks.
 */
export function serveLanguage({ input, output, version }: LanguageServerOptions): void {
  const connection = createConnection(ProposedFeatures.all, input, output);
  const files = new Files();
  const workspace = new Workspace(files);
  const failed = (error: unknown): void => {
    connection.console.error(error instanceof Error ? (error.stack ?? error.message) : String(error));
  };
  const feed = new DiagnosticsFeed({
    files,
    workspace,
    publish: (publication) => void connection.sendDiagnostics(publication).catch(failed),
    failed,
  });
  let phase: Phase = 'before';
  connection.onInitialize((params) => {
    phase = 'serving';
    watchFiles(connection, params, failed);
    answerRequests({ connection, files, workspace, failed, capabilities: params.capabilities, phase: () => phase });
    return initializeResult(version);
  });
  connection.onRequest((method: string) => {
    if (phase === 'before') throw new ResponseError(ErrorCodes.ServerNotInitialized, 'initialize comes first');
    throw new ResponseError(ErrorCodes.MethodNotFound, `there is no ${method} here`);
  });
  connection.onShutdown(() => {
    phase = 'ending';
    feed.stop();
  });
  followDocuments(connection, { files, workspace, feed });
  connection.listen();
}

function initializeResult(version: string): InitializeResult {
  return {
    serverInfo: { name: 'concerto', version },
    capabilities: {
      positionEncoding: PositionEncodingKind.UTF16,
      textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
      hoverProvider: true,
      definitionProvider: true,
      referencesProvider: true,
      documentHighlightProvider: true,
      documentSymbolProvider: true,
      workspaceSymbolProvider: true,
      documentFormattingProvider: true,
      renameProvider: { prepareProvider: true },
      completionProvider: { triggerCharacters: ['.', ':', '"', '@'] },
      signatureHelpProvider: { triggerCharacters: ['(', ','] },
      codeActionProvider: { codeActionKinds: CODE_ACTION_KINDS },
      foldingRangeProvider: true,
      inlayHintProvider: true,
      codeLensProvider: {},
      semanticTokensProvider: { legend: SEMANTIC_LEGEND, full: true },
    },
  };
}

interface State {
  readonly files: Files;
  readonly workspace: Workspace;
  readonly feed: DiagnosticsFeed;
}

function followDocuments(connection: Connection, { files, workspace, feed }: State): void {
  const documents = new TextDocuments(TextDocument);
  const modules = new Map<string, string>();
  documents.onDidOpen(({ document }) => {
    if (!isOurs(document)) return;
    files.set(document);
    workspace.forgetRoots();
    feed.request('at once');
  });
  documents.onDidChangeContent(({ document }) => {
    if (!isOurs(document)) return;
    files.set(document);
    // With a `mod` that comes or goes, another file joins or leaves the program.
    const declared = (document.getText().match(/\bmod\s+\w+\s*;/g) ?? []).join();
    if (modules.get(document.uri) !== declared) workspace.forgetRoots();
    modules.set(document.uri, declared);
    feed.request('when quiet');
  });
  documents.onDidSave(() => {
    workspace.forgetRoots();
    feed.request('at once');
  });
  documents.onDidClose(({ document }) => {
    files.close(pathOf(document.uri));
    modules.delete(document.uri);
    workspace.forgetRoots();
    feed.request('at once');
  });
  documents.listen(connection);
  connection.onDidChangeWatchedFiles(() => {
    workspace.forgetRoots();
    feed.request('when quiet');
  });
}

/** Editors that cannot tell Concerto.toml from other TOML files send us all of them. */
function isOurs(document: TextDocument): boolean {
  const path = pathOf(document.uri);
  return path.endsWith('.conc') || path.endsWith(`/${MANIFEST_NAME}`) || document.languageId === 'concerto';
}

/** An editor that watches files tells when another module changes on the disk. */
function watchFiles(connection: Connection, params: InitializeParams, failed: (error: unknown) => void): void {
  if (params.capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration !== true) return;
  connection.onInitialized(() => {
    const watchers = [{ globPattern: '**/*.conc' }, { globPattern: `**/${MANIFEST_NAME}` }];
    connection.client.register(DidChangeWatchedFilesNotification.type, { watchers }).catch(failed);
  });
}
