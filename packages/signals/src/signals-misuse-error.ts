export type SignalsMisuse = 'not_text' | 'mixed_input' | 'push_after_finish' | 'bad_option';

/** The caller broke the parser's contract. Model output never causes it. */
export class SignalsMisuseError extends Error {
  readonly code: SignalsMisuse;

  constructor(code: SignalsMisuse, message: string) {
    super(message);
    this.name = 'SignalsMisuseError';
    this.code = code;
  }
}
