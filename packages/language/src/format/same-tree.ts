/** Equal but for places and ids. */
export function sameTree(a: unknown, b: unknown): boolean {
  const stack: [unknown, unknown][] = [[a, b]];
  for (let pair = stack.pop(); pair !== undefined; pair = stack.pop()) {
    const [left, right] = pair;
    if (left === right) continue;
    if (!isObject(left) || !isObject(right)) {
      // NaN is not equal to itself.
      if (Object.is(left, right)) continue;
      return false;
    }
    const keys = Object.keys(left);
    if (keys.length !== Object.keys(right).length) return false;
    for (const key of keys) {
      if (key !== 'span' && key !== 'id') stack.push([left[key], right[key]]);
    }
  }
  return true;
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === 'object' && value !== null;
}
