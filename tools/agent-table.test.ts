import { expect, test } from 'vitest';
// @ts-expect-error: a tool without types.
import { agentPrograms } from './agent-programs.mjs';
// @ts-expect-error: a tool without types.
import { agentTable } from './agent-table.mjs';

test('the table of the agents is what their tests have shown, at the versions that are tested', () => {
  const { text, expected, versions } = agentTable();
  expect(text).toBe(expected);
  for (const [variable, version] of Object.entries(versions)) expect(agentPrograms[variable].version).toBe(version);
});
