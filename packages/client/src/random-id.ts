/** Unguessable, of hexadecimal digits. Not `randomUUID`, which a page that came over plain HTTP from another machine does not have. */
export function randomId(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
