import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GrpcClient, realClock, silentLogger } from '#base';
import { GrpcRuntime } from '../cri/grpc/grpc-runtime.ts';
import type { ContainerConfig, SandboxConfig } from '../cri/runtime.ts';
import { BUSYBOX, busyboxArchive } from './busybox-archive.test-data.ts';
import { type ContainerdSite, makeContainerdSite, whyNoContainers } from './containerd.test-setup.ts';
import { importArchive } from './import-archive.ts';
import { noStreaming } from './no-streaming.ts';
import { PAUSE_IMAGE } from './pause-image.ts';
import type { PrivateContainerd } from './private-containerd.ts';

const reason = whyNoContainers();
if (reason !== undefined) console.info(`tests of containerd are skipped: ${reason}`);

describe.skipIf(reason !== undefined)('a private containerd', { timeout: 120_000 }, () => {
  let site: ContainerdSite;
  let containerd: PrivateContainerd;
  let runtime: GrpcRuntime;
  let logs: string;

  beforeAll(async () => {
    site = await makeContainerdSite();
    logs = await mkdtemp(path.join(os.tmpdir(), 'pod-logs-'));
    containerd = site.start();
    await containerd.ready;
    runtime = new GrpcRuntime({ endpoint: containerd.endpoint }, { clock: realClock, logger: silentLogger, streaming: noStreaming });
    using client = new GrpcClient({ endpoint: containerd.endpoint, clock: realClock });
    const archive = await busyboxArchive();
    const { architecture } = site.config;
    expect(await importArchive(client, once(archive), { architecture, now: realClock.now() })).toEqual([BUSYBOX]);
  }, 120_000);

  afterAll(async () => {
    runtime?.[Symbol.dispose]();
    await containerd?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
    await rm(logs, { recursive: true, force: true });
  }, 120_000);

  const sandbox = (uid: string): SandboxConfig => ({
    metadata: { name: `pod-${uid}`, uid, namespace: 'default', attempt: 0 },
    hostname: 'host',
    logDirectory: logs,
    labels: { 'io.kubernetes.pod.uid': uid },
    annotations: {},
    linux: { securityContext: { namespaceOptions: { network: 'pod', pid: 'container', ipc: 'pod' } } },
  });

  const container = (command: readonly string[]): ContainerConfig => ({
    metadata: { name: 'main', attempt: 0 },
    image: { image: BUSYBOX },
    command,
    args: [],
    envs: [{ name: 'WORD', value: 'hello' }],
    mounts: [],
    labels: {},
    annotations: {},
    logPath: 'main.log',
    linux: { resources: {}, securityContext: { namespaceOptions: { network: 'pod', pid: 'container', ipc: 'pod' } } },
  });

  test('is ready, with the sandbox image of its own', async () => {
    expect(await runtime.version()).toMatchObject({ runtimeName: 'containerd' });
    const { conditions } = await runtime.status();
    expect(conditions.map(({ type, status }) => ({ type, status }))).toEqual([
      { type: 'RuntimeReady', status: true },
      { type: 'NetworkReady', status: true },
    ]);
    expect(await runtime.runtimeConfig()).toEqual({ cgroupDriver: 'cgroupfs' });
    expect((await runtime.listImages()).flatMap(({ repoTags }) => repoTags).sort()).toEqual([BUSYBOX, PAUSE_IMAGE]);
  });

  test('runs a container in a sandbox whose program of ours ends on SIGTERM and reaps children', async () => {
    const sandboxConfig = sandbox('u1');
    const sandboxId = await runtime.runPodSandbox(sandboxConfig);
    expect((await runtime.podSandboxStatus(sandboxId)).ips).toEqual([expect.stringMatching(/^10\.88\./)]);
    const config = container(['sh', '-c', 'echo $WORD; exit 3']);
    const id = await runtime.createContainer(sandboxId, { config, sandboxConfig });
    expect((await runtime.containerStatus(id)).state).toBe('created');
    await runtime.startContainer(id);
    await expect.poll(() => runtime.containerStatus(id)).toMatchObject({ state: 'exited', exitCode: 3, reason: 'Error' });
    expect(await readFile(path.join(logs, 'main.log'), 'utf8')).toMatch(/ stdout F hello\n$/);
    await runtime.stopPodSandbox(sandboxId);
    await runtime.removePodSandbox(sandboxId);
    expect(await runtime.listPodSandbox()).toEqual([]);
  });

  test('sends container events, also after it was killed and restarted', async () => {
    const ended = new AbortController();
    const seen: string[] = [];
    const watch = (async () => {
      for await (const { type, podUid, containerId } of runtime.getContainerEvents({ signal: ended.signal })) {
        seen.push(`${type} ${podUid} ${containerId}`);
      }
    })();
    const sandboxConfig = sandbox('u2');
    const sandboxId = await runtime.runPodSandbox(sandboxConfig);
    const config = container(['sleep', '1000']);
    const id = await runtime.createContainer(sandboxId, {
      config: { ...config, labels: { 'io.kubernetes.pod.uid': 'u2' } },
      sandboxConfig,
    });
    await runtime.startContainer(id);
    await expect.poll(() => seen, { timeout: 10_000 }).toContain(`started u2 ${id}`);

    const { pid } = JSON.parse(await readFile(path.join(site.config.runDirectory, 'containerd.json'), 'utf8')) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => runtime.listContainers().catch(() => undefined), { timeout: 20_000 }).toMatchObject([{ id, state: 'running' }]);
    await runtime.stopContainer(id, 0);
    await expect.poll(() => seen, { timeout: 10_000 }).toContain(`stopped u2 ${id}`);
    await runtime.removePodSandbox(sandboxId);
    await expect.poll(() => seen, { timeout: 10_000 }).toContain(`deleted u2 ${sandboxId}`);
    ended.abort();
    await watch;
  });

  test('runs a command by exec, with its output and exit code', async () => {
    const sandboxConfig = sandbox('u3');
    const sandboxId = await runtime.runPodSandbox(sandboxConfig);
    const id = await runtime.createContainer(sandboxId, { config: container(['sleep', '1000']), sandboxConfig });
    await runtime.startContainer(id);
    const result = await runtime.execSync(id, { command: ['sh', '-c', 'echo out; echo err >&2; exit 7'], timeoutMs: 10_000 });
    expect({ ...result, stdout: result.stdout.toString(), stderr: result.stderr.toString() }).toEqual({
      exitCode: 7,
      stdout: 'out\n',
      stderr: 'err\n',
    });
    await expect(runtime.execSync(id, { command: ['sleep', '100'], timeoutMs: 1_000 })).rejects.toMatchObject({ code: 'deadlineExceeded' });
    await runtime.removePodSandbox(sandboxId);
  });

  test('is taken over with its containers when its owner was killed, and leaves nothing when it is stopped', async () => {
    await using other = await makeContainerdSite();
    await using first = other.start();
    await first.ready;
    const record = await readFile(path.join(other.config.runDirectory, 'containerd.json'), 'utf8');
    const { pid } = JSON.parse(record) as { pid: number };
    const second = other.start();
    await second.ready;
    expect(await readFile(path.join(other.config.runDirectory, 'containerd.json'), 'utf8')).toBe(record);
    await second[Symbol.asyncDispose]();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    expect(existsSync(other.config.runDirectory)).toBe(false);
  });
});

async function* once(archive: Buffer): AsyncGenerator<Buffer> {
  yield archive;
}
