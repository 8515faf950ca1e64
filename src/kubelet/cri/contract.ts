import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONTAINER_NAME, POD_NAME, POD_NAMESPACE, POD_UID } from '../pods/labels.ts';
import type { ContainerConfig, ContainerEvent, ContainerRuntime, SandboxConfig } from './runtime.ts';

/** A runtime under test, with implementation-specific helpers. */
export interface RuntimeUnderTest {
  readonly runtime: ContainerRuntime;
  /** An image that is present or can be pulled, and the name of one that does not exist. */
  readonly image: string;
  readonly missingImage: string;
  /** Where sandboxes write their logs; absent: no log files. */
  readonly logDirectory?: string;
  /** A command that prints these lines and exits with this code. */
  command(lines: readonly string[], exitCode: number): readonly string[];
  /** A command that runs until it is stopped. */
  readonly endless: readonly string[];
  /** The lines that a container wrote. */
  linesOf(containerId: string): Promise<readonly string[]>;
  /** Advances time. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** The contract of every runtime. */
export function describeRuntimeContract(name: string, open: () => Promise<RuntimeUnderTest>): void {
  describe(`${name} keeps the contract of a runtime:`, () => {
    let under: RuntimeUnderTest;
    let runtime: ContainerRuntime;

    beforeEach(async () => {
      under = await open();
      runtime = under.runtime;
    });
    afterEach(() => under.close());

    const sandbox = (uid: string) => contractSandbox(uid, under.logDirectory);
    const ofPod = (uid: string) => ({ labelSelector: { [POD_UID]: uid } });
    const statusOf = (id: string) => runtime.containerStatus(id);

    async function imageId(): Promise<string> {
      const present = await runtime.imageStatus({ image: under.image });
      return present?.id ?? runtime.pullImage({ image: under.image }, { sandboxConfig: sandbox('u1') });
    }

    async function created(command: readonly string[], uid = 'u1') {
      const sandboxConfig = sandbox(uid);
      const sandboxId = await runtime.runPodSandbox(sandboxConfig);
      const config = contractContainer(uid, { image: await imageId(), command });
      const id = await runtime.createContainer(sandboxId, { config, sandboxConfig });
      return { sandboxId, id, sandboxConfig, config };
    }

    async function running(command: readonly string[]) {
      const container = await created(command);
      await runtime.startContainer(container.id);
      return container;
    }

    async function waitForEnd(id: string): Promise<void> {
      for (let i = 0; i < 100 && (await statusOf(id)).state !== 'exited'; i++) await under.pass(100);
    }

    it('names itself and is ready', async () => {
      expect((await runtime.version()).runtimeName).not.toBe('');
      const { conditions } = await runtime.status();
      expect(conditions.find(({ type }) => type === 'RuntimeReady')?.status).toBe(true);
    });

    it('makes ready sandboxes that are listed by their labels, and shows what they were made with', async () => {
      const ids = [await runtime.runPodSandbox(sandbox('u1')), await runtime.runPodSandbox(sandbox('u2'))];
      expect((await runtime.listPodSandbox(ofPod('u2'))).map(({ id }) => id)).toEqual([ids[1]]);
      expect(await runtime.podSandboxStatus(ids[0] as string)).toMatchObject({ state: 'ready', metadata: sandbox('u1').metadata });
    });

    it('says of an image that is not there that it is not', async () => {
      expect(await runtime.imageStatus({ image: under.missingImage })).toBeUndefined();
      await expect(runtime.pullImage({ image: under.missingImage }, { sandboxConfig: sandbox('u1') })).rejects.toThrow(/rpc error/);
    });

    it('lists an image with its id, its names and its size', async () => {
      const id = await imageId();
      const image = (await runtime.listImages()).find((candidate) => candidate.id === id);
      expect(image?.repoTags).toContain(under.image);
      expect(image?.sizeBytes).toBeGreaterThan(0);
    });

    it('creates no container without its image or its sandbox', async () => {
      const { sandboxId, sandboxConfig, config } = await created(under.endless);
      const request = { config: contractContainer('u1', { image: 'nothing', command: [] }), sandboxConfig };
      await expect(runtime.createContainer(sandboxId, request)).rejects.toMatchObject({ name: 'RuntimeError' });
      await runtime.stopPodSandbox(sandboxId);
      await expect(runtime.createContainer(sandboxId, { config, sandboxConfig })).rejects.toMatchObject({ name: 'RuntimeError' });
    });

    it('runs a container from created over running to exited, with an event for each', async () => {
      const stop = new AbortController();
      const events: ContainerEvent[] = [];
      const collection = collect(runtime.getContainerEvents({ signal: stop.signal }), events);
      const { id, config } = await created(under.command(['a'], 3));
      expect(await statusOf(id)).toMatchObject({ state: 'created', metadata: config.metadata, labels: config.labels });
      await runtime.startContainer(id);
      await waitForEnd(id);
      expect(await statusOf(id)).toMatchObject({ state: 'exited', exitCode: 3, reason: 'Error' });
      const isStopped = () => events.some(({ type, containerId, podUid }) => type === 'stopped' && containerId === id && podUid === 'u1');
      for (let i = 0; i < 50 && !isStopped(); i++) await under.pass(100);
      expect(isStopped()).toBe(true);
      await expect(runtime.startContainer(id)).rejects.toThrow();
      stop.abort();
      await collection;
    });

    it('stops a container once, however often it is asked', async () => {
      const { id } = await running(under.endless);
      expect((await statusOf(id)).state).toBe('running');
      await Promise.all([runtime.stopContainer(id, 5000), runtime.stopContainer(id, 1000), under.pass(5000)]);
      const ended = await statusOf(id);
      expect(ended.state).toBe('exited');
      await runtime.stopContainer(id, 1000);
      expect(await statusOf(id)).toEqual(ended);
      await runtime.removeContainer(id);
      await expect(statusOf(id)).rejects.toMatchObject({ code: 'notFound' });
    });

    it('takes what is gone as stopped and removed', async () => {
      await runtime.stopContainer('gone', 0);
      await runtime.removeContainer('gone');
      await runtime.stopPodSandbox('gone');
      await runtime.removePodSandbox('gone');
      await expect(runtime.startContainer('gone')).rejects.toMatchObject({ code: 'notFound' });
      await expect(runtime.podSandboxStatus('gone')).rejects.toMatchObject({ code: 'notFound' });
    });

    it('ends and removes containers with their sandbox', async () => {
      const { id, sandboxId } = await running(under.endless);
      await runtime.stopPodSandbox(sandboxId);
      expect((await statusOf(id)).state).toBe('exited');
      expect((await runtime.podSandboxStatus(sandboxId)).state).toBe('notReady');
      await runtime.removePodSandbox(sandboxId);
      expect(await runtime.listPodSandbox(ofPod('u1'))).toEqual([]);
      expect(await runtime.listContainers(ofPod('u1'))).toEqual([]);
    });

    it('keeps what a container wrote, in order, also after it ended', async () => {
      const { id } = await running(under.command(['one', 'two'], 0));
      await waitForEnd(id);
      expect(await under.linesOf(id)).toEqual(['one', 'two']);
    });

    it('runs commands in running containers only', async () => {
      const { id } = await running(under.endless);
      expect((await runtime.execSync(id, { command: ['true'], timeoutMs: 10_000 })).exitCode).toBe(0);
      await Promise.all([runtime.stopContainer(id, 0), under.pass(10)]);
      await expect(runtime.execSync(id, { command: ['true'], timeoutMs: 1000 })).rejects.toThrow();
    });
  });
}

export function contractSandbox(uid: string, logDirectory?: string): SandboxConfig {
  const name = `pod-${uid}`;
  return {
    metadata: { name, namespace: 'default', uid, attempt: 0 },
    hostname: name,
    ...(logDirectory !== undefined && { logDirectory: `${logDirectory}/${uid}` }),
    labels: { [POD_NAME]: name, [POD_NAMESPACE]: 'default', [POD_UID]: uid },
    annotations: {},
    linux: { securityContext: { namespaceOptions: { network: 'pod', pid: 'container', ipc: 'pod' } } },
  };
}

export function contractContainer(uid: string, { image, command }: { image: string; command: readonly string[] }): ContainerConfig {
  return {
    metadata: { name: 'main', attempt: 0 },
    image: { image },
    ...{ command, args: [], envs: [], mounts: [], annotations: {}, logPath: 'main.log' },
    labels: { [CONTAINER_NAME]: 'main', [POD_UID]: uid, [POD_NAME]: `pod-${uid}`, [POD_NAMESPACE]: 'default' },
    linux: { resources: {}, securityContext: { namespaceOptions: { network: 'pod', pid: 'container', ipc: 'pod' } } },
  };
}

async function collect<T>(from: AsyncIterable<T>, into: T[]): Promise<void> {
  for await (const item of from) into.push(item);
}
