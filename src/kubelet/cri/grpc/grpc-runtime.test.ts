import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { GrpcClient, realClock, silentLogger } from '#base';
import { BUSYBOX, busyboxArchive } from '../../containerd/busybox-archive.test-data.ts';
import { type ContainerdSite, makeContainerdSite, whyNoContainers } from '../../containerd/containerd.test-setup.ts';
import { importArchive } from '../../containerd/import-archive.ts';
import { noStreaming } from '../../containerd/no-streaming.ts';
import type { PrivateContainerd } from '../../containerd/private-containerd.ts';
import { describeRuntimeContract, type RuntimeUnderTest } from '../contract.ts';
import { GrpcRuntime } from './grpc-runtime.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`the contract of runtimes is not tested on containerd: ${reason}`);

describe.skipIf(reason !== undefined)('CRI over gRPC', { timeout: 60_000 }, () => {
  let site: ContainerdSite;
  let containerd: PrivateContainerd;
  let logs: string;

  beforeAll(async () => {
    site = await makeContainerdSite();
    logs = await mkdtemp(path.join(os.tmpdir(), 'pod-logs-'));
    containerd = site.start();
    await containerd.ready;
    using client = new GrpcClient({ endpoint: containerd.endpoint, clock: realClock });
    const archive = await busyboxArchive();
    await importArchive(client, inOnePart(archive), { architecture: site.config.architecture, now: realClock.now() });
  }, 60_000);

  afterAll(async () => {
    await containerd?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
    await rm(logs, { recursive: true, force: true });
  }, 60_000);

  async function open(): Promise<RuntimeUnderTest> {
    // Logs stay when their containers are removed.
    const logDirectory = await mkdtemp(path.join(logs, 'pod-'));
    const runtime = new GrpcRuntime({ endpoint: containerd.endpoint }, { clock: realClock, logger: silentLogger, streaming: noStreaming });
    return {
      runtime,
      image: BUSYBOX,
      missingImage: '127.0.0.1:1/missing:1',
      logDirectory,
      command: (lines, code) => ['sh', '-c', `${lines.map((line) => `echo ${line}`).join('; ')}; exit ${code}`],
      endless: ['sleep', '1000000'],
      linesOf: (id) => linesOf(runtime, id),
      pass: (ms) => realClock.sleep(ms),
      async close() {
        for (const { id } of await runtime.listPodSandbox()) {
          await runtime.stopPodSandbox(id);
          await runtime.removePodSandbox(id);
        }
        runtime[Symbol.dispose]();
      },
    };
  }

  describeRuntimeContract('containerd', open);
});

/** Each line has a time, the stream and whether it is whole before it. */
async function linesOf(runtime: GrpcRuntime, id: string): Promise<readonly string[]> {
  const { logPath } = await runtime.containerStatus(id);
  return (await readFile(logPath, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => line.split(' ').slice(3).join(' '));
}

async function* inOnePart(archive: Buffer): AsyncGenerator<Buffer> {
  yield archive;
}
