import { inProcessTransport, startApiServer } from '#apiserver';
import { createLogger, MetricsRegistry, seededRandom, silentLogger, VirtualClock } from '#base';
import { Client } from '#client';
import { type ControllerManagerConfig, startControllerManager } from '#controllers';
import { openMemoryStore } from '#store';

export interface ControlPlaneOptions extends ControllerManagerConfig {
  readonly seed?: number | string;
  /** Prints the components' logs, for debugging. */
  readonly verbose?: boolean;
}

/** An API server with its controllers in this process, on virtual time and with seeded randomness. */
export interface ControlPlane extends AsyncDisposable {
  readonly clock: VirtualClock;
  readonly client: Client;
  /** Starts another manager, like a restarted process. */
  restartControllers(): Promise<void>;
  /** Advances time until the condition holds; throws when it does not within an hour. */
  until(condition: () => Promise<boolean>): Promise<void>;
}

const ADMIN = { name: 'admin', groups: ['system:masters', 'system:authenticated'] };

export async function startControlPlane({ seed = 1, verbose = false, ...config }: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const clock = new VirtualClock();
  const random = seededRandom(seed);
  const logger = verbose ? createLogger({ clock, write: (line) => console.error(line) }) : silentLogger;
  const metrics = new MetricsRegistry();
  const store = openMemoryStore({ clock });
  const server = startApiServer({ version: { major: '1', minor: '36' }, anonymousAuth: false }, { store, clock, random, logger, metrics });
  const clientFor = (userAgent: string) => new Client(inProcessTransport(server.handle, ADMIN, { clock, userAgent }));
  const client = clientFor('test');
  await server.ready;
  const deps = { client: clientFor('kube-controller-manager'), clock, random, logger, metrics: new MetricsRegistry() };
  let manager = startControllerManager(config, deps);
  await manager.ready;
  return {
    clock,
    client,
    async restartControllers() {
      await manager[Symbol.asyncDispose]();
      manager = startControllerManager(config, { ...deps, metrics: new MetricsRegistry() });
      await manager.ready;
    },
    async until(condition) {
      for (let waited = 0; !(await condition()); waited += 500) {
        if (waited > 3_600_000) throw new Error('the condition does not hold after an hour');
        await clock.advance(500);
      }
    },
    async [Symbol.asyncDispose]() {
      await manager[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      await store.close();
    },
  };
}
