/** A type as it is written in signatures, type constants and field declarations. */
export type TypeExpr =
  | { readonly kind: 'name'; readonly name: string; readonly args: readonly TypeExpr[] }
  | { readonly kind: 'literal'; readonly value: string }
  | { readonly kind: 'tuple'; readonly items: readonly TypeExpr[] }
  | { readonly kind: 'fn'; readonly params: readonly TypeExpr[]; readonly result: TypeExpr }
  | { readonly kind: 'union'; readonly members: readonly TypeExpr[] };

export interface SignatureParam {
  readonly name: string;
  readonly type: TypeExpr;
  /** `x?: T`: may be left out. */
  readonly optional: boolean;
  /** `...x: T`: any number of them. */
  readonly rest: boolean;
  /** `mut self`: the method changes its receiver through the place. */
  readonly mut: boolean;
}

export interface Signature {
  readonly typeParams: readonly string[];
  /** For a method the first one is `self`. */
  readonly params: readonly SignatureParam[];
  readonly result: TypeExpr;
}

/** A signature or type that is not written as the grammar says; the tables are ours, so this is a bug or a damaged module. */
export class SignatureError extends Error {
  readonly code = 'bad_signature';
  constructor(text: string, at: number) {
    super(`bad type or signature at ${at}: ${text}`);
    this.name = 'SignatureError';
  }
}

/** Parses `fn<T, U>(self: Array<T>, f: fn(T) -> U) -> Array<U>`. */
export function parseSignature(text: string): Signature {
  const reader = new Reader(text);
  reader.expect('fn');
  const typeParams: string[] = [];
  if (reader.take('<')) {
    do typeParams.push(reader.name());
    while (reader.take(','));
    reader.expect('>');
  }
  reader.expect('(');
  const params: SignatureParam[] = [];
  while (!reader.take(')')) {
    const rest = reader.take('...');
    const mut = reader.take('mut');
    const name = reader.name();
    const optional = reader.take('?');
    reader.expect(':');
    params.push({ name, type: reader.type(), optional, rest, mut });
    if (!reader.take(',')) {
      reader.expect(')');
      break;
    }
  }
  const result = reader.take('->') ? reader.type() : nilType;
  reader.end();
  return { typeParams, params, result };
}

/** Parses `Array<"a" | "b">`, `(Int, String)`, `fn(Int) -> Int`, `geo::Point`. */
export function parseType(text: string): TypeExpr {
  const reader = new Reader(text);
  const type = reader.type();
  reader.end();
  return type;
}

/** The text `parseType` reads back. */
export function formatType(type: TypeExpr): string {
  switch (type.kind) {
    case 'name':
      return type.args.length === 0 ? type.name : `${type.name}<${type.args.map(formatType).join(', ')}>`;
    case 'literal':
      return JSON.stringify(type.value);
    case 'tuple':
      return `(${type.items.map(formatType).join(', ')}${type.items.length === 1 ? ',' : ''})`;
    case 'fn':
      return `fn(${type.params.map(formatType).join(', ')}) -> ${formatType(type.result)}`;
    case 'union':
      return type.members.map(formatType).join(' | ');
  }
}

const nilType: TypeExpr = { kind: 'name', name: 'Nil', args: [] };
const TOKEN = /\s*(\.\.\.|->|[A-Za-z_$][A-Za-z0-9_$]*(?:::[A-Za-z_][A-Za-z0-9_]*)*|"(?:[^"\\]|\\.)*"|[<>(),:|?])/y;

class Reader {
  readonly #text: string;
  #at = 0;
  #token = '';

  constructor(text: string) {
    this.#text = text;
    this.#advance();
  }

  take(token: string): boolean {
    if (this.#token !== token) return false;
    this.#advance();
    return true;
  }

  expect(token: string): void {
    if (!this.take(token)) throw new SignatureError(this.#text, this.#at);
  }

  name(): string {
    const name = this.#token;
    if (!/^[A-Za-z_$]/.test(name)) throw new SignatureError(this.#text, this.#at);
    this.#advance();
    return name;
  }

  end(): void {
    if (this.#token !== '') throw new SignatureError(this.#text, this.#at);
  }

  type(): TypeExpr {
    const members = [this.#single()];
    while (this.take('|')) members.push(this.#single());
    const [only] = members;
    return members.length === 1 && only !== undefined ? only : { kind: 'union', members };
  }

  #single(): TypeExpr {
    if (this.#token.startsWith('"')) {
      const value: unknown = JSON.parse(this.#token);
      this.#advance();
      return { kind: 'literal', value: String(value) };
    }
    if (this.take('(')) {
      const items = this.#list(')');
      return items.length === 1 && items[0] !== undefined && !this.#tupleOfOne ? items[0] : { kind: 'tuple', items };
    }
    if (this.take('fn')) {
      this.expect('(');
      const params = this.#list(')');
      return { kind: 'fn', params, result: this.take('->') ? this.#single() : nilType };
    }
    const name = this.name();
    return { kind: 'name', name, args: this.take('<') ? this.#list('>') : [] };
  }

  #tupleOfOne = false;

  #list(close: string): TypeExpr[] {
    const items: TypeExpr[] = [];
    this.#tupleOfOne = false;
    let comma = false;
    while (!this.take(close)) {
      items.push(this.type());
      comma = this.take(',');
      if (!comma) {
        this.expect(close);
        break;
      }
    }
    this.#tupleOfOne = comma;
    return items;
  }

  #advance(): void {
    TOKEN.lastIndex = this.#at;
    const match = TOKEN.exec(this.#text);
    if (match === null) {
      if (this.#text.slice(this.#at).trim() !== '') throw new SignatureError(this.#text, this.#at);
      this.#token = '';
      return;
    }
    this.#token = match[1] ?? '';
    this.#at = TOKEN.lastIndex;
  }
}
