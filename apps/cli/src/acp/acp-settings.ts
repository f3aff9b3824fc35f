import type { LiveSetting, Offers } from '@concerto/protocol';

type Choice = { readonly id: string; readonly name?: string | undefined; readonly description?: string | undefined };

/** A `SessionConfigOption` of ACP. */
export type AcpOption = {
  readonly id: LiveSetting;
  readonly name: string;
  readonly category: string;
  readonly type: 'select';
  readonly currentValue: string;
  readonly options: readonly { readonly value: string; readonly name: string; readonly description?: string }[];
};

const kinds: Readonly<Record<LiveSetting, { readonly name: string; readonly category: string }>> = {
  mode: { name: 'Mode', category: 'mode' },
  model: { name: 'Model', category: 'model' },
  effort: { name: 'Effort', category: 'thought_level' },
};

/** What an editor can choose for a session: what the agent says that it has, where a session may set it. */
export function optionsOf(offers: Offers, settable: readonly string[]): readonly AcpOption[] {
  return [
    ...optionOf('mode', offers.mode, offers.modes),
    ...optionOf('model', offers.model, offers.models),
    ...optionOf('effort', offers.effort, offers.efforts),
  ].filter(({ id }) => settable.includes(id));
}

/** An editor has to be told which one stands; where nobody knows that yet, there is nothing to choose from. */
function optionOf(
  id: LiveSetting,
  current: string | undefined,
  choices: readonly Choice[] | undefined,
): readonly AcpOption[] {
  if (current === undefined || choices === undefined || choices.length === 0) return [];
  const all = choices.some((choice) => choice.id === current) ? choices : [{ id: current }, ...choices];
  const options = all.map(({ id: value, name = value, description }) => ({
    value,
    name,
    ...(description === undefined ? {} : { description }),
  }));
  return [{ id, ...kinds[id], type: 'select', currentValue: current, options }];
}

/** The same for editors that know modes alone. */
export function modesOf(options: readonly AcpOption[]): { readonly modes?: object } {
  const mode = options.find(({ id }) => id === 'mode');
  if (mode === undefined) return {};
  const availableModes = mode.options.map(({ value, ...rest }) => ({ id: value, ...rest }));
  return { modes: { currentModeId: mode.currentValue, availableModes } };
}
