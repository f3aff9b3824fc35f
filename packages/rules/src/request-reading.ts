import type { Risk } from '@concerto/protocol';
import { isPlain, skeleton } from './look-alike.ts';
import { type Place, placeOf, writtenPlaceOf } from './path-pattern.ts';
import { riskOf } from './risk.ts';
import type { RuleRequest } from './rule-request.ts';

/** What has more words and cannot be told apart is not looked through: a rule that forbids some of it forbids it. */
const wordsMax = 500;

/** What many rules want to know of one request, found out once, when the first asks. */
export class RequestReading {
  readonly request: RuleRequest;
  #risk: Risk | undefined;
  #forbidden: readonly string[] | 'too-many' | undefined;
  #permitted: readonly (readonly string[])[] | 'never' | undefined;
  #seenPlaces: readonly Place[] | undefined;
  #truePlaces: readonly Place[] | 'never' | undefined;

  constructor(request: RuleRequest) {
    this.request = request;
  }

  get risk(): Risk {
    this.#risk ??= riskOf(this.request);
    return this.#risk;
  }

  /**
   * The texts of the command of which one is enough for what forbids: the whole, each part, each part under any path to
   * its program, and of what is unclear any beginning within it.
   */
  get forbidden(): readonly string[] | 'too-many' {
    this.#forbidden ??= this.#findForbidden();
    return this.#forbidden;
  }

  /** For each part of the command the texts of which one must be permitted. */
  get permitted(): readonly (readonly string[])[] | 'never' {
    this.#permitted ??= this.#findPermitted();
    return this.#permitted;
  }

  /** Where the paths lead, as a reader takes them, also where nobody can tell: what is forbidden is not got at by an odd name. */
  get seenPlaces(): readonly Place[] {
    const { paths, resolved = [], folder } = this.request;
    this.#seenPlaces ??= [...paths, ...resolved].map((path) => writtenPlaceOf(skeleton(path), folder?.toLowerCase()));
    return this.#seenPlaces;
  }

  /** All places that what permits must hold for: as they are written and as they lead. */
  get truePlaces(): readonly Place[] | 'never' {
    this.#truePlaces ??= this.#findTruePlaces();
    return this.#truePlaces;
  }

  #findForbidden(): readonly string[] | 'too-many' {
    const { command } = this.request;
    if (command === undefined) return [];
    const { text, line } = command;
    const whole = skeleton(text);
    const raw = line.unclear === undefined ? [] : whole.split(/[\s;&|()<>"'`$]+/);
    if (raw.length > wordsMax) return 'too-many';
    const seen = line.parts.map(({ words }) => words.map(skeleton));
    const short = seen.map(([program = '', ...rest]) => [program.slice(program.lastIndexOf('/') + 1), ...rest]);
    const rests = raw.map((_, index) => raw.slice(index));
    return [...new Set([whole, ...[...seen, ...short, ...rests].flatMap(bothWays)])];
  }

  #findPermitted(): readonly (readonly string[])[] | 'never' {
    const { command } = this.request;
    if (command === undefined) return [];
    const { text, line } = command;
    if (!isPlain(text) || line.parts.some(({ writes }) => writes)) return 'never';
    return line.parts.map(({ words }) => bothWays(words));
  }

  #findTruePlaces(): readonly Place[] | 'never' {
    const { paths, resolved, folder } = this.request;
    if (paths.length === 0 || (resolved !== undefined && resolved.length < paths.length)) return 'never';
    const places: Place[] = [];
    for (const path of [...paths, ...(resolved ?? [])]) {
      const place = isPlain(path) ? placeOf(path, folder) : undefined;
      if (place === undefined) return 'never';
      places.push(place);
    }
    return places;
  }
}

/** `rm *` is also `rm` alone. */
function bothWays(words: readonly string[]): readonly string[] {
  const text = words.join(' ');
  return [text, `${text} `];
}
