// Works until it is stopped, and does everything it can be asked while it works.
import { serveAgent } from '@concerto/agent-kit';

const heard: string[] = [];

await serveAgent({
  async prompt({ text }, turn) {
    if (text === 'fail') throw Object.assign(new Error('it broke'), { code: 'E_BROKE' });
    if (text === 'fail twice') throw new AggregateError([new Error('not here'), new Error('nor there')]);
    if (text === 'fail silently') throw new TypeError();
    if (text === 'late') setTimeout(() => turn.progress('from a turn that is over'), 20);
    if (text !== 'work') return `${text}: ${heard.join(', ')}`;
    turn.log('working');
    for (;;) {
      await turn.checkpoint();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
  steer: (text) => void heard.push(text),
  interrupt: () => void heard.push('interrupted'),
  pause: () => void heard.push('paused'),
  resume: () => void heard.push('resumed'),
});
