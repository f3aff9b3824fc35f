import { err, ok, type Result } from '@concerto/base';
import type { EventLog } from '@concerto/log';
import { readStored, Template } from '@concerto/protocol';
import type { Catalog } from '../catalog.ts';
import { refusal, type ServiceRefusal } from '../session/service-refusal.ts';
import { targetOf, toolsOf } from './plan-start.ts';
import { readySupervisor } from './ready-supervisor.ts';

const collection = 'templates';
const listMax = 1_000;

/** What sessions can be started from by name. A session keeps what it started with: later edits never touch it. */
export class Templates {
  readonly #log: EventLog;
  readonly #catalog: Catalog;

  constructor(log: EventLog, catalog: Catalog) {
    this.#log = log;
    this.#catalog = catalog;
  }

  async list(): Promise<readonly Template[]> {
    const page = await this.#log.listDocuments({ collection, limit: listMax });
    return page.documents
      .map((document) => readStored(Template, JSON.parse(document.value)))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async get(name: string): Promise<Template | undefined> {
    const stored = await this.#log.getDocument(collection, name);
    return stored === undefined ? undefined : readStored(Template, JSON.parse(stored.value));
  }

  /** A repeat, from a caller that lost the answer, finds what it made. */
  async create(
    template: Template,
    { mayBeRepeat }: { readonly mayBeRepeat: boolean },
  ): Promise<Result<Template, ServiceRefusal>> {
    const fault = await this.#fault(template);
    if (fault !== undefined) return err(fault);
    const value = JSON.stringify(template);
    const created = await this.#log.createDocument({ collection, key: template.name, value });
    const same = created || (mayBeRepeat && (await this.#log.getDocument(collection, template.name))?.value === value);
    return same
      ? ok(template)
      : err(refusal('id_in_use', `there is a template ${JSON.stringify(template.name)} already`));
  }

  async put(name: string, template: Template): Promise<Result<Template, ServiceRefusal>> {
    if (template.name !== name)
      return err(refusal('invalid_template', 'the name in the body is not the one in the path'));
    const fault = await this.#fault(template);
    if (fault !== undefined) return err(fault);
    await this.#log.putDocument({ collection, key: name, value: JSON.stringify(template) });
    return ok(template);
  }

  async delete(name: string): Promise<boolean> {
    if ((await this.get(name)) === undefined) return false;
    await this.#log.putDocument({ collection, key: name, value: undefined });
    return true;
  }

  async #fault(template: Template): Promise<ServiceRefusal | undefined> {
    const target = targetOf(template, undefined, '`agent`, `program` or `assistant`');
    if (!target.ok) return refusal('invalid_template', target.error.message);
    if (this.#catalog.find(target.value.kind, target.value.name) === undefined) {
      return refusal(
        `no_such_${target.value.kind}`,
        `there is no ${target.value.kind} ${JSON.stringify(target.value.name)}`,
      );
    }
    const supervisor = await readySupervisor(template.supervisor, this.#catalog);
    if (!supervisor.ok) return supervisor.error;
    const tools = toolsOf(template.tools);
    return tools.ok ? undefined : tools.error;
  }
}
