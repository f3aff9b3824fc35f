import { type Glob, globMatches, globOf } from './glob.ts';

/** `src/**`, `docs/*.md`, `/etc/**`: `*` stays within a name, `**` goes through any number of folders. */
export type PathPattern = { readonly isAbsolute: boolean; readonly parts: readonly (Glob | 'any')[] };

export function pathPatternOf(pattern: string): PathPattern {
  const whole = pattern.endsWith('/') ? `${pattern}**` : pattern;
  const isAbsolute = whole.startsWith('/');
  const parts = whole
    .replace(/^\.\//, '')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .map((part) => (part === '**' ? ('any' as const) : globOf(part)));
  return { isAbsolute, parts };
}

/** A path as a list of names, within the folder where it is; undefined when where it leads cannot be told. */
export function placeOf(path: string, folder: string | undefined): Place | undefined {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (path === '' || path.startsWith('~') || /[\x00-\x1F\x7F]/.test(path) || path.includes('$')) return undefined;
  const isRelative = folder === undefined && !path.startsWith('/');
  // Without a folder, what climbs out of it leads nobody knows where.
  return isRelative && climbsOut(path) ? undefined : writtenPlaceOf(path, folder);
}

/** The same, letter by letter: where it leads if every name in it is the name of a file. */
export function writtenPlaceOf(path: string, folder: string | undefined): Place {
  const isAbsolute = path.startsWith('/');
  if (!isAbsolute && folder === undefined) return { names: resolveNames([], path), isInside: !climbsOut(path) };
  const base = namesOf(folder ?? '/');
  const names = resolveNames(isAbsolute ? [] : base, path);
  const isInside = folder !== undefined && base.every((name, index) => names[index] === name);
  return isInside ? { names: names.slice(base.length), isInside } : { names, isInside };
}

/** `names` from the folder on when it is inside, from the root when not. */
export type Place = { readonly names: readonly string[]; readonly isInside: boolean };

function namesOf(path: string): readonly string[] {
  return resolveNames([], path);
}

/** Above the root there is nothing but the root. */
function resolveNames(from: readonly string[], path: string): readonly string[] {
  const names = [...from];
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    if (name === '..') names.pop();
    else names.push(name);
  }
  return names;
}

/** Above where it began. */
function climbsOut(path: string): boolean {
  let depth = 0;
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue;
    depth += name === '..' ? -1 : 1;
    if (depth < 0) return true;
  }
  return false;
}

export function pathMatches(pattern: PathPattern, place: Place, folder: string | undefined): boolean {
  if (pattern.isAbsolute) {
    const names = place.isInside ? [...namesOf(folder ?? '/'), ...place.names] : place.names;
    return partsMatch(pattern.parts, names);
  }
  return place.isInside && beginsLike(pattern.parts[0], place.names[0]) && partsMatch(pattern.parts, place.names);
}

/** Most patterns are about another folder, which their first name tells. */
function beginsLike(part: Glob | 'any' | undefined, name: string | undefined): boolean {
  return part === undefined || part === 'any' || name === undefined || globMatches(part, name);
}

/** Row by row, so that no pattern takes more than parts times names. */
function partsMatch(parts: readonly (Glob | 'any')[], names: readonly string[]): boolean {
  let row = names.map(() => false);
  let atStart = true;
  for (const part of parts) {
    const next: boolean[] = [];
    for (const [index, name] of names.entries()) {
      const before = index === 0 ? atStart : row[index - 1] === true;
      if (part === 'any') next.push(before || row[index] === true || next[index - 1] === true);
      else next.push(before && globMatches(part, name));
    }
    row = next;
    atStart = atStart && part === 'any';
  }
  return names.length === 0 ? atStart : row.at(-1) === true;
}
