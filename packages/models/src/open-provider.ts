import type { LanguageModelV3 } from '@ai-sdk/provider';
import { unreachable } from '@concerto/base';
import type { Connection } from './connection.ts';

/** Under this name the options of an OpenAI-compatible provider are passed. */
export const COMPATIBLE = 'compatible';

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
        ...(organization === undefined ? {} : { organization }),
        ...(project === undefined ? {} : { project }),
      });
      return wire === 'openai-chat' ? openai.chat(model) : openai.responses(model);
    }
    case 'anthropic': {
      const { createAnthropic } = await import('@ai-sdk/anthropic');
      return createAnthropic({ baseURL, apiKey, headers: { ...headers } })(model);
    }
    case 'google': {
      const { createGoogleGenerativeAI } = await import('@ai-sdk/google');
      return createGoogleGenerativeAI({ baseURL, apiKey, headers: { ...headers } })(model);
    }
    case 'compatible': {
      const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible');
      return createOpenAICompatible({
        name: COMPATIBLE,
        baseURL,
        headers: { ...headers },
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
