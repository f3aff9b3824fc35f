import type { LanguageModelV3 } from '@ai-sdk/provider';
import { unreachable, withoutHalves } from '@concerto/base';
import type { Connection } from './connection.ts';

/** Under this name the options of an OpenAI-compatible provider are passed. */
export const COMPATIBLE = 'compatible';

/** A provider refuses half a character, which a tool or an agent may have given, and with it all that was said since. */
const strictly: typeof fetch = (address, request) =>
  fetch(address, typeof request?.body === 'string' ? { ...request, body: withoutHalves(request.body) } : request);

/** Loads the one library that speaks the connection's wire: a program that asks no model pays for none. */
export async function openProvider(connection: Connection, model: string): Promise<LanguageModelV3> {
  const { wire, address: baseURL, headers, key: apiKey = '', settings } = connection;
  switch (wire) {
    case 'openai-chat':
    case 'openai-responses': {
      const { createOpenAI } = await import('@ai-sdk/openai');
      const { organization, project } = settings;
      const openai = createOpenAI({
        baseURL,
        apiKey,
        headers: { ...headers },
        fetch: strictly,
        ...(organization === undefined ? {} : { organization }),
        ...(project === undefined ? {} : { project }),
      });
      return wire === 'openai-chat' ? openai.chat(model) : openai.responses(model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL, apiKey, headers: { ...headers }, fetch: strictly })(model);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ baseURL, apiKey, headers: { ...headers }, fetch: strictly })(model);
    }
    case 'compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name: COMPATIBLE,
        baseURL,
        headers: { ...headers },
        fetch: strictly,
        includeUsage: true,
        supportsStructuredOutputs: true,
        ...(connection.key === undefined ? {} : { apiKey }),
      })(model);
    }
    case 'mock':
      throw new TypeError('the mock has no provider');
    default:
      return unreachable(wire);
  }
}
