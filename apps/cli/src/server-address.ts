import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';

const file = '.concerto/url';

/** So that `concerto sessions` in the same folder finds a server on another port than the usual one. */
export function rememberAddress(url: string): void {
  // A server that keeps nothing here leaves nothing here.
  if (!existsSync('.concerto')) return;
  try {
    writeFileSync(file, `${url}\n`);
  } catch {
    // A folder that cannot be written: --url and CONCERTO_URL still name the server.
  }
}

export function rememberedAddress(): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim() || undefined;
  } catch {
    return undefined; // No server was started here.
  }
}

/** Another server may have been started here since. */
export function forgetAddress(url: string): void {
  if (rememberedAddress() === url) rmSync(file, { force: true });
}
