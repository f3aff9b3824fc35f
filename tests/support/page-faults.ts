import axe from 'axe-core';
import type { Page } from 'playwright-core';

/** The rules of WCAG 2.0 to 2.2, levels A and AA, and what axe holds for good practice beside them. */
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];

/** What keeps somebody from using this page as it stands now: the rule, and where it is broken. */
export async function accessFaults(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  return await page.evaluate(async (values) => {
    const runOnly = { type: 'tag', values };
    // The headings of a text are its writer's.
    const rules = { 'heading-order': { enabled: false } };
    const { violations } = await Reflect.get(globalThis, 'axe').run(document, { runOnly, rules });
    return violations.flatMap(({ id, nodes }: { id: string; nodes: { html: string; failureSummary?: string }[] }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 160)} ${failureSummary.slice(0, 300)}`),
    );
  }, tags);
}
