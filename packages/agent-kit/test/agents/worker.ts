// Says everything that an agent can say of its work.
import { serveAgent } from '@concerto/agent-kit';

const patch = '@@ -1 +1 @@\n-a\n+b\n';

await serveAgent({
  async prompt(_prompt, turn) {
    turn.plan([{ content: 'Look', status: 'in_progress' }, { content: 'Edit' }]);
    turn.thought('First a look.', 'm1');
    turn.partial('I will ', 'm1');
    turn.message('I will look.', 'm1');
    const look = turn.tool('Bash', { args: { command: 'ls' }, kind: 'execute', message: 'm1' });
    look.output('a.ts\n');
    look.result('a.ts');
    const changes = [{ path: 'a.ts', patch }];
    const edit = turn.tool('Edit', { kind: 'edit', locations: [{ path: 'a.ts', line: 1 }], changes, parent: look.id });
    const isAllowed = await turn.approve('Edit a.ts', { call: edit.id, tool: 'Edit', paths: ['a.ts'] });
    edit.result(isAllowed ? { written: 2 } : 'not allowed', { outcome: isAllowed ? 'ok' : 'denied', changes });
    turn.usage({
      inputTokens: 100,
      outputTokens: 20,
      costUsd: 0.01,
      model: 'small',
      context: { used: 120, size: 1000 },
    });
    return { text: 'I will look.', message: 'm1' };
  },
});
