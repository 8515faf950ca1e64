import { expect, it } from 'vitest';
import { silentLogger, VirtualClock } from '#base';
import { followCertificates, type ServingCertificates } from './follow-certificates.ts';

it('replaced certificate files are used, and invalid ones ignored', async () => {
  const clock = new VirtualClock();
  const stopping = new AbortController();
  const first = { certificate: 'c1', key: 'k1', clientAuthority: 'a' };
  let files: ServingCertificates | Error = first;
  const used: string[] = [];
  const read = () => {
    if (files instanceof Error) throw files;
    return files;
  };
  const following = followCertificates(
    { current: first, read, use: ({ certificate }) => void used.push(certificate) },
    { clock, logger: silentLogger },
    stopping.signal,
  );
  await clock.advance(300_000);
  expect(used).toEqual([]);
  files = new Error('half written');
  await clock.advance(60_000);
  expect(used).toEqual([]);
  files = { ...first, certificate: 'c2', key: 'k2' };
  await clock.advance(180_000);
  expect(used).toEqual(['c2']);
  stopping.abort();
  await following;
});
