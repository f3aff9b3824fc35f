import type { JsonObject } from '@concerto/base';
import type { SessionSwitches, SessionUpdate } from '@concerto/protocol/acp';
import type { AgentOutput, AgentSettings } from '../agent-connection.ts';
import { agentInfo } from '../driver-output.ts';

type Choice = NonNullable<NonNullable<SessionSwitches['modes']>['availableModes']>[number];

/** What the agent can be switched to, and what stands. */
export function switchesInfo(
  { modes, models, configOptions }: SessionSwitches,
  more: AgentSettings & { readonly version?: string; readonly extra?: JsonObject } = {},
): AgentOutput {
  const option = (category: string) =>
    configOptions?.find((candidate) => (candidate.category ?? candidate.id) === category);
  const offeredModels = models?.availableModels ?? option('model')?.options;
  const offeredModes = modes?.availableModes ?? option('mode')?.options;
  const efforts = option('thought_level')?.options ?? option('effort')?.options;
  const effort = textOf((option('thought_level') ?? option('effort'))?.currentValue);
  const model = models?.currentModelId ?? textOf(option('model')?.currentValue);
  const mode = modes?.currentModeId ?? textOf(option('mode')?.currentValue);
  return agentInfo({
    ...(offeredModels == null ? {} : { models: offeredModels.flatMap(offered) }),
    ...(model === undefined ? {} : { model }),
    ...(offeredModes == null ? {} : { modes: offeredModes.flatMap(offered) }),
    ...(mode === undefined ? {} : { mode }),
    ...(efforts == null ? {} : { efforts: efforts.flatMap(offered) }),
    ...(effort === undefined ? {} : { effort }),
    ...more,
  });
}

/** An update that is about the agent and not about a turn. */
export function updateInfo(update: SessionUpdate): AgentOutput | undefined {
  switch (update.sessionUpdate) {
    case 'available_commands_update':
      return agentInfo({
        commands: update.availableCommands.map(({ name, description, input }) => ({
          name,
          ...(description == null ? {} : { description }),
          ...(input?.hint == null ? {} : { hint: input.hint }),
        })),
      });
    case 'current_mode_update':
      return agentInfo({ mode: update.currentModeId });
    case 'config_option_update':
      return switchesInfo(update);
    case 'session_info_update':
      return agentInfo({ extra: { title: update.title ?? null } });
    default:
      return undefined;
  }
}

function offered({ id, modelId, value, name, description }: Choice) {
  const key = id ?? modelId ?? value;
  if (key == null) return [];
  return [{ id: key, ...(name == null ? {} : { name }), ...(description == null ? {} : { description }) }];
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
