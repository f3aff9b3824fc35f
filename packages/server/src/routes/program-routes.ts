import { PutProgramFile } from '@concerto/protocol';
import { Hono } from 'hono';
import { ProblemError } from '../problem.ts';
import { readBody } from '../read-body.ts';
import type { OnNode, ServerContext } from '../server-context.ts';
import { granted } from './session-routes.ts';

/** The sources of what sessions can be started with. */
export function programRoutes({ programs, sessions }: ServerContext): Hono<OnNode> {
  const routes = new Hono<OnNode>();
  routes.get('/programs', (c) => c.json({ programs: programs.list() }));
  routes.get('/programs/:name', async (c) => {
    const source = await programs.source(c.req.param('name'));
    if (source === undefined) throw noProgram(c.req.param('name'));
    return c.json(source);
  });
  routes.put('/programs/:name', async (c) => {
    const name = c.req.param('name');
    const file = await readBody(c, PutProgramFile);
    if (programs.write === undefined) {
      const why = 'sources are only written on a server that listens on this machine alone';
      throw new ProblemError(403, 'read_only', why);
    }
    if ((await programs.source(name)) === undefined) throw noProgram(name);
    const written = await programs.write(name, file);
    if (written.ok) return c.json(written.value);
    if (written.error === 'stale_file') {
      throw new ProblemError(409, 'stale_file', `${file.path} was changed since it was read; read it again`);
    }
    throw new ProblemError(404, 'no_such_file', `${JSON.stringify(file.path)} is no source of ${JSON.stringify(name)}`);
  });
  routes.post('/programs/:name/test', async (c) => {
    const name = c.req.param('name');
    if ((await programs.source(name)) === undefined) throw noProgram(name);
    return c.json(granted(await sessions.trials.test(name, c.req.raw.signal)));
  });
  return routes;
}

function noProgram(name: string): ProblemError {
  return new ProblemError(404, 'no_such_program', `there is no program ${JSON.stringify(name)}`);
}
