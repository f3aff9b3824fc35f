import type { ReactNode } from 'react';

/** How something went: a sign for the eye, words for who listens. */
export function OutcomeMark({ sign, words }: { readonly sign: string; readonly words: string }): ReactNode {
  return (
    <>
      <span className="test-mark" aria-hidden="true">
        {sign}
      </span>
      <span className="visually-hidden">{words}: </span>
    </>
  );
}
