import { describe, expect, it } from 'vitest';
import type { core } from '#api';
import { seededRandom, VirtualClock } from '#base';
import { contractContainer, contractSandbox } from '../cri/contract.ts';
import { SimulatedRuntime } from '../cri/simulated/simulated-runtime.ts';
import type { PodContext } from './hooks/pod-hook.ts';
import { type KillDeps, killContainer } from './kill-container.ts';

const HOOK: core.LifecycleHandler = { exec: { command: ['bye'] } };

/** Kills a running container with a preStop hook, and returns the events. */
async function eventsOfKill(exec: Readonly<Record<string, string>>, graceMs: number, preStop = HOOK): Promise<readonly string[]> {
  const clock = new VirtualClock();
  const runtime = new SimulatedRuntime({}, { clock, random: seededRandom(1) });
  const sandboxConfig = { ...contractSandbox('u'), annotations: exec };
  const sandboxId = await runtime.runPodSandbox(sandboxConfig);
  const image = await runtime.pullImage({ image: 'app:1' }, { sandboxConfig });
  const id = await runtime.createContainer(sandboxId, { config: contractContainer('u', { image, command: [] }), sandboxConfig });
  await runtime.startContainer(id);
  const recorded: string[] = [];
  const record = (_container: string | undefined, reason: string, message: string) => void recorded.push(`${reason}: ${message}`);
  const context = { pod: { metadata: { name: 'p' } }, events: { normal: record, warning: record } } as unknown as PodContext;
  const spec: core.Container = { name: 'c', lifecycle: { preStop } };
  const request = { context, target: { id, name: 'c', isRunning: true }, spec, podIp: '10.0.0.1', graceMs };
  const hooks = { preStop: async () => {} } as unknown as KillDeps['hooks'];
  const prober = { httpGet: () => Promise.reject(new Error('refused')) } as unknown as KillDeps['prober'];
  let isOver = false;
  const kill = killContainer(request, { runtime, clock, prober, hooks }).then(() => {
    isOver = true;
  });
  for (let second = 0; second < 120 && !isOver; second++) await clock.advance(1000);
  await kill;
  return recorded;
}

describe('the events of a container that is stopped', () => {
  const killing = 'Killing: Stopping container c';
  const failed = 'FailedPreStopHook: PreStopHook failed';
  it.each([
    ['name a preStop command that fails', { 'sampan.dev/exec-exit-code': '3' }, 30_000, HOOK, [killing, failed]],
    ['name a preStop request that is refused', {}, 30_000, { httpGet: { port: 80 } }, [killing, failed]],
    ['name no hook that succeeds', {}, 30_000, HOOK, [killing]],
    ['name no hook without a grace period, for it does not run', { 'sampan.dev/exec-exit-code': '3' }, 0, HOOK, [killing]],
    ['name no preStop sleep that the grace period ends', {}, 2000, { sleep: { seconds: 60 } }, [killing]],
  ] as const)('%s', async (_, exec, graceMs, hook, expected) => {
    expect(await eventsOfKill(exec as never, graceMs, hook as core.LifecycleHandler)).toEqual(expected);
  });
});
