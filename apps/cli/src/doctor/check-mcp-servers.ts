import type { ManifestMcpServer } from '@concerto/language';
import { askMcpSignatures } from '@concerto/models';
import { within } from './deadline.ts';
import { type CheckTask, type Finding, failed, messageOf, passed, warned } from './finding.ts';

/** As long as a program waits for a server that says nothing about it. */
const connectMs = 30_000;

export function mcpTasks(
  servers: Readonly<Record<string, ManifestMcpServer>>,
  options: { readonly folder: string; readonly calledOff: AbortSignal },
): readonly CheckTask[] {
  return Object.entries(servers).map(([name, server]) => ({
    name: `mcp.${name}`,
    run: async (say) => {
      say(server.transport === 'stdio' ? 'starts it and asks for its tools' : 'asks it for its tools');
      return [await checkServer(name, server, options)];
    },
  }));
}

async function checkServer(
  name: string,
  server: ManifestMcpServer,
  { folder, calledOff }: { readonly folder: string; readonly calledOff: AbortSignal },
): Promise<Finding> {
  const check = `mcp.${name}`;
  const limitMs = server.timeout === undefined ? connectMs : server.timeout * 1000;
  const deadline = within(limitMs, calledOff);
  const started = Date.now();
  try {
    const place = { environment: process.env, directory: folder, signal: deadline };
    const tools = await askMcpSignatures(name, server, place);
    const what = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'} in ${Date.now() - started} ms`;
    return tools.length > 0
      ? passed(check, what)
      : warned(check, what, 'a server without tools is of no use here; check its arguments');
  } catch (cause) {
    const late = deadline.aborted && !calledOff.aborted;
    const message = late ? `no list of tools within ${limitMs / 1000} s` : messageOf(cause);
    const help =
      server.transport === 'stdio'
        ? `try its command by hand; correct \`command\`, \`args\`, \`env\` or \`timeout\` in [mcp.${name}]`
        : `check that it runs at its \`url\`; correct \`url\`, \`headers\` or \`timeout\` in [mcp.${name}]`;
    return failed(check, message, help);
  }
}
