/** The import table of docs/ARCHITECTURE.md. A room that is not here fails the test: decide where it belongs first. */
export type Room = {
  /** Rooms it may import, by folder name. */
  readonly rooms: readonly string[];
  /** Packages from outside; a trailing `*` matches a prefix. */
  readonly packages: readonly string[];
  readonly kind: 'pure' | 'node' | 'browser';
};

const bottom = ['base', 'protocol'];
const below = [
  'base',
  'protocol',
  'signals',
  'ir',
  'language',
  'vm',
  'rules',
  'session',
  'log',
  'keeper',
  'agents',
  'agent-kit',
  'models',
];

/** Files of the command that write to a terminal by themselves, and why; the others do it through `terminal/print.ts`. */
export const writesItself: Readonly<Record<string, string>> = {
  'apps/cli/src/main.ts': 'what is said before any command runs is harmless already; and it waits until all is written',
  'apps/cli/src/doctor/doctor-report.ts': 'one line that is drawn again and again, made harmless there',
  'apps/cli/src/store-command.ts': 'one line that is drawn again and again, of numbers',
  'apps/cli/src/signals-command.ts': 'JSON for other programs at the pace of the pipe, escaped',
};

export const rooms: Readonly<Record<string, Room>> = {
  'packages/base': { rooms: [], packages: [], kind: 'pure' },
  'packages/protocol': { rooms: ['base'], packages: ['zod'], kind: 'pure' },
  'packages/ir': { rooms: ['base'], packages: ['zod'], kind: 'pure' },
  'packages/signals': { rooms: [], packages: [], kind: 'pure' },
  'packages/language': { rooms: ['base', 'ir'], packages: ['smol-toml', 'zod'], kind: 'pure' },
  'packages/vm': { rooms: ['base', 'ir'], packages: [], kind: 'pure' },
  'packages/rules': { rooms: bottom, packages: [], kind: 'pure' },
  'packages/wires': { rooms: bottom, packages: ['zod'], kind: 'pure' },
  'packages/session': { rooms: bottom, packages: [], kind: 'pure' },
  'packages/log': { rooms: bottom, packages: ['libsql', 'redis'], kind: 'node' },
  'packages/keeper': { rooms: [], packages: [], kind: 'node' },
  'packages/agents': { rooms: [...bottom, 'keeper'], packages: ['diff'], kind: 'node' },
  'packages/agent-kit': { rooms: bottom, packages: [], kind: 'node' },
  'packages/models': {
    rooms: ['base', 'protocol', 'signals'],
    packages: ['ai', '@ai-sdk/*', '@modelcontextprotocol/client', 'zod'],
    kind: 'node',
  },
  'packages/runtime': { rooms: below, packages: ['zod'], kind: 'node' },
  'packages/language-server': { rooms: ['base', 'language'], packages: ['vscode-languageserver*'], kind: 'node' },
  'packages/server': {
    rooms: ['base', 'protocol', 'session', 'wires', 'log', 'runtime'],
    packages: ['hono', '@hono/node-server', 'zod'],
    kind: 'node',
  },
  'packages/client': { rooms: bottom, packages: [], kind: 'browser' },
  'packages/mcp': {
    rooms: [...bottom, 'wires', 'client'],
    packages: ['@modelcontextprotocol/server', 'zod'],
    kind: 'node',
  },
  'apps/web': {
    rooms: ['base', 'protocol', 'client', 'language'],
    packages: [
      '@codemirror/*',
      '@xyflow/react',
      'react',
      'react-dom',
      'marked',
      'lowlight',
      'highlight.js',
      'diff',
      'vite',
      '@vitejs/*',
    ],
    kind: 'browser',
  },
  'apps/cli': {
    rooms: [...below, 'wires', 'runtime', 'server', 'client', 'mcp', 'language-server', 'middleware-scripted'],
    packages: ['pino', 'zod'],
    kind: 'node',
  },
  'middleware/scripted': { rooms: ['base', 'protocol', 'agent-kit'], packages: ['zod'], kind: 'node' },
  'middleware/claude-code': { rooms: ['base', 'agents'], packages: [], kind: 'node' },
};

/** What a pure room must not name: the clock, chance, ids, the console, timers, the network. */
export const impure =
  /\b(Date\.now|new Date\(\)|Math\.random|crypto\.|performance\.now|setTimeout|setInterval|setImmediate|queueMicrotask|console\.|process\.|fetch\()/;

/** Files of pure rooms with a variable of the module, and why that changes no result. */
export const keepingFiles: Readonly<Record<string, string>> = {
  'packages/session/src/session/iso-time.ts': 'the two instants that were written last',
  'packages/vm/src/text.ts': 'the characters of the text that was measured last',
};

/** Files of pure rooms that name it for a reason: a default that every caller may replace, and nothing else. */
export const impureFiles: Readonly<Record<string, string>> = {
  'packages/signals/src/system-clock.ts': 'the clock of a parser that is given none; the package stands alone',
};

export const fileLinesMax = 400;
export const functionLinesMax = 70;

/** Files and functions that are longer for a reason; each says which. Shorten the list, never lengthen it without one. */
export const longFiles: Readonly<Record<string, string>> = {
  'packages/vm/src/interpreter.ts':
    'one dispatch over all opcodes, with the frame in local variables: split, it would run at half the speed',
};
export const longFunctions: Readonly<Record<string, string>> = {
  'packages/vm/src/interpreter.ts#interpret':
    'one switch is one jump table; a call for each instruction would cost more than most of them do',
};
