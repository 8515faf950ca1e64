import { createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { expect, it } from 'vitest';
import { core } from '#api';
import {
  createAuthority,
  loadAuthority,
  MetricsRegistry,
  newPrivateKey,
  privateKeyPem,
  readCertificateRequest,
  realClock,
  seededRandom,
  signCertificate,
  silentLogger,
} from '#base';
import { CertificateFiles } from './certificate-files.ts';
import { rotatingClient } from './rotate-client.ts';

const HOUR_MS = 3_600_000;
const random = seededRandom(1);
const now = realClock.now();
const day = { notBefore: now - 24 * HOUR_MS, notAfter: now + 24 * HOUR_MS };
const authority = createAuthority({ subject: { commonName: 'ca' }, ...day }, random);
const signer = loadAuthority(authority);

function pairOf(commonName: string, validity: { readonly notBefore: number; readonly notAfter: number }) {
  const key = newPrivateKey();
  const template = { subject: { commonName }, publicKey: createPublicKey(key), ...validity, ipAddresses: ['127.0.0.1'] };
  return { cert: signCertificate(template, signer, random), key: privateKeyPem(key) };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text === '' ? undefined : JSON.parse(text);
}

/** An API server that signs every requested certificate, and records the connection of each request. */
async function startSigner() {
  const seen: { readonly serial: string; readonly socket: TLSSocket; readonly url: string }[] = [];
  const requests = new Map<string, object>();
  const server = createServer({ ...pairOf('server', day), ca: authority.certificate, requestCert: true }, async (request, response) => {
    const socket = request.socket as TLSSocket;
    const url = request.url ?? '';
    seen.push({ serial: socket.getPeerX509Certificate()?.serialNumber ?? '', socket, url });
    const body = (await bodyOf(request)) as { metadata: { name: string }; spec: { request: string } } | undefined;
    if (request.method === 'POST' && body !== undefined) {
      const { subject, publicKey } = readCertificateRequest(Buffer.from(body.spec.request, 'base64').toString());
      const certificate = Buffer.from(signCertificate({ subject, publicKey, ...day }, signer, random)).toString('base64');
      const metadata = { ...body.metadata, uid: 'u' };
      requests.set(body.metadata.name, { ...body, metadata, status: { certificate } });
    }
    const stored = requests.get(body?.metadata.name ?? url.slice(url.lastIndexOf('/') + 1).split('?')[0] ?? '');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(stored ?? { kind: 'Node', apiVersion: 'v1', metadata: { name: 'n' } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    seen,
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

it('a client certificate is rotated before it expires, with a new connection', async () => {
  await using api = await startSigner();
  const certDirectory = await mkdtemp(path.join(os.tmpdir(), 'rotate-'));
  try {
    const old = pairOf('system:node:n', { notBefore: now - HOUR_MS, notAfter: now + HOUR_MS / 60 });
    const files = new CertificateFiles(certDirectory, 'kubelet-client');
    await files.store(old, now - HOUR_MS);
    const connection = { server: `https://127.0.0.1:${api.port}`, ca: authority.certificate, credentials: old };
    const metrics = new MetricsRegistry();
    const deps = { clock: realClock, random, logger: silentLogger, metrics };
    await using rotating = rotatingClient({ nodeName: 'n', connection, certDirectory, options: {} }, deps);
    const serialOf = ({ cert }: { readonly cert: string }) => new X509Certificate(cert).serialNumber;
    const lastNodeRequest = async () => {
      await rotating.client.of(core.Node).get({ name: 'n' });
      return api.seen.findLast(({ url }) => url.includes('/nodes/'));
    };
    await expect.poll(async () => (await lastNodeRequest())?.serial !== serialOf(old), { timeout: 20_000 }).toBe(true);
    const current = await files.current();
    expect((await lastNodeRequest())?.serial).toBe(current && serialOf(current));
    expect(current && new X509Certificate(current.cert).subject).toContain('system:node:n');
    const oldSockets = api.seen.filter(({ serial }) => serial === serialOf(old)).map(({ socket }) => socket);
    await expect.poll(() => oldSockets.every(({ destroyed }) => destroyed), { timeout: 20_000 }).toBe(true);
    expect(oldSockets.length).toBeGreaterThan(0);
    const [, seconds = ''] = /^kubelet_certificate_manager_client_ttl_seconds (\d+)$/m.exec(metrics.text()) ?? [];
    expect(Number(seconds)).toBeGreaterThan(HOUR_MS / 60_000);
  } finally {
    await rm(certDirectory, { recursive: true });
  }
});
