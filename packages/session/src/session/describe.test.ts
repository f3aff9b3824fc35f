import { expect, test } from 'vitest';
import { Story } from '../../test/story.ts';
import { sessionView } from './view.ts';

test('a session can be named and put away at any time, and is no younger for it', () => {
  const story = new Story().running();
  const { updatedAt } = sessionView(story.state, 0);
  story.wish({ type: 'describe', title: 'Better', archived: true });
  expect(sessionView(story.state, 0)).toMatchObject({ title: 'Better', archived: true, updatedAt });
  const records = story.recordTypes().length;
  story.wish({ type: 'describe', title: 'Better' });
  expect(story.recordTypes()).toHaveLength(records);
  story.wish({ type: 'describe', archived: false });
  expect(sessionView(story.state, 0)).not.toHaveProperty('archived');
});

test('one that is over can be deleted, once, and takes no wish after that', () => {
  const story = new Story().running();
  expect(story.refusal({ type: 'delete' }).code).toBe('not_over');
  story.result().wish({ type: 'finish' }).wish({ type: 'delete' });
  expect(story.recordTypes().at(-1)).toBe('deleted');
  expect(story.refusal({ type: 'delete' }).code).toBe('no_such_session');
  expect(story.refusal({ type: 'describe', title: 'x' }).code).toBe('no_such_session');
});
