import { type Clock, Lru } from '#base';
import { RuntimeError, type SandboxConfig } from '../runtime.ts';
import { type ContainerScript, containerScript, scriptedValues } from './script.ts';
import { registryError } from './simulated-registry.ts';
import { type Stage, stagedValues } from './stage.ts';

/** The limit of counted image and pod pairs; beyond, the oldest start over. */
const MAX_COUNTED = 10_000;

/** Pulls images as scripted by annotations, stages and the simulated registries. */
export class SimulatedPulls {
  readonly #failures = new Lru<string, number>({ capacity: MAX_COUNTED });

  constructor(
    private readonly stages: readonly Stage[],
    private readonly clock: Clock,
  ) {}

  /** Throws a RuntimeError when the pull fails. */
  async pull(image: string, sandbox: SandboxConfig | undefined): Promise<void> {
    const script = sandbox && this.#script(image, sandbox);
    if (script && script.pullTimeMs > 0) await this.clock.sleep(script.pullTimeMs);
    const error = script?.pullError ?? registryError(image);
    if (error === undefined) return;
    if (this.#fails(`${sandbox?.metadata.uid} ${image}`, script?.pullFailures ?? Infinity)) throw new RuntimeError('unknown', error);
  }

  #fails(key: string, limit: number): boolean {
    const failures = this.#failures.get(key) ?? 0;
    if (failures < limit) this.#failures.set(key, failures + 1);
    else this.#failures.delete(key);
    return failures < limit;
  }

  /** Pull settings of one container are keyed by the last segment of its image's name. */
  #script(image: string, config: SandboxConfig): ContainerScript {
    return containerScript(scriptedValues(config, stagedValues(this.stages, config, image)), imageBaseName(image));
  }
}

function imageBaseName(image: string): string {
  const repository = image.split('@', 1)[0]!;
  return repository.slice(repository.lastIndexOf('/') + 1).split(':', 1)[0] || image;
}
