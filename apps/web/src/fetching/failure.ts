import { ClientError } from '@concerto/client';

/** What to tell a person about something that did not work, and what they can do about it. */
export type Failure = { readonly code: string; readonly text: string };

export function failureOf(cause: unknown): Failure {
  if (!(cause instanceof ClientError))
    return { code: 'bug', text: cause instanceof Error ? cause.message : String(cause) };
  switch (cause.code) {
    case 'unreachable':
    case 'timeout':
      return { code: cause.code, text: 'The server cannot be reached. Nothing was lost; try again when it is back.' };
    case 'unauthorized':
      return {
        code: cause.code,
        text: 'This browser is not signed in. Open the URL that the server printed when it started.',
      };
    default:
      return { code: cause.code, text: sentence(cause.message) };
  }
}

/** A number that a problem document carries beside its text. */
export function problemNumber(cause: unknown, member: string): number | undefined {
  const value: unknown = cause instanceof ClientError ? cause.problem?.[member] : undefined;
  return typeof value === 'number' ? value : undefined;
}

function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
