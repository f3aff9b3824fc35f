import type { Json } from '@concerto/base';
import type { Said, ScriptedError, ScriptedToolCall, Wire } from '../script.ts';

const PATH = /\/models\/([^/:]+):(generateContent|streamGenerateContent)$/;

function usageMetadata({ usage: { input, output, cached } }: Said): Json {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    cachedContentTokenCount: cached,
  };
}

function finishReason({ finish }: Said): string {
  if (finish === 'length') return 'MAX_TOKENS';
  return finish === 'filter' ? 'SAFETY' : 'STOP';
}

/** Gemini signs its calls and wants the signature back. */
function callPart(call: ScriptedToolCall): Json {
  const args: Json = JSON.parse(call.arguments);
  return { functionCall: { id: call.id, name: call.name, args }, thoughtSignature: `signature-of-${call.id}` };
}

const STATUS: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

/** `POST …/models/NAME:generateContent` and `:streamGenerateContent`. */
export const google: Wire = {
  match: (path) => {
    const found = PATH.exec(path);
    const [, model, method] = found ?? [];
    return model === undefined ? undefined : { model, streamed: method === 'streamGenerateContent' };
  },
  whole: (said, { id, model }) => ({
    candidates: [
      {
        index: 0,
        content: {
          role: 'model',
          parts: [...(said.text === '' ? [] : [{ text: said.text }]), ...said.calls.map(callPart)],
        },
        finishReason: finishReason(said),
      },
    ],
    usageMetadata: usageMetadata(said),
    modelVersion: model,
    responseId: id,
  }),
  stream: (send, { id, model }) => {
    const chunk = (parts: readonly Json[], more: { readonly [key: string]: Json } = {}, finish?: string): void =>
      send({
        candidates: [
          {
            index: 0,
            content: { role: 'model', parts: [...parts] },
            ...(finish === undefined ? {} : { finishReason: finish }),
          },
        ],
        modelVersion: model,
        responseId: id,
        ...more,
      });
    return {
      start: () => undefined,
      text: (piece) => chunk([{ text: piece }]),
      call: (call) => chunk([callPart(call)]),
      end: (said) => chunk([{ text: '' }], { usageMetadata: usageMetadata(said) }, finishReason(said)),
    };
  },
  error: errorBody,
  streamedError: (error) => ({ event: errorBody(error) }),
};

function errorBody({ status, message = 'scripted error', code }: ScriptedError): Json {
  return { error: { code: status, message, status: code ?? STATUS[status] ?? 'UNKNOWN' } };
}
