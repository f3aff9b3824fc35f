import { RuleList } from '@concerto/protocol';
import { afterEach, describe, expect, test } from 'vitest';
import { type CalledApp, callApp } from './called-app.ts';

let opened: CalledApp | undefined;
afterEach(async () => {
  await opened?.close();
});

function open(): CalledApp {
  opened = callApp({ rules: [{ tool: 'Read', decide: 'allow' }] });
  return opened;
}

const put = (app: CalledApp, body: unknown) => app.ask('/api/rules', { method: 'PUT', body });
const listed = async (app: CalledApp): Promise<RuleList> => RuleList.parse(await (await app.ask('/api/rules')).json());

describe('the rules of the store', () => {
  test('what GET gives can be put back, with or without the beginning of an id: whoever added a rule stays', async () => {
    const app = open();
    const from = { session: 's_1', requestId: 'r_1' };
    const first = [
      { id: 'mine', tool: 'Deploy', decide: 'deny', addedBy: 'user:ann', from },
      { command: ['ls *'], decide: 'answer:x' },
    ];
    expect((await put(app, { rules: first, version: 0 })).status).toBe(200);
    const before = await listed(app);
    const rows = before.rules.filter(({ source }) => source === 'store');
    expect(rows[0]).toMatchObject({ id: 'rule:store.mine', addedBy: 'user:ann', from });
    const again = await put(app, { rules: rows, version: before.version });
    expect(again.status).toBe(200);
    expect(RuleList.parse(await again.json()).rules).toEqual(before.rules);
    const bare = { id: 'mine', tool: 'Deploy', decide: 'ask' };
    const changed = await put(app, { rules: [bare], version: before.version + 1 });
    expect(RuleList.parse(await changed.json()).rules.at(-1)).toEqual({
      ...bare,
      id: 'rule:store.mine',
      source: 'store',
      addedBy: 'user:ann',
      from,
    });
  });

  test('a rule of the manifest is refused with what to do, and nothing is changed', async () => {
    const app = open();
    const before = await listed(app);
    const refused = await put(app, before);
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      code: 'invalid_rules',
      detail: expect.stringMatching(/^rule:all\.1 stands in the manifest: .*leave it out/),
    });
    expect(await listed(app)).toEqual(before);
    for (const id of ['rule:agents.echo.1', 'rule:store.', 'a b']) {
      const response = await put(app, { rules: [{ id, decide: 'ask' }], version: 0 });
      expect(await response.json()).toMatchObject({
        status: 422,
        code: 'invalid_rules',
        detail: expect.stringContaining(id),
      });
    }
    const twice = [
      { id: 'rule:store.a', decide: 'ask' },
      { id: 'a', decide: 'ask' },
    ];
    expect(await (await put(app, { rules: twice, version: 0 })).json()).toMatchObject({ code: 'invalid_rules' });
  });
});
