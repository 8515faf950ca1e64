import type { core } from '#api';
import { mergeAll, raceAbort } from '#base';
import type { PodMemory } from '../memory-decrease.ts';
import type { ContainerAdditions, ContainerContext, PodContext, PodHook, RunningContext } from './pod-hook.ts';

/** Calls a node's hooks: in order during startup, in reverse order during termination. */
export class PodHooks {
  constructor(private readonly hooks: readonly PodHook[]) {}

  observe(pod: core.Pod): void {
    for (const hook of this.hooks) hook.observe?.(pod);
  }

  async prepare(context: PodContext): Promise<void> {
    for (const hook of this.hooks) if (hook.prepare) await raceAbort(hook.prepare(context), context.signal);
  }

  async preStart(context: ContainerContext): Promise<ContainerAdditions> {
    const parts: ContainerAdditions[] = [];
    for (const hook of this.hooks) {
      const part = await hook.preStart?.(context);
      if (part !== undefined) parts.push(part);
    }
    return parts.length === 0 ? NO_ADDITIONS : merged(parts);
  }

  async postStart(context: RunningContext): Promise<void> {
    for (const hook of this.hooks) await hook.postStart?.(context);
  }

  /** Undefined: no hook reports it. */
  async memory(context: PodContext): Promise<PodMemory | undefined> {
    return this.hooks.find((hook) => hook.memory !== undefined)?.memory?.(context);
  }

  async grow(context: PodContext): Promise<void> {
    for (const hook of this.hooks) await hook.grow?.(context);
  }

  async resize(context: PodContext): Promise<void> {
    for (const hook of this.hooks) await hook.resize?.(context);
  }

  async preStop(context: RunningContext): Promise<void> {
    for (const hook of this.hooks.toReversed()) await hook.preStop?.(context);
  }

  async postStop(context: PodContext): Promise<void> {
    for (const hook of this.hooks.toReversed()) await hook.postStop?.(context);
  }

  async cleanUp(context: PodContext): Promise<void> {
    for (const hook of this.hooks.toReversed()) await hook.cleanUp?.(context);
  }

  async cleanUpOrphans(liveUids: ReadonlySet<string>): Promise<void> {
    for (const hook of this.hooks.toReversed()) await hook.cleanUpOrphans?.(liveUids);
  }
}

const NO_ADDITIONS: ContainerAdditions = {};

function merged(parts: readonly ContainerAdditions[]): ContainerAdditions {
  return {
    ...mergeAll(parts),
    mounts: parts.flatMap(({ mounts = [] }) => mounts),
    envs: parts.flatMap(({ envs = [] }) => envs),
    devices: parts.flatMap(({ devices = [] }) => devices),
    cdiDevices: parts.flatMap(({ cdiDevices = [] }) => cdiDevices),
    annotations: mergeAll(parts.map(({ annotations }) => annotations)),
  };
}
