import { err, type JsonObject, ok, type Result } from '@concerto/base';
import { type LiveSetting, liveSettings } from '@concerto/protocol';
import type { SessionSwitches } from '@concerto/protocol/acp';
import type { AgentSettings } from '../agent-connection.ts';

type Call = { readonly method: string; readonly params: JsonObject };
type Offer = { readonly ids: readonly string[]; readonly call: (value: string) => Call };

/** What the agent is asked to switch to, a call each; refused where it offers nothing of the kind. */
export function acpSwitches(switches: SessionSwitches, settings: AgentSettings): Result<readonly Call[], string> {
  const calls: Call[] = [];
  for (const setting of liveSettings) {
    const value = settings[setting];
    if (value === undefined) continue;
    const offer = offerOf(switches, setting);
    if (offer === undefined) return err(`offers no ${setting} to choose`);
    if (offer.ids.length > 0 && !offer.ids.includes(value)) {
      return err(`has no ${setting} ${JSON.stringify(value)}; it offers ${offer.ids.join(', ')}`);
    }
    calls.push(offer.call(value));
  }
  return ok(calls);
}

const categories: Readonly<Record<LiveSetting, readonly string[]>> = {
  model: ['model'],
  mode: ['mode'],
  effort: ['thought_level', 'effort'],
};

/** Agents have a call of its own for models and modes, or an option, or both. */
function offerOf({ models, modes, configOptions }: SessionSwitches, setting: LiveSetting): Offer | undefined {
  if (setting === 'mode' && modes?.availableModes != null) {
    return {
      ids: modes.availableModes.flatMap(({ id }) => id ?? []),
      call: (modeId) => ({ method: 'session/set_mode', params: { modeId } }),
    };
  }
  if (setting === 'model' && models?.availableModels != null) {
    return {
      ids: models.availableModels.flatMap(({ modelId }) => modelId ?? []),
      call: (modelId) => ({ method: 'session/set_model', params: { modelId } }),
    };
  }
  const option = (configOptions ?? []).find(({ id, category }) =>
    categories[setting].some((name) => name === category || name === id),
  );
  if (option === undefined) return undefined;
  return {
    ids: (option.options ?? []).flatMap(({ value, id }) => value ?? id ?? []),
    call: (value) => ({ method: 'session/set_config_option', params: { configId: option.id, value } }),
  };
}
