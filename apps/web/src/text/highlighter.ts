import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

const lowlight = createLowlight({
  bash,
  css,
  diff,
  go,
  ini,
  java,
  javascript,
  json,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});
// Our own language reads enough like Rust for its colours.
lowlight.registerAlias({
  rust: ['conc', 'concerto'],
  bash: ['console', 'shell', 'shellsession'],
  json: ['jsonc', 'json5', 'ndjson'],
});

/** One run of code in one colour; `kind` is highlight.js's class, absent where it has none. */
export type CodeRun = { readonly text: string; readonly kind: string | undefined };

/** Undefined for a language that is not known here. */
export function highlight(language: string, code: string): readonly CodeRun[] | undefined {
  if (!lowlight.registered(language)) return undefined;
  const runs: CodeRun[] = [];
  collect(lowlight.highlight(language, code).children, undefined, runs);
  return runs;
}

type Node = ReturnType<typeof lowlight.highlight>['children'][number];

function collect(nodes: readonly Node[], kind: string | undefined, runs: CodeRun[]): void {
  for (const node of nodes) {
    if (node.type === 'text') runs.push({ text: node.value, kind });
    else if (node.type === 'element') collect(node.children.filter(isNode), classOf(node) ?? kind, runs);
  }
}

function isNode(node: { readonly type: string }): node is Node {
  return node.type === 'text' || node.type === 'element';
}

function classOf(node: Extract<Node, { type: 'element' }>): string | undefined {
  const names = node.properties.className;
  const first = Array.isArray(names) ? names[0] : undefined;
  return typeof first === 'string' ? first : undefined;
}
