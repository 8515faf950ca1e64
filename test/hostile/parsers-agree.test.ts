import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { realClock } from '#base';
import { claimedIssuer, SignedTokens } from '../../src/apiserver/authn/service-accounts/signed-tokens.ts';
import { parseRequestInfo } from '../../src/apiserver/request/request-info.ts';
import { objectPath } from '../../src/client/resource-path.ts';
import { normalizedImageName } from '../../src/kubelet/images/image-name.ts';
import { fullImageName, parseImageName } from '../../src/kubelet/images/parse-image-name.ts';
import { normalizedImageName as scheduledImageName } from '../../src/scheduler/framework/node-info.ts';

// Two parsers of one text must agree: what one of them checked is what the other uses.

function result<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

describe('request paths', () => {
  const word = fc.constantFrom(
    'a',
    'pods',
    'status',
    'finalize',
    'namespaces',
    'watch',
    'proxy',
    'apis',
    'api',
    'v1',
    '..',
    '.',
    '%2e',
    'a/b',
    'a%2fb',
    '日',
  );
  const group = fc.constantFrom('', 'apps', 'example.com');

  test('that a client makes for an object are read as that object, or not made', () => {
    fc.assert(
      fc.property(group, word, word, word, fc.boolean(), (apiGroup, resource, namespace, name, namespaced) => {
        // Resources with these names would be parsed differently; no API has them.
        if (/[/%.]|^(watch|proxy|namespaces)$/.test(resource)) return;
        const path = result(() => objectPath({ group: apiGroup, version: 'v1', resource, namespaced }, { name, namespace }));
        if (path === undefined) return;
        const info = parseRequestInfo({ method: 'GET', path, watch: false });
        // Below a namespace these are subresources, whatever resources exist: as upstream.
        if (namespaced && (resource === 'status' || resource === 'finalize')) return;
        expect(info).toMatchObject({ isResource: true, group: apiGroup, version: 'v1', resource, name, subresource: '' });
        if (namespaced) expect(info.namespace).toBe(namespace);
      }),
    );
  });

  test('are no resource when a segment is empty, wherever', () => {
    const segments = fc.array(fc.constantFrom('apis', 'api', 'apps', 'v1', 'namespaces', 'a', 'pods', ''), { minLength: 2, maxLength: 9 });
    fc.assert(
      fc.property(segments, (parts) => {
        const path = `/${parts.join('/')}`;
        const { isResource } = parseRequestInfo({ method: 'GET', path, watch: false });
        if (path.includes('//')) expect(isResource).toBe(false);
      }),
    );
  });
});

describe('tokens', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = { signing: { id: 'k', algorithm: 'RS256', privateKey }, verification: [{ id: 'k', algorithm: 'RS256', key: publicKey }] };
  const tokens = new SignedTokens({ keys: async () => keys as never, clock: realClock });

  test('whose issuer is read before their signature is checked have the same issuer afterwards', async () => {
    const claims = fc.record({ iss: fc.oneof(fc.string(), fc.constantFrom('__proto__', 'https://a', '\u0000', '日')), sub: fc.string() });
    const change = fc.constantFrom('', '=', '==', ' ', '\n', '.', '+', '/');
    await fc.assert(
      fc.asyncProperty(claims, fc.nat(400), change, async (payload, at, inserted) => {
        const signed = await tokens.sign(payload);
        const token = signed.slice(0, at) + inserted + signed.slice(at);
        const issuer = claimedIssuer(token);
        const verified = issuer === undefined ? undefined : await Promise.resolve(tokens.verify(token)).catch(() => undefined);
        if (inserted === '') expect(verified).toEqual(payload);
        if (verified !== undefined) expect(verified.iss).toBe(issuer);
      }),
      { numRuns: 60 },
    );
  });
});

describe('names of images', () => {
  const piece = fc.constantFrom(
    'a',
    'b1',
    'A',
    '/',
    ':',
    '@',
    '.',
    '-',
    '_',
    'localhost',
    'docker.io',
    ':5000',
    'sha256:',
    'f'.repeat(64),
    '[::1]',
    ' ',
    '日',
  );
  const names = fc.array(piece, { minLength: 1, maxLength: 7 }).map((pieces) => pieces.join(''));

  test('mean the same to the kubelet, the runtime and the scheduler', () => {
    fc.assert(
      fc.property(names, (name) => {
        const parsed = result(() => parseImageName(name));
        const normalized = result(() => normalizedImageName(name));
        expect(normalized !== undefined).toBe(parsed !== undefined);
        if (parsed === undefined || normalized === undefined) return;
        // The name with its tag is the same image, and has one full name.
        expect(parseImageName(normalized)).toEqual(parsed);
        const full = fullImageName(name);
        expect(fullImageName(full)).toBe(full);
        if (parsed.digest === undefined) expect(scheduledImageName(name)).toBe(normalized);
      }),
      { numRuns: 2000 },
    );
  });
});
