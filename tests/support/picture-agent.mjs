// An agent for pictures of the page: whatever it is asked, it looks around, plans, runs the tests and wants to change
// two files. It speaks the agent wire by hand, so that it starts at once.
import { createInterface } from 'node:readline';

const send = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const esc = '\u001b';
const patch = `--- a/src/auth/token.ts
+++ b/src/auth/token.ts
@@ -12,10 +12,11 @@ import { config } from '../config.ts';
 
 /** Signs a token for a user. */
 export function sign(user: User): string {
-  const secret = config.sharedSecret;
-  return jwt.sign({ sub: user.id }, secret, { algorithm: 'HS256' });
+  const key = privateKey();
+  return jwt.sign({ sub: user.id }, key, { algorithm: 'RS256', expiresIn: '15m' });
 }
 
-export const lifetime = 3600;
+/** Short, because a token cannot be taken back. */
+export const lifetime = 900;
 
 export type { User };
`;
const created = `--- /dev/null
+++ b/src/auth/keys.ts
@@ -0,0 +1,5 @@
+import { readFileSync } from 'node:fs';
+
+export function privateKey(): string {
+  return readFileSync(process.env.KEY_FILE ?? 'key.pem', 'utf8');
+}
`;
const plan = (...states) => ({
  type: 'plan',
  entries: ['Read how tokens are signed', 'Sign with a key pair', 'Run the tests', 'Write the change down'].map(
    (content, index) => ({ content, status: states[index] ?? 'pending' }),
  ),
});
const changes = [
  { path: 'src/auth/token.ts', kind: 'edit', patch },
  { path: 'src/auth/keys.ts', kind: 'create', patch: created },
];

function work() {
  send({
    type: 'thought',
    text: 'The login signs with a shared secret. Two services know it, so either can forge a token.',
  });
  send(plan('in_progress'));
  send({
    type: 'tool_call',
    id: 'r1',
    name: 'Read',
    kind: 'read',
    args: { path: 'src/auth/token.ts' },
    locations: [{ path: 'src/auth/token.ts' }],
  });
  send({ type: 'tool_result', id: 'r1', content: 'export function sign(user: User): string {\n  …\n}' });
  send({
    type: 'message',
    text: 'Tokens are signed with **HS256** and a secret that two services share. I will\n\n1. sign with a key pair (`RS256`),\n2. shorten their life to 15 minutes.\n\n| | now | then |\n|---|---|---|\n| algorithm | HS256 | RS256 |\n| lifetime | 1 h | 15 min |\n',
  });
  send(plan('completed', 'in_progress'));
  send({
    type: 'tool_call',
    id: 't1',
    name: 'Bash',
    title: 'Run the tests',
    kind: 'execute',
    args: { command: 'npm test -- src/auth' },
  });
  send({
    type: 'tool_output',
    id: 't1',
    text: `${esc}[2m> test${esc}[0m\n${esc}[32m✓${esc}[0m token.test.ts ${esc}[2m(6 tests)${esc}[0m\n${esc}[31m✗${esc}[0m login.test.ts ${esc}[2m(1 of 9 failed)${esc}[0m\n  ${esc}[31mAssertionError${esc}[0m: expected 'HS256' to be 'RS256'\n`,
  });
  send({ type: 'tool_result', id: 't1', content: 'exit code 1', outcome: 'failed' });
  send({
    type: 'usage',
    input_tokens: 48_200,
    output_tokens: 3_100,
    cost_usd: 0.21,
    context: { used: 61_000, size: 200_000 },
  });
  send({
    type: 'approval',
    id: 'a1',
    description: 'Edit src/auth/token.ts and create src/auth/keys.ts',
    tool: 'Edit',
    kind: 'edit',
    risk_level: 'medium',
    changes,
  });
}

function finish({ value }) {
  if (value !== 'yes') return send({ type: 'result', text: 'Left as it was.' });
  send({ type: 'tool_call', id: 'e1', name: 'Edit', kind: 'edit', args: {}, changes });
  send({ type: 'tool_result', id: 'e1', content: 'ok' });
  send(plan('completed', 'completed', 'completed', 'in_progress'));
  send({ type: 'result', text: 'Tokens are now signed with **RS256** and live for 15 minutes. All 15 tests pass.' });
}

send({ type: 'init_ack', version: '1', capabilities: ['steer', 'interrupt', 'pause', 'resume', 'cancel'] });
createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'prompt') {
    if (/question/i.test(message.text))
      return send({
        type: 'question',
        id: 'q1',
        question: 'Which of the two databases should the invoices go to?',
        options: ['The old one', 'The new one'],
      });
    if (/fail/i.test(message.text)) return send({ type: 'error', message: 'The registry did not answer within 30 s' });
    return work();
  }
  if (message.type === 'response') return finish(message);
  if (message.type !== 'init') send({ type: 'ack', in_reply_to: message.type, in_reply_to_id: message.id });
});
