import { Lexer, type Token } from 'marked';

/** Line ends inside a paragraph are kept: agents mean them. */
const options = { gfm: true, breaks: true, silent: true };

/** The blocks of a text. Any text has some. */
export function blockTokens(text: string): readonly Token[] {
  try {
    return new Lexer(options).lex(text).filter(({ type }) => type !== 'space');
  } catch {
    return [{ type: 'text', raw: text, text }]; // Nested deeper than the lexer can go: shown as it is.
  }
}
