import type { ManifestConnection } from '@concerto/language';
import { createModels, type Models } from '@concerto/models';
import { within } from './deadline.ts';
import { type CheckTask, type Finding, failed, messageOf, passed, warned } from './finding.ts';

/** Any name will do to see whether a connection itself is complete. */
export const anyModel = 'any';
const question = 'Answer with the one word: ready';
/** Enough for a word; less is refused by some providers. */
const answerTokens = 64;

const addressVariables: Readonly<Record<string, string>> = {
  openai: 'OPENAI_BASE_URL',
  'openai-responses': 'OPENAI_BASE_URL',
  anthropic: 'ANTHROPIC_BASE_URL',
};

export type ConnectionOptions = {
  /** Ask each provider one small question. */
  readonly online: boolean;
  readonly timeoutMs: number;
  readonly calledOff: AbortSignal;
};

export function connectionTasks(
  connections: Readonly<Record<string, ManifestConnection>>,
  options: ConnectionOptions,
): readonly CheckTask[] {
  const models = createModels({ connections, environment: process.env });
  return Object.entries(connections).map(([name, connection]) => {
    const check = `connection.${name}`;
    return {
      name: check,
      run: async (say) => {
        const fault = models.fault(name, anyModel);
        if (fault !== undefined) return [failed(check, fault.message, faultHelp(connection))];
        const offline = passed(check, describe(connection));
        if (!options.online) return [offline];
        say('waits for its answer');
        return [offline, await ask(models, name, connection, options)];
      },
    };
  });
}

function faultHelp({ provider, api_key_env: variable }: ManifestConnection): string {
  if (variable === undefined) return `correct the connection (provider "${provider}") in the manifest`;
  return `set ${variable} in the environment of the server (\`export ${variable}=…\`), or correct the manifest`;
}

function describe({ provider, api_key_env: variable, base_url: address }: ManifestConnection): string {
  if (provider === 'mock') return 'mock: needs no key and no network';
  const override = addressVariables[provider];
  const overridden = override === undefined ? undefined : process.env[override];
  const key = variable === undefined ? 'needs no key' : `${variable} is set`;
  if (override !== undefined && overridden !== undefined && overridden !== '')
    return `${provider}: ${key}; ${override} sends it to ${withoutPassword(overridden)}`;
  return `${provider}: ${key}${address === undefined ? '' : `; base_url ${withoutPassword(address)}`}`;
}

function withoutPassword(address: string): string {
  if (!URL.canParse(address)) return 'an address that cannot be read';
  const { protocol, host, pathname } = new URL(address);
  return `${protocol}//${host}${pathname}`;
}

async function ask(
  models: Models,
  name: string,
  connection: ManifestConnection,
  { timeoutMs, calledOff }: ConnectionOptions,
): Promise<Finding> {
  const check = `connection.${name}.online`;
  const model = connection.default_model ?? Object.keys(connection.models)[0];
  if (model === undefined && connection.provider !== 'mock')
    return warned(check, 'no model to ask for', `set \`default_model\` in [connections.${name}]`);
  try {
    const messages = [{ role: 'user', content: question } as const];
    const signal = within(timeoutMs, calledOff);
    const reply = await models.execute({
      connection: name,
      model,
      messages,
      maxTokens: answerTokens,
      timeoutMs,
      signal,
    });
    return passed(check, `${reply.model} answered in ${reply.latencyMs} ms`);
  } catch (cause) {
    const help = 'check the key, the model and the network; --timeout gives it more time';
    return failed(check, `${model ?? 'it'} did not answer: ${messageOf(cause)}`, help);
  }
}
