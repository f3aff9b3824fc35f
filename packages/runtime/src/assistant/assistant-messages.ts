import type { ModelMessage } from '@concerto/models';
import { escape } from '@concerto/signals';
import type { CallResult, Said } from './assistant-history.ts';

/** The conversation for a model that calls functions by its provider's way. */
export function nativeMessages(said: readonly Said[]): readonly ModelMessage[] {
  return said.flatMap((one): ModelMessage[] => {
    switch (one.kind) {
      case 'user':
      case 'system':
        return [{ role: 'user', content: one.text }];
      case 'model': {
        // A text of nothing but spaces is refused by some.
        const content = one.text.trim() === '' ? '' : one.text;
        if (content === '' && one.calls.length === 0) return [];
        const toolCalls = one.calls.map(({ id, name, args }) => ({ id, name, arguments: args }));
        return [{ role: 'assistant', content, ...(toolCalls.length === 0 ? {} : { toolCalls }) }];
      }
      case 'results':
        return one.results.map(({ id, name, text, failed }) => ({ role: 'tool', id, name, content: text, failed }));
    }
  });
}

/** The conversation for a model that writes signals. Whatever is not the model's own is escaped: it might hold signals. */
export function signalsMessages(said: readonly Said[]): readonly ModelMessage[] {
  return said.flatMap((one): ModelMessage[] => {
    switch (one.kind) {
      case 'user':
        return [{ role: 'user', content: one.text }];
      case 'system':
        return [{ role: 'user', content: systemText(one.text) }];
      case 'model': {
        const content = one.slip ?? signalsOf(one);
        return content === '' ? [] : [{ role: 'assistant', content }];
      }
      case 'results':
        return [{ role: 'user', content: systemText(resultsText(one.results)) }];
    }
  });
}

function signalsOf({ thought, text, calls }: Extract<Said, { kind: 'model' }>): string {
  const parts: string[] = [];
  if (thought.trim() !== '') parts.push(`§THINK: ${escape(thought.trim())}`);
  if (text.trim() !== '') parts.push(`§RESPOND: ${escape(text.trim())}`);
  if (calls.length > 0) {
    const written = calls.map(({ name, args }) => ({ name, args }));
    parts.push(`§CALLS: ${JSON.stringify(written)}`, '§EXECUTE:');
  } else if (parts.length > 0) parts.push('§END:');
  return parts.join('\n');
}

function systemText(text: string): string {
  return `[SYSTEM:\n${escape(text)}\n]`;
}

function resultsText(results: readonly CallResult[]): string {
  const texts = results.map(({ text, failed }) => (failed ? `ERROR: ${text}` : text));
  if (texts.length <= 1) return texts[0] ?? '';
  return texts.map((text, index) => `${index + 1}. ${results[index]?.name ?? ''}:\n${text}`).join('\n\n');
}
