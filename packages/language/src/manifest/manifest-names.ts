import type { ManifestNames } from '../check/check-program.ts';
import type { Manifest } from './manifest.ts';

export const MANIFEST_NAME = 'Concerto.toml';

/** What a program may refer to in its manifest. */
export function manifestNames(manifest: Manifest | undefined): ManifestNames | undefined {
  if (manifest === undefined) return undefined;
  return {
    connections: new Set(Object.keys(manifest.connections)),
    agents: new Set(Object.keys(manifest.agents)),
    mcp: new Set(Object.keys(manifest.mcp)),
  };
}
