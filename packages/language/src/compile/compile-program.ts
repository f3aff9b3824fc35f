import type { IrModule } from '@concerto/ir';
import type { Facts, FunctionRef } from '../check/facts.ts';
import type { Manifest } from '../manifest/manifest.ts';
import type { Program } from '../modules/program.ts';
import { compileFunction } from './closures.ts';
import { declareResources, plainJson } from './declare-resources.ts';
import { declareMethods, declareTypes } from './declare-types.ts';
import { configJson } from './decorators.ts';
import { EXPRESSIONS } from './expressions.ts';
import { Frame } from './frame.ts';
import { captureForFibers } from './free-variables.ts';
import { compileInit } from './init.ts';
import { ModuleBuilder } from './module-builder.ts';
import { loadSession } from './names.ts';
import { compilePipeline } from './pipelines.ts';

export interface CompileInput {
  readonly program: Program;
  /** Of a program without errors. */
  readonly facts: Facts;
  /** What the program needs of it goes into the module, so that it runs without the file. */
  readonly manifest?: Manifest | undefined;
}

/** A checked program as a module the VM runs. */
export function compileProgram({ program, facts, manifest }: CompileInput): IrModule {
  captureForFibers(facts, program);
  const builder = new ModuleBuilder(moduleName(program.entry, manifest), program, facts, EXPRESSIONS);
  declareTypes(builder);
  for (const ref of [...facts.declaredFunctions, ...facts.tests]) builder.declareFunction(ref);
  declareMethods(builder);
  declareResources(builder, manifest);
  compileInit(builder);
  const done = new Set<number>();
  for (const ref of [...facts.declaredFunctions, ...facts.tests]) {
    if (done.has(ref.item.id)) continue;
    done.add(ref.item.id);
    compileFunction(builder, ref);
  }
  for (const resource of facts.resources) {
    if (resource.item.kind === 'PipelineItem') compilePipeline(builder, resource, resource.item);
  }
  for (const test of facts.tests) declareTest(builder, test);
  for (const supervisor of facts.supervisors) declareSupervisor(builder, supervisor);
  if (facts.main !== undefined) builder.module.main = builder.functionIndex(facts.main);
  const connections = { ...manifest?.connections, ...sourceConnections(builder) };
  const prices = manifest?.prices ?? {};
  const tables = {
    ...(Object.keys(connections).length === 0 ? {} : { connections: plainJson(connections) }),
    ...(Object.keys(prices).length === 0 ? {} : { prices: plainJson(prices) }),
  };
  if (Object.keys(tables).length > 0) builder.module.manifest = tables;
  return builder.module;
}

function moduleName(entry: string, manifest: Manifest | undefined): string {
  return (
    manifest?.project?.name ??
    entry
      .split('/')
      .at(-1)
      ?.replace(/\.conc$/, '') ??
    'program'
  );
}

function declareTest(builder: ModuleBuilder, test: FunctionRef): void {
  const { item, file } = test;
  const argumentOf = (name: string): { readonly text: string | undefined } | undefined => {
    const decorator = item.decorators.find((candidate) => candidate.name.text === name);
    if (decorator === undefined) return undefined;
    const written = decorator.arguments[0] && configJson(builder, decorator.arguments[0].value);
    return { text: typeof written === 'string' ? written : undefined };
  };
  const expectFail = argumentOf('expect_fail');
  builder.module.tests.push({
    description: argumentOf('test')?.text ?? item.name.text,
    function: builder.functionIndex(test),
    file: builder.fileIndex(file),
    line: builder.line(file, item.name.span.start),
    ...(expectFail === undefined
      ? {}
      : { expectFail: expectFail.text === undefined ? {} : { message: expectFail.text } }),
  });
}

/** Called without anything: the session is what it always is. */
function declareSupervisor(builder: ModuleBuilder, { item, file, ...ref }: FunctionRef): void {
  const index = builder.reserveFunction();
  const name = `supervise ${item.name.text}`;
  const frame = new Frame(builder, { name, file, failure: 'raise' });
  const window = frame.reserve();
  loadSession(frame, window);
  frame.emit('Call', window, builder.functionIndex({ item, file, ...ref }), window, 1);
  frame.emit('Return', window);
  builder.setFunction(index, { name, params: [], captures: 0, ...frame.finish() });
  (builder.module.supervisors ??= []).push({ name: item.name.text, function: index });
}

/** The old `connect NAME { … }`. */
function sourceConnections(builder: ModuleBuilder): { [name: string]: object } {
  const connections: { [name: string]: object } = {};
  for (const { item } of builder.facts.resources) {
    if (item.kind !== 'ConnectionItem') continue;
    const fields = item.fields.map((field): [string, unknown] => {
      const name = field.name.text === 'api_key' ? 'api_key_env' : field.name.text;
      return [name, configJson(builder, field.value)];
    });
    connections[item.name.text] = { provider: item.name.text, ...Object.fromEntries(fields) };
  }
  return connections;
}
