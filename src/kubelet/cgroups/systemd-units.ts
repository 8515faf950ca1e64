import { type Clock, raceAbort, timeoutSignal } from '#base';
import { DbusConnection, DbusError } from '../dbus/dbus-connection.ts';
import type { DbusInput, DbusMessage, DbusVariant } from '../dbus/dbus-wire.ts';

const MANAGER = {
  destination: 'org.freedesktop.systemd1',
  path: '/org/freedesktop/systemd1',
  interface: 'org.freedesktop.systemd1.Manager',
};
const UNIT_EXISTS = 'org.freedesktop.systemd1.UnitExists';
const NO_SUCH_UNIT = 'org.freedesktop.systemd1.NoSuchUnit';
const JOB_MS = 30_000;

export type UnitProperties = Readonly<Record<string, DbusVariant>>;

export interface SystemdUnitsConfig {
  readonly socketPath: string;
  readonly userId: number;
}

/** The machine's systemd units, over the system bus. Connects on first use, and again after the bus was unavailable. */
export class SystemdUnits implements Disposable {
  readonly #config: SystemdUnitsConfig;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  /** Called with each job that has ended. */
  readonly #jobListeners = new Set<(job: string, result: string) => void>();
  #connection: Promise<DbusConnection> | undefined;

  constructor(config: SystemdUnitsConfig, clock: Clock) {
    this.#config = config;
    this.#clock = clock;
  }

  /** A unit that exists is left as it is. */
  async start(name: string, properties: UnitProperties): Promise<void> {
    await this.#runJob('StartTransientUnit', 'ssa(sv)a(sa(sv))', [name, 'replace', listOf(properties), []]).catch(ignore(UNIT_EXISTS));
  }

  /** Until the machine restarts. */
  async setProperties(name: string, properties: UnitProperties): Promise<void> {
    await this.#call('SetUnitProperties', 'sba(sv)', [name, true, listOf(properties)]);
  }

  /** Resolves when the unit has stopped; immediately if it does not exist. */
  async stop(name: string): Promise<void> {
    await this.#runJob('StopUnit', 'ss', [name, 'replace']).catch(ignore(NO_SUCH_UNIT));
  }

  [Symbol.dispose](): void {
    this.#stop.abort(new Error('the kubelet stops'));
  }

  /** Jobs may end before the answer that names them arrives. */
  async #runJob(member: string, signature: string, body: readonly DbusInput[]): Promise<void> {
    using timeout = timeoutSignal(this.#clock, JOB_MS, this.#stop.signal);
    const results = new Map<string, string>();
    let notify = () => {};
    const listener = (job: string, result: string) => {
      results.set(job, result);
      notify();
    };
    this.#jobListeners.add(listener);
    try {
      const [job] = await this.#call(member, signature, body);
      const ended = new Promise<void>((resolve) => {
        notify = () => void (results.has(String(job)) && resolve());
        notify();
      });
      await raceAbort(ended, timeout.signal);
      const result = results.get(String(job));
      if (result !== 'done' && result !== 'skipped') throw new Error(`${member} ${String(body[0])}: the job of systemd ended as ${result}`);
    } finally {
      this.#jobListeners.delete(listener);
    }
  }

  async #call(member: string, signature: string, body: readonly DbusInput[]) {
    const connection = await this.#connect();
    return connection.call({ ...MANAGER, member, signature, body });
  }

  #connect(): Promise<DbusConnection> {
    this.#connection ??= this.#open().catch((error: Error) => {
      this.#connection = undefined;
      throw new Error(`cannot reach systemd, which the cgroup driver needs: ${error.message}`, { cause: error });
    });
    return this.#connection;
  }

  async #open(): Promise<DbusConnection> {
    const { socketPath, userId } = this.#config;
    const connection = await DbusConnection.open(socketPath, { userId, signal: this.#stop.signal });
    void connection.closed.then(() => {
      this.#connection = undefined;
    });
    await connection.watch(`type='signal',interface='${MANAGER.interface}',member='JobRemoved'`, (signal) => this.#onSignal(signal));
    await connection.call({ ...MANAGER, member: 'Subscribe' });
    return connection;
  }

  #onSignal({ member, body: [, job, , result] }: DbusMessage): void {
    if (member !== 'JobRemoved') return;
    for (const listener of this.#jobListeners) listener(String(job), String(result));
  }
}

function listOf(properties: UnitProperties): readonly DbusInput[] {
  return Object.entries(properties).map(([name, value]) => [name, value]);
}

function ignore(errorName: string): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof DbusError && error.errorName === errorName)) throw error;
  };
}
