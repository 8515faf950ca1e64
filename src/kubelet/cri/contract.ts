import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ContainerConfig, ContainerEvent, ContainerRuntime, LogEntry, SandboxConfig } from './runtime.ts';

/** A runtime under test, with what only its kind can do: make containers behave. */
export interface RuntimeUnderTest {
  readonly runtime: ContainerRuntime;
  /** An image that is there to be pulled, and its like that is not. */
  readonly image: string;
  readonly missingImage: string;
  /** A command that prints these lines and ends with this code. */
  command(lines: readonly string[], exitCode: number): readonly string[];
  /** A command that runs until it is stopped. */
  readonly endless: readonly string[];
  /** Lets this much time pass. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** What every runtime must do. */
export function describeRuntimeContract(name: string, open: () => Promise<RuntimeUnderTest>): void {
  describe(`${name} keeps the contract of a runtime:`, () => {
    let under: RuntimeUnderTest;
    let runtime: ContainerRuntime;

    beforeEach(async () => {
      under = await open();
      runtime = under.runtime;
    });
    afterEach(() => under.close());

    const config = (imageRef: string, command: readonly string[], rest: Partial<ContainerConfig> = {}): ContainerConfig => ({
      ...{ name: 'main', attempt: 0, image: under.image, imageRef, command, args: [], env: [], specHash: 'h', tty: false, stdin: false },
      ...rest,
    });

    async function running(command: readonly string[], uid = 'u1') {
      const sandboxId = await runtime.runPodSandbox(sandbox(uid));
      const { ref } = await runtime.pullImage(under.image, sandbox(uid));
      const id = await runtime.createContainer(sandboxId, config(ref, command));
      await runtime.startContainer(id);
      return { sandboxId, id, ref };
    }

    const statusOf = async (id: string) => (await runtime.listContainers()).find((container) => container.id === id);

    it('names itself and is ready', async () => {
      expect((await runtime.version()).runtimeName).not.toBe('');
      expect(await runtime.status()).toEqual({});
    });

    it('gives each sandbox an address of its own, none on the host network', async () => {
      const ids = [await runtime.runPodSandbox(sandbox('u1')), await runtime.runPodSandbox(sandbox('u2'))];
      await runtime.runPodSandbox({ ...sandbox('u3'), hostNetwork: true });
      const all = await runtime.listPodSandboxes();
      expect(all.filter(({ id }) => ids.includes(id)).every(({ isReady }) => isReady)).toBe(true);
      const ips = all.flatMap(({ ips: own }) => own);
      expect(new Set(ips).size).toBe(2);
      expect((await runtime.listPodSandboxes({ podUid: 'u2' })).map(({ id }) => id)).toEqual([ids[1]]);
    });

    it('pulls images, and says why it cannot', async () => {
      expect(await runtime.imageStatus(under.image)).toBeUndefined();
      const pulled = await runtime.pullImage(under.image, sandbox('u1'));
      expect(await runtime.imageStatus(under.image)).toEqual(pulled);
      expect(await runtime.listImages()).toEqual([pulled]);
      await expect(runtime.pullImage(under.missingImage, sandbox('u1'))).rejects.toMatchObject({ reason: 'pullFailed' });
      await runtime.removeImage(under.image);
      expect(await runtime.imageStatus(under.image)).toBeUndefined();
    });

    it('creates no container without its image or its sandbox', async () => {
      const sandboxId = await runtime.runPodSandbox(sandbox('u1'));
      await expect(runtime.createContainer(sandboxId, config('nothing', []))).rejects.toMatchObject({ reason: 'notFound' });
      const { ref } = await runtime.pullImage(under.image, sandbox('u1'));
      await runtime.stopPodSandbox(sandboxId);
      await expect(runtime.createContainer(sandboxId, config(ref, []))).rejects.toMatchObject({ reason: 'notFound' });
    });

    it('runs a container from created over running to exited, and tells of both changes', async () => {
      const events: ContainerEvent[] = [];
      using _listening = runtime.onContainerEvent((event) => events.push(event));
      const sandboxId = await runtime.runPodSandbox(sandbox('u1'));
      const { ref } = await runtime.pullImage(under.image, sandbox('u1'));
      const id = await runtime.createContainer(sandboxId, config(ref, under.command(['a'], 3)));
      expect(await statusOf(id)).toMatchObject({ state: 'created', podUid: 'u1', sandboxId, name: 'main', specHash: 'h' });
      await runtime.startContainer(id);
      await under.pass(100);
      expect(await statusOf(id)).toMatchObject({ state: 'exited', exitCode: 3, reason: 'Error' });
      expect(events).toEqual([
        { type: 'started', containerId: id, podUid: 'u1' },
        { type: 'stopped', containerId: id, podUid: 'u1' },
      ]);
      await expect(runtime.startContainer(id)).rejects.toThrow();
    });

    it('stops a container once, however often it is asked', async () => {
      const { id } = await running(under.endless);
      expect((await statusOf(id))?.state).toBe('running');
      await expect(runtime.removeContainer(id)).rejects.toThrow();
      await Promise.all([runtime.stopContainer(id, 5000), runtime.stopContainer(id, 1000), under.pass(5000)]);
      const ended = await statusOf(id);
      expect(ended?.state).toBe('exited');
      await runtime.stopContainer(id, 1000);
      expect(await statusOf(id)).toEqual(ended);
      await runtime.removeContainer(id);
      expect(await statusOf(id)).toBeUndefined();
    });

    it('takes what is gone as stopped and removed', async () => {
      await runtime.stopContainer('gone', 0);
      await runtime.removeContainer('gone');
      await runtime.stopPodSandbox('gone');
      await runtime.removePodSandbox('gone');
      await expect(runtime.startContainer('gone')).rejects.toMatchObject({ reason: 'notFound' });
    });

    it('ends and removes containers with their sandbox', async () => {
      const { id, sandboxId } = await running(under.endless);
      await runtime.stopPodSandbox(sandboxId);
      expect((await statusOf(id))?.state).toBe('exited');
      expect((await runtime.listPodSandboxes())[0]?.isReady).toBe(false);
      await runtime.removePodSandbox(sandboxId);
      expect(await runtime.listPodSandboxes()).toEqual([]);
      expect(await runtime.listContainers()).toEqual([]);
    });

    it('keeps what a container wrote, in order, also after it ended', async () => {
      const { id } = await running(under.command(['one', 'two'], 0));
      await under.pass(100);
      expect((await linesOf(runtime.containerLog(id))).map(({ line }) => line)).toEqual(['one', 'two']);
      expect((await linesOf(runtime.containerLog(id, { follow: true }))).map(({ line }) => line)).toEqual(['one', 'two']);
    });

    it('ends a followed log when the reader leaves', async () => {
      const { id } = await running(under.endless);
      const stop = new AbortController();
      const reading = linesOf(runtime.containerLog(id, { follow: true, signal: stop.signal }));
      await under.pass(10);
      stop.abort();
      await reading;
    });

    it('runs commands in running containers only', async () => {
      const { id } = await running(under.endless);
      expect((await runtime.execSync(id, ['true'], 1000)).exitCode).toBe(0);
      await Promise.all([runtime.stopContainer(id, 0), under.pass(10)]);
      await expect(runtime.execSync(id, ['true'], 1000)).rejects.toThrow();
    });
  });
}

function sandbox(uid: string): SandboxConfig {
  return { namespace: 'default', name: `pod-${uid}`, uid, attempt: 0, hostname: 'h', hostNetwork: false, labels: {}, annotations: {} };
}

async function linesOf(log: AsyncIterable<LogEntry>): Promise<readonly LogEntry[]> {
  const lines: LogEntry[] = [];
  for await (const entry of log) lines.push(entry);
  return lines;
}
