// The real agent programs that `npm run test:agents` installs and drives.

/** Pinned: their wire changes from week to week, and npm would choose an older one for Node 20. */
export const agentPrograms = {
  CONCERTO_TEST_CLAUDE: { name: '@anthropic-ai/claude-code', version: '2.1.325', bin: 'claude' },
  CONCERTO_TEST_CODEX: { name: '@openai/codex', version: '0.166.0', bin: 'codex' },
  // Without its optional part, which is the program above once more.
  CONCERTO_TEST_CLAUDE_ACP: {
    name: '@agentclientprotocol/claude-agent-acp',
    version: '0.99.1',
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
