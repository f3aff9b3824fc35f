import { readlink, realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

/** As many as the system follows itself; what goes round in a circle is written by nobody. */
const linksMax = 40;

/**
 * Through every link, as far as the path exists. What does not exist yet is where its folder leads, and a link to it leads
 * there too: whoever writes to the link makes what it names.
 */
export async function whereItLeads(path: string, links = linksMax): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    if (parent === path) return path;
    const here = join(await whereItLeads(parent, links), basename(path));
    const target = links === 0 ? undefined : await readlink(here).catch(() => undefined);
    return target === undefined ? here : await whereItLeads(resolve(dirname(here), target), links - 1);
  }
}
