import { useEffect, useState } from 'react';
import type { CodeRun, highlight } from './highlighter.ts';

type Highlighter = { readonly highlight: typeof highlight };

/** More than this is shown in one colour: it would hold up the page. */
const highlightedMax = 50_000;

let loaded: Highlighter | undefined;
let loading: Promise<Highlighter> | undefined;

/** Undefined until the highlighter has come, which is loaded with the first code, and for languages it does not know. */
export function useHighlighted(language: string, code: string): readonly CodeRun[] | undefined {
  const [highlighter, setHighlighter] = useState(loaded);
  const isWanted = language !== '' && code.length <= highlightedMax;
  useEffect(() => {
    if (!isWanted || highlighter !== undefined) return;
    let isHere = true;
    loading ??= import('./highlighter.ts');
    loading
      .then((module) => {
        loaded = module;
        if (isHere) setHighlighter(module);
      })
      .catch(() => {
        loading = undefined; // Offline: the code stays in one colour, and the next one tries again.
      });
    return () => {
      isHere = false;
    };
  }, [isWanted, highlighter]);
  return isWanted ? highlighter?.highlight(language.toLowerCase(), code) : undefined;
}
