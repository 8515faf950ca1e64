import type { SandboxConfig, SandboxStatus } from '../runtime.ts';

export class SimulatedSandbox {
  isReady = true;

  constructor(
    readonly id: string,
    readonly config: SandboxConfig,
    readonly createdAtMs: number,
    readonly ips: readonly string[],
  ) {}

  get podUid(): string {
    return this.config.metadata.uid;
  }

  get status(): SandboxStatus {
    const { id, config, isReady, createdAtMs, ips } = this;
    const { metadata, labels, annotations } = config;
    return { id, metadata, state: isReady ? 'ready' : 'notReady', createdAtMs, labels, annotations, runtimeHandler: '', ips };
  }
}
