// An agent: it asks, asks for permission, reports, and answers. The kit speaks the wire.
import { serveAgent } from '@concerto/agent-kit';

let separator = '_';

await serveAgent({
  init: ({ style }) => {
    if (style !== 'kebab' && style !== 'snake') throw new Error('the param `style` is "kebab" or "snake"');
    separator = style === 'kebab' ? '-' : '_';
  },
  prompt: async ({ text }, turn) => {
    const names = text.split(',').map((name) => name.trim());
    const answer = await turn.ask('Which extension?', { options: ['ts', 'js'] });
    const extension = answer === 'js' ? 'js' : 'ts';
    const renamed = names.map((name) => `${name.toLowerCase().split(' ').join(separator)}.${extension}`);
    for (const [done, name] of renamed.entries()) turn.progress(name, { percent: (100 * done) / renamed.length });
    const isAllowed = await turn.approve(`Rename ${names.length} files`, { riskLevel: 'low' });
    return isAllowed ? { text: renamed.join(' '), renamed: renamed.length } : { text: 'Nothing renamed.', renamed: 0 };
  },
});
