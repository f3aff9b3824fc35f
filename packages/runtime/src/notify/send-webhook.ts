import { createHmac } from 'node:crypto';
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { isPrivateHost, publicLookup } from '../network/private-address.ts';
import type { Notice } from './notice-book.ts';

const answersWithinMs = 10_000;
const redirectsMax = 3;

export type Webhook = {
  readonly url: string;
  /** With which what is sent is signed. */
  readonly secret: string;
  /** Hosts of this machine or its network to which we may be sent on; the URL itself is as good as its author. */
  readonly allowPrivate: readonly string[];
};

/** It will not be taken later either. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken';
}

/** As https://www.standardwebhooks.com has it: id, time and body are signed together. Rejects when it was not taken. */
export async function sendWebhook(hook: Webhook, notice: Notice, now: number): Promise<void> {
  const body = JSON.stringify(notice);
  const timestamp = String(Math.floor(now / 1_000));
  const signature = createHmac('sha256', keyOf(hook.secret))
    .update(`${notice.id}.${timestamp}.${body}`)
    .digest('base64');
  const headers = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    'user-agent': 'concerto',
    'webhook-id': notice.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
  let url = new URL(hook.url);
  for (let redirects = 0; ; redirects++) {
    const response = await post(url, { headers, body, guard: redirects === 0 ? undefined : hook });
    const { statusCode = 0 } = response;
    if (statusCode >= 200 && statusCode < 300) return;
    const { location } = response.headers;
    if ((statusCode !== 307 && statusCode !== 308) || location === undefined) throw refusal(statusCode);
    if (redirects >= redirectsMax) throw new NotTaken(`it was sent on more than ${redirectsMax} times`);
    url = new URL(location, url);
    if (url.protocol !== 'http:' && url.protocol !== 'https:') throw new NotTaken(`it was sent on to ${url.protocol}`);
  }
}

/** `whsec_` and base64, as tools for it write it, or any text. */
function keyOf(secret: string): Buffer {
  return secret.startsWith('whsec_') ? Buffer.from(secret.slice('whsec_'.length), 'base64') : Buffer.from(secret);
}

function refusal(status: number): Error {
  const isFinal = status >= 300 && status < 500 && status !== 408 && status !== 425 && status !== 429;
  return isFinal ? new NotTaken(`it answered ${status}`) : new Error(`it answered ${status}`);
}

type Post = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Checks where the address leads. */
  readonly guard: Webhook | undefined;
};

async function post(url: URL, { headers, body, guard }: Post): Promise<IncomingMessage> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const isGuarded = guard !== undefined && !guard.allowPrivate.includes(host);
  if (isGuarded && isPrivateHost(url)) throw privateHost(host);
  return await new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    const call = send(
      url,
      { method: 'POST', headers, timeout: answersWithinMs, ...(isGuarded ? { lookup: publicOnly } : {}) },
      (response) => {
        // What it says beside its status is nobody's concern.
        response.resume();
        resolve(response);
      },
    );
    const late = setTimeout(
      () => call.destroy(new Error(`no answer within ${answersWithinMs / 1_000} s`)),
      answersWithinMs,
    );
    call.on('close', () => clearTimeout(late));
    call.on('error', reject);
    call.end(body);
  });
}

const publicOnly = publicLookup(privateHost);

function privateHost(host: string): NotTaken {
  return new NotTaken(
    `it was sent on to ${host}, which is private; [notify.webhook] allow_private lists those that may be`,
  );
}
