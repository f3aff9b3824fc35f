import type { ConstantValue } from './facts.ts';

/** As a template shows it. */
export function displayConstant(value: ConstantValue): string {
  switch (value.kind) {
    case 'int':
    case 'bool':
    case 'string':
      return String(value.value);
    case 'float':
      return displayFloat(value.value);
    case 'nil':
      return 'nil';
    case 'none':
      return 'None';
    case 'array':
    case 'tuple':
      return `[${value.items.map(displayConstant).join(', ')}]`;
    case 'map':
      return `{${value.entries.map(([key, item]) => `${JSON.stringify(key)}: ${displayConstant(item)}`).join(', ')}}`;
    case 'struct':
      return `${lastPart(value.path)} {${value.fields.map(([name, item]) => `${name}: ${displayConstant(item)}`).join(', ')}}`;
    case 'variant':
      return displayVariant(value);
    case 'some':
      return `Some(${displayConstant(value.value)})`;
    case 'ok':
      return `Ok(${displayConstant(value.value)})`;
    case 'err':
      return `Err(${displayConstant(value.value)})`;
    case 'range':
      return `${value.start}${value.inclusive ? '..=' : '..'}${value.end}`;
  }
}

function lastPart(path: string): string {
  return path.slice(path.lastIndexOf(':') + 1);
}

function displayVariant(value: Extract<ConstantValue, { kind: 'variant' }>): string {
  const name = `${lastPart(value.variant.enum)}::${value.variant.name}`;
  const texts = value.fields.map(displayConstant);
  if (value.variant.shape === 'unit') return name;
  if (value.variant.shape === 'tuple') return `${name}(${texts.join(', ')})`;
  return `${name} {${value.variant.fields.map((field, index) => `${field}: ${texts[index] ?? ''}`).join(', ')}}`;
}

/** Never with an exponent and without a trailing `.0`. */
function displayFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  if (Object.is(value, -0)) return '-0';
  const text = String(value);
  const match = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(text);
  if (match === null) return text;
  const [, sign = '', lead = '', fraction = '', exponent = '0'] = match;
  const digits = lead + fraction;
  const point = 1 + Number(exponent);
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`;
  return point >= digits.length
    ? sign + digits + '0'.repeat(point - digits.length)
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}
