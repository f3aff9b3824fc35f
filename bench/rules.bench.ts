import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startAgent } from '@concerto/agents';
import { follow, openEventLog } from '@concerto/log';
import type { Rule } from '@concerto/protocol';
import { type NamedRule, type RuleRequest, RuleSet, requestOf } from '@concerto/rules';
import { ProcessRegister, Runner } from '@concerto/runtime';
import { openHouse } from './house.ts';
import { compare, type Row } from './row.ts';

export const name = 'rules: a thousand against a request, and what they cost on its way to a person';

const decisions = 20_000;
/** Decisions a second that a busy server must be able to make. */
const wantedPerSecond = 50_000;

export async function run(): Promise<readonly Row[]> {
  return [await thousandRules(), await routing()];
}

/** Commands, paths and names in turn; none of them is about what is asked. */
const rules: readonly Rule[] = Array.from({ length: 1_000 }, (_, n): Rule => {
  if (n % 3 === 0) return { tool: 'Bash', command: `tool-${n} *`, decide: 'deny' };
  if (n % 3 === 1) return { tool: ['Edit', 'Write'], path: `packages/room-${n}/**`, decide: 'allow' };
  return { tool: `Tool${n}`, server: `server-${n}`, decide: 'ask' };
});

async function thousandRules(): Promise<Row> {
  const set = new RuleSet(rules.map((rule, index): NamedRule => ({ id: `all.${index + 1}`, rule })));
  const asked: readonly RuleRequest[] = [
    { tool: 'Bash', kind: 'execute', command: 'npm test -- --run' },
    { tool: 'Edit', kind: 'edit', paths: ['src/deep/in/the/tree.ts'] },
    { tool: 'Read', kind: 'read', paths: ['README.md'] },
  ].map((scope) =>
    requestOf(
      { type: 'queryConsent', requestId: 'q', consentType: 'approval', scope, graphUrl: '' },
      { agent: 'coder', folder: '/project' },
    ),
  );
  const perSecond = (): number => {
    const from = process.hrtime.bigint();
    let passed = 0;
    for (let n = 0; n < decisions; n++) {
      const request = asked[n % asked.length];
      if (request !== undefined && set.decide(request).decide === 'pass') passed += 1;
    }
    if (passed !== decisions) throw new Error('a rule decided what none is about');
    return (decisions * 1e9) / Number(process.hrtime.bigint() - from);
  };
  return await compare(
    { name: '1,000 rules against a request', unit: 'decisions/s', target: '>= 1' },
    { ours: perSecond, reference: () => wantedPerSecond },
  );
}

const questionsARound = 150;

/** Asks for leave so often, one after another, and tells how long a yes took. */
const asker = `
import { createInterface } from 'node:readline';
const ask = '{"type":"approval","id":"q","description":"npm test","tool":"Bash","command":"npm test -- --run"}\\n';
let left = 0;
let asked = 0;
let took = [];
createInterface({ input: process.stdin }).on('line', (text) => {
  const message = JSON.parse(text);
  if (message.type === 'response') took.push(performance.now() - asked);
  if (message.type === 'prompt') {
    left = Number(message.text);
    took = [];
  }
  if (left-- <= 0) {
    const median = took.sort((a, b) => a - b)[took.length >> 1] ?? 0;
    return process.stdout.write(JSON.stringify({ type: 'result', text: String(median * 1000) }) + '\\n');
  }
  asked = performance.now();
  process.stdout.write(ask);
});`;

/** From the agent's question to its answer by a person, durable, with a thousand rules that pass and with none. */
async function routing(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'concerto-bench-'));
  writeFileSync(join(folder, 'asker.mjs'), asker);
  const stage = await openStage(folder);
  try {
    return await compare(
      { name: 'question to answer past 1,000 rules, against none', unit: 'µs', target: '<= 1.2' },
      { ours: () => stage.trips('ruled'), reference: () => stage.trips('plain') },
    );
  } finally {
    await stage.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The runtime in this process, as a server has it. */
async function openStage(folder: string) {
  const log = await openEventLog(`sqlite:${join(folder, 'routing.db')}`, { now: Date.now });
  const agent = (named: string, own: readonly Rule[]) => {
    const spec = { name: named, command: process.execPath, args: ['asker.mjs'], workingDir: folder };
    return { kind: 'agent', name: named, spec: { ...spec, inputFormat: 'json' }, rules: [...own] } as const;
  };
  const { house, sessions } = openHouse(log, { entries: [agent('plain', []), agent('ruled', rules)] });
  const runner = new Runner({ ...house, name: 'bench', startAgent, processes: new ProcessRegister(log) });
  runner.start();
  const person = { actor: 'user:bench', key: undefined };
  return {
    trips: async (named: string): Promise<number> => {
      const request = { agent: named, prompt: String(questionsARound), once: true };
      const started = await sessions.start(request, person);
      if (!started.ok) throw new Error(started.error.message);
      const session = started.value.id;
      for await (const page of follow(log, { session, stream: 'events', after: 0 })) {
        for (const { data } of page.entries) {
          const event: { type: string; requestId?: string } = JSON.parse(data);
          if (event.type === 'queryConsent') {
            await sessions.answer({ session, request: event.requestId ?? '' }, { response: true }, person);
          }
          if (event.type === 'finish') {
            const { result } = (await sessions.get(session)) ?? {};
            return Number(/\d+(\.\d+)?/.exec(JSON.stringify(result))?.[0]);
          }
        }
      }
      throw new Error('the log ended');
    },
    close: async () => {
      await runner.stop('the benchmark is over');
      await log.close();
    },
  };
}
