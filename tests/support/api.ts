import { request } from 'node:http';

export type Answer = { readonly status: number; readonly body: any; readonly headers: Headers };

export type Api = ReturnType<typeof apiOf>;

const waitMs = 30_000;

/** The HTTP surface as any program would use it: no client of ours between. */
export function apiOf({ url, token }: { readonly url: string; readonly token: string }) {
  const call = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await fetch(url + path, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: parse(text), headers: response.headers };
  };
  const get = (path: string) => call('GET', path);
  const post = (path: string, body?: unknown, headers?: Record<string, string>) => call('POST', path, body, headers);

  /** Everything up to the first event that fits, over one stream. */
  const eventsUntil = async (path: string, fits: (event: any) => boolean, withinMs = waitMs): Promise<any[]> => {
    const seen: any[] = [];
    const leave = new AbortController();
    const timer = setTimeout(
      () =>
        leave.abort(new Error(`no such event within ${withinMs} ms; seen: ${JSON.stringify(seen.map((e) => e.type))}`)),
      withinMs,
    );
    try {
      const response = await fetch(url + path, { headers: { authorization: `Bearer ${token}` }, signal: leave.signal });
      if (response.body === null) throw new Error('no body');
      let text = '';
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const frames = text.split('\n\n');
        text = frames.pop() ?? '';
        for (const frame of frames) {
          const data = /(?:^|\n)data: ([^\n]*)$/.exec(frame)?.[1];
          if (data === undefined) continue;
          seen.push(JSON.parse(data));
          if (fits(seen.at(-1))) return seen;
        }
      }
      return seen;
    } finally {
      clearTimeout(timer);
      leave.abort();
    }
  };
  const until = (id: string, fits: (event: any) => boolean, withinMs?: number) =>
    eventsUntil(`/api/sessions/${id}/events`, fits, withinMs);
  const untilStatus = (id: string, ...statuses: string[]) =>
    until(id, (event) => event.type === 'status' && statuses.includes(event.status));
  const start = async (body: object): Promise<any> => {
    const answer = await post('/api/sessions', body);
    if (answer.status !== 201) throw new Error(`start: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  return { url, token, call, get, post, eventsUntil, until, untilStatus, start };
}

/** Fetch sets Host itself; a foreign one needs the plain client. */
export async function callWithHost(url: string, host: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const call = request(`${url}/healthz`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    call.on('error', reject);
    call.end();
  });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
