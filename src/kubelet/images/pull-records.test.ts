import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { realClock, silentLogger } from '#base';
import { type PullCredential, PullRecords } from './pull-records.ts';
import { requiresVerification, type VerificationPolicy } from './pull-verification.ts';

const IMAGE = 'example.com/team/app:1';
const REF = 'sha256:0123';
const secret = (name: string, credentialHash = name): PullCredential => ({
  auth: { username: name },
  secret: { uid: `uid-${name}`, namespace: 'default', name, credentialHash },
});
const runtime = {
  listImages: async () => [],
  imageStatus: async () => ({ id: REF, repoTags: [], repoDigests: [], sizeBytes: 1, pinned: false }),
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'pull-records-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function openRecords(policy: VerificationPolicy = 'NeverVerifyPreloadedImages', allowlist: readonly string[] = []) {
  const records = new PullRecords(directory, { policy, allowlist }, { clock: realClock, logger: silentLogger, runtime });
  await records.open();
  return records;
}

const mustPull = (records: PullRecords, ...credentials: PullCredential[]) => records.mustPull(IMAGE, REF, async () => credentials);

describe('records of pulled images', () => {
  it('let pods with the same secret use the image, and no others, also after a restart', async () => {
    const records = await openRecords();
    expect(await mustPull(records)).toBe(false);
    await records.begin(IMAGE);
    await records.succeeded(IMAGE, REF, secret('a'));
    for (const opened of [records, await openRecords()]) {
      expect([
        await mustPull(opened, secret('a')),
        await mustPull(opened, secret('b')),
        await mustPull(opened, {}),
        await mustPull(opened),
      ]).toEqual([false, true, true, true]);
    }
    expect(await readdir(path.join(directory, 'pulling'))).toEqual([]);
  });

  it('take a copy of the secret, and the secret with a new password', async () => {
    const records = await openRecords();
    await records.succeeded(IMAGE, REF, secret('a'));
    expect([await mustPull(records, secret('copy', 'a')), await mustPull(records, secret('a', 'new'))]).toEqual([false, false]);
  });

  it('let pods of the service account that a provider gave credentials to use the image', async () => {
    const of = (name: string): PullCredential => ({ auth: {}, serviceAccount: { uid: `uid-${name}`, namespace: 'default', name } });
    const records = await openRecords();
    await records.succeeded(IMAGE, REF, of('one'));
    await records.succeeded(IMAGE, REF, secret('a'));
    expect(await mustPull(records, of('one'))).toBe(false);
    expect(await mustPull(records, secret('a'))).toBe(false);
    expect(await mustPull(records, of('two'))).toBe(true);
  });

  it('let all pods use an image that was pulled without a secret', async () => {
    const records = await openRecords();
    await records.succeeded(IMAGE, REF, {});
    await records.succeeded(IMAGE, REF, secret('a'));
    expect(await mustPull(records)).toBe(false);
  });

  it('are per repository, even for the same image', async () => {
    const records = await openRecords();
    await records.succeeded(IMAGE, REF, {});
    expect(await records.mustPull('example.com/other:1', REF, async () => [])).toBe(true);
  });

  it('verify an image whose pull was interrupted', async () => {
    await (await openRecords()).begin(IMAGE);
    const records = await openRecords();
    expect([await mustPull(records, secret('a')), await readdir(path.join(directory, 'pulling'))]).toEqual([true, []]);
  });

  it('are in upstream’s form, verified again when damaged, and gone with the image', async () => {
    const records = await openRecords();
    await records.succeeded(IMAGE, REF, secret('a'));
    const [name = ''] = await readdir(path.join(directory, 'pulled'));
    expect(name).toMatch(/^sha256-[0-9a-f]{64}$/);
    const file = path.join(directory, 'pulled', name);
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      ...{ kind: 'ImagePulledRecord', apiVersion: 'kubelet.config.k8s.io/v1beta1', imageRef: REF },
      credentialMapping: { 'example.com/team/app': { kubernetesSecrets: [secret('a').secret] } },
    });
    await records.prune(new Set([REF]));
    expect(await readdir(path.join(directory, 'pulled'))).toEqual([name]);
    await writeFile(file, '{');
    expect(await (await openRecords('AlwaysVerify')).mustPull(IMAGE, REF, async () => [secret('a')])).toBe(true);
    await records.prune(new Set());
    expect(await readdir(path.join(directory, 'pulled'))).toEqual([]);
  });
});

describe('the policy of verification', () => {
  it.each([
    ['NeverVerify', [], true, false],
    ['NeverVerifyPreloadedImages', [], true, true],
    ['NeverVerifyPreloadedImages', [], false, false],
    ['NeverVerifyAllowlistedImages', ['example.com/team/app'], false, false],
    ['NeverVerifyAllowlistedImages', ['example.com/team/*'], false, false],
    ['NeverVerifyAllowlistedImages', ['example.com/te'], false, true],
    ['AlwaysVerify', [], false, true],
  ] as const)('%s with %j, pulled by the kubelet: %s, asks: %s', (policy, allowlist, isPulled, expected) => {
    expect(requiresVerification({ policy, allowlist }, 'example.com/team/app', isPulled)).toBe(expected);
  });
});
