import { fileURLToPath, pathToFileURL } from 'node:url';

/** The path of a file, with `/`; what is in no file (`untitled:`) is called by its address. */
export function pathOf(uri: string): string {
  if (!uri.startsWith('file:')) return uri;
  try {
    return fileURLToPath(uri).replaceAll('\\', '/');
  } catch {
    // `file://server/share` on a system that has no such thing.
    return uri;
  }
}

/** Undefined for what has no address: the standard library is built in. */
export function uriOf(path: string): string | undefined {
  if (/^(\/|[A-Za-z]:\/)/.test(path)) return pathToFileURL(path).href;
  return /^[a-z][a-z0-9+.-]+:(?!:)/.test(path) ? path : undefined;
}
