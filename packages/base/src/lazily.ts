/** A constant that is made when it is first wanted. `make` gives the same whenever it is called, so nobody can tell when it was. */
export function lazily<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
