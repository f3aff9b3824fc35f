import { describe, expect, test } from 'vitest';
import { applyFixes } from '../diagnostics/apply-fixes.ts';
import { positionAt } from '../source/source-file.ts';
import { readManifest } from './read-manifest.ts';

const PROJECT = '[project]\nname = "p"\nversion = "0.1.0"\nentry = "src/main.conc"\n';

function problems(text: string): string[] {
  const { diagnostics, file } = readManifest(text);
  return diagnostics.map(
    ({ severity, span, message }) => `${severity} ${positionAt(file, span.start).line}: ${message}`,
  );
}

function fixed(text: string): string {
  return applyFixes(
    text,
    readManifest(text).diagnostics.flatMap(({ fix }) => fix ?? []),
  ).text;
}

describe('a good manifest', () => {
  test('has its defaults', () => {
    const { manifest, diagnostics } = readManifest(PROJECT);
    expect(diagnostics).toEqual([]);
    expect(manifest).toMatchObject({ project: { entry: 'src/main.conc' }, agents: {}, pool: { max_sessions: 20 } });
  });

  test('of a server need not be a project', () => {
    const { manifest, diagnostics } = readManifest('[agents.a]\ncommand = "x"\n');
    expect(diagnostics).toEqual([]);
    expect(manifest?.project).toBeUndefined();
  });

  test('says who answers', () => {
    const text = `[agents.a]
command = "x"
answer_within = "10m"
on_timeout = "answer:later"
[[agents.a.rules]]
tool = ["Read", "Grep"]
decide = "allow"
[[rules]]
risk = "low"
decide = "ask"
`;
    const { manifest, diagnostics } = readManifest(text);
    expect(diagnostics).toEqual([]);
    expect(manifest?.agents.a).toMatchObject({
      answer_within: '10m',
      on_timeout: 'answer:later',
      rules: [{ tool: ['Read', 'Grep'], decide: 'allow' }],
    });
    expect(manifest?.rules).toEqual([{ risk: 'low', decide: 'ask' }]);
  });

  test.each([
    ['[[rules]]\ntol = "x"\ndecide = "ask"\n', 'tool'],
    ['[[rules]]\ntool = "x"\ndecide = "maybe"\n', '"allow", "deny", "ask"'],
    ['[agents.a]\ncommand = "x"\nanswer_within = "soon"\n', '"10m"'],
    ['[agents.a]\ncommand = "x"\non_timeout = "explode"\n', '"keep"'],
  ])('refuses %j', (text, word) => {
    expect(problems(text).join()).toContain(word);
  });

  test('a list is named as it is written, and a key that is misspelt is told once', () => {
    expect(problems('[[rules]]\ndecid = "ask"\n')).toEqual([
      expect.stringContaining('unknown key `decid` in [[rules]]; did you mean `decide`?'),
    ]);
    expect(problems('[agents.0]\ncommand = "x"\n[[agents.0.rules]]\ntool = "x"\n').join()).toContain(
      '`decide` is missing in [[agents.0.rules]]',
    );
    expect(problems('[agents.0]\ncomand = "x"\n').join()).toContain('in [agents.0]');
    expect(problems('[mcp.m]\ncommand = "x"\n')).toEqual([
      expect.stringContaining('`transport` is missing in [mcp.m]; it is one of stdio, http, sse'),
    ]);
  });

  test('has everything the contract names', () => {
    const text = `${PROJECT}
[connections.local]
provider = "mock"
models = { fast = "small" }
[connections.local.retry]
max_attempts = 3
[agents.worker]
protocol = "acp"
command = "node"
args = ["w.mjs"]
env = { A = "b" }
working_dir = "w"
input_format = "json"
output_format = "text"
plain_text = "log"
timeout = 600
idle_timeout = 1.5
instances = 2
[agents.worker.params]
model = "opus"
nested = { on = true, list = [1, 2.5] }
[mcp.files]
transport = "http"
url = "http://127.0.0.1:1/mcp"
[programs.main]
entry = "a.conc"
[assistants.helper]
connection = "local"
mode = "signals"
[templates.start]
agent = "worker"
prompt = "go"
[pool]
max_sessions = 5
[server]
port = 0
`;
    const { manifest, diagnostics } = readManifest(text);
    expect(diagnostics).toEqual([]);
    expect(manifest?.agents.worker).toMatchObject({
      protocol: 'acp',
      transport: 'stdio',
      params: { model: 'opus', nested: { on: true, list: [1, 2.5] } },
    });
    expect(manifest?.connections.local?.retry).toMatchObject({ max_attempts: 3, backoff: 'none' });
  });

  test('an assistant has its tools by name or as a policy, and says what it lacks', () => {
    const text = `${PROJECT}[connections.local]
provider = "mock"
[mcp.files]
transport = "stdio"
command = "mcp-files"
[assistants.short]
connection = "local"
tools = ["files"]
[assistants.long]
connection = "lokal"
functions = ["ask_user"]
max_steps = 5
[assistants.long.tools]
servers = ["files", "web"]
allow = ["files.*"]
ask = ["files.write"]
`;
    const { manifest, diagnostics } = readManifest(text);
    expect(manifest?.assistants.short).toMatchObject({ mode: 'native', functions: [], tools: ['files'] });
    expect(manifest?.assistants.long?.tools).toEqual({
      servers: ['files', 'web'],
      allow: ['files.*'],
      ask: ['files.write'],
    });
    expect(diagnostics.map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      'warning: there is no [connections.lokal]; did you mean `local`?',
      'warning: there is no [mcp.web]',
    ]);
  });

  test('numbers that JSON has not are told, each by its key', () => {
    const text = `${PROJECT}[agents.a]\ncommand = "x"\n[agents.a.params]\nhot = inf\nin = { far = [1, -inf] }\nodd = nan\n`;
    expect(problems(text)).toEqual([
      'error 8: `hot` in [agents.a.params]: JSON has no number `inf`',
      'error 9: `in.far[1]` in [agents.a.params]: JSON has no number `-inf`',
      'error 10: `odd` in [agents.a.params]: JSON has no number `nan`',
    ]);
    expect(problems(`${PROJECT}[server]\nport = inf\n`)[0]).toContain('`port` in [server]: JSON has no number `inf`');
  });

  test('an empty table of params is none', () => {
    const { manifest } = readManifest(`${PROJECT}[agents.a]\ncommand = "x"\n[agents.a.params]\n`);
    expect(manifest?.agents.a).not.toHaveProperty('params');
  });
});

describe('old tables', () => {
  test('[hosts.*] are agents, with a warning and a fix for each header', () => {
    const text = `${PROJECT}[hosts.a]\ncommand = "x"\n[hosts.a.params]\nk = 1\n`;
    const { manifest, diagnostics } = readManifest(text);
    expect(manifest?.agents.a?.params).toEqual({ k: 1 });
    expect(diagnostics).toMatchObject([
      { severity: 'warning', fix: { edits: [{ text: 'agents' }, { text: 'agents' }] } },
    ]);
  });

  test.each([
    ['[ hosts . "h" ]\ncommand = "x"\n', '[ agents . "h" ]\ncommand = "x"\n'],
    ['["hosts".h]\ncommand = "x"\n[hosts.h.params]\nk = 1\n', '[agents.h]\ncommand = "x"\n[agents.h.params]\nk = 1\n'],
    ['[hosts]\nh.command = "x"\n', '[agents]\nh.command = "x"\n'],
    ['[agents.b]\ncommand = "y"\n[hosts.h]\ncommand = "x"\n', '[agents.b]\ncommand = "y"\n[agents.h]\ncommand = "x"\n'],
  ])('a fix renames what is written: %s', (written, renamed) => {
    expect(fixed(PROJECT + written)).toBe(PROJECT + renamed);
    expect(readManifest(PROJECT + renamed).manifest).toEqual(readManifest(PROJECT + written).manifest);
  });

  test.each([
    ['hosts.h.command = "x"\n', 'agents.h.command = "x"\n'],
    ['hosts = { h = { command = "x" } }\n', 'agents = { h = { command = "x" } }\n'],
  ])('a fix renames keys above all tables: %s', (written, renamed) => {
    expect(fixed(written + PROJECT)).toBe(renamed + PROJECT);
  });

  test('what cannot be renamed without breaking the manifest has no fix, and says what to do', () => {
    for (const text of [
      `${PROJECT}[hosts]\nh.command = "x"\n[agents]\nb.command = "y"\n`,
      `hosts = { h = { command = "x" } }\n${PROJECT}[agents.b]\ncommand = "y"\n`,
    ]) {
      const { manifest, diagnostics } = readManifest(text);
      expect(Object.keys(manifest?.agents ?? {}).sort()).toEqual(['b', 'h']);
      expect(diagnostics).toMatchObject([{ code: 'C0310', help: 'move what is in `hosts` to `agents`' }]);
      expect(diagnostics[0]?.fix).toBeUndefined();
    }
  });

  test('a name in both is an error', () => {
    const found = problems(`${PROJECT}[agents.a]\ncommand = "x"\n[hosts.a]\ncommand = "y"\n`);
    expect(found[0]).toBe('error 7: `a` is both in [agents] and in the old [hosts]');
  });
});

describe('a bad manifest', () => {
  test.each([
    ['[project\nname = 1', 'error 1: not a TOML document: illegal character in key'],
    ['x = """\n[agents.fake]\n"""\n', 'error 1: unknown key `x`'],
    ['[project]\nname = "p"\nentry = "e"\n', 'error 1: `version` is missing in [project]'],
    [`${PROJECT}[agents.a]\ncomand = "x"\n`, 'error 6: unknown key `comand` in [agents.a]; did you mean `command`?'],
    [`${PROJECT}[agnets.a]\ncommand = "x"\n`, 'error 5: unknown key `agnets`; did you mean `agents`?'],
    [
      `${PROJECT}[agents.a]\ntransport = "pigeon"\ncommand = "x"\n`,
      'error 6: `transport` in [agents.a]: expected "stdio"',
    ],
    [`${PROJECT}[agents.a]\nargs = []\n`, 'error 5: [agents.a] needs `command`: the program to start'],
    [`${PROJECT}[connections.c]\ndefault_model = "m"\n`, 'error 5: `provider` is missing in [connections.c]'],
    [
      `${PROJECT}[connections.c]\nprovider = "openai"\n`,
      'error 5: [connections.c] needs `api_key_env`: the name of the environment variable that holds the key',
    ],
    [`${PROJECT}[mcp.m]\ntransport = "stdio"\n`, 'error 5: [mcp.m] stdio needs `command`'],
    [
      `${PROJECT}[templates.t]\nprompt = "x"\n`,
      'error 5: [templates.t] names exactly one of `agent`, `program` and `assistant`',
    ],
    [
      `${PROJECT}[pool]\nmax_sessions = "many"\n`,
      'error 6: `max_sessions` in [pool]: expected number, received string',
    ],
  ])('%j', (text, expected) => {
    const { manifest } = readManifest(text);
    expect(manifest).toBeUndefined();
    expect(problems(text)).toContain(expected);
  });
});
