import { expect, test } from 'vitest';
import { VirtualClock } from '#base';
import { IssuerKeys } from './issuer-keys.ts';

test('an issuer that does not answer is given up after half a minute', async () => {
  const clock = new VirtualClock();
  const keys = new IssuerKeys({ issuer: 'https://issuer.example.com', dial: () => new Promise(() => {}), clock });
  const current = keys.current();
  const rejected = expect(current).rejects.toThrow('timed out after 30000 ms');
  await clock.advance(30_000);
  await rejected;
});
