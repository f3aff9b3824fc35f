let kept = '/';

/** The list as it was last looked at, with its filter and search: whoever opened a session of it wants to come back there. */
export function listAddress(): string {
  return kept;
}

export function keepListAddress(address: string): void {
  kept = address;
}
