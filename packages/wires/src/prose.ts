import type { FoldedEvent } from '@concerto/protocol';
import { textOf } from '@concerto/protocol';
import { Narration } from './narration.ts';
import { questionOf } from './requests.ts';
import { resultText, type Told } from './told.ts';

/** Of a call's result no more than somebody reads. */
const resultCharactersMax = 2_000;

/** A session as text, for a reader that is a model: who said what, what was called, what is asked and by which id. */
export class ProseFold {
  readonly narration = new Narration();

  take(event: FoldedEvent): string {
    return this.narration.take(event).map(say).join('');
  }
}

function say(told: Told): string {
  switch (told.tell) {
    case 'user':
      return `\n## User${told.isSteer ? ' (into the running turn)' : ''}\n\n${textOf(told.content)}\n`;
    case 'text-began':
      return '\n## Agent\n\n';
    case 'thought-began':
      return '\n## Agent (thinking)\n\n';
    case 'text':
    case 'thought':
      return told.delta;
    case 'text-ended':
    case 'thought-ended':
      return '\n';
    case 'text-replaced':
      return `\n## Agent (in place of what it said before)\n\n${told.text}\n`;
    case 'parts':
      return `\n(${told.parts.length} parts that are no text)\n`;
    case 'call-args':
      return `\n- calls ${told.call.title ?? told.call.name} ${JSON.stringify(told.call.args)} [${told.call.callId}]\n`;
    case 'call-result':
      return `- ${told.outcome} [${told.call.callId}]: ${shortened(resultText(told.content))}\n`;
    case 'asked':
      return `\n## Asks (request ${told.event.requestId}, ${told.event.type})\n\n${questionOf(told.event)}\n${choicesOf(told)}`;
    case 'settled':
      return `- settled ${told.request.requestId}: ${told.settlement.outcome} by ${told.settlement.by ?? 'nobody'}: ${JSON.stringify(told.settlement.response ?? told.settlement.reason ?? null)}\n`;
    case 'turn-ended':
      return `\n— the turn is ${told.outcome}${told.reason === undefined ? '' : `: ${told.reason}`} —\n`;
    case 'over':
      return `\n— the session is over${told.end?.kind === 'failed' ? `: ${told.end.message}` : ''} —\n`;
    default:
      return '';
  }
}

function choicesOf({ event }: Extract<Told, { tell: 'asked' }>): string {
  if (event.type !== 'waitForChoice') return '';
  return event.choices.map(({ id, content }) => `- \`${id}\`: ${textOf(content)}\n`).join('');
}

function shortened(text: string): string {
  if (text.length <= resultCharactersMax) return text;
  return `${text.slice(0, resultCharactersMax)} … (${text.length - resultCharactersMax} characters more)`;
}
