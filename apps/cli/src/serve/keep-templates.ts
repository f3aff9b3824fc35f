import type { EventLog } from '@concerto/log';
import type { Template } from '@concerto/protocol';
import type { Report, Sessions } from '@concerto/runtime';

/** The templates of the manifest are in the store, also in one that has lost them. */
export async function keepTemplates(
  templates: readonly Template[],
  { sessions, log }: { readonly sessions: Sessions; readonly log: EventLog },
  report: Report,
): Promise<void> {
  const put = async (): Promise<void> => {
    for (const template of templates) await sessions.putTemplate(template.name, template);
  };
  await put();
  log.onRewind(() => {
    put().catch((cause: unknown) => report('the templates of the manifest could not be written again', cause));
  });
}
