/** What a code means, for who sees it the first time. */
export interface Explanation {
  readonly title: string;
  /** Why it is a mistake, and what to do. */
  readonly text: string;
  /** A program with the mistake; a test checks that it is told so. */
  readonly wrong?: string;
  /** The same without it; a test checks that it has no error. */
  readonly right?: string;
}
