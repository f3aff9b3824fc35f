import type { Json } from '@concerto/base';
import type { Said, ScriptedError, Wire } from '../script.ts';

const CREATED = 1_700_000_000;

function usage({ usage: { input, output, cached } }: Said): Json {
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

function finishReason({ finish, calls }: Said): string {
  if (finish === 'length') return 'length';
  if (finish === 'filter') return 'content_filter';
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

/** `POST …/chat/completions`: OpenAI, and whoever speaks like it. */
export const openaiChat: Wire = {
  match: (path, body) =>
    path.endsWith('/chat/completions') && typeof body.model === 'string'
      ? { model: body.model, streamed: body.stream === true }
      : undefined,
  whole: (said, { id, model }) => ({
    id,
    object: 'chat.completion',
    created: CREATED,
    model,
    choices: [
      {
        index: 0,
        finish_reason: finishReason(said),
        message: {
          role: 'assistant',
          content: said.text === '' ? null : said.text,
          ...(said.calls.length === 0
            ? {}
            : {
                tool_calls: said.calls.map((call) => ({
                  id: call.id,
                  type: 'function',
                  function: { name: call.name, arguments: call.arguments },
                })),
              }),
        },
      },
    ],
    usage: usage(said),
  }),
  stream: (send, { id, model, body }) => {
    let calls = 0;
    const chunk = (delta: Json, finish: string | null = null): void =>
      send({
        id,
        object: 'chat.completion.chunk',
        created: CREATED,
        model,
        choices: [{ index: 0, delta, finish_reason: finish }],
      });
    return {
      start: () => chunk({ role: 'assistant', content: '' }),
      text: (piece) => chunk({ content: piece }),
      thought: (piece) => chunk({ reasoning_content: piece }),
      call: (call) => {
        const index = calls++;
        const half = Math.ceil(call.arguments.length / 2);
        chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.name, arguments: '' } }] });
        for (const piece of [call.arguments.slice(0, half), call.arguments.slice(half)]) {
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
        }
      },
      end: (said) => {
        chunk({}, finishReason(said));
        const options = body.stream_options;
        const wanted = typeof options === 'object' && options !== null && 'include_usage' in options;
        if (wanted) {
          send({ id, object: 'chat.completion.chunk', created: CREATED, model, choices: [], usage: usage(said) });
        }
        send('[DONE]');
      },
    };
  },
  error: errorBody,
  streamedError: (error) => ({ event: errorBody(error) }),
};

const ERROR_TYPES: Readonly<Record<number, string>> = { 429: 'rate_limit_error' };

function errorBody({ status, message = 'scripted error', code }: ScriptedError): Json {
  const type = ERROR_TYPES[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  return { error: { message, type, param: null, code: code ?? null } };
}
