import type { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { realClock, seededRandom, silentLogger } from '#base';
import { Client, type Transport } from '#client';
import { type ClusterCertificates, createClientCertificate, createPki } from '../pki/pki.ts';
import { startMachineServer } from './machine-server.ts';

const random = seededRandom(1);
const pki = await createPki({ names: {}, now: realClock.now(), random });

/** An API server that allows one user to read nodes. */
const transport = {
  isLocal: true,
  request: async ({ body }: { body?: unknown }) => {
    const { spec } = body as { spec: { user: string } };
    return { kind: 'SubjectAccessReview', metadata: { name: '' }, status: { allowed: spec.user === 'monitor' } };
  },
} as unknown as Transport;

function start(port?: number) {
  return startMachineServer(
    { nodeName: 'n1', nodeIps: ['127.0.0.1'], port },
    {
      ...{ client: new Client(transport), clock: realClock, random, logger: silentLogger, certificates: (): ClusterCertificates => pki },
      handle: async () => ({
        code: 200,
        headers: {},
        body: (async function* () {
          yield Buffer.from('pods');
        })(),
      }),
    },
  );
}

function codeFor(port: number, user?: string): Promise<number> {
  const { certificate: cert, key } =
    user === undefined
      ? { certificate: undefined, key: undefined }
      : createClientCertificate({ commonName: user }, pki.authority, { now: realClock.now(), random });
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port, path: '/pods', agent: false, ca: pki.authority.certificate, ...(cert && { cert, key }) },
      (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

test('the kubelet of the machine serves callers that the cluster authorizes, with a certificate of its CA', async () => {
  await using server = start(0);
  await server.ready;
  expect(await codeFor(server.port)).toBe(401);
  expect(await codeFor(server.port, 'monitor')).toBe(200);
  expect(await codeFor(server.port, 'stranger')).toBe(403);
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: pki.authority.certificate });
  await once(socket, 'secureConnect');
  const certificate = socket.getPeerX509Certificate() as X509Certificate;
  expect(certificate.subject).toBe('O=system:nodes\nCN=system:node:n1');
  expect(certificate.subjectAltName).toBe('DNS:n1, IP Address:127.0.0.1');
  socket.destroy();
});

test('an explicit kubelet port that is in use is an error', async () => {
  const occupant = createServer();
  occupant.listen(0, '0.0.0.0');
  await once(occupant, 'listening');
  const server = start((occupant.address() as AddressInfo).port);
  await expect(server.ready).rejects.toThrow('EADDRINUSE');
  occupant.close();
});

test('kubelets of several clusters on one machine have different ports', async () => {
  await using first = start();
  await first.ready;
  await using second = start();
  await second.ready;
  expect(second.port).not.toBe(first.port);
  expect(await codeFor(first.port, 'monitor')).toBe(200);
  expect(await codeFor(second.port, 'monitor')).toBe(200);
});
