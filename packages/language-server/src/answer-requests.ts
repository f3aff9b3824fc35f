import { createSourceFile, MANIFEST_NAME, type SourceFile } from '@concerto/language';
import {
  type CancellationToken,
  type ClientCapabilities,
  type Connection,
  ErrorCodes,
  LSPErrorCodes,
  MarkupKind,
  type Position,
  ResponseError,
} from 'vscode-languageserver/node';
import type { AskedPlace } from './features/asked-place.ts';
import { codeActions } from './features/code-actions.ts';
import { codeLenses } from './features/code-lens.ts';
import { completions, signatureHelp } from './features/completion.ts';
import { foldingRanges } from './features/folding.ts';
import { formatDocument } from './features/formatting.ts';
import { hoverAt } from './features/hover.ts';
import { inlayHints } from './features/inlay-hints.ts';
import { manifestCompletions, manifestKeyHover } from './features/manifest.ts';
import { definitionAt, highlightsAt, referencesAt } from './features/navigation.ts';
import { toOffset } from './features/positions.ts';
import { prepareRename, rename } from './features/rename.ts';
import { semanticTokens } from './features/semantic-tokens.ts';
import { documentSymbols, workspaceSymbols } from './features/symbols.ts';
import { sourceOf } from './workspace/analysis.ts';
import { pathOf } from './workspace/file-path.ts';
import type { Files } from './workspace/files.ts';
import { findingsByFile, type Workspace } from './workspace/workspace.ts';

/** Of the server's life; after `shutdown` it only waits for `exit`. */
export type Phase = 'before' | 'serving' | 'ending';

export interface Answering {
  readonly connection: Connection;
  readonly files: Files;
  readonly workspace: Workspace;
  readonly failed: (error: unknown) => void;
  readonly capabilities: ClientCapabilities;
  readonly phase: () => Phase;
}

/** An open program, and where in it the request is about. */
interface Asked {
  readonly path: string;
  readonly source: SourceFile;
}

export function answerRequests(answering: Answering): void {
  answerAboutNames(answering);
  answerAboutView(answering);
  answerAboutDocuments(answering);
  answerRenames(answering);
}

/** The open program that is asked about; manifests and files that are not open have no names. */
function asked({ files }: Answering, uri: string): Asked | undefined {
  const path = pathOf(uri);
  const document = files.document(path);
  if (document === undefined || path.endsWith('.toml')) return undefined;
  return { path, source: createSourceFile(path, document.getText()) };
}

/** The open manifest that is asked about. */
function askedManifest({ files }: Answering, uri: string): SourceFile | undefined {
  const path = pathOf(uri);
  const document = path.endsWith(`/${MANIFEST_NAME}`) ? files.document(path) : undefined;
  return document === undefined ? undefined : createSourceFile(path, document.getText());
}

/** A bug of ours costs the answer, not the server: the editor gets nothing, and its log says why. */
function guarded<Params, Answer>(
  { failed, phase }: Answering,
  fallback: Answer,
  answer: (params: Params) => Answer,
): (params: Params, token: CancellationToken) => Answer {
  return (params, token) => {
    // It has waited behind others meanwhile.
    if (token.isCancellationRequested) throw new ResponseError(LSPErrorCodes.RequestCancelled, 'cancelled');
    if (phase() === 'ending') throw new ResponseError(ErrorCodes.InvalidRequest, 'the server was shut down');
    try {
      return answer(params);
    } catch (error) {
      if (error instanceof ResponseError) throw error;
      failed(error);
      return fallback;
    }
  };
}

interface At {
  readonly textDocument: { readonly uri: string };
  readonly position: Position;
}

/** For questions about the name at a position. */
function atName<Answer>(
  answering: Answering,
  none: Answer,
  answer: (place: AskedPlace) => Answer,
): (params: At, token: CancellationToken) => Answer {
  return guarded(answering, none, ({ textDocument, position }) => {
    const about = asked(answering, textDocument.uri);
    if (about === undefined) return none;
    const { path, source } = about;
    const found = answering.workspace.programOf(path);
    return answer({ ...found, path, offset: toOffset(source, position) });
  });
}

/** For questions about the key at a position of the manifest. */
function atKey<Answer>(
  answering: Answering,
  none: Answer,
  answer: (source: SourceFile, offset: number) => Answer,
): (params: At, token: CancellationToken) => Answer {
  return guarded(answering, none, ({ textDocument, position }) => {
    const source = askedManifest(answering, textDocument.uri);
    return source === undefined ? none : answer(source, toOffset(source, position));
  });
}

function answerAboutNames(answering: Answering): void {
  const { connection, workspace, capabilities } = answering;
  const formats = capabilities.textDocument?.hover?.contentFormat;
  const markup =
    formats === undefined || formats.includes(MarkupKind.Markdown) ? MarkupKind.Markdown : MarkupKind.PlainText;
  const hoverOfName = atName(answering, null, (place) => hoverAt(place, markup) ?? null);
  const hoverOfKey = atKey(answering, null, (source, offset) => manifestKeyHover(source, offset) ?? null);
  connection.onHover((params, token) => hoverOfKey(params, token) ?? hoverOfName(params, token));
  connection.onDefinition(atName(answering, [], definitionAt));
  connection.onDocumentHighlight(atName(answering, [], highlightsAt));
  connection.onReferences(
    guarded(answering, [], ({ textDocument, position, context }) => {
      const about = asked(answering, textDocument.uri);
      if (about === undefined) return [];
      const offset = toOffset(about.source, position);
      return referencesAt(workspace, about.path, offset, context.includeDeclaration);
    }),
  );
  connection.onCompletion(
    guarded(answering, [], ({ textDocument, position, context }) => {
      const manifest = askedManifest(answering, textDocument.uri);
      if (manifest !== undefined) return manifestCompletions(manifest, toOffset(manifest, position));
      const about = asked(answering, textDocument.uri);
      if (about === undefined) return [];
      const { path, source } = about;
      const offset = toOffset(source, position);
      // One `:` is typed in many places; two are a path.
      if (context?.triggerCharacter === ':' && source.text[offset - 2] !== ':') return [];
      return completions({ workspace, path, text: source.text, offset });
    }),
  );
  connection.onSignatureHelp(
    guarded(answering, null, ({ textDocument, position }) => {
      const about = asked(answering, textDocument.uri);
      if (about === undefined) return null;
      const { path, source } = about;
      return signatureHelp({ workspace, path, text: source.text, offset: toOffset(source, position) }) ?? null;
    }),
  );
}

function answerAboutDocuments(answering: Answering): void {
  const { connection, files, workspace } = answering;
  connection.onDocumentSymbol(
    guarded(answering, [], ({ textDocument }) => {
      const about = asked(answering, textDocument.uri);
      return about === undefined ? [] : documentSymbols(workspace.programOf(about.path).index, about.path);
    }),
  );
  connection.onWorkspaceSymbol(
    guarded(answering, [], ({ query }) => {
      const entries = new Set(files.openPaths.flatMap((path) => [...workspace.programsFor(path)]));
      return workspaceSymbols(
        [...entries].map((entry) => workspace.index(entry)),
        query,
      );
    }),
  );
  connection.onDocumentFormatting(
    guarded(answering, [], ({ textDocument }) => {
      const about = asked(answering, textDocument.uri);
      return about === undefined ? [] : formatDocument(about.source);
    }),
  );
  connection.languages.semanticTokens.on(
    guarded(answering, { data: [] }, ({ textDocument }) => {
      const about = asked(answering, textDocument.uri);
      return about === undefined ? { data: [] } : semanticTokens(workspace.programOf(about.path).index, about.path);
    }),
  );
  connection.onCodeAction(
    guarded(answering, [], ({ textDocument, range, context }) => {
      const path = pathOf(textDocument.uri);
      const analyses = workspace.programsFor(path).map((entry) => workspace.analysis(entry));
      const [first] = analyses;
      const source = first === undefined ? undefined : sourceOf(first, path);
      if (first === undefined || source === undefined || files.document(path) === undefined) return [];
      return codeActions({
        source,
        diagnostics: findingsByFile(analyses).get(path)?.diagnostics ?? [],
        range,
        only: context.only,
        manifest: first.manifest?.file,
        findSource: (each) => sourceOf(first, each),
      });
    }),
  );
}

/** What an editor shows beside the text. */
function answerAboutView(answering: Answering): void {
  const { connection, workspace } = answering;
  connection.onFoldingRanges(
    guarded(answering, [], ({ textDocument }) => {
      const about = asked(answering, textDocument.uri);
      return about === undefined ? [] : foldingRanges(workspace.programOf(about.path).index, about.path);
    }),
  );
  connection.languages.inlayHint.on(
    guarded(answering, [], ({ textDocument, range }) => {
      const about = asked(answering, textDocument.uri);
      return about === undefined ? [] : inlayHints(workspace.programOf(about.path).index, about.path, range);
    }),
  );
  connection.onCodeLens(
    guarded(answering, [], ({ textDocument }) => {
      const about = asked(answering, textDocument.uri);
      return about === undefined ? [] : codeLenses(workspace.programOf(about.path).index, about.path);
    }),
  );
}

function answerRenames(answering: Answering): void {
  const { connection, workspace } = answering;
  connection.onPrepareRename(
    atName(answering, null, (place) => {
      const prepared = prepareRename(place);
      if (!prepared.ok) throw refusal(prepared.error);
      return prepared.value;
    }),
  );
  connection.onRenameRequest(
    guarded(answering, null, ({ textDocument, position, newName }) => {
      const about = asked(answering, textDocument.uri);
      if (about === undefined) return null;
      const place = { path: about.path, offset: toOffset(about.source, position) };
      const renamed = rename(workspace, place, newName);
      if (!renamed.ok) throw refusal(renamed.error);
      return renamed.value;
    }),
  );
}

function refusal(message: string): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestFailed, message);
}
