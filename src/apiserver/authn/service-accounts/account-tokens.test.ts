import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { CompactSign } from 'jose';
import { beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '#base';
import type { KubeObject } from '../../watch-cache/kube-object.ts';
import type { TokenResponse } from '../authenticator.ts';
import type { ObjectReader } from '../object-reader.ts';
import { accountTokens } from './account-tokens.ts';
import { type BoundObjects, tokenClaims } from './claims.ts';
import { keySource, serviceAccountKeys } from './keys.ts';
import { INVALID_SINCE_LABEL, legacyClaims, legacyTokens } from './legacy-tokens.ts';
import { SignedTokens } from './signed-tokens.ts';

const ISSUER = 'https://issuer';
const AUDIENCE = 'api';

function newKey(): { pem: string; publicPem: string; key: KeyObject } {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    key: privateKey,
    pem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  };
}
const first = newKey();
const second = newKey();

/** Objects that the test can create and delete. */
class Objects implements ObjectReader {
  readonly objects = new Map<string, KubeObject>();
  put(namespace: string, name: string, overrides: object = {}): KubeObject {
    const object = { metadata: { name, namespace, uid: `uid-${name}` }, ...overrides } as KubeObject;
    this.objects.set(`${namespace}/${name}`, object);
    return object;
  }
  cached(namespace: string, name: string): KubeObject | undefined {
    return this.objects.get(`${namespace}/${name}`);
  }
  async current(namespace: string, name: string): Promise<KubeObject | undefined> {
    return this.cached(namespace, name);
  }
}

let clock: VirtualClock;
let objects: { serviceAccounts: Objects; pods: Objects; secrets: Objects; nodes: Objects };
let account: KubeObject;

beforeEach(() => {
  clock = new VirtualClock();
  objects = { serviceAccounts: new Objects(), pods: new Objects(), secrets: new Objects(), nodes: new Objects() };
  account = objects.serviceAccounts.put('ns', 'sa');
});

function verifier(keys = serviceAccountKeys({ signing: first.pem })) {
  const tokens = new SignedTokens({ keys: () => keys, clock });
  return { tokens, ...accountTokens({ tokens, issuers: [ISSUER, 'https://before'], audiences: [AUDIENCE], objects, clock }) };
}

function claimsFor(bound: BoundObjects = {}, overrides: object = {}) {
  const options = { account, bound, issuer: ISSUER, audiences: [AUDIENCE], expirationSeconds: 600, warnAfterSeconds: 0 };
  return tokenClaims({ ...options, now: clock.now(), id: 'the-id', ...overrides });
}

const check = async (
  authenticator: ReturnType<typeof verifier>,
  token: string,
  audiences = [AUDIENCE],
): Promise<TokenResponse | undefined> => authenticator.authenticateToken(token, audiences);

function encoded(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

describe('a token of a service account', () => {
  it('stands for the account, its groups, and what it is bound to', async () => {
    const authenticator = verifier();
    const bound = { pod: objects.pods.put('ns', 'p'), node: objects.nodes.put('', 'n') };
    const token = await authenticator.tokens.sign(claimsFor(bound));
    expect(await check(authenticator, token)).toEqual({
      audiences: [AUDIENCE],
      user: {
        name: 'system:serviceaccount:ns:sa',
        uid: 'uid-sa',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
        extra: {
          'authentication.kubernetes.io/credential-id': ['JTI=the-id'],
          'authentication.kubernetes.io/pod-name': ['p'],
          'authentication.kubernetes.io/pod-uid': ['uid-p'],
          'authentication.kubernetes.io/node-name': ['n'],
          'authentication.kubernetes.io/node-uid': ['uid-n'],
        },
      },
    });
  });

  it('is verified only once', async () => {
    const authenticator = verifier();
    const token = await authenticator.tokens.sign(claimsFor());
    expect(authenticator.authenticateToken(token, [AUDIENCE])).toBeInstanceOf(Promise);
    await check(authenticator, token);
    expect(authenticator.authenticateToken(token, [AUDIENCE])).not.toBeInstanceOf(Promise);
  });

  it('is ignored if it has another issuer or format', async () => {
    const authenticator = verifier();
    expect(await check(authenticator, await authenticator.tokens.sign(claimsFor({}, { issuer: 'https://other' })))).toBeUndefined();
    for (const token of ['', 'x', 'a.b.c', 'a.b', `${encoded({ alg: 'RS256' })}.${encoded({})}.x`, 'x'.repeat(100_000)]) {
      expect(await check(authenticator, token)).toBeUndefined();
    }
  });

  it('is accepted for a previous issuer', async () => {
    const authenticator = verifier();
    const token = await authenticator.tokens.sign(claimsFor({}, { issuer: 'https://before' }));
    expect((await check(authenticator, token))?.user.name).toBe('system:serviceaccount:ns:sa');
  });

  it('is accepted only for its audiences', async () => {
    const authenticator = verifier();
    const token = await authenticator.tokens.sign(claimsFor({}, { audiences: ['a', 'b'] }));
    expect((await check(authenticator, token, ['b', 'c']))?.audiences).toEqual(['b']);
    await expect(check(authenticator, token)).rejects.toThrow('token audiences ["a" "b"] is invalid for the target audiences ["api"]');
  });
});

describe('a forged token', () => {
  const forged = {
    'says that it needs no signature': () => `${encoded({ alg: 'none' })}.${encoded(claimsFor())}.`,
    'says so in capitals': () => `${encoded({ alg: 'NONE' })}.${encoded(claimsFor())}.AAAA`,
    'is signed with the public key as if that were a secret': () => {
      const content = `${encoded({ alg: 'HS256' })}.${encoded(claimsFor())}`;
      return `${content}.${createHmac('sha256', first.publicPem).update(content).digest('base64url')}`;
    },
    'is signed with another key': async () =>
      new CompactSign(Buffer.from(JSON.stringify(claimsFor()))).setProtectedHeader({ alg: 'RS256' }).sign(second.key),
    'names a key that nobody has': async () =>
      new CompactSign(Buffer.from(JSON.stringify(claimsFor()))).setProtectedHeader({ alg: 'RS256', kid: 'nosuch' }).sign(second.key),
    'has other claims than were signed': async () => {
      const [head, , signature] = (await verifier().tokens.sign(claimsFor())).split('.');
      return `${head}.${encoded({ ...claimsFor(), sub: 'system:serviceaccount:kube-system:root' })}.${signature}`;
    },
    'has another signature': async () => {
      const token = await verifier().tokens.sign(claimsFor());
      return `${token.slice(0, -8)}AAAAAAAA`;
    },
    'has no signature': async () => `${(await verifier().tokens.sign(claimsFor())).split('.').slice(0, 2).join('.')}.`,
  };
  it.each(Object.entries(forged))('that %s is refused', async (_, forge) => {
    const token = await forge();
    await expect(check(verifier(), token)).rejects.toThrow(/invalid signature|cryptographic primitive/);
  });
});

describe('the time of a token', () => {
  it('ends, with a minute of grace for clocks that differ', async () => {
    const authenticator = verifier();
    const token = await authenticator.tokens.sign(claimsFor());
    await clock.advance(659_000);
    expect(await check(authenticator, token)).toBeDefined();
    await clock.advance(2_000);
    await expect(check(authenticator, token)).rejects.toThrow('service account token has expired');
  });

  it('may not have begun', async () => {
    const authenticator = verifier();
    const token = await authenticator.tokens.sign(claimsFor({}, { now: clock.now() + 120_000 }));
    await expect(check(authenticator, token)).rejects.toThrow('service account token is not valid yet');
  });
});

describe('what a token depends on', () => {
  const bindings = {
    pod: ['pods', 'ns', 'service account token has been invalidated'],
    secret: ['secrets', 'ns', 'service account token has been invalidated'],
    node: ['nodes', '', 'service account token has been invalidated'],
  } as const;
  it.each(Object.entries(bindings))(
    '%s: its deletion ends the token at once, even one that was accepted before',
    async (kind, [store, namespace, text]) => {
      const authenticator = verifier();
      const token = await authenticator.tokens.sign(claimsFor({ [kind]: objects[store].put(namespace, 'x') }));
      expect(await check(authenticator, token)).toBeDefined();
      objects[store].objects.clear();
      await expect(check(authenticator, token)).rejects.toThrow(text);
    },
  );

  it.each(Object.entries(bindings))('%s: another one of the same name does not revive it', async (kind, [store, namespace]) => {
    const authenticator = verifier();
    const token = await authenticator.tokens.sign(claimsFor({ [kind]: objects[store].put(namespace, 'x') }));
    objects[store].put(namespace, 'x', { metadata: { name: 'x', namespace, uid: 'another' } });
    await expect(check(authenticator, token)).rejects.toThrow(
      `${kind} UID (another) does not match service account ${kind} ref claim (uid-x)`,
    );
  });

  it('the token of a deleted or recreated account is rejected', async () => {
    const authenticator = verifier();
    const token = await authenticator.tokens.sign(claimsFor());
    objects.serviceAccounts.objects.clear();
    await expect(check(authenticator, token)).rejects.toThrow('serviceaccounts "sa" not found');
    objects.serviceAccounts.put('ns', 'sa', { metadata: { name: 'sa', namespace: 'ns', uid: 'another' } });
    await expect(check(authenticator, token)).rejects.toThrow('service account UID (another) does not match claim (uid-sa)');
  });

  it('an object that is being deleted counts for another minute', async () => {
    const authenticator = verifier();
    const pod = objects.pods.put('ns', 'p');
    const token = await authenticator.tokens.sign(claimsFor({ pod }));
    const deletionTimestamp = new Date(clock.now()).toISOString();
    objects.pods.put('ns', 'p', { metadata: { ...pod.metadata, deletionTimestamp } });
    expect(await check(authenticator, token)).toBeDefined();
    await clock.advance(61_000);
    await expect(check(authenticator, token)).rejects.toThrow('service account token has been invalidated');
  });

  it('the node of a pod is a claim, but need not exist', async () => {
    const authenticator = verifier();
    const token = await authenticator.tokens.sign(claimsFor({ pod: objects.pods.put('ns', 'p'), node: objects.nodes.put('', 'n') }));
    objects.nodes.objects.clear();
    expect(await check(authenticator, token)).toBeDefined();
  });
});

describe('keys', () => {
  it('rotate: a new one signs while tokens of the old one live on, until that is taken away', async () => {
    const before = await verifier().tokens.sign(claimsFor());
    const rotated = verifier(serviceAccountKeys({ signing: second.pem, verification: [first.publicPem] }));
    const after = await rotated.tokens.sign(claimsFor());
    expect(await check(rotated, before)).toBeDefined();
    expect(await check(rotated, after)).toBeDefined();
    const retired = verifier(serviceAccountKeys({ signing: second.pem }));
    await expect(check(retired, before)).rejects.toThrow('invalid signature, no keys found');
    expect(await check(retired, after)).toBeDefined();
  });

  it('are named by their public half, whoever reads them', () => {
    const [own] = serviceAccountKeys({ signing: first.pem }).verification;
    const [others] = serviceAccountKeys({ verification: [first.publicPem] }).verification;
    expect(own!.id).toBe(others!.id);
  });

  it.each([
    ['P-256', 'ES256'],
    ['P-384', 'ES384'],
  ])('on the curve %s sign as %s', async (namedCurve, algorithm) => {
    const pem = generateKeyPairSync('ec', { namedCurve }).privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    const keys = serviceAccountKeys({ signing: pem });
    expect(keys.verification[0]!.algorithm).toBe(algorithm);
    const authenticator = verifier(keys);
    expect(await check(authenticator, await authenticator.tokens.sign(claimsFor()))).toBeDefined();
  });

  it('that are not made yet are asked for with the first token, and asked for again when that failed', async () => {
    let reads = 0;
    const keys = keySource({
      signing: async () => {
        if (++reads === 1) throw new Error('the disk is full');
        return first.pem;
      },
    });
    const tokens = new SignedTokens({ keys, clock });
    expect(reads).toBe(0);
    await expect(tokens.sign({})).rejects.toThrow('the disk is full');
    expect(await tokens.verify(await tokens.sign({ sub: 'x' }))).toEqual({ sub: 'x' });
    expect(reads).toBe(2);
  });

  it('of other kinds, or none, are refused', () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    expect(() => serviceAccountKeys({ signing: pem })).toThrow(/must be RSA/);
    expect(() => serviceAccountKeys({})).toThrow(/at least one key/);
  });
});

describe('a token in a secret', () => {
  async function legacy() {
    const tokens = new SignedTokens({ keys: keySource({ signing: first.pem }), clock });
    const used: string[] = [];
    const authenticator = legacyTokens({ tokens, audiences: [AUDIENCE], objects, used: ({ metadata }) => used.push(metadata.name) });
    const secret = objects.secrets.put('ns', 's');
    const token = await tokens.sign(legacyClaims(account, secret));
    const hold = (overrides: object = {}) =>
      objects.secrets.put('ns', 's', { data: { token: Buffer.from(token).toString('base64') }, ...overrides });
    hold();
    return { tokens, authenticator, token, hold, used };
  }

  it('stands for its account, and its use is noted', async () => {
    const { authenticator, token, used } = await legacy();
    expect(await authenticator.authenticateToken(token, [AUDIENCE])).toEqual({
      user: { name: 'system:serviceaccount:ns:sa', uid: 'uid-sa', groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'] },
      audiences: [AUDIENCE],
    });
    expect(used).toEqual(['s']);
  });

  it('warns when the system made it', async () => {
    const { authenticator, token } = await legacy();
    objects.serviceAccounts.put('ns', 'sa', { secrets: [{ name: 's' }] });
    expect((await authenticator.authenticateToken(token, [AUDIENCE]))?.warnings).toHaveLength(1);
  });

  it.each([
    ['no longer there', () => objects.secrets.objects.clear(), 'Token has been invalidated'],
    ['holding another token', () => objects.secrets.put('ns', 's', { data: { token: 'eHg=' } }), "Token does not match server's copy"],
    ['without its account', () => objects.serviceAccounts.objects.clear(), 'serviceaccounts "sa" not found'],
    [
      'of an account of the same name only',
      () => objects.serviceAccounts.put('ns', 'sa', { metadata: { name: 'sa', namespace: 'ns', uid: 'new' } }),
      'ServiceAccount UID (new) does not match claim (uid-sa)',
    ],
  ])('is refused when its secret is %s', async (_, change, text) => {
    const { authenticator, token } = await legacy();
    change();
    await expect(authenticator.authenticateToken(token, [AUDIENCE])).rejects.toThrow(text);
  });

  it('is refused when its secret is marked as invalid', async () => {
    const { authenticator, token, hold } = await legacy();
    hold({ metadata: { name: 's', namespace: 'ns', uid: 'uid-s', labels: { [INVALID_SINCE_LABEL]: '2026-01-01' } } });
    await expect(authenticator.authenticateToken(token, [AUDIENCE])).rejects.toThrow(/has been marked invalid/);
  });

  it('is refused when its claims do not fit together', async () => {
    const { tokens, authenticator } = await legacy();
    const token = await tokens.sign({ ...legacyClaims(account, objects.secrets.put('ns', 's')), sub: 'system:serviceaccount:ns:root' });
    await expect(authenticator.authenticateToken(token, [AUDIENCE])).rejects.toThrow('sub claim is invalid');
  });
});
