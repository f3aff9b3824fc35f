import type { StartRequest } from '@concerto/client';
import { messageLengthMax } from '@concerto/protocol';
import { type KeyboardEvent, type ReactNode, type Ref, useState } from 'react';
import { client } from '../client.ts';
import { failureOf, problemNumber } from '../fetching/failure.ts';
import { sessionPath } from '../routing/route.ts';
import { navigate } from '../routing/use-location.ts';
import { Icon } from '../shell/icon.tsx';
import { AgentPicker } from './agent-picker.tsx';
import type { Target } from './targets.ts';

type Props = { readonly targets: readonly Target[]; readonly promptRef: Ref<HTMLTextAreaElement> };

export function NewSessionForm({ targets, promptRef }: Props): ReactNode {
  const [picked, setPicked] = useState<string>();
  const [prompt, setPrompt] = useState('');
  const [isOnce, setOnce] = useState(false);
  const [isPatient, setPatient] = useState(false);
  const { start, isStarting, refusal } = useStart();
  const target = targets.find(({ key }) => key === picked) ?? targets[0];
  if (target === undefined) return <p className="muted">This server offers no agent. Add one to its Concerto.toml.</p>;
  const isReady = (prompt.trim() !== '' || target.hasPrompt) && !isStarting;
  const submit = (ifFull: 'reject' | 'queue'): void => {
    if (isReady) void start({ ...startOf(target, prompt), ...(isOnce ? { once: true } : {}), ifFull });
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    submit(isPatient ? 'queue' : 'reject');
  };
  return (
    <form
      className="new-session"
      aria-label="New session"
      onSubmit={(event) => {
        event.preventDefault();
        submit(isPatient ? 'queue' : 'reject');
      }}
    >
      <AgentPicker targets={targets} value={target.key} onChange={setPicked} />
      <label className="field">
        <span className="field-label">Prompt</span>
        <textarea
          ref={promptRef}
          rows={4}
          value={prompt}
          maxLength={messageLengthMax}
          placeholder={target.hasPrompt ? 'Optional: it brings its own' : 'What should it do?'}
          onChange={(event) => setPrompt(event.target.value)}
          onKeyDown={press}
        />
      </label>
      <label className="check">
        <input type="checkbox" checked={isOnce} onChange={(event) => setOnce(event.target.checked)} />
        End with the first result
      </label>
      <label className="check">
        <input type="checkbox" checked={isPatient} onChange={(event) => setPatient(event.target.checked)} />
        Wait for a slot if all are taken
      </label>
      {refusal !== undefined && <Refusal cause={refusal} onWait={() => submit('queue')} />}
      <button type="submit" className="button primary wide" disabled={!isReady}>
        <Icon name="play" />
        {isStarting ? 'Starting …' : 'Start session'}
      </button>
    </form>
  );
}

function useStart() {
  const [isStarting, setStarting] = useState(false);
  const [refusal, setRefusal] = useState<unknown>();
  const start = async (request: StartRequest): Promise<void> => {
    setStarting(true);
    setRefusal(undefined);
    try {
      const session = await client.start(request);
      navigate(sessionPath(session.id));
    } catch (cause) {
      setRefusal(cause);
      setStarting(false);
    }
  };
  return { start, isStarting, refusal };
}

function startOf(target: Target, prompt: string): StartRequest {
  const text = prompt.trim();
  return { [target.kind]: target.name, ...(text === '' ? {} : { prompt: text }) };
}

function Refusal({ cause, onWait }: { readonly cause: unknown; readonly onWait: () => void }): ReactNode {
  const { code, text } = failureOf(cause);
  if (code !== 'pool_full') {
    return (
      <p className="inline-problem" role="alert">
        {text}
      </p>
    );
  }
  const active = problemNumber(cause, 'active');
  const max = problemNumber(cause, 'max');
  return (
    <div className="inline-problem" role="alert">
      <p>
        All slots are taken: {active} of {max} sessions run. End one, or let this one wait its turn.
      </p>
      <button type="button" className="button small" onClick={onWait}>
        Wait for a slot
      </button>
    </div>
  );
}
