/** Every wait of the domain, in milliseconds, and every bound of the queue. */
export const startTimeoutMs = 15_000;
export const interruptTimeoutMs = 10_000;
/** An agent that cannot be asked gets SIGINT at once, and the next signal after half of its time. */
export const interruptSignalAfterMs = 5_000;
export const pauseTimeoutMs = 20_000;
export const resumeTimeoutMs = 10_000;
export const resumeRepeatAfterMs = 5_000;
export const cancelTerminateAfterMs = 10_000;
export const cancelKillAfterMs = 15_000;
/** More for one that opened others: an assistant waits for its agents, a program for those and for assistants. */
export const cancelBelowMs = { assistant: 1_000, program: 2_000 } as const;
export const deliveryTimeoutMs = 30_000;
export const deliveryAttemptsMax = 2;
/** A message that three processes in a row never read is not tried a fourth time by itself. */
export const dispatchAttemptsMax = 3;
/** So long the same wish with the same cause is known as a repeat; as long as its first answer is kept. */
export const repeatKnownForMs = 24 * 60 * 60_000;
export const parkAfterMs = 5 * 60_000;
export const starvationNoticeAfterMs = 10 * 60_000;
export const pendingMax = 100;
/** Of one session; the agent hears that a further question is not taken. */
export const openRequestsMax = 100;
