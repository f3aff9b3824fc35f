import { firstOfText } from '@concerto/base';
import { type FoldedEvent, wordsOf } from '@concerto/protocol';
import { Narration } from './narration.ts';
import { detailsOf, questionOf } from './requests.ts';
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
      return `\n## User${told.isSteer ? ' (into the running turn)' : ''}\n\n${wordsOf(told.content)}\n`;
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
      return `\n## Agent\n\n${wordsOf({ parts: [...told.parts] })}\n`;
    case 'call-args':
      return `\n- calls ${told.call.title ?? told.call.name} ${JSON.stringify(told.call.args)} [${told.call.callId}]\n`;
    case 'call-result':
      return `- ${told.outcome} [${told.call.callId}]: ${shortened(resultText(told.content))}\n`;
    case 'asked':
      return `\n## Asks (request ${told.event.requestId}, ${told.event.type})\n\n${questionOf(told.event)}\n${detailsOf(told.event)}`;
    case 'settled':
      return `- settled ${told.request.requestId}: ${settlementOf(told.settlement)}\n`;
    case 'turn-ended':
      return `\n— the turn is ${told.outcome}${told.reason === undefined ? '' : `: ${told.reason}`} —\n`;
    case 'over':
      return `\n— the session is over${told.end?.kind === 'failed' ? `: ${told.end.message}` : ''} —\n`;
    default:
      return '';
  }
}

function settlementOf({ outcome, by, response, reason }: Extract<Told, { tell: 'settled' }>['settlement']): string {
  const who = by === undefined ? '' : ` by ${by}`;
  return `${outcome}${who}: ${JSON.stringify(response ?? reason ?? null)}`;
}

function shortened(text: string): string {
  if (text.length <= resultCharactersMax) return text;
  const first = firstOfText(text, resultCharactersMax);
  return `${first} … (${text.length - first.length} characters more)`;
}
