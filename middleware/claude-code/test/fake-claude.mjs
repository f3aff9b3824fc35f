#!/usr/bin/env node
// Stands in for `claude` where only the process matters: it speaks the same lines, and a prompt says what it does.
import { createInterface } from 'node:readline';

const session = process.argv.includes('--resume') ? process.argv.at(process.argv.indexOf('--resume') + 1) : 'session-1';
const say = (message) => process.stdout.write(`${JSON.stringify({ session_id: session, ...message })}\n`);
const end = (fields) =>
  say({
    type: 'result',
    subtype: 'success',
    is_error: false,
    total_cost_usd: 0.5,
    usage: { output_tokens: 1 },
    ...fields,
  });

let isDeaf = false;

createInterface({ input: process.stdin }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.type === 'control_request' && message.request.subtype === 'interrupt' && !isDeaf) {
    end({ subtype: 'error_during_execution', is_error: true, terminal_reason: 'aborted_streaming' });
  }
  if (message.type === 'control_response') end({ result: JSON.stringify(message.response) });
  if (message.type !== 'user') return;
  const [what, ...rest] = message.message.content.split(' ');
  say({ type: 'system', subtype: 'init', model: 'fake', claude_code_version: '0' });
  if (what === 'say') end({ result: `${session} in ${process.cwd()}: ${rest.join(' ')}` });
  if (what === 'die') {
    process.stderr.write('out of memory\n');
    process.exit(3);
  }
  if (what === 'deaf') isDeaf = true;
  if (what === 'use') {
    const request = { subtype: 'can_use_tool', tool_name: 'Bash', input: { command: rest.join(' ') } };
    say({ type: 'control_request', request_id: 'u-1', request });
  }
  if (what === 'hook') say({ type: 'control_request', request_id: 'h-1', request: { subtype: 'hook_callback' } });
});
