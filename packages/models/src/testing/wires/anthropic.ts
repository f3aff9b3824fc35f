import type { Json } from '@concerto/base';
import type { Said, ScriptedError, Wire } from '../script.ts';

function stopReason({ finish, calls }: Said): string {
  if (finish === 'length') return 'max_tokens';
  if (finish === 'filter') return 'refusal';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

function usage({ usage: { input, output, cached } }: Said): { [key: string]: Json } {
  return {
    input_tokens: input - cached,
    output_tokens: output,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
  };
}

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

/** `POST …/messages`. */
export const anthropic: Wire = {
  match: (path, body) =>
    path.endsWith('/messages') && typeof body.model === 'string'
      ? { model: body.model, streamed: body.stream === true }
      : undefined,
  whole: (said, { id, model }) => ({
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [
      ...(said.text === '' ? [] : [{ type: 'text', text: said.text }]),
      ...said.calls.map(
        (call): Json => ({ type: 'tool_use', id: call.id, name: call.name, input: JSON.parse(call.arguments) }),
      ),
    ],
    stop_reason: stopReason(said),
    stop_sequence: null,
    usage: usage(said),
  }),
  stream: (send, { id, model }) => {
    let index = -1;
    let inText = false;
    const event = (type: string, data: { readonly [key: string]: Json }): void => send({ type, ...data }, type);
    const open = (block: Json): void => event('content_block_start', { index: ++index, content_block: block });
    const delta = (change: Json): void => event('content_block_delta', { index, delta: change });
    const close = (): void => event('content_block_stop', { index });
    const endText = (): void => {
      if (inText) close();
      inText = false;
    };
    return {
      start: () =>
        event('message_start', {
          message: {
            id: `msg_${id}`,
            type: 'message',
            role: 'assistant',
            model,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 0, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
          },
        }),
      text: (piece) => {
        if (!inText) open({ type: 'text', text: '' });
        inText = true;
        delta({ type: 'text_delta', text: piece });
      },
      call: (call) => {
        endText();
        open({ type: 'tool_use', id: call.id, name: call.name, input: {} });
        delta({ type: 'input_json_delta', partial_json: call.arguments });
        close();
      },
      end: (said) => {
        endText();
        event('message_delta', { delta: { stop_reason: stopReason(said), stop_sequence: null }, usage: usage(said) });
        event('message_stop', {});
      },
    };
  },
  error: errorBody,
  streamedError: (error) => ({ event: errorBody(error), name: 'error' }),
};

function errorBody({ status, message = 'scripted error', code }: ScriptedError): Json {
  return { type: 'error', error: { type: code ?? ERROR_TYPES[status] ?? 'api_error', message } };
}
