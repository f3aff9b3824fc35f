import type { ModelMessage } from '@concerto/models';
import type { Part } from '@concerto/protocol';
import { escape } from '@concerto/signals';
import type { AssistantFiles } from './assistant-files.ts';
import type { CallResult, Said } from './assistant-history.ts';

type Files = Pick<AssistantFiles, 'pieces'>;

/** The conversation for a model that calls functions by its provider's way. */
export async function nativeMessages(said: readonly Said[], files: Files): Promise<readonly ModelMessage[]> {
  const messages = said.map(async (one): Promise<readonly ModelMessage[]> => {
    switch (one.kind) {
      case 'user':
        return [await userMessage(one.text, one.parts, files)];
      case 'system':
        return [{ role: 'user', content: one.text }];
      case 'model': {
        // A text of nothing but spaces is refused by some.
        const content = one.text.trim() === '' ? '' : one.text;
        if (content === '' && one.calls.length === 0) return [];
        const { reasoning } = one;
        const toolCalls = one.calls.map(({ id, name, args, metadata }) => ({
          id,
          name,
          arguments: args,
          ...(metadata === undefined ? {} : { metadata }),
        }));
        const beside = {
          ...(toolCalls.length === 0 ? {} : { toolCalls }),
          ...(reasoning === undefined ? {} : { reasoning }),
        };
        return [{ role: 'assistant', content, ...beside }];
      }
      case 'results':
        return [
          ...one.results.map(
            ({ id, name, text, failed }) => ({ role: 'tool', id, name, content: text, failed }) as const,
          ),
          // Few providers take files in the result of a call: they are shown right after it.
          ...(await filesMessage(one.results, files)),
        ];
    }
  });
  return (await Promise.all(messages)).flat();
}

async function userMessage(text: string, parts: readonly Part[] | undefined, files: Files): Promise<ModelMessage> {
  if (parts === undefined) return { role: 'user', content: text };
  return { role: 'user', content: text, pieces: await files.pieces(parts) };
}

async function filesMessage(results: readonly CallResult[], files: Files): Promise<readonly ModelMessage[]> {
  const given = results.filter((result) => result.files !== undefined && result.files.length > 0);
  if (given.length === 0) return [];
  const parts = given.flatMap(({ name, files: own = [] }): Part[] => [{ text: `What ${name} gave:` }, ...own]);
  return [await userMessage(`[${given.map(({ name }) => `files of ${name}`).join(', ')}]`, parts, files)];
}

/** The conversation for a model that writes signals. Whatever is not the model's own is escaped: it might hold signals. */
export async function signalsMessages(said: readonly Said[], files: Files): Promise<readonly ModelMessage[]> {
  const messages = said.map(async (one): Promise<readonly ModelMessage[]> => {
    switch (one.kind) {
      case 'user':
        return [await userMessage(one.text, one.parts, files)];
      case 'system':
        return [{ role: 'user', content: systemText(one.text) }];
      case 'model': {
        const content = one.slip ?? signalsOf(one);
        return content === '' ? [] : [{ role: 'assistant', content }];
      }
      case 'results':
        return [
          { role: 'user', content: systemText(resultsText(one.results)) },
          ...(await filesMessage(one.results, files)),
        ];
    }
  });
  return (await Promise.all(messages)).flat();
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
