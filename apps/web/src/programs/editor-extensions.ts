import { autocompletion, type CompletionContext, type CompletionResult, closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { type Diagnostic as Lint, lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
import { EditorState, type Extension, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  drawSelection,
  EditorView,
  highlightActiveLine,
  hoverTooltip,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import type { CheckedProgram } from './checked-program.ts';

/** What the editor asks of the page, whatever it stands at now. */
export type EditorPorts = {
  readonly checked: () => CheckedProgram;
  readonly file: () => string;
  readonly onText: (text: string) => void;
  readonly onSave: () => void;
};

const setColors = StateEffect.define<DecorationSet>();
const setHere = StateEffect.define<readonly number[]>();

const colors = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, transaction) => {
    const given = transaction.effects.find((effect) => effect.is(setColors));
    return given === undefined ? before.map(transaction.changes) : given.value;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The lines at which a run stands. */
const here = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, transaction) => {
    const given = transaction.effects.find((effect) => effect.is(setHere));
    if (given === undefined) return before.map(transaction.changes);
    const { doc } = transaction.state;
    const lines = [...new Set(given.value)].filter((line) => line >= 1 && line <= doc.lines).toSorted((a, b) => a - b);
    return Decoration.set(lines.map((line) => runsHere.range(doc.line(line).from)));
  },
  provide: (field) => EditorView.decorations.from(field),
});
const runsHere = Decoration.line({ class: 'runs-here' });

export function editorExtensions(ports: EditorPorts, isReadOnly: boolean): Extension {
  return [
    lineNumbers(),
    history(),
    drawSelection(),
    highlightActiveLine(),
    closeBrackets(),
    lintGutter(),
    colors,
    here,
    autocompletion({ override: [(context) => complete(ports, context)] }),
    hoverTooltip((_view, pos) => {
      const found = ports.checked().hover(ports.file(), pos);
      if (found === undefined) return null;
      const { code, doc, span } = found;
      return { pos: span.start, end: span.end, above: true, create: () => ({ dom: described(code, doc) }) };
    }),
    keymap.of([
      { key: 'Mod-s', preventDefault: true, run: () => (ports.onSave(), true) },
      ...defaultKeymap,
      ...historyKeymap,
      ...lintKeymap,
      // Tab leaves the editor, for whoever comes by keyboard.
      { ...indentWithTab, key: 'Ctrl-]' },
    ]),
    EditorState.tabSize.of(4),
    EditorState.readOnly.of(isReadOnly),
    EditorView.lineWrapping,
    EditorView.contentAttributes.of({ 'aria-label': 'Source', tabindex: '0' }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged) ports.onText(update.state.doc.toString());
    }),
  ];
}

/** What the checker knows now of the text that stands in the editor. */
export function showChecked(view: EditorView, checked: CheckedProgram, file: string): void {
  const { length } = view.state.doc;
  const builder = new RangeSetBuilder<Decoration>();
  for (const { span, color } of checked.colors(file)) {
    if (span.end > span.start && span.end <= length) {
      builder.add(span.start, span.end, Decoration.mark({ class: `code-${color}` }));
    }
  }
  const found = checked.diagnostics
    .filter((diagnostic) => diagnostic.file === file && diagnostic.span.start <= length)
    .map(
      ({ span, severity, message, help, code }): Lint => ({
        from: span.start,
        to: Math.min(length, Math.max(span.end, span.start)),
        severity,
        message: help === undefined ? message : `${message}\n${help}`,
        source: code,
      }),
    );
  view.dispatch({ effects: setColors.of(builder.finish()) });
  view.dispatch(setDiagnostics(view.state, found));
}

export function showHere(view: EditorView, lines: readonly number[]): void {
  view.dispatch({ effects: setHere.of(lines) });
}

function complete(ports: EditorPorts, context: CompletionContext): CompletionResult | null {
  const word = context.matchBefore(/\w*/);
  const before = context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos);
  if (!context.explicit && word?.text === '' && !/[.:"]/.test(before)) return null;
  const found = ports.checked().completions(ports.file(), context.state.doc.toString(), context.pos);
  return {
    from: word?.from ?? context.pos,
    options: found.map(({ label, kind, detail, doc, rank, insert }) => ({
      label,
      type: kind,
      boost: -rank,
      ...(detail === undefined ? {} : { detail }),
      ...(doc === undefined ? {} : { info: doc }),
      ...(insert === undefined ? {} : { apply: insert }),
    })),
    validFor: /^\w*$/,
  };
}

function described(code: string, doc: string | undefined): HTMLElement {
  const box = document.createElement('div');
  box.className = 'code-hover';
  const shown = document.createElement('pre');
  shown.textContent = code;
  box.append(shown);
  if (doc !== undefined) {
    const text = document.createElement('p');
    text.textContent = doc;
    box.append(text);
  }
  return box;
}
