import { expect, test } from 'vitest';
import { Story } from '../../test/story.ts';
import { sessionView } from './view.ts';

const change = (requestId: string, model: string) =>
  ({ type: 'change-settings', requestId, params: { model } }) as const;
const told = (story: Story) =>
  story.events.flatMap((event) => (event.type === 'settings' ? [`${event.requestId} ${event.outcome}`] : []));

test('11.1 an agent that runs is asked once, and what it says counts', () => {
  const story = new Story().running().wish(change('c1', 'opus')).wish(change('c1', 'opus'));
  expect(story.commands.filter(({ type }) => type === 'configure')).toHaveLength(1);
  expect(sessionView(story.state, 0).settings).toBeUndefined();
  story.report({ type: 'settings-told', requestId: 'c1' });
  expect(sessionView(story.state, 0).settings).toEqual({ params: { model: 'opus' } });
  story.wish(change('c2', 'none')).report({ type: 'settings-told', requestId: 'c2', error: 'no such model' });
  expect(sessionView(story.state, 0).settings).toEqual({ params: { model: 'opus' } });
  expect(told(story)).toEqual(['c1 changed', 'c2 refused']);
});

test('11.2 a second change waits for the answer to the first', () => {
  const story = new Story().running().wish(change('c1', 'opus'));
  expect(story.refusal(change('c2', 'sonnet')).code).toBe('settings_pending');
});

test('11.3 one without a process starts with it; so does one that went before it had answered', () => {
  const story = new Story().running().wish(change('c1', 'opus'));
  story.report({ type: 'process-exited', error: { code: 'exited', message: 'gone' } });
  expect(story.state.settings?.params).toEqual({ model: 'opus' });
  story.wish(change('c2', 'sonnet'));
  expect(story.state.settings?.params).toEqual({ model: 'sonnet' });
  expect(told(story)).toEqual(['c1 next_start', 'c2 next_start']);
});

test('11.4 nothing of a session that is over changes', () => {
  expect(new Story().running({ once: true }).result().refusal(change('c1', 'x')).code).toBe('session_closed');
});

test('11.4 what it was asked and did not answer before its end is refused', () => {
  const story = new Story().running().wish(change('c1', 'opus')).control('cancel', 'c').ack('c');
  expect(told(story)).toEqual(['c1 refused']);
  expect(story.state.settingsAsked).toBeUndefined();
  expect(story.events.at(-1)).toEqual({ type: 'finish' });
});

test('11.5 what became of its checkout is on record', () => {
  const worktree = { repository: '/p', path: '/p/w', branch: 'concerto/x', state: 'merged', into: 'main' } as const;
  const story = new Story().running().result().wish({ type: 'change-worktree', worktree });
  expect(sessionView(story.state, 0).settings).toEqual({ worktree });
  expect(story.events.at(-1)).toMatchObject({ type: 'worktree', worktree });
});
