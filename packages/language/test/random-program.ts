/**
 * Programs made by chance, written twice: in Concerto and in JavaScript that does the same. They dwell on what a compiler
 * gets wrong: order of evaluation, copies of arrays, variables that closures share, shadowing, jumps out of nested code.
 */
export interface RandomProgram {
  readonly concerto: string;
  /** Body of a function with parameters `log`, `copy`, `element`, `divide`, `safe`. */
  readonly javascript: string;
}

interface Both {
  readonly c: string;
  readonly j: string;
}

type Kind = 'int' | 'array' | 'closure';

interface Variable {
  readonly name: string;
  /** Unique in JavaScript, which does not allow a second `let` of a name. */
  readonly own: string;
  readonly kind: Kind;
  readonly mutable: boolean;
}

interface Place {
  readonly scope: readonly Variable[];
  readonly depth: number;
  /** Inside a loop of the same function, and not inside an expression. */
  readonly loop: boolean;
  readonly mayReturn: boolean;
  readonly mayThrow: boolean;
}

interface Function {
  readonly name: string;
  readonly params: readonly Kind[];
  readonly result: 'int' | 'array';
}

const NAMES = ['a', 'b', 'c', 'd'];
const MODULUS = 997;

export function randomProgram(seed: number): RandomProgram {
  const maker = new Maker(seed);
  return maker.program();
}

class Maker {
  #state: number;
  #names = 0;
  readonly #functions: Function[] = [];

  constructor(seed: number) {
    this.#state = (seed ^ 0x9e3779b9) >>> 0;
  }

  program(): RandomProgram {
    const parts: Both[] = [];
    for (let count = this.#below(3) + 1; count > 0; count--) parts.push(this.#function());
    const scope: Variable[] = [];
    const place: Place = { scope, depth: 3, loop: false, mayReturn: false, mayThrow: false };
    const first = [0, 1, 2].map(() => this.#let({ ...place, depth: 0 }, scope));
    const body = this.#statements(place, 7);
    parts.push({
      c: `fn main() {\n${first.map(({ c }) => c).join('\n')}\n${body.c}}\n`,
      j: `${first.map(({ j }) => j).join(' ')} ${body.j}`,
    });
    return { concerto: parts.map(({ c }) => c).join('\n'), javascript: parts.map(({ j }) => j).join('\n') };
  }

  /** xorshift: the same programs on every machine. */
  #below(limit: number): number {
    this.#state ^= this.#state << 13;
    this.#state ^= this.#state >>> 17;
    this.#state ^= this.#state << 5;
    return (this.#state >>> 0) % limit;
  }

  #pick<T>(items: readonly T[]): T | undefined {
    return items[this.#below(Math.max(1, items.length))];
  }

  #chance(percent: number): boolean {
    return this.#below(100) < percent;
  }

  #variable(kind: Kind, mutable: boolean): Variable {
    const name = kind === 'closure' ? 'f' : (this.#pick(NAMES) ?? 'a');
    return { name, own: `${name}${++this.#names}`, kind, mutable };
  }

  #visible(place: Place, kind: Kind, mutable = false): Variable | undefined {
    const seen = new Set<string>();
    const visible = place.scope.toReversed().filter((variable) => {
      if (seen.has(variable.name)) return false;
      seen.add(variable.name);
      return variable.kind === kind && (variable.mutable || !mutable);
    });
    return this.#pick(visible);
  }

  #function(): Both {
    const params = Array.from({ length: this.#below(3) }, (): Kind => (this.#chance(60) ? 'int' : 'array'));
    const result = this.#chance(70) ? 'int' : 'array';
    const name = `g${this.#functions.length}`;
    const scope = params.map((kind, index): Variable => ({ ...this.#variable(kind, true), name: NAMES[index] ?? 'd' }));
    const place: Place = { scope, depth: 2, loop: false, mayReturn: result === 'int', mayThrow: false };
    const body = this.#block(place, 4, result);
    const types = { int: 'Int', array: 'Array<Int>', closure: 'fn(Int) -> Int' };
    const written = scope.map((one) => `${one.name}: ${types[one.kind]}`).join(', ');
    const copies = scope.map((one) => `${one.own} = copy(${one.own});`).join(' ');
    // Declared after its body is made: it calls only earlier ones, so that every program ends.
    this.#functions.push({ name, params, result });
    return {
      c: `fn ${name}(${written}) -> ${types[result]} ${body.c}\n`,
      j: `function ${name}(${scope.map((one) => one.own).join(', ')}) { ${copies} ${body.j} }`,
    };
  }

  /** `{ statements; value }`; in JavaScript a body that returns its value. */
  #block(place: Place, most: number, kind: 'int' | 'array'): Both {
    const scope = [...place.scope];
    const inner = { ...place, scope };
    const body = this.#statements(inner, this.#below(most + 1));
    const value = kind === 'int' ? this.#int(inner) : this.#array(inner);
    return { c: `{\n${body.c}${value.c}\n}`, j: `${body.j} return ${value.j};` };
  }

  /** Adds what it declares to the scope of `place`, which must be its own. */
  #statements(place: Place, count: number): Both {
    const scope = [...place.scope];
    const inner = { ...place, scope };
    const lines: Both[] = [];
    for (let index = 0; index < count; index++) lines.push(this.#statement(inner, scope));
    // The value after the statements sees their variables.
    if (Array.isArray(place.scope)) (place.scope as Variable[]).splice(0, place.scope.length, ...scope);
    return { c: lines.map(({ c }) => `${c}\n`).join(''), j: lines.map(({ j }) => j).join('\n') };
  }

  #body(place: Place, count: number): Both {
    const { c, j } = this.#statements({ ...place, scope: [...place.scope], depth: place.depth - 1 }, count);
    return { c: `{\n${c}}`, j: `{ ${j} }` };
  }

  #statement(place: Place, scope: Variable[]): Both {
    const choice = this.#below(place.depth > 0 ? 16 : 8);
    switch (choice) {
      case 0:
      case 1:
        return this.#let(place, scope);
      case 2:
        return this.#assign(place) ?? this.#log(place);
      case 3:
        return this.#assignElement(place) ?? this.#log(place);
      case 4: {
        const array = this.#visible(place, 'array', true);
        if (array === undefined) return this.#log(place);
        const item = this.#int(place);
        return { c: `${array.name}.push(${item.c});`, j: `{ const item = ${item.j}; ${array.own}.push(item); }` };
      }
      case 5:
      case 6:
        return this.#log(place);
      case 7:
        return this.#jump(place) ?? this.#log(place);
      case 8:
      case 9: {
        const test = this.#bool(place);
        const yes = this.#body(place, 2);
        const no = this.#chance(50) ? this.#body(place, 2) : undefined;
        const otherwise = no === undefined ? { c: '', j: '' } : { c: ` else ${no.c}`, j: ` else ${no.j}` };
        return { c: `if ${test.c} ${yes.c}${otherwise.c}`, j: `if (${test.j}) ${yes.j}${otherwise.j}` };
      }
      case 10:
        return this.#while(place);
      case 11:
        return this.#for(place);
      case 12:
        return this.#try(place);
      case 13:
        return this.#matchStatement(place);
      case 14:
        return this.#closure(place, scope);
      default: {
        const { c, j } = this.#body(place, 2);
        return { c, j };
      }
    }
  }

  #log(place: Place): Both {
    const value = this.#chance(70) ? this.#int(place) : this.#array(place);
    return { c: `emit("v", ${value.c});`, j: `log(${value.j});` };
  }

  #let(place: Place, scope: Variable[]): Both {
    const kind = this.#chance(65) ? 'int' : 'array';
    const variable = this.#variable(kind, this.#chance(75));
    const value = kind === 'int' ? this.#int(place) : this.#array(place);
    scope.push(variable);
    const mut = variable.mutable ? 'mut ' : '';
    return { c: `let ${mut}${variable.name} = ${value.c};`, j: `let ${variable.own} = ${value.j};` };
  }

  #assign(place: Place): Both | undefined {
    const kind = this.#chance(70) ? 'int' : 'array';
    const variable = this.#visible(place, kind, true);
    if (variable === undefined) return undefined;
    if (kind === 'array') {
      const value = this.#array(place);
      return { c: `${variable.name} = ${value.c};`, j: `${variable.own} = ${value.j};` };
    }
    const value = this.#int(place);
    const operator = this.#pick(['=', '=', '+=', '-=']) ?? '=';
    const sum = operator === '=' ? value.j : `safe(${variable.own} ${operator[0]} ${value.j})`;
    return { c: `${variable.name} ${operator} ${value.c};`, j: `${variable.own} = ${sum};` };
  }

  #assignElement(place: Place): Both | undefined {
    const array = this.#visible(place, 'array', true);
    if (array === undefined) return undefined;
    const index = this.#index(place);
    const value = this.#int(place);
    const operator = this.#pick(['=', '+=']) ?? '=';
    const sum = operator === '=' ? 'put' : `safe(${array.own}[at] + put)`;
    return {
      c: `${array.name}[${index.c}] ${operator} ${value.c};`,
      j: `{ const at = ${index.j}, put = ${value.j}; ${array.own}[at] = ${sum}; }`,
    };
  }

  #jump(place: Place): Both | undefined {
    const test = this.#bool(place);
    const choices: Both[] = [];
    if (place.loop) choices.push({ c: 'break;', j: 'break;' }, { c: 'continue;', j: 'continue;' });
    if (place.mayReturn) {
      const value = this.#int(place);
      choices.push({ c: `return ${value.c};`, j: `return ${value.j};` });
    }
    if (place.mayThrow) choices.push({ c: 'throw "thrown";', j: 'throw "thrown";' });
    const chosen = this.#pick(choices);
    return chosen && { c: `if ${test.c} { ${chosen.c} }`, j: `if (${test.j}) { ${chosen.j} }` };
  }

  #while(place: Place): Both {
    const counter = `w${++this.#names}`;
    const limit = this.#below(4) + 1;
    const body = this.#body({ ...place, loop: true }, 3);
    const test = this.#chance(50) ? this.#bool(place) : undefined;
    const extra = test === undefined ? { c: '', j: '' } : { c: ` && ${test.c}`, j: ` && ${test.j}` };
    return {
      c: `let mut ${counter} = 0;\nwhile ${counter} < ${limit}${extra.c} {\n${counter} += 1;\n${body.c}\n}`,
      j: `let ${counter} = 0; while (${counter} < ${limit}${extra.j}) { ${counter} += 1; ${body.j} }`,
    };
  }

  #for(place: Place): Both {
    const variable = this.#variable('int', false);
    const inner = { ...place, scope: [...place.scope, variable], loop: true };
    if (this.#chance(50)) {
      const limit = this.#below(4);
      const body = this.#body(inner, 3);
      const { name, own } = variable;
      return {
        c: `for ${name} in 0..${limit} ${body.c}`,
        j: `for (let ${own} = 0; ${own} < ${limit}; ${own}++) ${body.j}`,
      };
    }
    const array = this.#array(place);
    const body = this.#body(inner, 3);
    return {
      c: `for ${variable.name} in ${array.c}.take(4) ${body.c}`,
      j: `for (const ${variable.own} of ${array.j}.slice(0, 4)) ${body.j}`,
    };
  }

  #try(place: Place): Both {
    const body = this.#body({ ...place, mayThrow: true }, 3);
    const rescue = this.#body(place, 2);
    return { c: `try ${body.c} catch ${rescue.c}`, j: `try ${body.j} catch ${rescue.j}` };
  }

  #matchStatement(place: Place): Both {
    const value = this.#int(place);
    const bound = this.#variable('int', false);
    const [first, second, third] = [0, 1, 2].map(() => this.#body(place, 1));
    const guarded = this.#body({ ...place, scope: [...place.scope, bound] }, 1);
    return {
      c: `match ${value.c} { 0 => ${first?.c}, 1 | 2 => ${second?.c}, ${bound.name} if ${bound.name} > 50 => ${guarded.c}, _ => ${third?.c} }`,
      j: `{ const on = ${value.j}; if (on === 0) ${first?.j} else if (on === 1 || on === 2) ${second?.j} else if (on > 50) { const ${bound.own} = on; ${guarded.j} } else ${third?.j} }`,
    };
  }

  #closure(place: Place, scope: Variable[]): Both {
    const param = this.#variable('int', true);
    const variable = this.#variable('closure', false);
    // It may be called again and again: no other closure inside, so that every program ends.
    const outer = place.scope.filter((one) => one.kind !== 'closure');
    const body = this.#block(
      { scope: [...outer, param], depth: Math.min(1, place.depth - 1), loop: false, mayReturn: true, mayThrow: false },
      2,
      'int',
    );
    scope.push(variable);
    return {
      c: `let ${variable.name} = |${param.name}: Int| -> Int ${body.c};`,
      j: `const ${variable.own} = (${param.own}) => { ${body.j} };`,
    };
  }

  /** Code inside an expression cannot jump out of it in JavaScript. */
  #inside(place: Place): Place {
    return {
      scope: [...place.scope],
      depth: place.depth - 1,
      loop: false,
      mayReturn: false,
      mayThrow: false,
    };
  }

  #int(place: Place): Both {
    const choice = this.#below(place.depth > 0 ? 15 : 5);
    switch (choice) {
      case 0:
      case 1: {
        const text = String(this.#below(100));
        return { c: text, j: text };
      }
      case 2:
      case 3:
      case 4: {
        const variable = this.#visible(place, 'int');
        return variable === undefined ? { c: '7', j: '7' } : { c: variable.name, j: variable.own };
      }
      case 5:
      case 6:
      case 7: {
        const deeper = { ...place, depth: place.depth - 1 };
        const [left, right] = [this.#int(deeper), this.#int(deeper)];
        const operator = this.#pick(['+', '-', '*']) ?? '+';
        return {
          c: `((${left.c} ${operator} ${right.c}) % ${MODULUS})`,
          j: `(safe(${left.j} ${operator} ${right.j}) % ${MODULUS})`,
        };
      }
      case 8:
        return this.#call(place, 'int') ?? this.#int({ ...place, depth: 0 });
      case 9: {
        const closure = this.#visible(place, 'closure');
        if (closure === undefined) return this.#int({ ...place, depth: 0 });
        const argument = this.#int({ ...place, depth: place.depth - 1 });
        return { c: `${closure.name}(${argument.c})`, j: `${closure.own}(${argument.j})` };
      }
      case 10: {
        const array = this.#visible(place, 'array');
        if (array === undefined) return this.#int({ ...place, depth: 0 });
        const index = this.#index(place);
        // The array is the value it had before the index was computed.
        return { c: `${array.name}[${index.c}]`, j: `element(copy(${array.own}), ${index.j})` };
      }
      case 11:
        return this.#division(place);
      case 12: {
        const test = this.#bool(place);
        const [yes, no] = [this.#block(this.#inside(place), 1, 'int'), this.#block(this.#inside(place), 1, 'int')];
        return {
          c: `(if ${test.c} ${yes.c} else ${no.c})`,
          j: `(${test.j} ? (() => { ${yes.j} })() : (() => { ${no.j} })())`,
        };
      }
      case 13: {
        const block = this.#block(this.#inside(place), 2, 'int');
        return { c: `(${block.c})`, j: `(() => { ${block.j} })()` };
      }
      default: {
        const [body, rescue] = [this.#block(this.#inside(place), 2, 'int'), this.#block(this.#inside(place), 1, 'int')];
        return {
          c: `(try ${body.c} catch ${rescue.c})`,
          j: `(() => { try { ${body.j} } catch { ${rescue.j} } })()`,
        };
      }
    }
  }

  /** A fault when the divisor is 0. */
  #division(place: Place): Both {
    const deeper = { ...place, depth: place.depth - 1 };
    const [left, right] = [this.#int(deeper), this.#int(deeper)];
    return { c: `((${left.c}) / ((${right.c}) % 3))`, j: `divide(${left.j}, (${right.j}) % 3)` };
  }

  #call(place: Place, result: 'int' | 'array'): Both | undefined {
    const target = this.#pick(this.#functions.filter((one) => one.result === result));
    if (target === undefined) return undefined;
    const deeper = { ...place, depth: place.depth - 1 };
    const given = target.params.map((kind) => (kind === 'int' ? this.#int(deeper) : this.#array(deeper)));
    const text = (side: 'c' | 'j'): string => `${target.name}(${given.map((one) => one[side]).join(', ')})`;
    return { c: text('c'), j: text('j') };
  }

  /** Arrays never get shorter than three. */
  #index(place: Place): Both {
    const value = this.#int({ ...place, depth: Math.min(1, place.depth - 1) });
    return { c: `((${value.c}) % 3 + 3) % 3`, j: `((${value.j}) % 3 + 3) % 3` };
  }

  #array(place: Place): Both {
    const variable = this.#visible(place, 'array');
    if (variable !== undefined && this.#chance(50)) return { c: variable.name, j: `copy(${variable.own})` };
    if (place.depth > 0 && this.#chance(25)) {
      const call = this.#call(place, 'array');
      if (call !== undefined) return { c: call.c, j: call.j };
    }
    if (place.depth > 0 && this.#chance(20)) {
      const block = this.#block(this.#inside(place), 2, 'array');
      return { c: `(${block.c})`, j: `(() => { ${block.j} })()` };
    }
    const items = [0, 1, 2].map(() => this.#int({ ...place, depth: Math.min(1, place.depth - 1) }));
    return { c: `[${items.map(({ c }) => c).join(', ')}]`, j: `[${items.map(({ j }) => j).join(', ')}]` };
  }

  #bool(place: Place): Both {
    const deeper = { ...place, depth: Math.max(0, place.depth - 2) };
    const compare = (): Both => {
      const [left, right] = [this.#int(deeper), this.#int(deeper)];
      const operator = this.#pick(['<', '<=', '>', '>=', '==', '!=']) ?? '<';
      const strict = operator.replace(/^([=!]=)$/, '$1=');
      return { c: `${left.c} ${operator} ${right.c}`, j: `${left.j} ${strict} ${right.j}` };
    };
    const first = compare();
    if (!this.#chance(30)) return { c: `(${first.c})`, j: `(${first.j})` };
    const second = compare();
    const join = this.#chance(50) ? '&&' : '||';
    const not = this.#chance(30) ? '!' : '';
    return {
      c: `${not}((${first.c}) ${join} (${second.c}))`,
      j: `${not}((${first.j}) ${join} (${second.j}))`,
    };
  }
}
