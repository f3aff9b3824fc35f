import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import {
  type CodeAction,
  type CompletionItem,
  createProtocolConnection,
  type Diagnostic,
  type DocumentSymbol,
  type Hover,
  type InitializeResult,
  type Location,
  type Position,
  type ProtocolConnection,
  type Range,
  type SignatureHelp,
  StreamMessageReader,
  StreamMessageWriter,
  type TextEdit,
  type WorkspaceEdit,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { concertoCommand } from '../../../tests/support/concerto-command.ts';

/** The real command, as an editor starts it. */
export function spawnServer(args: readonly string[] = ['lsp', '--stdio']): ChildProcess {
  return spawn(process.execPath, [...concertoCommand, ...args], { stdio: ['pipe', 'pipe', 'pipe'] });
}

/** Marks the cursor in texts of tests. */
const CURSOR = '¦';

/** A text without its cursor, and where that was. */
export function cursorIn(marked: string): { text: string; offset: number } {
  const offset = marked.indexOf(CURSOR);
  if (offset === -1) throw new Error(`no ${CURSOR} in the text`);
  return { text: marked.slice(0, offset) + marked.slice(offset + CURSOR.length), offset };
}

interface Published {
  readonly uri: string;
  readonly version?: number;
  readonly diagnostics: Diagnostic[];
}

export class Editor {
  readonly process: ChildProcess;
  readonly connection: ProtocolConnection;
  /** What the server wrote to its log, which should be nothing. */
  readonly logged: string[] = [];
  readonly published: Published[] = [];
  /** Requests of the server, by method. */
  readonly asked: string[] = [];
  readonly #documents = new Map<string, TextDocument>();
  readonly #waiting = new Set<() => void>();

  constructor() {
    this.process = spawnServer();
    const { stdin, stdout } = this.process;
    if (stdin === null || stdout === null) throw new Error('no pipes');
    this.connection = createProtocolConnection(new StreamMessageReader(stdout), new StreamMessageWriter(stdin));
    this.connection.onNotification('textDocument/publishDiagnostics', (params: Published) => {
      this.published.push(params);
      for (const wake of this.#waiting) wake();
    });
    this.connection.onNotification('window/logMessage', ({ message }: { message: string }) => {
      this.logged.push(message);
    });
    this.connection.onRequest('client/registerCapability', () => {
      this.asked.push('client/registerCapability');
      for (const wake of this.#waiting) wake();
      return null;
    });
    this.connection.listen();
  }

  static async start(capabilities: object = {}): Promise<Editor> {
    const editor = new Editor();
    await editor.initialize(capabilities);
    return editor;
  }

  async initialize(capabilities: object = {}, processId: number | null = process.pid): Promise<InitializeResult> {
    const result = await this.connection.sendRequest<InitializeResult>('initialize', {
      processId,
      rootUri: null,
      capabilities,
    });
    await this.connection.sendNotification('initialized', {});
    return result;
  }

  async stop(): Promise<number | null> {
    await this.connection.sendRequest('shutdown');
    const exited = once(this.process, 'exit');
    await this.connection.sendNotification('exit');
    await exited;
    return this.process.exitCode;
  }

  async open(path: string, text: string, languageId = 'concerto'): Promise<void> {
    const uri = uriFor(path);
    this.#documents.set(path, TextDocument.create(uri, languageId, 1, text));
    await this.connection.sendNotification('textDocument/didOpen', {
      textDocument: { uri, languageId, version: 1, text },
    });
  }

  async close(path: string): Promise<void> {
    this.#documents.delete(path);
    await this.connection.sendNotification('textDocument/didClose', { textDocument: { uri: uriFor(path) } });
  }

  document(path: string): TextDocument {
    const document = this.#documents.get(path);
    if (document === undefined) throw new Error(`${path} is not open`);
    return document;
  }

  text(path: string): string {
    return this.document(path).getText();
  }

  /** Replaces a part of the text, by offsets, as typing does. */
  async edit(path: string, start: number, end: number, text: string): Promise<void> {
    const document = this.document(path);
    const range = { start: document.positionAt(start), end: document.positionAt(end) };
    await this.#change(path, [{ range, text }]);
  }

  async replace(path: string, text: string): Promise<void> {
    await this.#change(path, [{ text }]);
  }

  async #change(path: string, changes: { range?: Range; text: string }[]): Promise<void> {
    const document = this.document(path);
    const changed = TextDocument.update(document, changes as never, document.version + 1);
    this.#documents.set(path, changed);
    await this.connection.sendNotification('textDocument/didChange', {
      textDocument: { uri: changed.uri, version: changed.version },
      contentChanges: changes,
    });
  }

  /** What the server says of the text as it is now. */
  async diagnostics(path: string): Promise<Diagnostic[]> {
    const { uri, version } = this.document(path);
    const current = () => this.published.findLast((each) => each.uri === uri && each.version === version);
    await this.until(() => current() !== undefined);
    return current()?.diagnostics ?? [];
  }

  /** The last word on a file, open or not. */
  lastAbout(path: string): Diagnostic[] | undefined {
    return this.published.findLast((each) => each.uri === uriFor(path))?.diagnostics;
  }

  /** Waits for something the server does; the test's own time limit is the deadline. */
  async until(isDone: () => boolean): Promise<void> {
    while (!isDone()) {
      await new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
      });
    }
  }

  ask<Answer>(method: string, path: string, offset: number, more: object = {}): Promise<Answer> {
    const document = this.document(path);
    return this.connection.sendRequest<Answer>(`textDocument/${method}`, {
      textDocument: { uri: document.uri },
      position: document.positionAt(offset),
      ...more,
    });
  }

  async hover(path: string, offset: number): Promise<string> {
    const hover = await this.ask<Hover | null>('hover', path, offset);
    const contents = hover?.contents;
    return typeof contents === 'object' && 'value' in contents ? contents.value : '';
  }

  complete(path: string, offset: number, more: object = {}): Promise<CompletionItem[]> {
    return this.ask<CompletionItem[]>('completion', path, offset, more);
  }

  signature(path: string, offset: number): Promise<SignatureHelp | null> {
    return this.ask<SignatureHelp | null>('signatureHelp', path, offset);
  }

  definition(path: string, offset: number): Promise<Location[]> {
    return this.ask<Location[]>('definition', path, offset);
  }

  references(path: string, offset: number, includeDeclaration = true): Promise<Location[]> {
    return this.ask<Location[]>('references', path, offset, { context: { includeDeclaration } });
  }

  rename(path: string, offset: number, newName: string): Promise<WorkspaceEdit> {
    return this.ask<WorkspaceEdit>('rename', path, offset, { newName });
  }

  symbols(path: string): Promise<DocumentSymbol[]> {
    return this.ask<DocumentSymbol[]>('documentSymbol', path, 0);
  }

  format(path: string): Promise<TextEdit[]> {
    return this.ask<TextEdit[]>('formatting', path, 0, { options: { tabSize: 4, insertSpaces: true } });
  }

  codeActions(path: string, range: Range, only?: string[]): Promise<CodeAction[]> {
    const context = { diagnostics: [], ...(only === undefined ? {} : { only }) };
    return this.connection.sendRequest('textDocument/codeAction', {
      textDocument: { uri: uriFor(path) },
      range,
      context,
    });
  }

  /** The open text with edits applied. */
  edited(path: string, edits: readonly TextEdit[]): string {
    return TextDocument.applyEdits(this.document(path), [...edits]);
  }
}

export function uriFor(path: string): string {
  return path.startsWith('untitled:') ? path : pathToFileURL(path).href;
}

/** `line:character`, both from zero. */
export function shown({ line, character }: Position): string {
  return `${line}:${character}`;
}
