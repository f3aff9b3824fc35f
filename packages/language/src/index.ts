export {
  type AnalysisInput,
  analyseProgram,
  type BuildResult,
  buildProgram,
  type ProgramAnalysis,
} from './build-program.ts';
export type { McpAnswers, McpKnowledge, McpToolShape } from './check/check-mcp.ts';
export { type CheckInput, type CheckResult, checkProgram, type ManifestNames } from './check/check-program.ts';
export { type CompileInput, compileProgram } from './compile/compile-program.ts';
export { applyFixes } from './diagnostics/apply-fixes.ts';
export type { Diagnostic, DiagnosticFix, DiagnosticLabel, Severity, TextEdit } from './diagnostics/diagnostic.ts';
export { type JsonDiagnostic, toJsonDiagnostic } from './diagnostics/json-diagnostic.ts';
export { type FindFile, type RenderOptions, renderDiagnostic } from './diagnostics/render-diagnostic.ts';
export { EXPLANATIONS, explanationPage, explanationText, findExplanation } from './explain/explain-code.ts';
export type { Explanation } from './explain/explanation.ts';
export { formatSource } from './format/format-source.ts';
export { addManifestLines } from './manifest/add-manifest-lines.ts';
export {
  type Manifest,
  type ManifestAgent,
  type ManifestAssistant,
  type ManifestConnection,
  type ManifestMcpServer,
  type ManifestRule,
  type ManifestTemplate,
} from './manifest/manifest.ts';
export { type JsonSchema, manifestJsonSchema } from './manifest/manifest-json-schema.ts';
export { MANIFEST_NAME, manifestNames } from './manifest/manifest-names.ts';
export { type ManifestResult, readManifest } from './manifest/read-manifest.ts';
export { type LoadInput, type LoadResult, loadProgram, type ReadFile } from './modules/load-program.ts';
export type { Program, ProgramFile } from './modules/program.ts';
export { type ParseResult, parseSource } from './parser/parse-source.ts';
export { type CodeSymbol, type Place, type Reference, type SymbolKind } from './query/code-symbol.ts';
export { type ColoredToken, colorTokens, type TokenColor } from './query/color-tokens.ts';
export { type CompleteInput, CURSOR_MARK, completeAt } from './query/complete-at.ts';
export type { Completion } from './query/completion.ts';
export { type Description, describeSymbol } from './query/describe-symbol.ts';
export { foldsOf } from './query/folding.ts';
export { indexProgram, type ProgramIndex, referenceAt, referencesTo } from './query/index-program.ts';
export { type InlayType, inlayTypes } from './query/inlay-types.ts';
export { completeManifest, describeManifestKey } from './query/manifest-key.ts';
export { type ManifestName, manifestNameAt, manifestTable } from './query/manifest-name.ts';
export { type OutlineEntry, outlineOf } from './query/outline.ts';
export { cannotRename, type RenameEdit, renameSymbol } from './query/rename-symbol.ts';
export { type Runnable, runnablesOf } from './query/runnable.ts';
export { type SignatureHelp, signatureAt } from './query/signature-at.ts';
export { createSourceFile, type Position, positionAt, type SourceFile } from './source/source-file.ts';
export type { Span } from './source/span.ts';
export { createIdSource, type IdSource, type NodeId } from './syntax/node.ts';
export type { SourceTree } from './syntax/tree.ts';
