import type { StartRequest } from '@concerto/client';
import { type KeyboardEvent, type ReactNode, type Ref, useState } from 'react';
import { client } from '../client.ts';
import { failureOf, problemNumber } from '../fetching/failure.ts';
import { useOverview } from '../live/use-overview.ts';
import { sessionPath } from '../routing/route.ts';
import { navigate, useLocation } from '../routing/use-location.ts';
import { useAttachments } from '../session/attachments.tsx';
import { forgetDraft } from '../shell/draft-store.ts';
import { Icon } from '../shell/icon.tsx';
import { useDraft } from '../shell/use-draft.ts';
import { AgentPicker } from './agent-picker.tsx';
import { faultOf } from './fault-of.ts';
import { FolderFields } from './folder-fields.tsx';
import { PromptField } from './prompt-field.tsx';
import { recentFolders } from './recent-folders.ts';
import { StartOptions } from './start-options.tsx';
import { type Fault, type StartFields, startRequest } from './start-request.ts';
import type { Target } from './targets.ts';

type Props = { readonly targets: readonly Target[]; readonly promptRef: Ref<HTMLTextAreaElement> };

/** Whom to start, with what to do, where and how. */
export function StartForm({ targets, promptRef }: Props): ReactNode {
  const [picked, setPicked] = useDraft('start.target');
  const [prompt, setPrompt] = useDraft('start');
  const supervisor = useLocation().query.get('supervisor');
  const [fields, setFields] = useState<StartFields>(supervisor === null ? {} : { supervisor });
  const files = useAttachments();
  const { rows } = useOverview();
  const { start, isStarting, refusal, refuse } = useStart();
  const target = targets.find(({ key }) => key === picked) ?? targets[0];
  if (target === undefined) return <p className="muted">This server offers no agent. Add one to its Concerto.toml.</p>;
  const hasWords = prompt.trim() !== '' || files.parts.length > 0 || target.hasPrompt;
  const isReady = hasWords && files.isReady && !isStarting;
  const write = (name: string, value: string): void => setFields((now) => ({ ...now, [name]: value }));
  const submit = (ifFull: 'reject' | 'queue'): void => {
    if (!isReady) return;
    const request = startRequest(target, { prompt, files: files.parts }, fields);
    if (request.ok) void start({ ...request.value, ifFull });
    else refuse(request.error);
  };
  const asUsual = (): void => submit(fields.patient === 'yes' ? 'queue' : 'reject');
  const press = (event: KeyboardEvent<HTMLElement>): void => {
    if (event.key === 'Escape') event.currentTarget.blur();
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    asUsual();
  };
  const fault = refusal?.fault;
  const common = { target, fields, fault, onWrite: write };
  return (
    <form
      className="new-session"
      aria-label="New session"
      onSubmit={(event) => {
        event.preventDefault();
        asUsual();
      }}
    >
      <AgentPicker targets={targets} value={target.key} onChange={setPicked} />
      <TargetFault target={target} fault={fault} />
      <PromptField
        fieldRef={promptRef}
        text={prompt}
        placeholder={target.hasPrompt ? 'Optional: it brings its own' : 'What should it do?'}
        files={files}
        fault={fault}
        onWrite={setPrompt}
        onKeyDown={press}
      />
      <FolderFields {...common} folders={recentFolders(rows?.values() ?? [])} />
      <StartOptions {...common} programs={targets.flatMap(({ kind, name }) => (kind === 'program' ? [name] : []))} />
      <Check name="once" label="End with the first result" fields={fields} onWrite={write} />
      <Check name="patient" label="Wait for a slot if all are taken" fields={fields} onWrite={write} />
      <div className="start-go">
        {refusal !== undefined && fault?.field === undefined && (
          <Refusal refusal={refusal} onWait={() => submit('queue')} />
        )}
        <button type="submit" className="button primary wide" disabled={!isReady}>
          <Icon name="play" />
          {isStarting ? 'Starting …' : 'Start session'}
        </button>
      </div>
    </form>
  );
}

type Refused = { readonly cause: unknown; readonly fault: Fault };

function useStart() {
  const [isStarting, setStarting] = useState(false);
  const [refusal, setRefusal] = useState<Refused>();
  const start = async (request: StartRequest): Promise<void> => {
    setStarting(true);
    setRefusal(undefined);
    try {
      const session = await client.start(request);
      forgetDraft('start');
      navigate(sessionPath(session.id));
    } catch (cause) {
      setRefusal({ cause, fault: faultOf(cause) });
      setStarting(false);
    }
  };
  return { start, isStarting, refusal, refuse: (fault: Fault) => setRefusal({ cause: undefined, fault }) };
}

/** Why this one cannot be started, or could not be asked anything when it last ran. */
function TargetFault({ target, fault }: { readonly target: Target; readonly fault: Fault | undefined }): ReactNode {
  const { worker } = target;
  const login = worker?.offers?.login ?? '';
  if (fault?.field === 'agent') return <p className="inline-problem">{fault.text}</p>;
  if (worker?.fault !== undefined) return <p className="inline-problem">It cannot start: {worker.fault}</p>;
  if (login === '') return null;
  return <p className="inline-problem">It was not logged in when it last ran: {login}</p>;
}

type CheckProps = {
  readonly name: string;
  readonly label: string;
  readonly fields: StartFields;
  readonly onWrite: (name: string, value: string) => void;
};

function Check({ name, label, fields, onWrite }: CheckProps): ReactNode {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={fields[name] === 'yes'}
        onChange={(event) => onWrite(name, event.target.checked ? 'yes' : 'no')}
      />
      {label}
    </label>
  );
}

function Refusal({ refusal, onWait }: { readonly refusal: Refused; readonly onWait: () => void }): ReactNode {
  const { cause, fault } = refusal;
  if (failureOf(cause).code !== 'pool_full') {
    return (
      <p className="inline-problem" role="alert">
        {fault.text}
      </p>
    );
  }
  const active = problemNumber(cause, 'active') ?? 0;
  const max = problemNumber(cause, 'max') ?? 0;
  // A pool that was made smaller ends nobody.
  const running = active > max ? `${active} sessions still run, and ${max} may` : `${active} of ${max} sessions run`;
  return (
    <div className="inline-problem" role="alert">
      <p>All slots are taken: {running}. End one, or let this one wait its turn.</p>
      <button type="button" className="button small" onClick={onWait}>
        Wait for a slot
      </button>
    </div>
  );
}
