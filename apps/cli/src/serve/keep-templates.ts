import { type EventLog, LogError } from '@concerto/log';
import type { Template } from '@concerto/protocol';
import type { Report, Sessions } from '@concerto/runtime';

const againMs = 500;

/** The templates of the manifest are in the store, also in one that has lost them. */
export async function keepTemplates(
  templates: readonly Template[],
  { sessions, log }: { readonly sessions: Sessions; readonly log: EventLog },
  report: Report,
): Promise<void> {
  const put = async (): Promise<void> => {
    for (const template of templates) await sessions.putTemplate(template.name, template);
  };
  // A store that has just come back may not take anything yet: a replica, for example, that nobody has made the first.
  const putAgain = async (tries = 1): Promise<void> => {
    try {
      await put();
    } catch (cause) {
      if (cause instanceof LogError && cause.code === 'closed') return;
      if (tries === 1) report('the templates of the manifest are written again as soon as the store takes them', cause);
      setTimeout(() => void putAgain(tries + 1), againMs).unref();
    }
  };
  await put();
  log.onRewind(() => void putAgain());
}
