/**
 * Where the file of `mod name;` may be, best first. Paths are plain text with `/`: next to the declaring file, in a
 * folder named for the inline modules around the declaration, or in a folder named for the declaring file.
 */
export function moduleCandidates(file: string, inside: readonly string[], name: string): readonly string[] {
  const slash = Math.max(file.lastIndexOf('/'), file.lastIndexOf('\\'));
  const folder = file.slice(0, slash + 1);
  const stem = file.slice(slash + 1).replace(/\.conc$/, '');
  const nested = inside.map((part) => `${part}/`).join('');
  const bases = [`${folder}${nested}`, `${folder}${stem}/${nested}`];
  if (nested !== '') bases.push(folder);
  return bases.flatMap((base) => [`${base}${name}.conc`, `${base}${name}/mod.conc`]);
}
