import { AgentError, type AgentErrorCode, type AgentSpec } from '@concerto/agents';
import { type Finding, failed, messageOf } from './finding.ts';

/** Why an agent does not start, and what to do: as the failure says it, else as its kind and its protocol have it. */
export function startFailure(check: string, { name, protocol = 'ndjson' }: AgentSpec, cause: unknown): Finding {
  const otherwise = `try the command by hand in its working_dir; correct [agents.${name}] in the manifest`;
  if (!(cause instanceof AgentError)) return failed(check, messageOf(cause), otherwise);
  const known = protocol === 'ndjson' ? ownWireHelps[cause.code] : otherWireHelp(cause.code, protocol);
  return failed(check, cause.what, cause.advice ?? known ?? startHelps(name)[cause.code] ?? otherwise);
}

type Helps = Readonly<Partial<Record<AgentErrorCode, string>>>;

const startHelps = (name: string): Helps => ({
  'spawn-failed': 'install the program, or correct `command`, `args` or `working_dir` in the manifest',
  'init-refused': `correct [agents.${name}.params] in the manifest`,
  exited: 'it ended while it was starting: try its command by hand, and read what it wrote on stderr',
});

const ownWireHelps: Helps = {
  'init-timeout':
    'answer {"type":"init","params":{…}} with {"type":"init_ack"} at once and flush stdout; `init_timeout` in the manifest gives it more seconds',
  protocol: 'answer `init` with {"type":"init_ack"} before anything else',
};

/** Of a program that is not ours to change: it may be another one than is thought, or be started otherwise. */
function otherWireHelp(code: AgentErrorCode, protocol: string): string | undefined {
  if (code !== 'init-timeout' && code !== 'protocol') return undefined;
  const started = protocol === 'acp' ? '; most programs speak it only with an argument, such as `--acp` or `acp`' : '';
  return `see that \`command\` and \`args\` start a program that speaks \`protocol = "${protocol}"\`${started}`;
}
