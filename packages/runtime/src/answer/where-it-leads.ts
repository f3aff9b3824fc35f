import { readlink, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';

/** As many as the system follows; through more nobody gets anywhere. */
const linksMax = 40;
/** No system opens a longer one. */
const pathLengthMax = 4_096;

/**
 * Through every link. What does not exist yet is where its folder leads; so is what a link names that leads to nothing
 * yet: whoever writes to that link makes it.
 */
export async function whereItLeads(path: string): Promise<string> {
  if (path.length > pathLengthMax) return path;
  return await realpath(path).catch(async () => await walked('/', path, { links: linksMax }));
}

/** Part by part, as the system does it: `..` is out of where a link has led. `from` is a real place. */
async function walked(from: string, path: string, left: { links: number }): Promise<string> {
  let at = isAbsolute(path) ? '/' : from;
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      at = dirname(at);
      continue;
    }
    const next = join(at, part);
    const named = left.links > 0 ? await readlink(next).catch(() => undefined) : undefined;
    if (named !== undefined) left.links -= 1;
    at = named === undefined ? next : await walked(at, named, left);
  }
  return at;
}
