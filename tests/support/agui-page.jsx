// A page as anybody would write it with AG-UI's client and React: what was said, what is asked, a field.
import { HttpAgent } from '@ag-ui/client';
import { createElement as h, useCallback, useEffect, useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);
const threadId = query.get('id');

function useAgent(isKnown) {
  const agent = useMemo(() => new HttpAgent({ url: `/api/agui?agent=${query.get('agent')}`, threadId }), []);
  const [seen, setSeen] = useState({ messages: [], state: {}, interrupts: [], status: 'ready' });
  const see = useCallback((change) => setSeen((before) => ({ ...before, ...change })), []);
  const run = useCallback(
    (parameters = {}) => agent.runAgent(parameters).catch((error) => see({ status: `lost: ${error.name}` })),
    [agent, see],
  );
  useEffect(() => {
    const { unsubscribe } = agent.subscribe({
      onMessagesChanged: ({ messages }) => see({ messages: [...messages] }),
      onStateChanged: ({ state }) => see({ state }),
      onRunStartedEvent: () => see({ status: 'running', interrupts: [] }),
      onRunFinishedEvent: ({ outcome, interrupts = [] }) => see({ status: outcome, interrupts }),
      onRunErrorEvent: ({ event }) => see({ status: `error: ${event.message}` }),
    });
    // A run without anything new is how one comes back to a session.
    if (isKnown) void run();
    return unsubscribe;
  }, [agent, isKnown, run, see]);
  return { agent, run, ...seen };
}

function Interrupt({ interrupt, resume }) {
  const { request } = interrupt.metadata;
  const choices =
    request.type === 'queryConsent'
      ? [
          ['Allow', { approved: true }],
          ['Deny', { approved: false }],
        ]
      : request.choices.map(({ id, content }) => [content.parts[0].text, { selected: [id] }]);
  return h(
    'fieldset',
    null,
    h('legend', null, interrupt.message),
    choices.map(([name, payload]) =>
      h(
        'button',
        { key: name, onClick: () => resume([{ interruptId: interrupt.id, status: 'resolved', payload }]) },
        name,
      ),
    ),
  );
}

function Message({ message, results }) {
  const calls = message.toolCalls ?? [];
  const result = ({ id }) => results.find(({ toolCallId }) => toolCallId === id)?.content ?? '…';
  return h(
    'section',
    { 'aria-label': message.role },
    message.content && h('p', { className: message.role === 'reasoning' ? 'reasoning' : 'text' }, message.content),
    calls.map((call) =>
      h('p', { key: call.id, className: 'tool' }, `${call.function.name} ${call.function.arguments} ${result(call)}`),
    ),
  );
}

function Page({ isKnown }) {
  const { agent, run, messages, state, interrupts, status } = useAgent(isKnown);
  const [text, setText] = useState('');
  const send = (event) => {
    event.preventDefault();
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text });
    setText('');
    void run();
  };
  const results = messages.filter(({ role }) => role === 'tool');
  const reconnect = () => {
    agent.abortRun();
    void run();
  };
  return h(
    'main',
    null,
    h('output', null, status),
    h('p', { className: 'plan' }, (state.session?.plan ?? []).map(({ content }) => content).join(', ')),
    messages.map((message) => message.role !== 'tool' && h(Message, { key: message.id, message, results })),
    interrupts.map((interrupt) => h(Interrupt, { key: interrupt.id, interrupt, resume: (resume) => run({ resume }) })),
    h(
      'form',
      { onSubmit: send },
      h('input', { 'aria-label': 'Message', value: text, onChange: (event) => setText(event.target.value) }),
      h('button', null, 'Send'),
    ),
    h('button', { onClick: reconnect }, 'Reconnect'),
  );
}

const { ok: isKnown } = await fetch(`/api/sessions/${threadId}`);
createRoot(document.body.appendChild(document.createElement('div'))).render(h(Page, { isKnown }));
