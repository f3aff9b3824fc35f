import { styleText } from 'node:util';
import { harmless } from '@concerto/base';

export type Style = 'bold' | 'dim' | 'italic' | 'strikethrough' | 'red' | 'green' | 'yellow' | 'cyan';

/** Colour, only for a person at a terminal who has not asked for none (`NO_COLOR`). */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  return styleText(style, text, { stream });
}

/** Whether `paint` does anything there. */
export function showsColour(stream: NodeJS.WriteStream): boolean {
  return paint('red', 'x', stream) !== 'x';
}

// oxlint-disable-next-line no-control-regex -- ESC begins one
const style = /(\u001b\[[\d;:]*m)/;

/** What a program prints may be in colour, but may do nothing else to a terminal. */
export function harmlessButStyles(text: string): string {
  return text
    .split(style)
    .map((piece, index) => (index % 2 === 1 ? piece : harmless(piece)))
    .join('');
}
