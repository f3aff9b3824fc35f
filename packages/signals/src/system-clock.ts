/** Seconds, as every timestamp of the protocol. What a parser reads when it is given no clock; tests give it one. */
export const systemClock = (): number => Date.now() / 1000;
