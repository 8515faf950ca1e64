import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { seededRandom, VirtualClock } from '#base';
import { contractContainer, contractSandbox } from '../cri/contract.ts';
import { SimulatedRuntime } from '../cri/simulated/simulated-runtime.ts';
import type { Prober } from '../prober/prober.ts';
import type { PodEvents } from './pod-events.ts';
import { runHook } from './run-hook.ts';

const HOUR_MS = 3_600_000;
const NO_PROBER: Prober = {
  probe: () => Promise.reject(new Error('no probes')),
  httpGet: () => Promise.reject(new Error('no requests')),
};

/** A running container in which every command takes this long. */
async function containerWith(execTime: string, execExitCode = '0') {
  const clock = new VirtualClock();
  const runtime = new SimulatedRuntime({}, { clock, random: seededRandom(1) });
  const annotations = { 'sampan.dev/exec-time': execTime, 'sampan.dev/exec-exit-code': execExitCode, 'sampan.dev/exec-output': 'bye' };
  const sandboxConfig = { ...contractSandbox('u'), annotations };
  const sandboxId = await runtime.runPodSandbox(sandboxConfig);
  const image = await runtime.pullImage({ image: 'app:1' }, { sandboxConfig });
  const containerId = await runtime.createContainer(sandboxId, { config: contractContainer('u', { image, command: [] }), sandboxConfig });
  await runtime.startContainer(containerId);
  const pod: core.Pod = { metadata: { name: 'p', namespace: 'd', uid: 'u' } };
  const events = { warning: () => {} } as unknown as PodEvents;
  const target = { containerId, container: { name: 'c', image: 'app:1' } as core.Container, podIp: '10.0.0.1', pod, events };
  const run = (signal: AbortSignal) => runHook({ exec: { command: ['bye'] } }, target, { runtime, clock, prober: NO_PROBER, signal });
  return { clock, run };
}

describe('the command of a lifecycle hook', () => {
  it('may take longer than a day', async () => {
    const { clock, run } = await containerWith('25h');
    let isDone = false;
    const hook = run(new AbortController().signal).then(() => {
      isDone = true;
    });
    await clock.advance(24.5 * HOUR_MS);
    expect(isDone).toBe(false);
    await clock.advance(HOUR_MS);
    await hook;
    expect(isDone).toBe(true);
  });

  it('ends when its signal aborts', async () => {
    const { run } = await containerWith('1h');
    const stop = new AbortController();
    const hook = run(stop.signal);
    stop.abort(new Error('the pod is killed'));
    await expect(hook).rejects.toThrow('the pod is killed');
  });

  it('fails with its exit code and output', async () => {
    const { run } = await containerWith('0s', '3');
    await expect(run(new AbortController().signal)).rejects.toThrow(
      `Exec lifecycle hook ([bye]) for Container "c" in Pod "p_d(u)" failed - error: command 'bye' exited with 3: , message: "bye"`,
    );
  });
});
