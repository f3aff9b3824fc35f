import { expect, test } from 'vitest';
import { isPassing, redisFailure } from './redis-failure.ts';

const said = (code: string, message: string): Error => Object.assign(new Error(message), { code });

test('[L35] a certificate that is not trusted is refused at once, with how to trust it', () => {
  const error = said('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate');
  expect(isPassing(error)).toBe(false);
  const failure = redisFailure(error, 'rediss://here');
  expect(failure.code).toBe('refused');
  expect(failure.message).toContain('name the file of its authority in NODE_EXTRA_CA_CERTS');
});

test('[L35] one that hangs up may be back in a moment, or speak TLS', () => {
  const error = said('ECONNRESET', 'read ECONNRESET');
  expect(isPassing(error)).toBe(true);
  expect(redisFailure(error, 'redis://here').message).toContain('the store URL begins with rediss://');
});
