// A middleware in twenty lines: asks, works, asks for approval, answers.
import { serveAgent } from '@concerto/agent-kit';

let repository = '.';

await serveAgent({
  version: '1.0.0',
  init(params) {
    if (typeof params.repository !== 'string') throw new Error('the param `repository` is required');
    repository = params.repository;
  },
  async prompt({ text }, { ask, approve, progress, partial }) {
    progress('Reading the history', { percent: 10 });
    const style = await ask('Which style?', { options: ['short', 'long'], context: repository });
    partial(`A ${JSON.stringify(style)} text about ${text}. `);
    const isAllowed = await approve('Publish the notes', { riskLevel: 'medium' });
    return { text: isAllowed ? 'Published.' : 'Kept as a draft.', style };
  },
});
