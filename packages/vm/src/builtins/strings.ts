import { compilePattern, type LinearPattern } from '@concerto/base';
import { parseFloatText, parseInteger } from '../cast.ts';
import { display } from '../display.ts';
import { fault } from '../fault.ts';
import type { Native, Vm } from '../machine.ts';
import { account } from '../memory.ts';
import { characterAt, characterIndex, characters, length, slice } from '../text.ts';
import { array, errValue, float, MAX_INT, NONE, okValue, some, type Value } from '../value.ts';
import { absent, integer, list, text } from './arguments.ts';
import type { Entries } from './entry.ts';

const self = (stack: readonly Value[], at: number): string => text(stack[at], 'the text');

const len: Native = (stack, at) => length(self(stack, at));
const contains: Native = (stack, at) => self(stack, at).includes(text(stack[at + 1], 'the part'));
const startsWith: Native = (stack, at) => self(stack, at).startsWith(text(stack[at + 1], 'the part'));
const endsWith: Native = (stack, at) => self(stack, at).endsWith(text(stack[at + 1], 'the part'));

const matches: Native = (stack, at) => pattern(stack[at + 1]).matches(self(stack, at));
const findMatch: Native = (stack, at) => {
  const whole = self(stack, at);
  const found = pattern(stack[at + 1]).find(whole);
  return found === undefined ? NONE : some(whole.slice(found.start, found.end));
};

function pattern(value: Value): LinearPattern {
  const source = text(value, 'the pattern');
  const compiled = compilePattern(source);
  if (!compiled.ok) throw fault('TypeError', `${JSON.stringify(source)}: ${compiled.error}`, { kind: 'argument' });
  return compiled.value;
}

const trim: Native = (stack, at) => self(stack, at).trim();
const trimStart: Native = (stack, at) => self(stack, at).trimStart();
const trimEnd: Native = (stack, at) => self(stack, at).trimEnd();
const upper: Native = (stack, at) => self(stack, at).toUpperCase();
const lower: Native = (stack, at) => self(stack, at).toLowerCase();
const reverse: Native = (stack, at) => characters(self(stack, at)).reverse().join('');

const indexOf: Native = (stack, at) => {
  const unit = self(stack, at).indexOf(text(stack[at + 1], 'the part'));
  return unit < 0 ? NONE : some(characterIndex(self(stack, at), unit));
};

const split: Native = (stack, at) => {
  const separator = text(stack[at + 1], 'the separator');
  return array(separator === '' ? characters(self(stack, at)) : self(stack, at).split(separator));
};

const replace: Native = (stack, at, _count, vm) => {
  const from = text(stack[at + 1], 'the text to replace');
  const to = text(stack[at + 2], 'the replacement');
  const whole = self(stack, at);
  if (from === '') {
    // Before and after every character.
    makesText(vm, whole.length + (whole.length + 1) * to.length);
    return whole.replaceAll(from, () => to);
  }
  const parts = whole.split(from);
  makesText(vm, whole.length + (parts.length - 1) * (to.length - from.length));
  return parts.join(to);
};

const repeat: Native = (stack, at, _count, vm) => {
  const times = Math.max(0, integer(stack[at + 1], 'the number of times'));
  makesText(vm, self(stack, at).length * times);
  return self(stack, at).repeat(times);
};

/** Refuses what is too long before it is made. */
function makesText(vm: Vm, length: number): void {
  if (length > vm.limits.size)
    throw fault('LimitError', `a string longer than ${vm.limits.size}, the limit \`size\``, { kind: 'size' });
  account(vm, 2 * length);
}

const substring: Native = (stack, at, count) => {
  const start = integer(stack[at + 1], 'the start');
  const given = count > 2 ? stack[at + 2] : undefined;
  return slice(self(stack, at), start, absent(given) ? MAX_INT : integer(given, 'the end'));
};

const parseInt: Native = (stack, at) => {
  const value = parseInteger(self(stack, at));
  return value === undefined ? errValue(`not an Int: ${JSON.stringify(self(stack, at))}`) : okValue(value);
};

const parseFloat: Native = (stack, at) => {
  const value = parseFloatText(self(stack, at));
  return value === undefined ? errValue(`not a Float: ${JSON.stringify(self(stack, at))}`) : okValue(float(value));
};

export const STRINGS = {
  'String.len': len,
  'String.is_empty': (stack, at) => self(stack, at) === '',
  'String.contains': contains,
  'String.matches': matches,
  'String.find_match': findMatch,
  'String.starts_with': startsWith,
  'String.ends_with': endsWith,
  'String.index_of': indexOf,
  'String.trim': trim,
  'String.trim_start': trimStart,
  'String.trim_end': trimEnd,
  'String.to_uppercase': upper,
  'String.to_lowercase': lower,
  'String.to_upper': upper,
  'String.to_lower': lower,
  'String.split': split,
  'String.lines': (stack, at) => {
    const lines = self(stack, at).split(/\r?\n/);
    if (lines.at(-1) === '') lines.pop();
    return array(lines);
  },
  'String.chars': (stack, at) => array(characters(self(stack, at))),
  'String.replace': replace,
  'String.repeat': repeat,
  'String.reverse': reverse,
  'String.substring': substring,
  'String.slice': substring,
  'String.get': (stack, at) => {
    const character = characterAt(self(stack, at), integer(stack[at + 1], 'the index'));
    return character === undefined ? NONE : some(character);
  },
  'String.parse_int': parseInt,
  'String.parse_float': parseFloat,
  'String.to_string': (stack, at) => stack[at],

  'std::string::split': split,
  'std::string::join': (stack, at) =>
    list(stack[at], 'the parts')
      .items.map(display)
      .join(text(stack[at + 1], 'the separator')),
  'std::string::trim': trim,
  'std::string::trim_start': trimStart,
  'std::string::trim_end': trimEnd,
  'std::string::replace': replace,
  'std::string::to_upper': upper,
  'std::string::to_lower': lower,
  'std::string::contains': contains,
  'std::string::starts_with': startsWith,
  'std::string::ends_with': endsWith,
  'std::string::substring': substring,
  'std::string::index_of': indexOf,
  'std::string::len': len,
  'std::string::repeat': repeat,
  'std::string::reverse': reverse,
  'std::string::parse_int': parseInt,
  'std::string::parse_float': parseFloat,

  'std::fmt::format': (stack, at) => {
    const args = list(stack[at + 1], 'the arguments').items;
    let next = 0;
    return self(stack, at).replace(/\{\}/g, (hole) => (next < args.length ? display(args[next++]) : hole));
  },
  'std::fmt::pad_left': (stack, at, count) => {
    const shown = display(stack[at]);
    return padding(shown, stack[at + 1], count > 2 ? stack[at + 2] : ' ') + shown;
  },
  'std::fmt::pad_right': (stack, at, count) => {
    const shown = display(stack[at]);
    return shown + padding(shown, stack[at + 1], count > 2 ? stack[at + 2] : ' ');
  },
  'std::fmt::truncate': (stack, at) => {
    const width = integer(stack[at + 1], 'the width');
    if (length(self(stack, at)) <= width) return self(stack, at);
    return width <= 3 ? slice(self(stack, at), 0, width) : `${slice(self(stack, at), 0, width - 3)}...`;
  },
  'std::fmt::indent': (stack, at) => {
    const blanks = ' '.repeat(Math.max(0, integer(stack[at + 1], 'the width')));
    return self(stack, at)
      .split('\n')
      .map((line) => (line === '' ? line : blanks + line))
      .join('\n');
  },

  'std::prompt::template': (stack, at) => fill(self(stack, at), stack[at + 1]),
  'std::prompt::count_tokens': (stack, at) => {
    const words = self(stack, at)
      .split(/\s+/)
      .filter((word) => word !== '').length;
    return Math.ceil((words * 4) / 3);
  },
} as const satisfies Entries;

function padding(shown: string, width: Value, fill: Value): string {
  const missing = integer(width, 'the width') - length(shown);
  const unit = absent(fill) ? ' ' : text(fill, 'the fill');
  if (missing <= 0 || unit === '') return '';
  return slice(unit.repeat(Math.ceil(missing / length(unit))), 0, missing);
}

/** Replaces `${name}` by the display form of that entry; unknown names stay. */
export function fill(template: string, values: Value): string {
  if (typeof values !== 'object' || values === null || values.kind !== 'map') return template;
  return template.replace(/\$\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}/g, (hole, name: string) => {
    const value = values.entries.get(name);
    return value === undefined ? hole : display(value);
  });
}
