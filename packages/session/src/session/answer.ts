import { err, type Json, ok } from '@concerto/base';
import { find } from '../archive.ts';
import { wake } from './advance.ts';
import { command, type Draft, record } from './draft.ts';
import type { Refusal } from './session-command.ts';

type Verdict = { readonly ok: true; readonly value: undefined } | { readonly ok: false; readonly error: Refusal };

/** The first answer counts. One given while the session is held is kept and handed over when it goes on. */
export function answerRequest(draft: Draft, requestId: string, response: Json): Verdict {
  const { state } = draft;
  const request = find(state.requests, requestId);
  if (request === undefined) return err({ code: 'no_such_request', message: `there is no request ${requestId}` });
  if (request.state === 'answered') {
    if (request.answeredBy !== undefined && request.answeredBy === draft.asked.cause) return ok(undefined);
    return err({ code: 'already_answered', message: `request ${requestId} was already answered` });
  }
  if (request.state === 'withdrawn') {
    const reason = request.reason ?? 'withdrawn';
    return err({ code: 'withdrawn', reason, message: `request ${requestId} is no longer open: ${reason}` });
  }
  const held = state.control !== undefined || state.hold?.kind === 'paused' || state.agentProcess.kind !== 'ready';
  record(draft, { type: 'request-answered', requestId, response, held });
  if (!held && state.agentProcess.kind === 'ready') {
    command(draft, { type: 'answer', incarnation: state.agentProcess.incarnation, requestId, response });
  }
  wake(draft);
  return ok(undefined);
}
