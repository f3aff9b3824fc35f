import { type Entry, type SessionView, type Tool, type Turn, textOf } from '@concerto/protocol';
import { answerText } from '../requests/answer-text.ts';
import { questionText } from '../requests/question-text.ts';
import { whoText } from '../requests/who-text.ts';
import { commandOf } from '../timeline/command-of.ts';
import { usageText } from '../usage/usage-text.ts';

/** A session as a document that one can read, keep and send. */
export function sessionMarkdown(title: string, { turns, usage }: SessionView): string {
  const used = usageText(usage.total);
  const parts = [`# ${title}`, ...(used === undefined ? [] : [`_${used}_`]), ...turns.flatMap(turnMarkdown)];
  return `${parts.join('\n\n')}\n`;
}

function turnMarkdown({ number, objective, entries, state, reason }: Turn): readonly string[] {
  const said = objective === undefined ? [] : [`## Turn ${number}`, quoted(textOf(objective))];
  const end = reason === undefined ? [] : [`**${state}**: ${reason}`];
  return [...said, ...entries.flatMap(entryMarkdown), ...end];
}

function entryMarkdown(entry: Entry): readonly string[] {
  switch (entry.kind) {
    case 'text':
      return entry.text === '' ? [] : [entry.text];
    case 'steer':
      return [`**Steered:**\n\n${quoted(textOf(entry.content))}`];
    case 'tool':
      return toolMarkdown(entry);
    case 'request': {
      const { event, settled } = entry;
      const answer =
        settled?.response === undefined
          ? (settled?.reason ?? 'not answered')
          : `${answerText(event, settled.response, settled.reason)} (${whoText(settled.by)})`;
      return [`**Asked:** ${questionText(event)}\n\n**Answer:** ${answer}`];
    }
    case 'error':
      return [`**Error:** ${entry.message}`];
    case 'thought':
    case 'note':
    case 'status':
    case 'budget':
    case 'gap':
    case 'raw':
      return [];
  }
}

function toolMarkdown({ name, title, args, state, changes, calls }: Tool): readonly string[] {
  const command = commandOf(args);
  const head = `- **${title ?? name}** (${state})`;
  return [
    command === undefined ? head : `${head}\n\n${fenced(command, 'sh')}`,
    ...changes.map(({ patch }) => fenced(patch, 'diff')),
    ...calls.flatMap(toolMarkdown),
  ];
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

/** With a fence that is longer than any in the text. */
function fenced(text: string, language: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
}
