import type { IrConstant, IrFunction, IrListen, IrModule } from './module.ts';
import { OPCODE_NAMES, OPERANDS, type OperandKind } from './opcodes.ts';

/** The module as text for a person: tables first, then each function, one instruction a line. */
export function disassemble(module: IrModule): string {
  const lines = [`module ${module.name} (conc-ir ${module.version})`];
  const section = (title: string, names: readonly string[]): void => {
    if (names.length > 0) lines.push(`${title}: ${names.join(', ')}`);
  };
  section('files', module.files);
  section(
    'globals',
    module.globals.map((global, slot) => `${slot}=${global.name}`),
  );
  section(
    'structs',
    module.structs.map((type) => `${type.kind} ${type.name} {${type.fields.map((f) => f.name).join(', ')}}`),
  );
  section(
    'enums',
    module.enums.map((type) => `${type.name} {${type.variants.map((v) => v.name).join(', ')}}`),
  );
  section(
    'models',
    module.models.map((model) => model.name),
  );
  section(
    'tools',
    module.tools.map((tool) => `${tool.name} {${tool.methods.map((m) => m.name).join(', ')}}`),
  );
  section(
    'agents',
    module.agents.map((agent) => `${agent.name} -> ${agent.connector}`),
  );
  section(
    'listens',
    module.listens.map((listen) => `${listen.name} {${listen.handlers.map(handlerHead).join(', ')}}`),
  );
  section(
    'pipelines',
    module.pipelines.map((p) => `${p.name} {${p.stages.map((stage) => stage.name).join(', ')}}`),
  );
  section(
    'tests',
    module.tests.map((test) => JSON.stringify(test.description)),
  );
  if (module.init !== undefined) lines.push(`init: ${module.init}`);
  if (module.main !== undefined) lines.push(`main: ${module.main}`);
  module.functions.forEach((fn, index) => lines.push('', ...functionLines(module, fn, index)));
  return `${lines.join('\n')}\n`;
}

function handlerHead({ keys, parallel }: IrListen['handlers'][number]): string {
  return `${keys.join('|')}${parallel === true ? ' (parallel)' : ''}`;
}

function functionLines(module: IrModule, fn: IrFunction, index: number): string[] {
  const params = fn.params.map((param) => (param.type === undefined ? param.name : `${param.name}: ${param.type}`));
  const returns = fn.returns === undefined ? '' : ` -> ${fn.returns}`;
  const head = `function ${index} ${fn.name}(${params.join(', ')})${returns}  registers ${fn.registers}, captures ${fn.captures}`;
  const lines = [head];
  let position = 0;
  for (let at = 0; at < fn.code.length; ) {
    const opcode = fn.code[at] ?? 0;
    const operands = OPERANDS[opcode] ?? [];
    const texts = operands.map((operand, i) => operandText(module, operand.kind, fn.code[at + 1 + i] ?? 0));
    let where = '';
    while (position < fn.positions.length && (fn.positions[position] ?? 0) <= at) {
      where = `  ; ${fn.positions[position + 1]}:${fn.positions[position + 2]}`;
      position += 3;
    }
    lines.push(`  ${String(at).padStart(5)}  ${(OPCODE_NAMES[opcode] ?? '?').padEnd(17)} ${texts.join(' ')}${where}`);
    at += 1 + operands.length;
  }
  for (const handler of fn.handlers) {
    lines.push(`  handler ${handler.start}…${handler.end} -> ${handler.target} error in r${handler.register}`);
  }
  return lines;
}

function operandText(module: IrModule, kind: OperandKind, value: number): string {
  switch (kind) {
    case 'to':
    case 'from':
    case 'take':
    case 'both':
    case 'first':
      return `r${value}`;
    case 'const':
    case 'name':
    case 'type':
      return constantText(module.constants[value]);
    case 'function':
      return `fn:${value}(${module.functions[value]?.name ?? '?'})`;
    case 'global':
      return `g:${module.globals[value]?.name ?? value}`;
    case 'builtin':
      return module.builtins[value] ?? `builtin:${value}`;
    case 'struct':
      return module.structs[value]?.name ?? `struct:${value}`;
    case 'enum':
      return module.enums[value]?.name ?? `enum:${value}`;
    case 'listen':
      return module.listens[value]?.name ?? `listen:${value}`;
    case 'jump':
      return `->${value}`;
    case 'count':
    case 'int':
    case 'flag':
    case 'variant':
      return String(value);
  }
}

function constantText(constant: IrConstant | undefined): string {
  if (constant === undefined) return '?';
  switch (constant.kind) {
    case 'nil':
      return 'nil';
    case 'string':
      return JSON.stringify(constant.value);
    case 'float':
      return Number.isInteger(constant.value) ? `${constant.value}.0` : String(constant.value);
    case 'bool':
    case 'int':
    case 'type':
      return String(constant.value);
    case 'function':
      return `fn:${constant.index}`;
    default:
      return `<${constant.kind} ${constant.name}>`;
  }
}
