import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { CompactSign } from 'jose';
import { createAuthority, loadAuthority, newPrivateKey, privateKeyPem, type Random, realClock, signCertificate } from '#base';

interface SigningKey {
  readonly id: string;
  readonly algorithm: string;
  readonly privateKey: KeyObject;
}

/** A certificate authority and a server certificate for loopback. */
export function loopbackPki(random: Random) {
  const now = realClock.now();
  const validity = { notBefore: now - 60_000, notAfter: now + 3_600_000 };
  const root = createAuthority({ subject: { commonName: 'root' }, ...validity }, random);
  const key = newPrivateKey();
  const template = { subject: { commonName: 'server' }, publicKey: createPublicKey(key), ...validity };
  const cert = signCertificate({ ...template, extendedKeyUsages: ['serverAuth'], ipAddresses: ['127.0.0.1'] }, loadAuthority(root), random);
  return { authority: root.certificate, cert, key: privateKeyPem(key) };
}

/** An OpenID Connect issuer on loopback, over TLS, whose answers tests may spoil. */
export class TestIssuer implements AsyncDisposable {
  readonly #server: https.Server;
  readonly authority: string;
  keys: SigningKey[] = [];
  /** Answers instead of the issuer, by path. */
  readonly overrides = new Map<string, (response: import('node:http').ServerResponse) => void>();
  readonly requests: string[] = [];

  private constructor(pki: ReturnType<typeof loopbackPki>) {
    this.authority = pki.authority;
    this.#server = https.createServer({ cert: pki.cert, key: pki.key }, (request, response) => {
      const path = request.url!;
      this.requests.push(path);
      const override = this.overrides.get(path);
      if (override !== undefined) return override(response);
      response.setHeader('content-type', 'application/json');
      if (path === '/.well-known/openid-configuration') response.end(JSON.stringify({ issuer: this.url, jwks_uri: `${this.url}/keys` }));
      else if (path === '/keys') response.end(JSON.stringify({ keys: this.keys.map(jwkOf) }));
      else response.writeHead(404).end();
    });
  }

  static async start(random: Random): Promise<TestIssuer> {
    const issuer = new TestIssuer(loopbackPki(random));
    await new Promise<void>((resolve) => issuer.#server.listen(0, '127.0.0.1', resolve));
    issuer.addKey('one');
    return issuer;
  }

  get url(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  addKey(id: string, type: 'rsa' | 'ec' = 'rsa'): void {
    const privateKey =
      type === 'rsa'
        ? generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
        : generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
    this.keys.push({ id, algorithm: type === 'rsa' ? 'RS256' : 'ES256', privateKey });
  }

  async token(claims: object, { key = this.keys.at(-1)!, header = {} }: { key?: SigningKey; header?: object } = {}): Promise<string> {
    const exp = Math.floor(realClock.now() / 1000) + 3600;
    const payload = { iss: this.url, aud: 'sampan', exp, ...claims };
    return new CompactSign(Buffer.from(JSON.stringify(payload)))
      .setProtectedHeader({ alg: key.algorithm, kid: key.id, ...header })
      .sign(key.privateKey);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function jwkOf({ id, algorithm, privateKey }: SigningKey): object {
  return { ...createPublicKey(privateKey).export({ format: 'jwk' }), kid: id, alg: algorithm, use: 'sig' };
}
