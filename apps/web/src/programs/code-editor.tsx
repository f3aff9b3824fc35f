import { EditorState } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { type ReactNode, useEffect, useEffectEvent, useRef } from 'react';
import type { CheckedProgram } from './checked-program.ts';
import { editorExtensions, showChecked, showHere } from './editor-extensions.ts';

type Props = {
  readonly file: string;
  /** What it begins with; afterwards the editor has the text. */
  readonly text: string;
  readonly checked: CheckedProgram;
  readonly isReadOnly: boolean;
  /** Lines at which a run stands. */
  readonly here: readonly number[];
  /** Where somebody wants to look now; each wish is another object. */
  readonly at: { readonly file: string; readonly line: number } | undefined;
  readonly onText: (text: string) => void;
  readonly onSave: () => void;
};

/** One source file, with colours, complaints, completion and explanations from the checker. */
export function CodeEditor({ file, text, checked, isReadOnly, here, at, onText, onSave }: Props): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(undefined);
  const latest = useRef({ checked, file });
  useEffect(() => {
    latest.current = { checked, file };
  }, [checked, file]);
  const say = useEffectEvent(onText);
  const save = useEffectEvent(onSave);
  const first = useEffectEvent(() => text);
  useEffect(() => {
    if (box.current === null) return undefined;
    const ports = {
      checked: () => latest.current.checked,
      file: () => latest.current.file,
      onText: (next: string) => say(next),
      onSave: () => save(),
    };
    const state = EditorState.create({ doc: first(), extensions: editorExtensions(ports, isReadOnly) });
    const made = new EditorView({ state, parent: box.current });
    view.current = made;
    return () => made.destroy();
  }, [file, isReadOnly]);
  useEffect(() => {
    if (view.current !== undefined) showChecked(view.current, checked, file);
  }, [checked, file, isReadOnly]);
  const lines = here.join(' ');
  useEffect(() => {
    if (view.current !== undefined) showHere(view.current, lines === '' ? [] : lines.split(' ').map(Number));
  }, [lines, file, isReadOnly]);
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined || at?.file !== file) return;
    const { doc } = editor.state;
    const { from } = doc.line(Math.min(Math.max(at.line, 1), doc.lines));
    editor.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) });
    editor.focus();
  }, [at, file]);
  return <div className="code-editor" ref={box} />;
}
