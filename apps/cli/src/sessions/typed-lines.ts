import { harmless, nearest } from '@concerto/base';
import type { ConcertoClient } from '@concerto/client';
import type { SuspendEvent } from '@concerto/protocol';
import { paint } from '../terminal/paint.ts';
import { answerIn } from './response-of.ts';
import { howToAdd, type OfferedRule, ruleText } from './rule-offer.ts';
import { outcomeText, switchSettings } from './settings.ts';
import { commandsText, offeredText, sentTo } from './show.ts';

const typedHelp = [
  '  a line answers the question that waits, else it is the next message',
  '  y session, y always           allow the very same again: here, or from now on (the rule is shown first)',
  '  /steer TEXT                   into the running turn',
  '  /queue TEXT                   after it, also while a question waits',
  '  /pause /resume /interrupt /cancel',
  '  /again                        the message of the last turn once more',
  '  /model /mode /effort [NAME]   what it may be switched to, or switch',
  '  /commands                     the agent’s own commands',
  '  /more                         all of what the question is about, also a long change',
  '  /quit                         leave; the session goes on',
].join('\n');

export type Typed = {
  readonly client: ConcertoClient;
  readonly id: string;
  /** The question that waits longest. */
  readonly question: () => SuspendEvent | undefined;
  readonly say: (text: string) => void;
  /** It was shown, and the next line takes it or leaves it. */
  readonly offer: (rule: OfferedRule) => void;
  readonly leave: () => void;
};

const ourCommands = [
  'help',
  'quit',
  'detach',
  'steer',
  'queue',
  'again',
  'pause',
  'resume',
  'interrupt',
  'cancel',
  'model',
  'mode',
  'effort',
  'commands',
  'more',
];

/** One of ours that was meant by a command that is none: `/pasue` is no message to the agent, unless it is one of its own. */
async function slipOf(command: string, client: ConcertoClient, id: string): Promise<string | undefined> {
  const meant = command === '' ? undefined : nearest(command, ourCommands);
  if (meant === undefined) return undefined;
  const { commands = [] } = await client.agent(id);
  return commands.some(({ name }) => name === command) ? undefined : meant;
}

/** Does what somebody typed while attached. Commands that are none of ours are the agent's: they are sent. */
export async function obey(line: string, typed: Typed): Promise<void> {
  const { client, id, question, say, leave } = typed;
  const [, command = '', rest = ''] = /^\/(\w+)\s*([\s\S]*)$/.exec(line) ?? [];
  switch (command) {
    case 'help':
      return say(typedHelp);
    case 'quit':
    case 'detach':
      return leave();
    case 'steer':
    case 'queue': {
      if (rest === '') return say(`  /${command} needs a text`);
      const priority = command === 'steer' ? 'immediate' : 'queued';
      const where = sentTo(await client.send(id, { content: rest, priority }));
      return say(paint('dim', `  ${command === 'steer' ? 'said' : 'queued'}${where}: ${harmless(rest)}`));
    }
    case 'again': {
      const prompt = await lastPrompt(client, id);
      if (prompt === undefined) return say('  nothing was said to it yet');
      await client.send(id, { content: prompt, priority: 'immediate' });
      return say(paint('dim', `  said again: ${harmless(prompt)}`));
    }
    case 'pause':
    case 'resume':
    case 'interrupt':
    case 'cancel':
      await client[command](id);
      return say(paint('dim', `  asked to ${command}`));
    case 'model':
    case 'mode':
    case 'effort': {
      if (rest === '') return say(offeredText(await client.agent(id), command));
      const { outcome, reason } = await switchSettings(client, id, { [command]: rest });
      return say(paint('dim', `  ${command} ${harmless(rest)}: ${outcomeText(outcome, reason)}`));
    }
    case 'commands':
      return say(commandsText(await client.agent(id)));
    default: {
      const meant = await slipOf(command, client, id);
      if (meant !== undefined)
        return say(`  there is no /${command}; did you mean /${meant}? "/queue ${line}" says it`);
      const asked = question();
      // It was pressed for something else, or twice; the choices say what can be chosen.
      if (line.trim() === '' && asked?.type !== 'waitForChoice')
        return asked === undefined ? undefined : say('  an empty line is no answer');
      if (asked !== undefined) return await answer(line, asked, typed);
      const where = sentTo(await client.send(id, { content: line, priority: 'queued' }));
      return say(paint('dim', `  queued${where}: ${harmless(line)}`));
    }
  }
}

/** What adds a rule is said first. */
async function answer(line: string, request: SuspendEvent, { client, id, say, offer }: Typed): Promise<void> {
  const answer = answerIn(request, line);
  const rule = ruleText(request, answer);
  if (rule === undefined) return await client.answer(id, request.requestId, answer.response, answer.remember);
  say(`  ${rule}`);
  say(paint('dim', `  ${howToAdd}`));
  offer({ session: id, request, answer });
}

/** What a person last began a turn with. */
async function lastPrompt(client: ConcertoClient, id: string): Promise<string | undefined> {
  const { history = [] } = await client.messages(id, { all: true });
  return history.findLast(({ how, source }) => how === 'prompt' && source !== 'system')?.content;
}
