import type { Json } from '@concerto/base';
import type { Conversation, Said, ScriptedToolCall, Wire } from '../script.ts';
import { openaiChat } from './openai-chat.ts';

const CREATED = 1_700_000_000;

type Item = { readonly [key: string]: Json };

function textItem(id: string, text: string): Item {
  const content = [{ type: 'output_text', text, annotations: [], logprobs: [] }];
  return { id: `msg_${id}`, type: 'message', status: 'completed', role: 'assistant', content };
}

function callItem(call: ScriptedToolCall): Item {
  const { kind, text } = formOf(call);
  return {
    id: `fc_${call.id}`,
    type: kind,
    status: 'completed',
    call_id: call.id,
    name: call.name,
    ...(call.namespace === undefined ? {} : { namespace: call.namespace }),
    [text]: call.arguments,
  };
}

/** What the wire calls a call, its text, and the pieces of that. */
function formOf({ isFreeform }: ScriptedToolCall): { kind: string; text: string; pieces: string } {
  return isFreeform === true
    ? { kind: 'custom_tool_call', text: 'input', pieces: 'custom_tool_call_input' }
    : { kind: 'function_call', text: 'arguments', pieces: 'function_call_arguments' };
}

function response({ id, model }: Conversation, status: string, said?: Said): Json {
  const output =
    said === undefined ? [] : [...(said.text === '' ? [] : [textItem(id, said.text)]), ...said.calls.map(callItem)];
  const reason = said?.finish === 'length' ? 'max_output_tokens' : 'content_filter';
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: CREATED,
    status,
    model,
    output,
    error: null,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
    ...(said === undefined
      ? {}
      : {
          usage: {
            input_tokens: said.usage.input,
            input_tokens_details: { cached_tokens: said.usage.cached },
            output_tokens: said.usage.output,
            output_tokens_details: { reasoning_tokens: 0 },
            total_tokens: said.usage.input + said.usage.output,
          },
        }),
  };
}

const statusOf = ({ finish }: Said): string => (finish === 'stop' ? 'completed' : 'incomplete');

/** `POST …/responses`. */
export const openaiResponses: Wire = {
  match: (path, body) =>
    path.endsWith('/responses') && typeof body.model === 'string'
      ? { model: body.model, streamed: body.stream === true }
      : undefined,
  whole: (said, about) => response(about, statusOf(said), said),
  stream: (send, about) => {
    let sequence = 0;
    let index = -1;
    let text: string | undefined;
    const event = (type: string, data: Item): void => send({ type, sequence_number: sequence++, ...data }, type);
    const place = () => ({ item_id: `msg_${about.id}`, output_index: index, content_index: 0 });
    const endText = (): void => {
      if (text === undefined) return;
      const item = textItem(about.id, text);
      event('response.output_text.done', { ...place(), text, logprobs: [] });
      event('response.content_part.done', {
        ...place(),
        part: { type: 'output_text', text, annotations: [], logprobs: [] },
      });
      event('response.output_item.done', { output_index: index, item });
      text = undefined;
    };
    return {
      start: () => {
        event('response.created', { response: response(about, 'in_progress') });
        event('response.in_progress', { response: response(about, 'in_progress') });
      },
      text: (piece) => {
        if (text === undefined) {
          text = '';
          index++;
          const item = { ...textItem(about.id, ''), status: 'in_progress', content: [] };
          event('response.output_item.added', { output_index: index, item });
          event('response.content_part.added', {
            ...place(),
            part: { type: 'output_text', text: '', annotations: [], logprobs: [] },
          });
        }
        text += piece;
        event('response.output_text.delta', { ...place(), delta: piece, logprobs: [] });
      },
      call: (call) => {
        endText();
        index++;
        const item = callItem(call);
        const at = { item_id: `fc_${call.id}`, output_index: index };
        const { text: field, pieces } = formOf(call);
        event('response.output_item.added', {
          output_index: index,
          item: { ...item, status: 'in_progress', [field]: '' },
        });
        event(`response.${pieces}.delta`, { ...at, delta: call.arguments });
        event(`response.${pieces}.done`, { ...at, [field]: call.arguments });
        event('response.output_item.done', { output_index: index, item });
      },
      end: (said) => {
        endText();
        const status = statusOf(said);
        event(`response.${status}`, { response: response(about, status, said) });
      },
    };
  },
  error: openaiChat.error,
  streamedError: ({ status, message = 'scripted error', code }) => {
    const error = { code: code ?? (status === 429 ? 'rate_limit_exceeded' : 'server_error'), message };
    const failed = { id: 'resp_failed', object: 'response', created_at: CREATED, status: 'failed', error, output: [] };
    return { event: { type: 'response.failed', sequence_number: 1, response: failed }, name: 'response.failed' };
  },
};
