import type { ResourceRef, TopLevelStatement } from '../check/facts.ts';
import type { Expression } from '../syntax/expression.ts';
import { value } from './evaluate.ts';
import { Frame } from './frame.ts';
import { leave } from './leaving.ts';
import type { ModuleBuilder } from './module-builder.ts';
import { loadResource } from './names.ts';
import { compileStatement } from './statements.ts';

const NAME = '{top level}';
const METHOD = 'with_persistence';

/** Module variables, the tools' instances and the statements at the top level, in the order they run. */
export function compileInit(builder: ModuleBuilder): void {
  const { facts, module } = builder;
  const tools = facts.resources.filter((resource) => resource.kind === 'tool');
  const parts = [
    ...tools.map((tool) => fillFunction(builder, tool.file, (frame) => makeTool(frame, tool))),
    ...facts.resources.flatMap((resource) => {
      const path = filePath(resource);
      return path === undefined
        ? []
        : [fillFunction(builder, resource.file, (frame) => openStore(frame, resource, path))];
    }),
    ...runsOfOneFile(facts.topLevel).map(([file, statements]) =>
      fillFunction(builder, file, (frame) => {
        for (const { item } of statements) compileStatement(frame, item.statement);
      }),
    ),
  ];
  if (parts.length === 0) return;
  // A function belongs to one file, so that a fault is shown in the right one.
  module.init = parts.length === 1 ? parts[0] : callInOrder(builder, parts);
}

function runsOfOneFile(statements: readonly TopLevelStatement[]): [string, TopLevelStatement[]][] {
  const runs: [string, TopLevelStatement[]][] = [];
  for (const statement of statements) {
    const last = runs.at(-1);
    if (last !== undefined && last[0] === statement.file) last[1].push(statement);
    else runs.push([statement.file, [statement]]);
  }
  return runs;
}

function fillFunction(builder: ModuleBuilder, file: string, body: (frame: Frame) => void): number {
  const index = builder.reserveFunction();
  const frame = new Frame(builder, { name: NAME, file, failure: 'result' });
  body(frame);
  leave(frame, undefined);
  const code = frame.finish();
  builder.setFunction(index, { name: NAME, params: [], captures: 0, file: builder.fileIndex(file), ...code });
  return index;
}

function callInOrder(builder: ModuleBuilder, parts: readonly number[]): number {
  return fillFunction(builder, builder.program.entry, (frame) => {
    const result = frame.reserve();
    for (const part of parts) {
      const next = frame.label();
      frame.emit('Call', result, part, frame.reserve(0), 0);
      frame.emit('JumpIfNotErr', result, next);
      frame.emit('Return', result);
      frame.place(next);
    }
  });
}

/** `HashMap::new().with_persistence(path)` or `HashMap::with_persistence(path)` in the declaration of a hashmap. */
function filePath({ item }: ResourceRef): Expression | undefined {
  if (item.kind !== 'StoreItem') return undefined;
  const { value: call } = item;
  const isMethod = call.kind === 'MethodCallExpression' && call.method.text === METHOD;
  const isFunction =
    call.kind === 'CallExpression' &&
    call.callee.kind === 'PathExpression' &&
    call.callee.path.segments.at(-1)?.text === METHOD;
  return isMethod || isFunction ? call.arguments[0]?.value : undefined;
}

function openStore(frame: Frame, store: ResourceRef, path: Expression): void {
  const first = frame.reserve(2);
  loadResource(frame, store, first);
  value(frame, path, first + 1);
  frame.emit('CallBuiltin', first, frame.builder.builtin(`HashMapRef.${METHOD}`), first, 2);
}

function makeTool(frame: Frame, tool: ResourceRef): void {
  const { item, path } = tool;
  if (item.kind !== 'ToolItem') return;
  const first = frame.reserve(item.state.length);
  item.state.forEach((field, position) => {
    if (field.defaultValue === undefined) frame.emit(field.optional ? 'LoadNone' : 'LoadNil', first + position);
    else value(frame, field.defaultValue, first + position);
  });
  const instance = frame.reserve();
  frame.emit('MakeStruct', instance, frame.builder.struct(path), first);
  frame.emit('StoreGlobal', frame.builder.toolGlobal(tool), instance);
}
