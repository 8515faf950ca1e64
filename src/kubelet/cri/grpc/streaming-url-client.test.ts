import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GrpcClient, realClock, silentLogger } from '#base';
import { BUSYBOX, busyboxArchive } from '../../containerd/busybox-archive.test-data.ts';
import { type ContainerdSite, makeContainerdSite, whyNoContainers } from '../../containerd/containerd.test-setup.ts';
import { importArchive } from '../../containerd/import-archive.ts';
import type { PrivateContainerd } from '../../containerd/private-containerd.ts';
import type { AttachRequest, ContainerConfig, SandboxConfig } from '../runtime.ts';
import { GrpcRuntime } from './grpc-runtime.ts';
import { streamingUrlClient } from './streaming-url-client.ts';

const reason = whyNoContainers() ?? (existsSync('/usr/bin/socat') ? undefined : 'not installed: socat');
if (reason !== undefined) console.info(`tests of containerd's streams are skipped: ${reason}`);

const NAMESPACES = { network: 'pod', pid: 'container', ipc: 'pod' } as const;
const OUTPUT = { stdin: false, stdout: true, stderr: true, tty: false };

describe.skipIf(reason !== undefined)('streams of containers in containerd', { timeout: 120_000 }, () => {
  let directory: string;
  let site: ContainerdSite;
  let containerd: PrivateContainerd;
  let runtime: GrpcRuntime;
  let relay: ChildProcess | undefined;
  let containerId: string;
  let sandboxId: string;

  /** containerd's streaming server listens inside its own network namespace: it is reached through a unix socket. */
  async function startRelay(url: URL): Promise<void> {
    const { pid } = JSON.parse(await readFile(path.join(site.config.runDirectory, 'containerd.json'), 'utf8')) as { pid: number };
    const listen = `UNIX-LISTEN:${path.join(directory, 'streams.sock')},fork`;
    relay = spawn('nsenter', [`--net=/proc/${pid}/ns/net`, 'socat', listen, `TCP:${url.host}`], { stdio: 'ignore' });
    await expect.poll(() => existsSync(path.join(directory, 'streams.sock'))).toBe(true);
  }

  beforeAll(async () => {
    directory = await mkdtemp(path.join(os.tmpdir(), 'streams-'));
    site = await makeContainerdSite();
    containerd = site.start();
    await containerd.ready;
    const client = streamingUrlClient({ clock: realClock, socketPath: path.join(directory, 'streams.sock') });
    const streaming: typeof client = {
      command: async (url, request, options) => {
        if (relay === undefined) await startRelay(new URL(url));
        return client.command(url, request, options);
      },
      portForward: (url, port, options) => client.portForward(url, port, options),
    };
    runtime = new GrpcRuntime({ endpoint: containerd.endpoint }, { clock: realClock, logger: silentLogger, streaming });
    using grpc = new GrpcClient({ endpoint: containerd.endpoint, clock: realClock });
    await importArchive(grpc, Readable.from([await busyboxArchive()]), { architecture: site.config.architecture, now: realClock.now() });
    const sandboxConfig: SandboxConfig = {
      metadata: { name: 'pod', uid: 'u', namespace: 'default', attempt: 0 },
      hostname: 'host',
      logDirectory: directory,
      labels: {},
      annotations: {},
      linux: { securityContext: { namespaceOptions: NAMESPACES } },
    };
    const config: ContainerConfig = {
      metadata: { name: 'main', attempt: 0 },
      image: { image: BUSYBOX },
      command: ['sh', '-c', '(while true; do nc -l -p 8080 -e cat; done) & while read line; do echo got $line; done; sleep 1000'],
      args: [],
      envs: [],
      mounts: [],
      labels: {},
      annotations: {},
      logPath: 'main.log',
      stdin: true,
      linux: { resources: {}, securityContext: { namespaceOptions: NAMESPACES } },
    };
    sandboxId = await runtime.runPodSandbox(sandboxConfig);
    containerId = await runtime.createContainer(sandboxId, { config, sandboxConfig });
    await runtime.startContainer(containerId);
  }, 120_000);

  afterAll(async () => {
    if (sandboxId) await runtime.removePodSandbox(sandboxId);
    runtime?.[Symbol.dispose]();
    await containerd?.[Symbol.asyncDispose]();
    await site?.[Symbol.asyncDispose]();
    if (relay !== undefined) {
      relay.kill();
      await once(relay, 'exit');
    }
    await rm(directory, { recursive: true, force: true });
  }, 120_000);

  const exec = (command: readonly string[], streams: Partial<AttachRequest> = {}) =>
    runtime.exec({ containerId, command, ...OUTPUT, ...streams });

  test('give a command its output, its errors and its exit code', async () => {
    const command = await exec(['sh', '-c', 'echo out; echo err >&2; exit 7']);
    expect(await Promise.all([text(command.stdout!), text(command.stderr!), command.exit])).toEqual(['out\n', 'err\n', { exitCode: 7 }]);
  });

  test('fail with what containerd says when a command does not exist', async () => {
    const command = await exec(['nosuch']);
    command.stdout!.resume();
    command.stderr!.resume();
    await expect(command.exit).rejects.toThrow('nosuch');
  });

  test('carry megabytes in and out unchanged', async () => {
    const input = randomBytes(16 << 20);
    const command = await exec(['cat'], { stdin: true });
    command.stderr!.resume();
    command.stdin!.end(input);
    const output = await buffer(command.stdout!);
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
    expect(digest(output)).toBe(digest(input));
    expect(await command.exit).toEqual({ exitCode: 0 });
  });

  test('set the size of a terminal', async () => {
    const command = await exec(['sh', '-c', 'read x; stty size'], { stdin: true, stderr: false, tty: true });
    command.resize!(132, 50);
    // Terminal sizes have their own stream: they may arrive after the input.
    await realClock.sleep(500);
    command.stdin!.write('go\n');
    expect(await text(command.stdout!)).toContain('50 132');
    expect(await command.exit).toEqual({ exitCode: 0 });
  });

  test('attach to the main process', async () => {
    const left = new AbortController();
    const main = await runtime.attach({ containerId, ...OUTPUT, stdin: true }, { signal: left.signal });
    main.exit.catch(() => {});
    main.stdin!.write('hello\n');
    const [chunk] = (await once(main.stdout!, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('got hello\n');
    left.abort();
  });

  test('lead to ports of the sandbox', async () => {
    const connection = await runtime.portForward(sandboxId, 8080);
    connection.write('ping');
    const [chunk] = (await once(connection, 'data')) as [Buffer];
    expect(chunk.toString()).toBe('ping');
    connection.destroy();
    const refused = await runtime.portForward(sandboxId, 9);
    const [error] = (await once(refused, 'error')) as [Error];
    expect(error.message).toContain('refused');
  });
});
