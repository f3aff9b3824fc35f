// A page as anybody would write it with `useChat`: what was said, what is asked, a field and a stop button.
import { useChat } from '@ai-sdk/react';
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
} from 'ai';
import { createElement as h, useState } from 'react';
import { createRoot } from 'react-dom/client';

const query = new URLSearchParams(location.search);

function Part({ part, chat }) {
  if (part.type === 'text') return h('p', { className: 'text' }, part.text);
  if (part.type === 'reasoning') return h('p', { className: 'reasoning' }, part.text);
  if (part.type === 'file') return h('img', { alt: part.mediaType, src: part.url });
  if (part.type === 'data-plan')
    return h('p', { className: 'plan' }, part.data.map(({ content }) => content).join(', '));
  if (part.type !== 'dynamic-tool') return null;
  const say = (approved) => () =>
    chat.addToolApprovalResponse({ id: part.approval.id, approved, reason: approved ? undefined : 'no' });
  const answer = (choice) => () =>
    chat.addToolOutput({ tool: part.toolName, toolCallId: part.toolCallId, output: choice });
  const choices = part.toolName === 'ask' ? (part.input?.request?.choices ?? []) : [];
  return h(
    'div',
    { className: 'tool' },
    `${part.toolName} ${part.state} ${JSON.stringify(part.output ?? part.errorText ?? '')}`,
    part.state === 'approval-requested' && h('button', { onClick: say(true) }, 'Allow'),
    part.state === 'approval-requested' && h('button', { onClick: say(false) }, 'Deny'),
    part.state === 'input-available' &&
      choices.map(({ id, content }) => h('button', { key: id, onClick: answer(id) }, content.parts[0].text)),
  );
}

function Chat({ initial }) {
  const chat = useChat({
    id: query.get('id'),
    messages: initial,
    resume: true,
    transport: new DefaultChatTransport({ api: '/api/chat', body: { agent: query.get('agent') } }),
    sendAutomaticallyWhen: (all) =>
      lastAssistantMessageIsCompleteWithApprovalResponses(all) || lastAssistantMessageIsCompleteWithToolCalls(all),
  });
  const [text, setText] = useState('');
  const send = (event) => {
    event.preventDefault();
    void chat.sendMessage({ text });
    setText('');
  };
  const stop = () => fetch(`/api/chat/${query.get('id')}/stop`, { method: 'POST' });
  return h(
    'main',
    null,
    h('output', null, chat.error === undefined ? chat.status : `error: ${chat.error.message}`),
    chat.messages.map((message) =>
      h(
        'section',
        { key: message.id, 'aria-label': message.role },
        message.parts.map((part, index) => h(Part, { key: index, part, chat })),
      ),
    ),
    h(
      'form',
      { onSubmit: send },
      h('input', { 'aria-label': 'Message', value: text, onChange: (event) => setText(event.target.value) }),
      h('button', null, 'Send'),
    ),
    h('button', { onClick: stop }, 'Stop'),
  );
}

const known = await fetch(`/api/chat/${query.get('id')}/messages`);
const { messages } = known.ok ? await known.json() : { messages: [] };
createRoot(document.body.appendChild(document.createElement('div'))).render(h(Chat, { initial: messages }));
